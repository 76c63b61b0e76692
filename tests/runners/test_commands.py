"""Every command line says what is wrong on standard error, and ends with status 2."""

import importlib

import pytest

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
    ],
)
def test_a_request_that_cannot_be_carried_out(command, said, capsys):
    module, *arguments = command.split()
    assert importlib.import_module(module).main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert said in found.err
    assert found.err.count("\n") == 1
