"""Copies of five data sets that ship with the project, and the script that makes them."""

from pathlib import Path

FOLDER = Path(__file__).parent
