"""Of thousands of records, memory holds the numbers that tables need, and no curves."""

import tracemalloc

import numpy as np
import pytest

from results.published import paper
from results.records.encoding import Curves
from results.records.frame import load_experiments
from results.records.opening import Selection
from tests.results.support import make_record, write_fast

ALGORITHMS = ("oneclassrf", "iforest", "ocrfsampling", "ocsvm", "lof", "orca", "lsad", "rfc")


@pytest.fixture(scope="module")
def big_store(tmp_path_factory):
    """2000 records with curves that do not compress and a configuration of usual size."""
    rng = np.random.default_rng(0)
    curves = Curves.from_arrays({"roc": np.sort(rng.random(1000)), "pr": rng.random(1000)})
    filler = {"filler": {f"name{i}": f"some value {i}" for i in range(60)}}
    records = [
        make_record(d, a, setting=s, split=k, roc=float(rng.random()), config=filler, curves=curves)
        for d in paper.datasets().index
        for a in ALGORITHMS
        for s in ("novelty", "outlier")
        for k in range(10)
    ]
    folder = tmp_path_factory.mktemp("big") / "records"
    write_fast(folder, records)
    return folder, len(records)


def test_curves_are_not_kept_in_memory(big_store):
    folder, n = big_store
    load_experiments(folder, selection=Selection(seeds=("0",), datasets=("wilt",)))  # imports
    tracemalloc.start()
    experiments = load_experiments(folder, selection=Selection(datasets=("pima",)))
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(experiments.frame) == n // 12
    curves_alone = n // 12 * 2 * 8000
    assert held < curves_alone
    assert peak < 4 * curves_alone
