"""One detector per file of conf/algorithm, made small where the full size only costs time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from sklearn.base import clone

ALGORITHMS = Path(__file__).parents[2] / "conf" / "algorithm"
SMALLER = {
    "n_estimators": 20,
    "n_forests": 2,
    "n_trees": 40,
}


def make_detector(name: str) -> Any:
    """Instantiate conf/algorithm/NAME.yaml as the runner does, with fewer trees."""
    config = OmegaConf.load(ALGORITHMS / f"{name}.yaml")
    if name == "pyod":
        config.detector = "KDE"  # what the command line gives
    detector = instantiate(config, _convert_="all")
    return detector.set_params(
        **{key: value for key, value in SMALLER.items() if key in detector.get_params(deep=False)}
    )


def algorithm_names() -> list[str]:
    return sorted(path.stem for path in ALGORITHMS.glob("*.yaml"))


@pytest.fixture(scope="session", params=algorithm_names())
def algorithm(request: pytest.FixtureRequest) -> str:
    """Return the name of an algorithm."""
    return str(request.param)


@pytest.fixture(scope="session")
def _detector(algorithm: str) -> Any:
    return make_detector(algorithm)


@pytest.fixture
def detector(_detector: Any) -> Any:
    """Return an unfitted detector of its own for every test."""
    return clone(_detector)
