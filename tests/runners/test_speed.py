"""The speed comparison: what it computes from timings, and a small run of every part."""

import csv
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from runners.speed import contestants, earlier, scale
from runners.speed.__main__ import main, parse
from runners.speed.child import ChildError, run
from runners.speed.paired import TOTAL, Timing, clock, summarise, time_pairs
from runners.speed.synthetic import clustered
from runners.speed.wide import time_wide


def timing(dataset, algorithm, pair, fit, score, n_jobs=1):
    return Timing(
        dataset, algorithm, n_jobs, pair, 10, 10, 2, fit, fit, score, score, score / 10, 1.5
    )


def test_ratios_are_medians_of_pairs_and_totals_are_sums():
    timings = [
        # The machine is half as fast in the second pair; the ratios within pairs are 1/2, 1/2, 2.
        *(timing("a", contestants.OURS, p, f, 1.0) for p, f in enumerate([1.0, 2.0, 2.0])),
        *(timing("a", "iforest", p, f, 1.0) for p, f in enumerate([2.0, 4.0, 1.0])),
        *(timing("b", contestants.OURS, p, 1.0, 1.0) for p in range(3)),
        *(timing("b", "iforest", p, 4.0, 1.0) for p in range(3)),
    ]
    summaries = {(s.dataset, s.algorithm): s for s in summarise(timings)}
    a = summaries["a", "iforest"]
    assert (a.fit_ratio, a.fit_seconds) == (0.5, 2.0)
    assert a.total_ratio == pytest.approx(2 / 3)
    total = summaries[TOTAL, "iforest"]
    assert total.fit_ratio == pytest.approx(np.median([2 / 6, 3 / 8, 3 / 5]))
    assert total.total_ratio == pytest.approx(np.median([4 / 8, 5 / 10, 5 / 7]))
    assert summaries[TOTAL, contestants.OURS].fit_ratio == 1.0
    assert [s.dataset for s in summarise(timings)][-2:] == [TOTAL, TOTAL]
    assert (a.row_seconds, a.pickle_mb, total.pickle_mb) == (0.1, 1.5, 3.0)


def test_ratios_of_processor_time_are_those_of_its_own():
    ours = replace(timing("a", contestants.OURS, 0, 5.0, 5.0), fit_cpu_seconds=1.0)
    summaries = summarise([ours, timing("a", "iforest", 0, 2.0, 3.0)])
    other = next(s for s in summaries if s.algorithm == "iforest")
    assert (other.fit_ratio, other.total_ratio) == (2.5, 2.0)
    assert (other.fit_cpu_ratio, other.total_cpu_ratio) == (0.5, 6 / 5)


def test_numbers_of_threads_are_summarised_apart():
    timings = [
        timing("a", name, 0, seconds, 1.0, n_jobs)
        for n_jobs in (1, 2)
        for name, seconds in ((contestants.OURS, 4.0 / n_jobs), ("iforest", 4.0))
    ]
    ratios = {(s.n_jobs, s.algorithm, s.dataset): s.fit_ratio for s in summarise(timings)}
    assert ratios[1, "iforest", "a"] == 1.0
    assert ratios[2, "iforest", "a"] == 0.5


def test_contestants_take_turns_in_coming_first():
    X = clustered(200, 2, seed=0)
    names = ["oneclassrf", "iforest"]
    timings = time_pairs("made up", X, X[:50], names, n_jobs=1, n_pairs=2)
    assert [t.algorithm for t in timings] == [*names, *reversed(names)]
    assert all(t.fit_seconds > 0 and t.score_seconds > 0 for t in timings)
    assert {(t.n_train, t.n_test, t.n_features) for t in timings} == {(200, 50, 2)}


@pytest.mark.parametrize("name", contestants.available())
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_contestant_scores_the_middle_higher(name, n_jobs):
    X = np.random.default_rng(0).normal(size=(400, 3))
    with contestants.threads(n_jobs):
        forest = contestants.make(name, n_jobs, random_state=0)
        forest.fit(X)
        scores = forest.score_samples(np.array([[0.0, 0.0, 0.0], [6.0, 6.0, 6.0]]))
    assert scores[0] > scores[1]


