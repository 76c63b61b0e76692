"""Figures show the numbers they claim to, say what is missing, and are the same bytes every time."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from results.aggregate import make_cells
from results.cli import main
from results.figures.bars import bar_chart, time_figure
from results.figures.curves import curve_figure, mean_curves
from results.figures.distributions import box_plots, score_histogram
from results.figures.ranks import critical_difference_diagram
from results.figures.scatter import comparison_scatter
from results.figures.style import COLOURS, looks, render
from results.figures.write import draw_all
from results.metrics import curve_area
from results.records.encoding import Curves
from results.records.frame import from_records
from results.reproduction.comparison import compare
from results.statistics.rank_tests import comparisons
from tests.results.support import make_record, with_curves


@pytest.fixture(scope="module")
def small():
    """Three algorithms on two data sets, one cell NA, with curves."""
    rng = np.random.default_rng(0)
    records = [
        with_curves(make_record(d, a, split=s, setting=t, roc=r), rng)
        for a, r in (("oneclassrf", 0.9), ("iforest", 0.8), ("lof", 0.7))
        for d in ("pima", "wilt")
        for t in ("novelty", "outlier")
        for s in range(10)
        if (d, a) != ("wilt", "lof")
    ]
    records += [make_record("wilt", "lof", status="timeout")]
    return records


def labels_of(axis):
    return [text.get_text() for text in axis.texts]


def test_looks_are_distinct_for_many_series():
    table = looks([str(i) for i in range(30)])
    assert len({(look.colour, look.hatch) for look in table.values()}) == 30
    assert len({(look.colour, str(look.dash), look.marker) for look in table.values()}) == 30
    # In black and white, neighbours must differ without their colour.
    first = [table[str(i)] for i in range(8)]
    assert len({(look.marker, str(look.dash)) for look in first}) == 8


def test_palette_stays_apart_for_red_green_blindness():
    """Colours mapped to what deuteranopes see (Vienot 1999) keep a distance in linear RGB."""
    matrix = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])
    seen = rgb**2.2 @ matrix.T
    gaps = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert gaps[np.triu_indices(len(COLOURS), 1)].min() > 0.04


def test_bars_have_the_cells_heights_and_name_what_is_missing(small):
    cells = make_cells(from_records(small).frame).xs("novelty", level="setting", drop_level=False)
    labels = ["oneclassrf", "iforest", "lof"]
    figure = bar_chart(cells, labels, looks(labels), ("roc_auc_curve", "pr_auc_curve"))
    axis = figure.axes[0]
    heights = [
        bar.get_height()
        for container in axis.containers
        if hasattr(container, "patches")
        for bar in container
    ]
    expected = cells["roc_auc_curve"].droplevel([0, 1]).unstack("label")[labels].fillna(0)
    np.testing.assert_allclose(heights, expected.to_numpy().T.ravel())
    assert labels_of(axis) == ["NA"]
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()] == ["pima", "wilt"]
    assert figure.axes[-1].get_yscale() == "log"


def test_mean_curves_are_the_means_and_their_areas_the_tables(small):
    experiments = from_records(small)
    cells = make_cells(experiments.frame)
    remarks = []
    curves = mean_curves(small, experiments.frame, cells, remarks)
    assert remarks == []
    assert len(curves) == 10
    for cell, by_name in curves.items():
        for name in ("roc", "pr"):
            assert by_name[name].count == 10
            assert curve_area(by_name[name].mean) == pytest.approx(
                cells.loc[cell, f"{name}_auc_curve"]
            )
    figure = curve_figure(curves, "paper", "oneclassrf", ["pima", "wilt"])
    assert [axis.get_title() for axis in figure.axes] == ["novelty detection"] * 2 + [
        "outlier detection"
    ] * 2
    assert len(figure.axes[0].lines) == 2


def test_a_damaged_curve_is_left_out_and_named_with_its_record(small):
    encoded = Curves.from_arrays(small[0].curves).encoded
    curves = Curves(encoded | {"pr": encoded["pr"][:40] + "AAAA" + encoded["pr"][44:]})
    records = [replace(small[0], curves=curves), *small[1:]]
    experiments = from_records(records)
    remarks = []
    means = mean_curves(records, experiments.frame, make_cells(experiments.frame), remarks)
    (remark,) = remarks
    assert re.search(rf"{small[0].key[:16]} \(pima, .* a curve is damaged", remark)
    first = means["paper", small[0].setting, "pima", small[0].label]
    assert (first["roc"].count, first["pr"].count) == (10, 9)


def test_boxes_show_each_split(small):
    frame = from_records(small).frame.query("setting == 'novelty'")
    figure = box_plots(frame, ["oneclassrf", "lof"], looks(["oneclassrf", "lof"]), "roc_auc")
    assert [axis.get_title() for axis in figure.axes if axis.get_visible()] == ["pima", "wilt"]


def test_times_are_drawn_against_the_counts(small):
    cells = make_cells(from_records(small).frame)
    figure = time_figure(cells, ["iforest"], looks(["iforest"]))
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [50]
    assert list(line.get_ydata()) == [1.0]


def test_scatter_names_the_cells_that_differ_most(small):
    table = compare(make_cells(from_records(small).frame))
    figure = comparison_scatter(table, n_named=1)
    assert labels_of(figure.axes[0]) == ["wilt, OneClassRF"]  # .9 against .520 (outlier detection)


def test_rank_diagram_shows_the_mean_ranks_and_needs_a_test():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.random((6, 3)), columns=["oneclassrf", "iforest", "lof"])
    comparison = comparisons(values, "roc_auc")[0]
    figure = critical_difference_diagram(comparison)
    shown = " ".join(labels_of(figure.axes[0]))
    for label, name in (("oneclassrf", "OneClassRF"), ("iforest", "iForest"), ("lof", "LOF")):
        assert name in shown
        assert f"({comparison.mean_ranks[label]:.2f})" in shown
    assert critical_difference_diagram(comparisons(values.iloc[:, :2], "roc_auc")[0]) is None


def test_the_legend_of_the_comparison_tells_the_settings_apart(small):
    (legend,) = comparison_scatter(compare(make_cells(from_records(small).frame))).legends
    texts = [text.get_text() for text in legend.get_texts()]
    faces = [handle.get_markerfacecolor() for handle in legend.legend_handles[-2:]]
    assert dict(zip(texts[-2:], faces, strict=True)) == {
        "novelty detection": "black",
        "outlier detection": "white",
    }


_DRAW_RANKS = """
import hashlib
import numpy as np
import pandas as pd
from results.figures.ranks import critical_difference_diagram
from results.figures.style import render
from results.statistics.rank_tests import comparisons

