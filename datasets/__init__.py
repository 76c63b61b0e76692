"""Data sets: sources, preprocessing, content checks and random splits."""

from datasets.dataset import Dataset, Split
from datasets.errors import DataError, DataUnavailable, WrongContent
from datasets.identity import content_digest, content_key
from datasets.loading import check_definition, load
from datasets.protocols import make_split

__all__ = [
    "DataError",
    "DataUnavailable",
    "Dataset",
    "Split",
    "WrongContent",
    "check_definition",
    "content_digest",
    "content_key",
    "load",
    "make_split",
]
