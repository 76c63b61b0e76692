r"""Tables as LaTeX: booktabs, one ``table*`` per file, and a document that holds them all.

The files need the packages booktabs and graphicx (a table wider than the line is scaled to it).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import pandas as pd

from results.tables.model import Entry, Table
from results.vocabulary import LABELLED, PARTIAL, UNPAIRED

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "±": r"\ensuremath{\pm}",
    "≠": r"\ensuremath{\neq}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "\u00d7": r"\ensuremath{\times}",
    "·": r"\ensuremath{\cdot}",
    "\u2212": r"\ensuremath{-}",
    "→": r"\ensuremath{\to}",
    "∞": r"\ensuremath{\infty}",
    "Δ": r"\ensuremath{\Delta}",
    "\u2013": "--",
    "—": "---",
    "…": r"\dots{}",
    "\u2018": "`",
    "\u2019": "'",
    "“": "``",
    "”": "''",
    "°": r"\ensuremath{^\circ}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "ø": r"\o{}",
    "ł": r"\l{}",
    "\N{NO-BREAK SPACE}": "~",
    # At the start of a row it would be taken for the option of the line break before it.
    "[": "{[}",
    PARTIAL: r"\ensuremath{^\dagger}",
    LABELLED: r"\ensuremath{^\ddagger}",
    UNPAIRED: r"\textsuperscript{\S}",
}
_GREEK_CAPITALS = frozenset(
    ["gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega"]
)
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
_SWALLOWED = "SWALLOWED"


def escape(text: str) -> str:
    r"""Return `text` with LaTeX's special characters escaped and all others spelled.

    Letters with an accent, Greek letters and some symbols are printed, what remains by its number.

    Examples
    --------
    >>> print(escape("max_features=50%"))
    max\_features=50\%
    >>> print(escape("[1] \u03b3 \u2265 \u00e9 \u6f22"))
    {[}1] \ensuremath{\gamma} \ensuremath{\geq} \'{e} \texttt{U+6F22}
    """
    return "".join(_spelled(character) for character in text)


def _spelled(character: str) -> str:
    r"""Return LaTeX that prints a character under pdfTeX's own fonts, or spells its number."""
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() else " "
    name = unicodedata.name(character, "")
    if match := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name):
        small, letter = match[1] == "SMALL", match[2].lower().replace("lamda", "lambda")
        if letter in _GREEK_CAPITALS or (small and letter != "omicron"):
            return rf"\ensuremath{{\{letter if small else letter.capitalize()}}}"
    base, *accents = list(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and len(accents) == 1 and accents[0] in _ACCENTS:
        # An accent over an i or j replaces its dot.
        return rf"\{_ACCENTS[accents[0]]}{{{chr(92) + base if base in 'ij' else base}}}"
    return rf"\texttt{{U+{ord(character):04X}}}"


def table_to_latex(table: Table) -> str:
    """Return a ``table*`` environment with the table, its caption, label and notes."""
    body = _transposed_tabular(table) if table.transposed else _tabular(table)
    return wrap(body, table.caption, table.name, table.notes)


def wrap(tabular: str, caption: str, label: str, notes: Sequence[str] = ()) -> str:
    """Put a tabular into a ``table*`` environment no wider than the text."""
    lines = [
        r"\begin{table*}[ht]",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{{label}}}",
        r"\setlength{\tabcolsep}{0.1cm}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        tabular.strip() + "%",
        "}",
    ]
    if notes:
        lines.append(r"\par\smallskip")
        text = r"\\ ".join(escape(note) for note in notes)
        lines.append(rf"\parbox{{\linewidth}}{{\raggedright\scriptsize {text}}}")
    lines.append(r"\end{table*}")
    return "\n".join(lines) + "\n"


def frame_to_tabular(
    frame: pd.DataFrame, bold: pd.DataFrame | None = None, column_format: str | None = None
) -> str:
    """Return a booktabs ``tabular`` of a frame whose texts are LaTeX already."""
    styler = frame.style.format(str)
    if bold is not None:
        weights = bold.replace({True: "textbf:--rwrap;", False: ""})
        styler = styler.apply(lambda _: weights, axis=None)
    return styler.to_latex(
        hrules=True, multicol_align="c", column_format=column_format, clines=None
    )


def _entry_text(entry: Entry) -> str:
    text = escape(entry.text)
    if entry.flag:
        text += escape(entry.flag)
    if entry.std:
        text += rf" {{\scriptsize$\pm${entry.std}}}"
    return text


