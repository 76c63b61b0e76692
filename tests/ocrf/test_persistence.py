"""Pickles: their version, forests mapped from disk, and processes that share one."""

import copy
import os
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning

import ocrf
from ocrf import OneClassRF, VersionWarning

SCORINGS = ["depth", "density", "typical_cell"]


@pytest.fixture(scope="module", name="forest")
def make_forest(X):
    return OneClassRF(n_estimators=20, max_depth=None, random_state=0).fit(X)


def test_a_pickle_states_its_version_and_holds_no_other_class(forest):
    state = forest.__getstate__()
    assert state["_ocrf_version"] == ocrf.__version__
    assert type(state["_grown"]) is type(state["_grown"]["trees"]) is dict
    pickled = pickle.dumps(forest)
    assert b"ocrf._forest" in pickled
    for module in (b"ocrf._scoring.predictor", b"ocrf._trees.tree"):
        assert module not in pickled


def test_a_pickle_of_the_same_version_loads_without_a_word(X, forest):
    for loaded in (pickle.loads(pickle.dumps(forest)), copy.deepcopy(forest), copy.copy(forest)):
        np.testing.assert_array_equal(loaded.score_samples(X), forest.score_samples(X))
        assert loaded.get_params() == forest.get_params()
        assert not hasattr(loaded, "_ocrf_version")
    assert pickle.loads(pickle.dumps(OneClassRF(gamma=2.0))).gamma == 2.0


def test_a_pickle_of_another_version_in_the_same_form_warns(X, forest, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ocrf, "__version__", "0.0.9")
        pickled = pickle.dumps(forest)
    with pytest.warns(VersionWarning) as caught:
        loaded = pickle.loads(pickled)
    text = str(caught[0].message)
    assert "pickled by ocrf 0.0.9 and is loaded by ocrf " + ocrf.__version__ in text
    assert "pip install ocrf==0.0.9" in text
    assert "fit it again" in text
    # Who turns scikit-learn's warning into an error is protected here too.
    assert issubclass(VersionWarning, InconsistentVersionWarning)
    np.testing.assert_array_equal(loaded.score_samples(X), forest.score_samples(X))


@pytest.mark.parametrize("version", ["9.0", None])
@pytest.mark.parametrize(
    "change",
    [
        lambda grown: grown | {"leaf_area": np.ones(3)},
        lambda grown: {name: grown[name] for name in grown if name != "leaf_value"},
        lambda grown: grown | {"trees": grown["trees"] | {"parents": np.ones(3)}},
        lambda grown: ("an", "older", "form"),
    ],
)
def test_a_pickle_in_another_form_is_refused(forest, change, version):
    state = forest.__getstate__()
    state["_grown"] = change(state["_grown"])
    del state["_ocrf_version"]
    if version:
        state["_ocrf_version"] = version
    with pytest.raises(ValueError, match=r"in a form that ocrf .* does not read") as raised:
        OneClassRF().__setstate__(state)
    assert f"Load it with ocrf{'==9.0' if version else ', the version'}" in str(raised.value)
    assert "or fit it again" in str(raised.value)


def test_parameters_that_a_version_did_not_have_take_their_defaults(X, forest):
    state = forest.__getstate__() | {"_ocrf_version": "0.0.9"}
    del state["warm_start"]
    loaded = OneClassRF.__new__(OneClassRF)
    with pytest.warns(VersionWarning):
        loaded.__setstate__(state)
    assert loaded.get_params() == forest.get_params()


