"""Every number in a sentence of the documents is recomputed from the packed records.

A number comes from a generated block, from a list of sentences, whose numbers are recomputed here,
or from the list of what is not a measurement. Anything else is refused.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.results import sentences_ablations, sentences_readme, sentences_reproduction
from tests.results.facts import RUNS
from tests.results.sentences import Sentence

ROOT = Path(__file__).parents[2]
LISTS = {
    "results/REPRODUCTION.md": sentences_reproduction.REPRODUCTION,
    "results/published/goix2016/reasons.csv": sentences_reproduction.REASONS,
    "results/published/goix2016/replay.csv": [],
    "results/ABLATIONS.md": sentences_ablations.ABLATIONS,
    "README.md": sentences_readme.README,
}
#: Numbers in prose that are not measured, or measured elsewhere; the lists give the reasons.
ALLOWED = {
    "results/REPRODUCTION.md": sentences_reproduction.ALLOWED,
    "results/published/goix2016/reasons.csv": sentences_reproduction.ALLOWED_REASONS,
    "results/published/goix2016/replay.csv": sentences_reproduction.ALLOWED_REPLAY,
    "results/ABLATIONS.md": sentences_ablations.ALLOWED,
    "README.md": sentences_readme.ALLOWED,
}
NUMBER = re.compile(
    r"(?<!\w)[+-]?\.?\d[\d.,]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|sixty|hundred|thousand|half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|tenths?|twice|double)\b",
    re.IGNORECASE,
)
ENTRIES = [(name, sentence) for name, entries in LISTS.items() for sentence in entries]


#: Sections whose numbers a command measures that stands beside them, on the machine at hand.
MEASURED = ("## How fast",)
#: Sections with tables that other tests compute again.
TABLES = ("## Missing values",)


@cache
def prose(name: str) -> str:
    """Return the sentences of a document: no blocks, no code, no addresses, one space at a time."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"<!-- generated: (\S+) -->\n.*?<!-- end: \1 -->", "\n\n", text, flags=re.DOTALL)
    for title in MEASURED:
        text = re.sub(rf"^{title}\n(?:(?!^## ).)*", "", text, flags=re.DOTALL | re.MULTILINE)
    for title in TABLES:
        text = re.sub(
            rf"^{title}\n(?:(?!^## ).)*",
            lambda section: re.sub(r"^\|.*$", "", section[0], flags=re.MULTILINE),
            text,
            flags=re.DOTALL | re.MULTILINE,
        )
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return " ".join(text.split())


def plain(text: str) -> str:
    return re.sub(r"`[^`]*`", "`code`", " ".join(text.split()))


@pytest.mark.skipif(not RUNS.exists(), reason="no run is published")
@pytest.mark.parametrize(
    ("name", "sentence"), ENTRIES, ids=[f"{Path(n).stem}-{s.key}" for n, s in ENTRIES]
)
def test_the_numbers_of_a_sentence_are_those_of_the_records(name, sentence):
    text = plain(sentence.text())
    assert text in prose(name), f"{name} should say: {text}"
    assert sentence.holds(), f"{name}: what is said beside the numbers does not hold: {text}"


def unchecked(text: str, covered: list[str]) -> list[str]:
    """Return the numbers of a text that no covered piece holds, each with some words around it."""
    for piece in sorted(covered, key=len, reverse=True):
        text = text.replace(piece, " … ")
    return [
        text[max(0, match.start() - 40) : match.end() + 25].strip()
        for match in NUMBER.finditer(text)
    ]


@pytest.mark.skipif(not RUNS.exists(), reason="no run is published")
@pytest.mark.parametrize("name", LISTS)
def test_no_number_stands_in_a_sentence_unchecked(name):
    covered = [plain(sentence.text()) for sentence in LISTS[name]]
    assert unchecked(prose(name), covered + [plain(piece) for piece in ALLOWED[name]]) == []


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed_is_there(name):
    documents = [n for n, pieces in ALLOWED.items() if pieces is ALLOWED[name]]
    text = " ".join(prose(document) for document in documents)
    assert [piece for piece in ALLOWED[name] if plain(piece) not in text] == []


def test_new_numbers_are_written_where_the_old_ones_stand():
    from tests.results.update_sentences import updated

    text = "In all\n{} of .5 and\n  +.12 over (two draws), 30 of 32 here. In all .6 and 1."
    text = text.replace("{}", "4.1 spreads")
    sentence = Sentence("x", "{} spreads of {} and {} over ({} draws), {} here", lambda: (5, ".7", "-.1", "six", "all 31"))  # fmt: skip
    new = updated(text, sentence)
    assert (
        new == "In all\n5 spreads of .7 and\n  -.1 over (six draws), all 31 here. In all .6 and 1."
    )
    assert updated(new, sentence) == new
    with pytest.raises(ValueError, match="no sentence 'x' in the document"):
        updated("Nothing of it.", sentence)


@pytest.mark.skipif(not RUNS.exists(), reason="no run is published")
@pytest.mark.parametrize("name", LISTS)
def test_an_update_changes_nothing_but_numbers(name):
    from tests.results.update_sentences import pattern

    text = (ROOT / name).read_text(encoding="utf-8")
    for sentence in LISTS[name]:
        found = pattern(sentence.template).search(text)
        assert found, sentence.key
        assert list(found.groups()) == [str(value) for value in sentence.found()], sentence.key


def test_a_number_is_found_in_figures_and_in_words():
    text = "The mean rose by .12 on four of twelve data sets, 1.5 times, see section 3."
    assert len(unchecked(text, [])) == 5
    assert unchecked(text, ["by .12 on four of twelve data sets", "1.5 times", "section 3"]) == []
    assert len(unchecked("It rose by .12, and by .123", ["by .12,"])) == 1


def test_numbers_in_blocks_code_and_addresses_are_no_prose(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.results.test_sentences.ROOT", tmp_path)
    (tmp_path / "a.md").write_text(
        "# One\n\n<!-- generated: x -->\n| 1 |\n<!-- end: x -->\n\n`gamma=3` and "
        "[this](https://a.b/2)\n\n    command 4\n\n```\n5\n```\nsix\n"
    )
    assert unchecked(prose("a.md"), []) == ["# One `code` and [this] six"]
    prose.cache_clear()
