"""Copies of five data sets that ship with the project, and the script that makes them."""
