"""Settings that a grid must not begin with: each named, with what would be right."""

import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from runners.app import ROOT
from runners.preflight import _RULES, check_options
from runners.summary import UsageError

SECONDS = "a positive number of seconds"
SWITCH = "true or false"


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("n_splits", 0, "a whole number, at least 1"),
        ("n_splits", 2.5, "a whole number, at least 1"),
        ("n_splits", "all", "a whole number, at least 1"),
        ("timeout", 0, SECONDS),
        ("timeout", "soon", SECONDS),
        ("timeout", True, SECONDS),
        ("timeout", float("nan"), SECONDS),
        ("timeout", float("inf"), SECONDS),
        ("timeout", None, SECONDS),
        ("seed", -1, "a whole number, at least 0"),
        ("seed", 1.5, "a whole number, at least 0"),
        ("allow_labels", "maybe", SWITCH),
        ("runner.backend", "spark", "one of threads, dask"),
        ("runner.n_jobs", 0, "a whole number other than 0 (-1: all cores)"),
        ("runner.n_jobs", "two", "a whole number other than 0 (-1: all cores)"),
        ("runner.threads_per_experiment", 0, "a whole number, at least 1"),
        ("runner.memory_limit_gb", -1.0, "null or a positive number"),
        ("runner.memory_limit_gb", "much", "null or a positive number"),
        ("runner.run_all_splits", "maybe", SWITCH),
        ("runner.retry", "some", "null, failed or all"),
        ("output", "", "the name of a folder"),
        ("output", " ", "the name of a folder"),
        ("runner.preparation_timeout", 0, SECONDS),
        ("runner.keep_scores", 1, SWITCH),
        ("runner.progress", "loud", "one of auto, live, plain, none"),
    ],
)
def test_a_wrong_setting_is_named(make_cell, name, value, right):
    good, bad = make_cell(), make_cell()
    group, _, key = name.rpartition(".")
    (bad.config[group] if group else bad.config)[key] = value
    check_options([good])
    with pytest.raises(UsageError, match=re.escape(f"{name} must be {right}, got {value!r}")):
        check_options([good, bad])


@pytest.mark.parametrize("value", [0.25, 1, None])
def test_limits_may_be_whole_or_not(make_cell, value):
    check_options([make_cell(timeout=value or 1, memory_limit_gb=value)])


def test_every_setting_of_a_runner_has_its_rule():
    settings = OmegaConf.load(Path(ROOT) / "conf" / "runner" / "local.yaml")
    assert {f"runner.{name}" for name in settings} <= set(_RULES)
