"""Data that several of the modules use."""

import numpy as np
import pytest


@pytest.fixture(scope="session", name="X")
def make_inliers():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(500, 3)), rng.normal(5, 0.5, size=(100, 3))])


@pytest.fixture(scope="session")
def outliers():
    return np.random.default_rng(1).uniform(-12, 12, size=(100, 3))