names = ["oneclassrf", "iforest", "ocsvm", "lof", "orca", "lsad"]
values = pd.DataFrame(np.random.default_rng(0).random((8, 6)), columns=names)
figure = critical_difference_diagram(comparisons(values, "roc_auc")[0])
print(*set(names))
print(*(hashlib.sha256(render(figure, kind)).hexdigest() for kind in ("pdf", "svg")))
"""


def test_rank_diagrams_are_the_same_bytes_whatever_the_hash_seed():
    """A bar is drawn through a set of names, whose order is another in every process."""
    orders, digests = zip(
        *(
            subprocess.run(
                [sys.executable, "-c", _DRAW_RANKS],
                env=os.environ | {"PYTHONHASHSEED": seed},
                cwd=Path(__file__).parents[2],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.splitlines()
            for seed in ("1", "2")
        ),
        strict=True,
    )
    assert orders[0] != orders[1]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("constant", [False, True])
def test_histogram_shares_sum_to_one_per_class(constant):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 10])
    scores = np.ones(100) if constant else rng.normal(size=100) + y
    figure = score_histogram(y, scores, "pima")
    heights = [sum(bar.get_height() for bar in group) for group in figure.axes[0].containers]
    np.testing.assert_allclose(heights, [1, 1])
    assert "average precision" in figure.axes[0].get_title()


def test_histogram_command_names_a_missing_column(tmp_path, capsys):
    pd.DataFrame({"y": [0, 1], "score": [0.1, 0.2]}).to_csv(tmp_path / "s.csv", index=False)
    assert main(["histogram", str(tmp_path / "s.csv"), "--output", str(tmp_path)]) == 2
    assert "no column 'anomaly_score'; it has: y, score" in capsys.readouterr().err
    pd.DataFrame({"y": [0, 1], "anomaly_score": [0.1, 0.2]}).to_parquet(tmp_path / "s.parquet")
    assert main(["histogram", str(tmp_path / "s.parquet"), "--output", str(tmp_path)]) == 0
    assert (tmp_path / "figures" / "scores_s.png").stat().st_size > 0


@pytest.mark.parametrize("kind", ["pdf", "png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind, small):
    def draw():
        cells = make_cells(from_records(small).frame)
        return render(time_figure(cells, ["iforest"], looks(["iforest"])), kind)

    first = draw()
    assert first == draw()
    assert len(first) > 1000


def test_every_kind_is_drawn_once_and_names_are_unique(small):
    drawn = list(draw_all(from_records(small)))
    assert {d.group for d in drawn} == {"comparison", "bars", "boxes", "time", "curves"}
    assert len({d.name for d in drawn}) == len(drawn)
    assert all(isinstance(d.figure, Figure) for d in drawn)


def test_figures_command_says_what_it_wrote_and_what_is_missing(tmp_path, capsys):
    from tests.results.support import write_fast

    write_fast(tmp_path / "records", [make_record(split=s) for s in range(2)])
    assert main(["figures", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out.replace("\n", "")
    written = sorted(path.name for path in (tmp_path / "figures").iterdir())
    for name in ("table2_novelty_bars.pdf", "table2_novelty_bars.png", "time_paper.pdf"):
        assert name in written
        assert f"wrote {tmp_path / 'figures' / name}" in out
    assert "no figure of curves: the records hold no curves" in out


def test_nothing_is_cut_off_at_the_edge_of_a_figure(small):
    seen = set()
    for drawn in draw_all(from_records(small)):
        if drawn.group in seen:
            continue
        seen.add(drawn.group)
        render(drawn.figure, "png")  # lays out
        inside = drawn.figure.bbox.padded(1)
        for axis in drawn.figure.axes:
            if axis.get_visible():
                box = axis.get_tightbbox()
                assert inside.x0 <= box.x0 <= box.x1 <= inside.x1, drawn.name
                assert inside.y0 <= box.y0 <= box.y1 <= inside.y1, drawn.name
    assert len(seen) == 5
