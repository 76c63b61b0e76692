"""Of a thousand records, memory holds the numbers that tables need, and no curves."""

import tracemalloc

import numpy as np

from results.records.encoding import Curves
from results.records.frame import load_experiments
from results.records.opening import Selection
from tests.results.support import make_record, write_fast

DATASETS = ("annthyroid", "pima", "wilt")
ALGORITHMS = ("oneclassrf", "iforest", "ocrfsampling", "ocsvm", "lof", "orca", "lsad", "rfc")


def store(folder, curves):
    """Records of a configuration of usual size, 160 of each data set."""
    rng = np.random.default_rng(0)
    filler = {"filler": {f"name{i}": f"some value {i}" for i in range(60)}}
    records = [
        make_record(d, a, setting=s, split=k, roc=float(rng.random()), config=filler, curves=curves)
        for d in DATASETS
        for a in ALGORITHMS
        for s in ("novelty", "outlier")
        for k in range(10)
    ]
    write_fast(folder, records)
    return folder


def memory_of_loading(folder):
    """Return how many bytes the experiments of one data set hold, and the most on the way.

    The least of three loads: the whole process is traced, and what a thread that an earlier test
    left behind allocates in between counts as well.
    """
    held, peak = [], []
    for _ in range(3):
        tracemalloc.start()
        experiments = load_experiments(folder, selection=Selection(datasets=("pima",)))
        held_now, peak_now = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(experiments.frame) == 160
        del experiments
        held.append(held_now)
        peak.append(peak_now)
    return min(held), min(peak)


def test_curves_are_not_kept_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    # Curves that do not compress.
    curves = Curves.from_arrays({"roc": np.sort(rng.random(1000)), "pr": rng.random(1000)})
    with_curves = store(tmp_path / "with" / "records", curves)
    without = store(tmp_path / "without" / "records", Curves({}))
    load_experiments(without, selection=Selection(datasets=("pima",)))  # imports
    held, peak = memory_of_loading(with_curves)
    held_without, _ = memory_of_loading(without)
    curves_alone = 160 * 2 * 8000
    # Compared, since what the interpreter itself holds differs from version to version.
    assert held - held_without < curves_alone / 10
    assert peak < 4 * curves_alone
