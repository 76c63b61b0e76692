"""What the display says, on a terminal and elsewhere."""

import io

import pytest
from rich.console import Console

from runners.experiment import Experiment
from runners.progress import Progress
from runners.schedule import Plan
from runners.supervise import Outcome


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def cells(make_cell):
    return [make_cell(name="first", n_splits=2), make_cell(name="second", n_splits=2)]


def progress_of(cells, mode="auto", stream=None):
    todo = [experiment for cell in cells for experiment in cell.experiments()]
    plan = Plan(todo, [], dict.fromkeys(cells, 1.0), [])
    return Progress(plan, 1, mode, stream if stream is not None else io.StringIO())


def end(progress, experiment, status="ok", reason="", seconds=2.0):
    progress.begins(experiment)
    progress.ends(experiment, Outcome("ran", experiment.key, status, reason, seconds))


def test_plain_lines_where_there_is_no_terminal(cells):
    progress = progress_of(cells)
    with progress:
        for split in range(2):
            end(progress, Experiment(cells[0], split))
    said = progress.stream.getvalue()
    assert "2/4 experiments, 1/2 cells" in said
    assert "about 0:00:04 left" in said
    assert "table first novelty clean 2 of 2 splits" in said
    assert "\x1b" not in said


def test_a_live_display_on_a_terminal(cells):
    progress = progress_of(cells, stream=Terminal())
    with progress:
        progress.begins(Experiment(cells[0], 0))
        end(progress, Experiment(cells[1], 0), "error", "broken")
        console = Console(width=100, file=io.StringIO())
        console.print(progress._render())
    bar, running, failures = console.file.getvalue().splitlines()
    assert "1/4 experiments, 0/2 cells, 1 failed" in bar
    assert "table first novelty clean split 0" in running
    assert "1 x error: broken" in failures


def test_nothing_is_said_on_request(cells):
    progress = progress_of(cells, mode="none")
    with progress:
        end(progress, Experiment(cells[0], 0), "error", "broken")
    assert progress.stream.getvalue() == ""


def test_the_first_failure_of_a_cell_is_said_at_once(cells):
    progress = progress_of(cells)
    with progress:
        end(progress, Experiment(cells[0], 0), "crashed", "killed by SIGSEGV")
        end(progress, Experiment(cells[0], 1), "crashed", "killed by SIGSEGV")
    said = progress.stream.getvalue()
    assert said.count("killed by SIGSEGV") == 1


def test_what_is_left_is_guessed_from_what_was_seen(cells):
    progress = progress_of(cells)
    assert progress.seconds_left() is None
    end(progress, Experiment(cells[0], 0), seconds=3.0)
    # Guessed at 1 s each, seen to take 3 s: three are left.
    assert progress.seconds_left() == pytest.approx(9.0, abs=0.1)
    end(progress, Experiment(cells[0], 1), seconds=3.0)
    assert progress.seconds_left() == pytest.approx(6.0, abs=0.1)
    # A timeout ends its cell.
    end(progress, Experiment(cells[1], 0), "timeout", "too slow")
    assert progress.seconds_left() == pytest.approx(0.0, abs=0.1)


def test_an_estimate_that_is_used_up_is_not_said(cells):
    progress = progress_of(cells)
    with progress:
        for split in range(2):
            end(progress, Experiment(cells[0], split), seconds=0.001)
    said = progress.stream.getvalue()
    assert "2/4 experiments" in said
    assert " left" not in said


def test_an_experiment_without_a_record_stays_left(cells):
    progress = progress_of(cells)
    experiment = Experiment(cells[0], 0)
    progress.begins(experiment)
    progress.ends(experiment, Outcome("busy", experiment.key))
    assert progress.done == 0
