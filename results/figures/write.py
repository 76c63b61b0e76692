"""The command ``figures``, and the list of figures that the report shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from results.aggregate import in_order, make_cells
from results.figures.bars import bar_chart, time_figure
from results.figures.curves import curve_figure, mean_curves
from results.figures.distributions import box_plots
from results.figures.ranks import critical_difference_diagram
from results.figures.scatter import comparison_scatter
from results.figures.style import looks, render
from results.metrics import METRICS
from results.output import Output
from results.published import paper
from results.records.files import safe_name
from results.records.frame import Experiments
from results.reproduction.comparison import NOT_JUDGED, compare
from results.reproduction.runs import comparable
from results.statistics.write import sections
from results.tables.write import slices
from results.vocabulary import display_name


@dataclass(frozen=True)
class Drawn:
    """A figure with its file name, the group it belongs to and what it shows."""

    name: str
    group: str
    caption: str
    figure: Figure


def draw_all(experiments: Experiments) -> Iterator[Drawn]:
    """Draw every figure that the experiments allow, one at a time."""
    experiments = _without_overridden(experiments)
    frame = experiments.frame
    cells = make_cells(frame)
    labels = in_order(frame["label"], experiments.selection.algorithms)
    look = looks(labels)
    comparison = compare(make_cells(comparable(frame, paper.publication())[0]))
    judged = comparison["difference"].notna() & (comparison["verdict"] != NOT_JUDGED)
    if judged.any():
        yield Drawn(
            "comparison",
            "comparison",
            "Ours against the published values, with the standard deviation over the splits. "
            "Filled: novelty detection, empty: outlier detection; grey: within .02.",
            comparison_scatter(comparison),
        )
    for part in slices(experiments, cells):
        own = [label for label in labels if label in part.cells.index.unique("label")]
        yield Drawn(
            f"{part.name}_bars",
            "bars",
            f"{part.caption}: metrics with standard deviations, and time.",
            bar_chart(part.cells, own, look, part.metrics),
        )
        chosen = (frame["protocol"] == part.protocol) & (frame["setting"] == part.setting)
        for metric in part.metrics:
            yield Drawn(
                f"{part.name}_boxes_{metric}",
                "boxes",
                f"{part.caption}: {METRICS[metric].heading} over the splits.",
                box_plots(frame[chosen], own, look, metric),
            )
    for section in sections(experiments):
        for i, comparison_of_ranks in enumerate(section.comparisons):
            figure = critical_difference_diagram(comparison_of_ranks)
            if figure is not None:
                which = "common" if i == 0 else "complete"
                yield Drawn(
                    f"{section.name}_ranks_{which}",
                    "ranks",
                    f"{section.title}: {comparison_of_ranks.title}. A bar joins algorithms that "
                    "Nemenyi's test does not tell apart at 5 %.",
                    figure,
                )
    for protocol, group in cells.groupby(level="protocol", sort=False):
        own = [label for label in labels if label in group.index.unique("label")]
        yield Drawn(
            f"time_{safe_name(str(protocol))}",
            "time",
            f"Seconds against the number of points, protocol {protocol}.",
            time_figure(group, own, look),
        )
    yield from _curves(experiments)


def _without_overridden(experiments: Experiments) -> Experiments:
    """Leave out protocols with overridden options, ``paper(cap.drawn=once)``.

    They are run to measure one departure on a few cells, which the table of departures shows.
    """
    plain = ~experiments.frame["protocol"].str.contains("(", regex=False)
    if not plain.any():
        return experiments
    return replace(experiments, frame=experiments.frame[plain])


def _curves(experiments: Experiments) -> Iterator[Drawn]:
    if experiments.records is None:
        return
    cells = make_cells(experiments.frame)
    curves = mean_curves(experiments.records, experiments.frame, cells, experiments.remarks)
    datasets = sorted(experiments.frame["dataset"].unique())
    pairs = {(protocol, label) for protocol, _, _, label in curves}
    for protocol in dict.fromkeys(cells.index.get_level_values("protocol")):
        for label in in_order(cells.index.get_level_values("label")):
            if (protocol, label) in pairs:
                yield Drawn(
                    f"curves_{safe_name(label)}_{safe_name(protocol)}",
                    "curves",
                    f"{display_name(label)}, protocol {protocol}: mean ROC and precision-recall "
                    "curves with their areas.",
                    curve_figure(curves, protocol, label, datasets),
                )


def write_figures(experiments: Experiments, output: Output) -> None:
    """Write every figure as PDF and PNG."""
    groups = set()
    for drawn in draw_all(experiments):
        groups.add(drawn.group)
        for kind in ("pdf", "png"):
            output.write(f"figures/{drawn.name}.{kind}", render(drawn.figure, kind))
    output.remarks += experiments.remarks
    for group, reason in (
        ("comparison", "no whole cell of the paper's protocol has a value to compare"),
        ("ranks", "no three algorithms share two data sets"),
        ("curves", "the records hold no curves"),
    ):
        if group not in groups:
            output.remarks.append(f"no figure of {group}: {reason}")
