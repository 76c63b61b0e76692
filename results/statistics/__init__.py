"""Rank tests and intervals over data sets, and the files that hold them."""
