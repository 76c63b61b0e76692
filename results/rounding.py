"""Numbers as they are printed: halves go up, as a reader who checks an average by hand expects."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal


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


def format_seconds(value: float) -> str:
    """Return a duration as the paper prints it (``61s``); short ones get more digits.

    Examples
    --------
    >>> format_seconds(2231.6), format_seconds(3.14), format_seconds(0.012)
    ('2232s', '3.1s', '0.01s')
    """
    digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{format_number(value, digits)}s"