def test_every_contestant_is_available_or_missing():
    assert set(contestants.available()) >= {"oneclassrf", "iforest"}
    assert not set(contestants.available()) & set(contestants.missing())


def test_clock_tells_waiting_from_computing():
    wall, cpu, result = clock(lambda: time.sleep(0.05) or "done")
    assert wall >= 0.05
    assert cpu < 0.05
    assert result == "done"


def test_slope_of_a_power_law():
    rows = [{"n_rows": n, "seconds": 3e-6 * n**1.07} for n in scale.sizes(10**7)]
    assert [row["n_rows"] for row in rows] == [10**4, 10**5, 10**6, 10**7]
    assert scale.slope(rows, "seconds") == pytest.approx(1.07)


def test_clustered_data_do_not_depend_on_the_chunk():
    X = clustered(1000, 4, seed=1)
    np.testing.assert_array_equal(X, clustered(1000, 4, seed=1))
    assert not np.array_equal(X, clustered(1000, 4, seed=2))
    assert np.isfinite(X).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_stays_within_bounds(n_jobs, monkeypatch):
    # What is freed goes back at once: else the peak of a small fit is mostly what the C library keeps.
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "131072")
    small, large = scale.measure_scale([10_000, 100_000], n_jobs, seed=0)
    assert large["input_mb"] == pytest.approx(100_000 * 10 * 8 / 2**20)
    # Of 10^4 rows the forest alone, the result, is half as large again as they are.
    assert small["fit_need_over_input"] < 3.0
    assert large["fit_need_over_input"] < 2.2
    assert large["fit_peak_over_input"] < 3.0
    # Beyond input and output.
    assert max(small["score_peak_mb"], large["score_peak_mb"]) < 64.0


def test_memory_is_the_median_of_processes_from_100000_rows_on(monkeypatch):
    needs = iter([1.9, 2.1, 1.8])

    def measured(n_rows, n_jobs, seed):
        columns = dict.fromkeys(["input_mb", "fit_peak_mb", "forest_mb"], 1.0)
        (n,) = n_rows
        return [
            {
                "n_rows": n,
                "n_features": 10,
                "n_jobs": n_jobs,
                "fit_need_over_input": next(needs),
                **columns,
            }
        ]

    monkeypatch.setattr(scale, "measure_scale", measured)
    (row,) = scale.measure_memory([10**4, 10**5], [2], repeats=3, seed=0)
    assert (row["n_rows"], row["n_jobs"], row["repeats"]) == (10**5, 2, 3)
    assert (row["need_over_input"], row["highest"]) == (1.9, 2.1)


def test_the_readme_says_what_memory_was_measured():
    root = Path(__file__).parents[2]
    with (root / "results" / "runs" / "speed" / "memory.csv").open() as file:
        needs = {
            row["n_jobs"]: float(row["need_over_input"])
            for row in csv.DictReader(file)
            if row["n_rows"] == "1000000"
        }
    assert max(needs, key=needs.__getitem__) == "2"
    said = f"10^6 rows of ten columns on two threads takes {needs['2']:.2f} times the memory of the"
    assert said in " ".join((root / "README.md").read_text(encoding="utf-8").split())


def test_wide_data_are_timed_in_turn():
    timings = time_wide(["oneclassrf", "iforest"], 1, 1, seed=0, shape=(60, 300))
    assert [(t.dataset, t.n_features) for t in timings] == [("60 x 300", 300)] * 2


def test_this_checkout_is_as_fast_as_itself():
    row = earlier.compare(Path(__file__).parents[2], (1000, 10), n_jobs=1, n_pairs=1, seed=0)
    assert row["same_scores"] is True
    for part in ("fit", "score"):
        assert 0 < row[f"{part}_lowest"] == row[f"{part}_ratio"] == row[f"{part}_highest"]


