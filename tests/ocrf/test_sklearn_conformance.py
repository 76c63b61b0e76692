"""scikit-learn's own checks of an estimator, none skipped."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ocrf import OneClassRF


@parametrize_with_checks(
    [
        OneClassRF(n_estimators=10),
        OneClassRF(n_estimators=10, scoring="density", adversary="naive", criterion="entropy"),
        OneClassRF(n_estimators=10, scoring="typical_cell", contamination=0.1, gamma=(0.1, 10.0)),
    ]
)
# The checks draw small data on purpose and expect the estimator to cope.
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
