"""Our own detectors pass scikit-learn's estimator checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import (
    LeastSquaresAnomalyDetection,
    Orca,
    PyODDetector,
    RandomForestClustering,
    SamplingOneClassForest,
)

BATCH = "the score of a point depends on the other points to be scored"
LABELS = "labels other than 0 and 1 are refused"
LEAVE_ONE_OUT = "PyOD sets the threshold from leave-one-out scores of the training points"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks that ask for what a detector is not meant to do."""
    if isinstance(estimator, Orca):
        return {"check_methods_subset_invariance": BATCH}
    if isinstance(estimator, RandomForestClustering):
        return {
            "check_methods_subset_invariance": BATCH,
            "check_methods_sample_order_invariance": BATCH,
        }
    if isinstance(estimator, PyODDetector) and estimator.detector == "KNN":
        return {
            "check_outliers_train": LEAVE_ONE_OUT,
            "check_outliers_fit_predict": LEAVE_ONE_OUT,
        }
    return {}


ESTIMATORS = [
    SamplingOneClassForest(n_estimators=5),
    SamplingOneClassForest(n_estimators=5, method=0, reject_out_of_bounds=True),
    Orca(),
    LeastSquaresAnomalyDetection(),
    RandomForestClustering(n_forests=2, n_trees=10),
    PyODDetector(detector="KNN"),
    PyODDetector(detector="PCA"),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
