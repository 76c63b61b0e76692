"""Faults: break experiments and runs in every way they must survive, and see what happens."""