def test_checkouts_take_turns_in_coming_first(monkeypatch):
    seen = []

    def run(task, folder=None):
        seen.append((task["seed"], folder))
        return {"fit_seconds": 1.0, "score_seconds": 1.0, "scores": folder and task["seed"] == 8}

    monkeypatch.setattr(earlier, "run", run)
    row = earlier.compare("old", (10, 2), n_jobs=1, n_pairs=2, seed=7)
    assert seen == [(7, None), (7, "old"), (8, "old"), (8, None)]
    assert row["same_scores"] is False


def test_ratios_of_pairs():
    ours, theirs = (
        [{"fit_seconds": s} for s in seconds] for seconds in ([1.0, 3.0, 2.0], [2.0] * 3)
    )
    found = earlier.ratios(ours, theirs, "fit")
    assert found == {"fit_ratio": 1.0, "fit_lowest": 0.5, "fit_highest": 1.5}


def test_a_failing_child_is_named():
    with pytest.raises(ChildError, match=r"grow.*\n.*clustered|n_rows"):
        run({"measure": "grow", "n_rows": -5, "n_features": 2, "n_jobs": 1, "seed": 0})


@pytest.mark.parametrize(
    "arguments",
    [
        ["datasetz"],
        ["--against", "rocks"],
        ["--pairs", "0"],
        ["--threads", "0"],
        ["--largest", "100"],
        ["--algorithm", "rocks"],
        ["earlier"],
        ["--earlier", "nowhere"],
    ],
)
def test_bad_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(arguments)
    assert caught.value.code == 2
    assert "error" in capsys.readouterr().err


def test_a_small_run_writes_its_tables(tmp_path, capsys):
    arguments = ["datasets", "scale", "--data", "pima", "--pairs", "1", "--threads", "1"]
    arguments += ["--against", "iforest"]
    assert main([*arguments, "--largest", "10000", "--output", str(tmp_path)]) == 0
    with (tmp_path / "speed" / "summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    assert {row["dataset"] for row in summary} == {"pima", TOTAL}
    assert {row["algorithm"] for row in summary} == {"oneclassrf", "iforest"}
    with (tmp_path / "speed" / "scale.csv").open() as file:
        assert [row["n_rows"] for row in csv.DictReader(file)] == ["10000"]
    printed = capsys.readouterr().out
    # The output is not a terminal: nothing is cut off for all that.
    for heading in ("fit ratio", "cpu: fit", "one row (ms)", "pickle (MB)", "fit need over input"):
        assert heading in printed
    assert "…" not in printed
    assert "original" not in printed


def test_arguments_restrict_the_baselines_too(capsys):
    assert main(["baselines", "--data", "pima"]) == 0
    assert "none of the algorithms" in capsys.readouterr().out
    assert main(["baselines", "--data", "ionosphere", "--algorithm", "rfc"]) == 0
    printed = capsys.readouterr().out
    assert "ionosphere" in printed
    assert "wilt" not in printed
    assert "orca" not in printed


@pytest.mark.parametrize(("n", "rows"), [(50, 50), (300, 100), (2000, 400)])
def test_equal_sub_samples(n, rows):
    X = np.random.default_rng(0).normal(size=(n, 2))
    ours = contestants.make("oneclassrf", 1, 0).fit(X)
    theirs = contestants.make("iforest_same_rows", 1, 0).fit(X)
    assert ours.forest.max_samples_ == theirs.forest.max_samples_ == rows


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["earlier", "--earlier", ".", "--data", "pima"], "--data is read by datasets, baselines"),
        (["wide", "--earlier", "."], "--earlier is read by earlier"),
        (["datasets", "--largest", "20000"], "--largest is read by scale, memory, earlier"),
        (["startup", "--algorithm", "rfc"], "--algorithm is read by baselines"),
        (["memory", "--largest", "20000"], "memory starts at --largest 100000"),
    ],
)
def test_an_option_that_no_part_reads_is_refused(arguments, named, capsys):
    with pytest.raises(SystemExit, match="2"):
        parse(arguments)
    assert named in capsys.readouterr().err
