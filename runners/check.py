"""``python -m runners.check algorithm=NAME``: hold a detector to what the benchmark expects."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from datasets.command import USAGE_ERROR, carried_out
from datasets.errors import UsageError
from runners import launcher
from runners.app import ROOT, Misuse, said_in_words
from runners.conformance import depends_on_other_points, run_checks
from runners.detectors import ADAPTER, DetectorError, build

_USAGE = """\
usage: python -m runners.check algorithm=NAME [algorithm.PARAMETER=VALUE ...]

Checks the detector of conf/algorithm/NAME.yaml (hydra.searchpath=[file://FOLDER] adds a folder of
your own): direction of its scores, determinism, finite scores, one point, constant columns, input
left alone, parameters kept, predictions. Says whether a score depends on the points beside it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the algorithm that the overrides name; return 0, 1 on a failed check, 2 on misuse."""
    overrides = list(sys.argv[1:] if arguments is None else arguments)
    if overrides in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    if not overrides or any(argument.startswith("-") for argument in overrides):
        print(_USAGE, file=sys.stderr)
        return USAGE_ERROR
    return carried_out(lambda: _check(overrides))


def _check(overrides: Sequence[str]) -> int:
    launcher.register()
    try:
        with (
            said_in_words(overrides),
            initialize_config_dir(str(ROOT / "conf"), version_base="1.3"),
        ):
            config = compose("config", list(overrides))
        algorithm = OmegaConf.to_container(config.algorithm, resolve=True)
        assert isinstance(algorithm, dict)
        parameters = {str(name): value for name, value in algorithm.items()}
        if parameters.get("training_scores") is True and parameters.get("_target_") == ADAPTER:
            # The checks score other points, for which such a detector has no scores.
            print("checked without training_scores: true")
            parameters["training_scores"] = False
        build(parameters, random_state=0)
    except (Misuse, DetectorError) as error:
        raise UsageError(str(error)) from error

    def make(random_state: int) -> Any:
        return build(parameters, random_state)

    results = run_checks(make)
    for result in results:
        print(f"{'FAILED' if result.problem else 'passed':7} {result.name}")
        if result.problem:
            print(f"        {result.problem}")
        if result.traceback:
            print("        " + result.traceback.strip().replace("\n", "\n        "))
    failed = sum(result.problem is not None for result in results)
    if not failed and depends_on_other_points(make):
        print("note: a score depends on the other points that score_samples is given with it")
    print(f"{parameters['_target_']}: {len(results) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
