"""Every command line says what is wrong on standard error, and ends with status 2."""

import contextlib
import importlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from datasets.mistakes import GROUPS
from runners import app

ROOT = Path(__file__).resolve().parents[2]
_TWICE = "is given twice, as"
NOWHERE = "/dev/null/folder"  # below a file that nobody can replace


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("runners.check algorithm=nosuch", "Could not find 'algorithm/nosuch'"),
        ("runners.check algorithm=lof algorithm.nope=1", "algorithm has no 'nope'"),
        ("runners.convert /nowhere", "there is no packed file /nowhere"),
        ("runners.missing --data nosuch", "Could not find 'dataset/nosuch'"),
        (f"runners.missing --data pima --output {NOWHERE}", f"{NOWHERE}: Not a directory"),
        ("runners.repeats --data nosuch", "Could not find 'dataset/nosuch'"),
        ("runners.speed.__main__ baselines --data nosuch", "Could not find 'dataset/nosuch'"),
        ("runners.theory.__main__ level_sets --output " + NOWHERE, f"{NOWHERE}"),
        ("datasets.cli digest dataset=nosuch", "Could not find 'dataset/nosuch'"),
        ("results.cli tables --records /nowhere", "no records in /nowhere"),
        ("datasets.cli show dataset=wilt dataset=pima", f"dataset {_TWICE} dataset=wilt and as"),
        ("datasets.cli show +dataset=pima", "+dataset=pima: write dataset=NAME"),
        ("runners.app seed=1 ~seed", f"seed {_TWICE} seed=1 and as ~seed: give one"),
        ("runners.app seed=1 +seed=2 timeout=5", f"seed {_TWICE} seed=1 and as +seed=2: give one"),
        ("runners.check algorithm.a=1 algorithm.a=2", f"algorithm.a {_TWICE} algorithm.a=1"),
    ],
)
def test_a_request_that_cannot_be_carried_out(command, said, capsys):
    module, *arguments = command.split()
    assert importlib.import_module(module).main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert said in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        "runners.missing --splits 1 --output a --splits 2",
        "runners.repeats --splits 1 --splits 1",
        "runners.speed.__main__ --pairs 1 --pairs 2",
        "runners.theory.__main__ --seed 1 --seed 2",
    ],
)
def test_an_option_given_twice_is_refused(command, capsys):
    module, *arguments = command.split()
    with pytest.raises(SystemExit, match="2"):
        importlib.import_module(module).main(arguments)
    assert "given twice; write --" in capsys.readouterr().err


@pytest.fixture(scope="module")
def said():
    """Return what ``--help`` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as left:
        app.main(["--help"])
    assert left.value.code == 0
    return printed.getvalue()


def test_the_help_names_the_groups_their_options_and_the_exit_statuses(said):
    for group in GROUPS:
        [line] = re.findall(rf"^{group}: (.*)$", said, re.MULTILINE)
        assert line.split(", ") == sorted(p.stem for p in (ROOT / "conf" / group).glob("*.yaml"))
    assert "exit status: 0 " in said
    assert "powered by Hydra" not in said


def test_the_examples_of_the_help_can_be_run(said, composed):
    examples = re.findall(r"^  python -m runners (.*)$", said, re.MULTILINE)
    assert len(examples) == 3
    assert [len(composed(*shlex.split(example))) for example in examples] == [1, 4, 60]


def test_what_the_help_says_of_a_grid_is_what_hydra_prints(said, capsys):
    arguments = ["grid=paper", "--cfg", "hydra", "-p", "hydra.sweeper.params"]
    assert f"{' '.join(['grid=NAME', *arguments[1:]])} prints" in said
    assert app.main(arguments) == 0
    assert re.search(r"^setting: novelty,outlier$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("option", [["--help"], ["--cfg", "job"]])
def test_what_is_only_printed_ends_quietly_when_its_reader_leaves(option, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = [sys.executable, "-m", "runners", *option]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + 13
