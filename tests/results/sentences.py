"""What a checked sentence is, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from results.vocabulary import format_number


@dataclass(frozen=True)
class Sentence:
    """A piece of a document with numbers in it.

    Attributes
    ----------
    key : str
        Names the sentence among those of its document.
    template : str
        The piece as the document has it, with ``{}`` for each number.
    values : callable
        Computes from the packed records what stands in the places of ``{}``.
    holds : callable
        Whether what the words say beside the numbers is so.
    """

    key: str
    template: str
    values: Callable[[], tuple[Any, ...]]
    holds: Callable[[], bool] = lambda: True

    def found(self) -> tuple[Any, ...]:
        """Return the numbers, as they are written."""
        return _found(self)

    def text(self) -> str:
        """Return the piece with its numbers."""
        return self.template.format(*self.found())


@cache
def _found(sentence: Sentence) -> tuple[Any, ...]:
    values = sentence.values()
    return values if isinstance(values, tuple) else (values,)


def d(value: float, digits: int = 3) -> str:
    """Write a fraction without the zero before its point."""
    return format_number(value, digits).replace("0.", ".", 1)


def signed(value: float, digits: int = 3) -> str:
    """Write a difference with its sign, without the zero before its point."""
    return d(value, digits) if value < 0 else f"+{d(value, digits)}"


def per_cent(value: float) -> str:
    """Write a share, given in per cent, without decimals."""
    return format_number(value, 0)


WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def word(count: int) -> str:
    """Write a small count as a word."""
    return WORDS[count] if count < len(WORDS) else str(count)
