"""Random small inputs through every detector: finite scores or a clear error, nothing else."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils import get_tags

from runners.detectors import DetectorError, check_scores

#: Inputs per detector; about 50 make a thousand inputs over all detectors.
N_EXAMPLES = int(os.environ.get("OCRF_FUZZ_EXAMPLES", "12"))


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> np.ndarray:
    """Draw a column: constant, with many duplicates, or of values far apart in magnitude."""
    scale = 10.0 ** draw(st.sampled_from([-300, -160, -8, 0, 0, 0, 0, 8, 160, 300]))
    kind = draw(st.sampled_from(["constant", "duplicates", "uniform", "magnitudes"]))
    if kind == "constant":
        return np.full(n_rows, scale * draw(st.sampled_from([-1.0, 0.0, 1.0])))
    if kind == "duplicates":
        values: Any = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
    elif kind == "uniform":
        values = st.floats(-1.0, 1.0, allow_subnormal=False)
    else:
        values = st.floats(-1e300, 1e300)
        scale = 1.0
    return scale * np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))


@st.composite
def points(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw training points and points to score, some of which are training points."""
    n_train = draw(st.integers(1, 24))
    n_test = draw(st.integers(1, 12))
    n_features = draw(st.integers(1, 4))
    X = np.column_stack([draw(columns(n_train + n_test)) for _ in range(n_features)])
    test = X[n_train:]
    n_copied = draw(st.integers(0, min(n_train, n_test)))
    test[:n_copied] = X[:n_copied]
    return X[:n_train], test


@given(data=points(), labels=st.randoms(use_true_random=False))
@settings(
    max_examples=N_EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    # The detector is never fitted itself, so it can be the same for all inputs.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_scores_are_finite_or_the_error_is_clear(
    detector: Any, data: tuple[np.ndarray, np.ndarray], labels: Any
) -> None:
    train, test = data
    copy = clone(detector)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=0)
    y = scores = None
    message = ""
    if get_tags(copy).target_tags.required:
        y = np.array([labels.choice([0, 0, 0, 1]) for _ in train])
    as_shipped = type(copy).__module__.startswith("sklearn.")
    with warnings.catch_warnings():
        if as_shipped:  # remarks on few or large points included
            warnings.simplefilter("ignore")
        try:
            scores = copy.fit(train, y).score_samples(test)
        except ValueError as error:
            message = str(error)
    if scores is None:
        assert len(message) > 20
        return
    assert scores.shape == (len(test),)
    if as_shipped and not np.isfinite(scores).all():
        # LocalOutlierFactor does this; the harness is what turns it into an error.
        with pytest.raises(DetectorError, match="not finite"):
            check_scores(scores, len(test))
        return
    assert np.isfinite(scores).all()
