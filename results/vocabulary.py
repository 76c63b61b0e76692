"""Names, order, marks and numbers as tables, figures and reports print them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from results.records.statuses import MARK_MEANINGS, NA

#: Columns of the paper's tables, in its order: name in ``conf/algorithm`` and printed name.
PAPER_ALGORITHMS: Final = {
    "oneclassrf": "OneClassRF",
    "iforest": "iForest",
    "ocrfsampling": "OCRFsampling",
    "ocsvm": "OCSVM",
    "lof": "LOF",
    "orca": "Orca",
    "lsad": "LSAD",
    "rfc": "RFC",
}

#: The forms of one class, which bear its name.
FORMS: Final = {
    "oneclassrf": "the form that the paper's tables were made with, but for `scoring`",
    "oneclassrf_text": "the form of the paper's text, the defaults of the class",
}

#: Their training times hold the test times too, as in the paper.
TRANSDUCTIVE: Final = frozenset({"orca", "rfc"})

SETTINGS: Final = {"novelty": "novelty detection", "outlier": "outlier detection"}

PARTIAL: Final = "†"
PARTIAL_MEANING: Final = "fewer splits than the protocol has"
UNPAIRED: Final = "§"
UNPAIRED_MEANING: Final = "other splits than those of most, and so not compared"
LABELLED: Final = "‡"
LABELLED_MEANING: Final = "was given the labels of the training points"


def na_meaning(limits: Collection[float]) -> str:
    """Say what NA stands for, given the time limits (seconds) that experiments exceeded.

    Examples
    --------
    >>> na_meaning([1800.0])
    'fitting or scoring exceeded 1800 s'
    >>> na_meaning([30.0, 1800.0])
    'fitting or scoring exceeded the time limit, not the same for all: 30 s, 1800 s'
    """
    seconds = [f"{limit:.10g} s" for limit in sorted(set(limits))]
    if len(seconds) == 1:
        return f"fitting or scoring exceeded {seconds[0]}"
    mixed = f", not the same for all: {', '.join(seconds)}" if seconds else ""
    return f"{MARK_MEANINGS[NA]}{mixed}"


def display_name(label: str) -> str:
    """Return the name to print for an algorithm's label.

    Examples
    --------
    >>> display_name("oneclassrf"), display_name("lof_text")
    ('OneClassRF', 'LOF (text)')
    >>> display_name("iforest(max_samples=64)")
    'iForest (max_samples=64)'
    >>> display_name("orca‡")
    'Orca‡'

    An algorithm of one's own may be named as one of the paper's is printed:

    >>> display_name("LOF"), display_name("LOF(n_neighbors=5)")
    ('LOF, own', 'LOF, own (n_neighbors=5)')
    >>> display_name("lof_")
    'lof_'
    """
    if label.endswith(LABELLED):
        return display_name(label.removesuffix(LABELLED)) + LABELLED
    name, parenthesis, variant = label.partition("(")
    base, _, suffix = name.partition("_") if not name.endswith("_") else (name, "", "")
    printed = PAPER_ALGORITHMS.get(base, name)
    if name.strip() in PAPER_ALGORITHMS.values():
        printed = f"{name.strip()}, own"
    remarks = [suffix] if base in PAPER_ALGORITHMS and suffix else []
    if parenthesis:
        remarks.append(variant.removesuffix(")"))
    return f"{printed} ({', '.join(remarks)})" if remarks else printed


def flagged(label: str, labelled: Collection[str]) -> str:
    """Return the label with a mark if its algorithm was given training labels."""
    return label + LABELLED if label in labelled else label


def is_transductive(label: str) -> bool:
    """Tell whether an algorithm only keeps the training points, and does its work when scoring.

    Examples
    --------
    >>> is_transductive("orca_clean"), is_transductive("rfc(mtry=2)"), is_transductive("lof")
    (True, True, False)
    """
    return _base(label) in TRANSDUCTIVE


def _base(label: str) -> str:
    return re.split(r"[_(]", label, maxsplit=1)[0].removesuffix(LABELLED)


_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def algorithm_order(label: str) -> tuple[int, list[str | float]]:
    """Sort key: the paper's algorithms in its order, each followed by its variants.

    Numbers in labels are ordered as numbers, as the values of a sweep.

    Examples
    --------
    >>> sorted(["lof(k=10)", "lof(k=5)", "lof", "iforest"], key=algorithm_order)
    ['iforest', 'lof', 'lof(k=5)', 'lof(k=10)']
    """
    base = _base(label)
    names = list(PAPER_ALGORITHMS)
    # Texts and numbers in turn, so that each is compared with its like.
    parts = enumerate(_NUMBER.split(label))
    ordered = [float(part) if i % 2 else part for i, part in parts]
    return (names.index(base) if base in names else len(names), ordered)


def round_half_up(value: float, digits: int) -> Decimal:
    """Round to `digits` decimals, halves away from zero.

    The binary value nearest to a decimal half may lie on either side of it (the mean of ten values
    of three digits often is such a half), so noise below 1e-12 is removed first.

    Examples
    --------
    >>> round_half_up(0.8125, 3), f"{0.8125:.3f}"
    (Decimal('0.813'), '0.812')
    """
    return Decimal(f"{value:.12f}").quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def format_number(value: float, digits: int) -> str:
    """Return `value` with `digits` decimals; an empty string for NaN."""
    if math.isnan(value):
        return ""
    rounded = round_half_up(value, digits)
    return f"{rounded:f}" if rounded else f"{abs(rounded):f}"


def format_difference(value: float) -> str:
    """Return a difference with its sign and three decimals; without a sign where it rounds to 0."""
    text = format_number(abs(value), 3)
    if not text.strip("0."):
        return text
    return f"{'+' if value > 0 else '-'}{text}"


def format_seconds(value: float) -> str:
    """Return a duration as the paper prints it (``61s``); short ones get more digits.

    Examples
    --------
    >>> format_seconds(2231.6), format_seconds(3.14), format_seconds(0.012)
    ('2232s', '3.1s', '0.01s')
    """
    digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{format_number(value, digits)}s"
