"""Provenance is told in few rows, and what is mixed is never folded away."""

import pytest

from results.provenance import tabulate, warnings_of
from results.records.frame import from_records
from tests.results.support import make_record

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def table_of(*provenances):
    records = [make_record(split=i, provenance=p) for i, p in enumerate(provenances)]
    return tabulate(from_records(records).frame)


def values_of(*provenances):
    table = table_of(*provenances)
    return dict(zip(table["item"], table["value"], strict=True))


def test_moments_are_told_in_one_notation_and_ordered_by_time():
    values = values_of(
        {"started": "2026-11-28T01:32:37+00:00", "finished": 1795829557.9308255},
        {"started": "2026-11-28T01:30:59+00:00", "finished": 999999999.5},
    )
    assert values == {
        "started": "2026-11-28T01:30:59+00:00 to 2026-11-28T01:32:37+00:00",
        "finished": "2001-09-09T01:46:39+00:00 to 2026-11-28T01:32:37+00:00",
    }


@pytest.mark.parametrize(
    ("threads", "text"),
    [
        (THREADS, "1 each (MKL, OMP)"),
        (THREADS | {"OMP_NUM_THREADS": "2"}, "MKL 1, OMP 2"),
    ],
)
def test_thread_variables_share_a_row(threads, text):
    assert values_of({"threads": threads}) == {"threads": text}


def test_mixed_thread_variables_are_warned_of():
    table = table_of({"threads": THREADS}, {"threads": THREADS | {"OMP_NUM_THREADS": "2"}})
    assert warnings_of(table) == ["mixed threads: 1 each (MKL, OMP) (1), MKL 1, OMP 2 (1)"]


@pytest.mark.parametrize(
    ("dirty", "text", "warned"),
    [
        (False, "abc, nothing uncommitted", []),
        (True, "abc, uncommitted changes", ["1 experiments were run with uncommitted changes"]),
        (None, "abc, state unknown", []),
    ],
)
def test_the_state_of_the_commit_stands_with_it(dirty, text, warned):
    table = table_of({"commit": "abc", "dirty": dirty})
    assert table["value"].tolist() == [text]
    assert warnings_of(table) == warned
