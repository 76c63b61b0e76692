"""Three data sets of the published tables replayed by six algorithms, compared in all digits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from threadpoolctl import threadpool_limits

from datasets import load, make_split
from datasets.configuration import CONF, compose
from datasets.protocols import protocol_from, with_stream
from results.metrics import evaluate
from results.published import paper
from results.records.store import RecordStore
from results.reproduction.replay import ALGORITHMS, EXACT, REPLAYED, verdict
from runners.detectors import hand_over
from runners.grid import run_grid

#: ROC and PR area, novelty detection, as the scripts gave them with which the stream was found,
#: before this code was written. The scripts were not kept.
EXPECTED = {
    ("ionosphere", "LOF"): (0.95917, 0.80652),
    ("ionosphere", "OCSVM"): (0.97341, 0.84914),
    ("ionosphere", "iForest"): (0.90209, 0.53472),
    ("pima", "LOF"): (0.70010, 0.15238),
    ("pima", "OCSVM"): (0.71635, 0.23697),
    ("pima", "iForest"): (0.72560, 0.18259),
    ("spambase", "LOF"): (0.74606, 0.16026),
    ("spambase", "OCSVM"): (0.73696, 0.20822),
    ("spambase", "iForest"): (0.82392, 0.37166),
}
#: The same by this code on one thread: five digits, so that a change shows that the three printed
#: ones would hide.
MEASURED = {
    ("ionosphere", "LOF"): (0.95917, 0.80652),
    ("ionosphere", "OCSVM"): (0.97341, 0.84914),
    ("ionosphere", "LSAD"): (0.97813, 0.89325),
    ("ionosphere", "iForest"): (0.90209, 0.53472),
    ("ionosphere", "OneClassRF"): (0.90902, 0.64316),
    ("ionosphere", "Orca"): (0.92780, 0.91027),
    ("pima", "LOF"): (0.70010, 0.15238),
    ("pima", "OCSVM"): (0.71635, 0.23697),
    ("pima", "LSAD"): (0.71282, 0.21610),
    ("pima", "iForest"): (0.72560, 0.18259),
    ("pima", "OneClassRF"): (0.71852, 0.24661),
    ("pima", "Orca"): (0.58836, 0.17487),
    ("spambase", "LOF"): (0.74601, 0.16024),
    ("spambase", "OCSVM"): (0.73696, 0.20822),
    ("spambase", "LSAD"): (0.80564, 0.32988),
    ("spambase", "iForest"): (0.82392, 0.37166),
    ("spambase", "OneClassRF"): (0.84982, 0.37261),
    ("spambase", "Orca"): (0.63134, 0.25211),
}

#: LOF finds the neighbours in 57 columns by matrix products. Their last bits follow from the kind of
#: processor, and with them the order of neighbours at nearly equal distances: .745973 to .746012 were
#: seen under OPENBLAS_CORETYPE=Prescott, Haswell and SkylakeX.
BY_PROCESSOR = {("spambase", "LOF"): 5e-5}


@cache
def prepared(name):
    """Return a data set and the groups of its configuration."""
    groups = compose([f"dataset={name}", "protocol=replayed", "data.source=bundled"])
    return load(groups["dataset"], groups["data"]), groups


@pytest.mark.parametrize("column", ALGORITHMS)
@pytest.mark.parametrize("name", ["ionosphere", "pima", "spambase"])
def test_published_values_come_out_to_the_last_printed_digit(name, column):
    algorithm = ALGORITHMS[column]
    table, groups = prepared(name)
    protocol = with_stream(protocol_from(groups["protocol"]), algorithm, "novelty").described()
    metrics = list(REPLAYED.values())
    config = OmegaConf.load(CONF / "algorithm" / f"{algorithm}.yaml")
    areas = []
    for number in range(10):
        split = make_split(
            table, setting=groups["setting"], protocol=protocol, seed=0, split=number
        )
        detector = instantiate(config)
        hand_over(split.stream, detector)
        with threadpool_limits(1):  # as in a run
            scores = -detector.fit(split.X_train).score_samples(split.X_test)
        found = evaluate(split.y_test, scores, metrics).metrics
        areas.append([found[metric] for metric in metrics])
    replayed = np.mean(areas, axis=0)
    atol = BY_PROCESSOR.get((name, column), 2e-5)
    np.testing.assert_allclose(replayed, MEASURED[name, column], rtol=0, atol=atol)
    if (name, column) in EXPECTED:
        np.testing.assert_allclose(replayed, EXPECTED[name, column], rtol=0, atol=1e-4)
    printed = paper.cells().set_index(["setting", "dataset", "column"]).loc["novelty", name, column]
    verdicts = [verdict(printed[m], value) for m, value in zip(REPLAYED, replayed, strict=True)]
    assert verdicts == [EXACT, EXACT]


def test_what_the_tables_lack_is_skipped(make_cell):
    cell = make_cell(n_splits=2)
    cell.config["dataset"]["name"] = "http"
    protocol = protocol_from(compose(["protocol=replayed"])["protocol"])
    cell.config["protocol"] = with_stream(protocol, "lof", "novelty").described()
    summary = run_grid([cell])
    assert summary.statuses == {"skipped": 2}
    assert summary.exit_status == 0
    store = RecordStore(Path(cell.config["output"]) / "records")
    assert {record.reason for record in store} == {
        "the limit of 1800 s struck in experiment 6 of 'lof' on 'http': the tables say NA, and "
        "there is nothing to replay"
    }
