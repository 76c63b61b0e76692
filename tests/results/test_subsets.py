"""The spread over subsets of the anomalies is that of the means over the splits."""

import numpy as np
import pytest

from results.records.frame import from_records
from results.reproduction.subsets import subset_spreads, subsets_table
from tests.results.support import make_record


def records_of(subset, seeds, algorithm="iforest", dataset="arrhythmia"):
    protocol = {
        "name": "paper",
        "cap": {"drawn": subset},
        "repeats": "published",
    }
    rng = np.random.default_rng(0)
    return [
        make_record(
            dataset,
            algorithm,
            seed=seed,
            split=split,
            roc=0.7 + 0.01 * seed + 0.001 * split,
            pr=0.4,
            config={"protocol": protocol},
            key=rng.bytes(32).hex(),
        )
        for seed in seeds
        for split in range(4)
    ]


def usual(algorithm="iforest"):
    """So many that the plain name is that of the protocol as published."""
    return records_of("per_split", range(15), algorithm)


def test_spread_and_distance_are_those_of_the_means_over_splits():
    frame = from_records(usual() + records_of("once", range(1, 7))).frame
    roc, _ = subset_spreads(frame).to_dict("records")
    means = 0.7 + 0.01 * np.arange(1, 7) + 0.0015
    assert (roc["setting"], roc["dataset"], roc["algorithm"]) == (
        "novelty",
        "arrhythmia",
        "iforest",
    )
    assert roc["subsets"] == 6
    assert roc["mean"] == pytest.approx(means.mean())
    assert roc["spread"] == pytest.approx(means.std(ddof=1))
    assert roc["published"] == 0.763
    assert roc["distance"] == pytest.approx((0.763 - means.mean()) / means.std(ddof=1))
    # Four splits .001 apart: a standard deviation of .00129, of which a mean carries half.
    within = np.std([0, 0.001, 0.002, 0.003], ddof=1)
    assert roc["within"] == pytest.approx(within)
    assert roc["draw"] == pytest.approx(np.sqrt(means.var(ddof=1) - within**2 / 4))
    table = subsets_table(frame)
    assert "| arrhythmia | " in table
    assert "0.763" in table


@pytest.mark.parametrize("seed", range(3))
def test_the_draw_alone_is_what_fixed_splits_would_show(seed):
    """Simulated: the subset moves a mean by .03, splits scatter by .05, and are drawn anew."""
    rng = np.random.default_rng(seed)
    draws, n = 200, 10
    records = [
        make_record(
            "arrhythmia", seed=i, split=s, roc=value, pr=0.4 + value / 10, key=rng.bytes(32).hex(),
            config={"protocol": {"name": "paper", "cap": {"drawn": "once"}, "repeats": "published"}},
        )
        for i, centre in enumerate(0.7 + 0.03 * rng.normal(size=draws))
        for s, value in enumerate(centre + 0.05 * rng.normal(size=n))
    ]  # fmt: skip
    frame = from_records(records).frame.assign(protocol="paper(cap.drawn=once)")
    roc, pr = subset_spreads(frame).to_dict("records")
    assert roc["spread"] == pytest.approx(np.sqrt(0.03**2 + 0.05**2 / n), rel=0.15)
    assert roc["within"] == pytest.approx(0.05, rel=0.1)
    assert roc["draw"] == pytest.approx(0.03, rel=0.2)
    assert pr["draw"] == pytest.approx(roc["draw"] / 10)


@pytest.mark.parametrize(
    "records",
    [
        records_of("once", range(3)),  # too few subsets
        usual("lof_text") + records_of("once", range(8), "lof_text"),  # not as the paper ran it
        [],
    ],
)
def test_nothing_is_said_without_enough_subsets(records):
    frame = from_records(usual() + records).frame
    assert subset_spreads(frame).empty
    assert subsets_table(frame) == ""