def _tabular(table: Table) -> str:
    headings = table.metric_headings
    columns = pd.MultiIndex.from_tuples(
        [
            (escape(table.heading(label)), escape(headings[metric]))
            for label in table.algorithms
            for metric in table.metrics
        ]
    )
    texts: list[list[str]] = []
    bold: list[list[bool]] = []
    width = len(table.metrics)
    for line in table.lines:
        row: list[str] = []
        weights: list[bool] = []
        for label in table.algorithms:
            if line.spans and width > 1:
                entry = table.entry(line, label, "")
                text = rf"\textbf{{{_entry_text(entry)}}}" if entry.bold else _entry_text(entry)
                row += [rf"\multicolumn{{{width}}}{{c}}{{{text}}}"] + [_SWALLOWED] * (width - 1)
                weights += [False] * width
            else:
                entries = [table.entry(line, label, metric) for metric in table.metrics]
                row += [_entry_text(entry) for entry in entries]
                weights += [entry.bold for entry in entries]
        texts.append(row)
        bold.append(weights)
    index = [escape(line.heading) for line in table.lines]
    frame = pd.DataFrame(texts, index=index, columns=columns)
    frame.index.name = None
    weights_frame = pd.DataFrame(bold, index=index, columns=columns)
    # Positional labels: Styler needs unique ones, and two headings may read the same.
    tabular = _render_unique(frame, weights_frame, "l" + "c" * frame.shape[1])
    tabular = re.sub(rf" & {_SWALLOWED}", "", tabular)
    return _ruled(tabular, table, 1 + frame.shape[1])


def _render_unique(frame: pd.DataFrame, bold: pd.DataFrame, column_format: str) -> str:
    r"""Render with Styler although row headings may repeat (Styler wants unique labels).

    The headings are put in afterwards, in place of row numbers.
    """
    headings = list(frame.index)
    numbered = [f"ROW{number}END" for number in range(len(headings))]
    tabular = frame_to_tabular(
        frame.set_axis(numbered, axis=0), bold.set_axis(numbered, axis=0), column_format
    )
    for number, heading in zip(numbered, headings, strict=True):
        tabular = tabular.replace(number, heading)
    return tabular


def _ruled(tabular: str, table: Table, n_columns: int) -> str:
    """Draw a rule under the algorithms' names and one above the first summary."""
    lines = tabular.splitlines()
    top = next(i for i, text in enumerate(lines) if text.startswith(r"\toprule"))
    width = len(table.metrics)
    if width > 1:
        starts = range(2, n_columns + 1, width)
        rules = "".join(rf"\cmidrule(lr){{{a}-{a + width - 1}}}" for a in starts)
        lines.insert(top + 2, rules)
    first = next((line for line in table.lines if line.kind != "dataset"), None)
    if first is not None:
        heading = escape(first.heading)
        at = next(i for i, text in enumerate(lines) if text.startswith(f"{heading} & "))
        lines.insert(at, rf"\cmidrule{{1-{n_columns}}}")
    return "\n".join(lines)


def _transposed_tabular(table: Table) -> str:
    headings = table.metric_headings
    columns: list[tuple[str, str]] = []
    for line in table.lines:
        if line.spans:
            columns.append((escape(line.heading.rstrip(":")), ""))
        else:
            columns += [(escape(line.heading.rstrip(":")), headings[m]) for m in table.metrics]
    texts: list[list[str]] = []
    bold: list[list[bool]] = []
    for label in table.algorithms:
        entries = [
            table.entry(line, label, metric)
            for line in table.lines
            for metric in (("",) if line.spans else table.metrics)
        ]
        texts.append([_entry_text(entry) for entry in entries])
        bold.append([entry.bold for entry in entries])
    index = [escape(table.heading(label)) for label in table.algorithms]
    multi = pd.MultiIndex.from_tuples(columns)
    return _render_unique(
        pd.DataFrame(texts, index=index, columns=multi),
        pd.DataFrame(bold, index=index, columns=multi),
        "l" + "c" * len(columns),
    )


def _number(name: str) -> str:
    r"""Return the number of a table by its file's name; without one there, the counter's.

    Examples
    --------
    >>> _number("tableS1_outlier"), _number("table2_novelty_clean"), _number("table_semi")
    ('S1', '2', '\\arabic{table}')
    """
    match = re.match(r"table(S?\d+)_", name)
    return match.group(1) if match else r"\arabic{table}"


def standalone(names: Sequence[str]) -> str:
    """Return a document that inputs table files of its folder, under the paper's numbers."""
    inputs = "\n".join(
        rf"\renewcommand{{\thetable}}{{{_number(name)}}}"
        + "\n"
        + rf"\input{{{name}.tex}}"
        + "\n"
        + r"\clearpage"
        for name in names
    )
    return rf"""\documentclass[a4paper,10pt]{{article}}
\usepackage[landscape,margin=1.5cm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\pagestyle{{empty}}
\begin{{document}}
{inputs}
\end{{document}}
"""
