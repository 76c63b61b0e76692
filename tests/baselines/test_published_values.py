"""The published cells that can be measured in a moment, on real data under the paper's protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from datasets import load, make_split
from datasets.configuration import CONF, compose
from results.metrics import evaluate
from results.published import paper

N_SPLITS = 10


def measure(name: str, algorithm: str, setting: str) -> np.ndarray:
    """Return the two areas of every split, of shape (n_splits, 2)."""
    groups = compose([f"dataset={name}", f"setting={setting}", "protocol=paper"])
    dataset = load(groups["dataset"], groups["data"])
    areas = []
    for i in range(N_SPLITS):
        split = make_split(
            dataset, setting=groups["setting"], protocol=groups["protocol"], seed=0, split=i
        )
        detector = instantiate(OmegaConf.load(CONF / "algorithm" / f"{algorithm}.yaml"))
        detector.set_params(random_state=split.random_state)
        labels = [split.y_train] if algorithm.endswith("supervised") else []
        scores = detector.fit(split.X_train, *labels).score_samples(split.X_test)
        metrics = evaluate(split.y_test, -scores).metrics
        areas.append([metrics["roc_auc_curve"], metrics["pr_auc_curve"]])
    return np.array(areas)


@pytest.mark.mirror
@pytest.mark.parametrize("setting", ["novelty", "outlier"])
@pytest.mark.parametrize("name", ["wilt", "annthyroid"])
@pytest.mark.parametrize(
    ("algorithm", "column"),
    [("orca", "Orca"), ("lsad", "LSAD"), ("ocrfsampling", "OCRFsampling")],
)
def test_published_cell_is_reproduced(
    data_home: Path, name: str, algorithm: str, column: str, setting: str
) -> None:
    if algorithm == "ocrfsampling" and setting == "outlier":
        algorithm = "ocrfsampling_supervised"  # Table S1 was made with labels
    areas = measure(name, algorithm, setting)
    cells = paper.cells().set_index(["setting", "dataset", "column"])
    expected = cells.loc[(setting, name, column), ["roc_auc_curve", "pr_auc_curve"]].to_numpy(float)
    # Two standard deviations of ours; .03 is what the order of tied scores can do to
    # the area under an interpolated precision-recall curve.
    tolerance = np.maximum([0.02, 0.03], 2 * areas.std(axis=0, ddof=1))
    assert np.all(np.abs(areas.mean(axis=0) - expected) <= tolerance), (
        areas.mean(axis=0),
        expected,
    )
