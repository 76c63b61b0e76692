"""Metrics of one experiment: what they are, and how scores are judged by them."""

from results.metrics.curves import GRID_POINTS, curve_area, grid
from results.metrics.definitions import (
    EXACT_METRICS,
    METRICS,
    PAPER_METRICS,
    USUAL_METRICS,
    Metric,
    check_metrics,
    metric_headings,
)
from results.metrics.evaluation import Evaluation, evaluate

__all__ = [
    "EXACT_METRICS",
    "GRID_POINTS",
    "METRICS",
    "PAPER_METRICS",
    "USUAL_METRICS",
    "Evaluation",
    "Metric",
    "check_metrics",
    "curve_area",
    "evaluate",
    "grid",
    "metric_headings",
]
