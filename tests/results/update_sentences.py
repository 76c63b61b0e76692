"""``python -m tests.results.update_sentences``: new numbers in the sentences of the documents.

`make published` runs it. Words are left as they are: whether they still hold is for
`test_sentences.py` to say.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.results.sentences import Sentence
from tests.results.test_sentences import LISTS, ROOT

#: What stands in a place: a number, a small count as a word, a name, or a count of a count.
_PLACE = r"((?:all )?[+-]?(?:[\w.=-]*\w)(?: of \d+)?)"


def pattern(template: str) -> re.Pattern[str]:
    """Return what finds a sentence whatever its numbers are, and however its lines break."""
    pieces = [re.sub(r"(?:\\ )+", r"\\s+", re.escape(piece)) for piece in template.split("{}")]
    return re.compile(r"(?<![\w.])" + _PLACE.join(pieces) + r"(?!\w)")


def updated(text: str, sentence: Sentence) -> str:
    """Return the text with the numbers that a sentence has now.

    Raises
    ------
    ValueError
        If the text does not hold the sentence.
    """
    found = pattern(sentence.template).search(text)
    if found is None:
        raise ValueError(f"no sentence {sentence.key!r} in the document: {sentence.template}")
    values = [str(value) for value in sentence.found()]
    for i in range(len(values), 0, -1):
        start, end = found.span(i)
        text = text[:start] + values[i - 1] + text[end:]
    return text


def main(names: list[str]) -> None:
    """Update the named documents; default: all."""
    for name in names or list(LISTS):
        path: Path = ROOT / name
        before = text = path.read_text(encoding="utf-8")
        for sentence in LISTS[name]:
            text = updated(text, sentence)
        path.write_text(text, encoding="utf-8")
        print(f"{name}: {'new numbers' if text != before else 'nothing new'}")


if __name__ == "__main__":
    main(sys.argv[1:])