@pytest.fixture(name="mapped")
def map_forest(X, tmp_path):
    def mapped(**parameters):
        joblib.dump(OneClassRF(random_state=0, **parameters).fit(X), tmp_path / "forest")
        return joblib.load(tmp_path / "forest", mmap_mode="r")

    return mapped


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("out_of_bounds", [None, "maximal"])
def test_every_method_reads_a_mapped_forest(X, mapped, scoring, out_of_bounds):
    parameters = {
        "n_estimators": 8,
        "scoring": scoring,
        "out_of_bounds": out_of_bounds,
        "contamination": 0.1,
    }
    forest = mapped(**parameters)
    expected = OneClassRF(random_state=0, **parameters).fit(X)
    assert isinstance(forest._grown.trees.packed, np.memmap)
    assert not forest._grown.leaf_value.flags.writeable
    rows = X[:100].copy()
    rows[::7, 1] = np.nan
    rows.flags.writeable = False
    for points in (rows, X, 3 * X):
        np.testing.assert_array_equal(forest.score_samples(points), expected.score_samples(points))
        np.testing.assert_array_equal(forest.predict(points), expected.predict(points))
        np.testing.assert_array_equal(
            forest.estimators_[1].apply(points), expected.estimators_[1].apply(points)
        )
    if scoring == "depth" and out_of_bounds is None:
        np.testing.assert_array_equal(
            forest.feature_contributions(rows), expected.feature_contributions(rows)
        )
        assert forest.mean_log2_score_ == expected.mean_log2_score_
    for name in ("estimators_samples_", "estimators_features_"):
        np.testing.assert_array_equal(list(getattr(forest, name)), list(getattr(expected, name)))
    forest.set_params(warm_start=True, n_estimators=12).fit(X)
    whole = OneClassRF(random_state=0, **(parameters | {"n_estimators": 12})).fit(X)
    np.testing.assert_array_equal(forest.score_samples(X), whole.score_samples(X))


def test_fitting_takes_arrays_that_cannot_be_written_to(X, tmp_path):
    weight = np.arange(len(X), dtype=float) + 1
    expected = OneClassRF(n_estimators=3, random_state=0).fit(X, sample_weight=weight)
    joblib.dump((X, weight), tmp_path / "data")
    mapped, mapped_weight = joblib.load(tmp_path / "data", mmap_mode="r")
    forest = OneClassRF(n_estimators=3, random_state=0).fit(mapped, sample_weight=mapped_weight)
    np.testing.assert_array_equal(forest.score_samples(mapped), expected.score_samples(X))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_mapped_forest_scores_without_a_copy(X, mapped, scoring):
    """What a call allocates does not grow with the forest."""
    peaks, stored = [], []
    for n_estimators in (3, 300):
        forest = mapped(n_estimators=n_estimators, scoring=scoring, max_depth=None)
        stored.append(forest._grown.trees.packed.nbytes)
        forest.score_samples(X[:5])
        tracemalloc.start()
        try:
            forest.score_samples(X[:5])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < (stored[1] - stored[0]) / 20


_SHARE = """
import multiprocessing, sys
import joblib, numpy as np

path, X = sys.argv[1], np.load(sys.argv[2])

def kilobytes(wanted):
    inside, found = False, 0
    for line in open("/proc/self/smaps"):
        name, _, rest = line.partition(":")
        if "-" in line.split()[0]:
            inside = line.rstrip().endswith(path)
        elif inside and name in wanted:
            found += int(rest.split()[0])
    return found

def score(barrier, results):
    forest = joblib.load(path, mmap_mode="r")
    scores = forest.score_samples(X)
    barrier.wait()
    fields = [("Rss",), ("Private_Dirty", "Private_Clean"), ("Shared_Dirty", "Shared_Clean")]
    results.put((scores.tobytes(), *(kilobytes(names) for names in fields)))
    barrier.wait()

if __name__ == "__main__":
    import ocrf
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(8), context.Queue()
    children = [context.Process(target=score, args=(barrier, results)) for _ in range(8)]
    for child in children:
        child.start()
    found = [results.get(timeout=100) for _ in children]
    for child in children:
        child.join()
    print(len({scores for scores, *_ in found}), *min(found)[1:])
    print(max(private for _, _, private, _ in found))
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's memory maps")
def test_eight_processes_share_the_pages_of_a_forest(X, tmp_path):
    forest = OneClassRF(n_estimators=300, max_depth=None, random_state=0).fit(X)
    joblib.dump(forest, tmp_path / "forest")
    np.save(tmp_path / "X.npy", X)
    done = subprocess.run(
        [sys.executable, "-c", _SHARE, str(tmp_path / "forest"), str(tmp_path / "X.npy")],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    n_scores, resident, _, shared, largest_private = map(int, done.stdout.split())
    assert n_scores == 1
    # Nodes and leaf values, which scoring reads, are in memory once for all of the processes.
    assert resident * 1024 >= forest._grown.trees.packed.nbytes / 2
    assert shared == resident
    assert largest_private == 0
