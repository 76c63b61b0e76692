"""``values.csv``: the printed numbers, checked cell by cell."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from results.published.description import Description, hint

FILE_NAME = "values.csv"
#: What is printed for an algorithm that did not finish; an empty field is nothing printed.
NOT_AVAILABLE = "NA"
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
# A table of per cents in which no value exceeds this is one of fractions.
_LARGEST_FRACTION = 1.0


class _Field(NamedTuple):
    line: int
    setting: str
    dataset: str
    column: str
    quantity: str
    text: str


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the header of a CSV file, and its rows with their lines.

    Raises
    ------
    ValueError
        If the file is not UTF-8 (with a byte order mark or without), a column has no name or that
        of another, or a row has more or fewer fields than the header.
    FileNotFoundError
        If there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, restkey="", strict=True)
            rows = [(reader.line_num, row) for row in reader]
            header = list(reader.fieldnames or ())
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    except csv.Error as error:
        raise ValueError(f"{path}: {error}") from error
    for name in header:
        if not name.strip() or header.count(name) > 1:
            raise ValueError(f"{path}, line 1: the column name {name!r} is empty or given twice")
    for line, row in rows:
        # The reader files surplus fields under "", and None under the names of missing ones.
        if "" in row or None in row.values():
            n_fields = sum(bool(name) and value is not None for name, value in row.items())
            n_fields += len(row.get("") or ())
            raise ValueError(
                f"{path}, line {line}: {n_fields} fields, and the header has {len(header)}: "
                f"{', '.join(header)}"
            )
    return header, rows


def read_values(path: Path, description: Description) -> pd.DataFrame:
    """Read the printed values of a publication.

    Parameters
    ----------
    path : Path
    description : Description

    Returns
    -------
    DataFrame
        One row per printed value, in the order of the file: ``setting``, ``dataset`` and
        ``column`` (the algorithm) by their printed names, ``metric`` by ours, ``published`` (NaN
        where NA is printed) and ``spread`` (NaN without one), both in the printed scale.

    Raises
    ------
    ValueError
        If a column or name is not one of the description's, or one of the description's does not
        occur; if a value is not a number, has more digits than are printed, is outside the scale,
        or is there twice. The message names the file and the line.
    """
    header, rows = read_rows(path)
    fields = list(_fields(path, header, rows, description))
    _check_names(path, fields, description)
    numbers: dict[tuple[str, str, str, str], float] = {}
    lines: dict[tuple[str, str, str, str], int] = {}
    for field in fields:
        key = field[1:5]
        if key in lines:
            what = ", ".join(key)
            raise ValueError(f"{path}, line {field.line}: {what} is also on line {lines[key]}")
        lines[key] = field.line
        if field.text:
            numbers[key] = _number(path, field, description)
    metric_of = {columns.value: metric for metric, columns in description.metrics.items()}
    records = []
    for (setting, dataset, column, quantity), value in numbers.items():
        if (metric := metric_of.get(quantity)) is None:
            continue
        spread = description.metrics[metric].spread
        of_spread = (
            float("nan")
            if spread is None
            else numbers.get((setting, dataset, column, spread), float("nan"))
        )
        records.append((setting, dataset, column, metric, value, of_spread))
    names = ["setting", "dataset", "column", "metric", "published", "spread"]
    table = pd.DataFrame(records, columns=names)
    _check_scale(path, table, description)
    _check_digits(path, fields, description)
    return table


def _fields(
    path: Path, header: list[str], rows: list[tuple[int, dict[str, str]]], description: Description
) -> Iterator[_Field]:
    """Yield every field that holds a value or a spread, whichever form the table has."""
    quantities = description.quantities()
    (only_setting,) = description.settings if len(description.settings) == 1 else ("",)
    keys = {"long": ["dataset", "algorithm", *quantities], "wide": ["dataset"]}[description.form]
    if not only_setting:
        keys.append("setting")
    if description.form == "wide" and len(quantities) > 1:
        keys.append("metric")
    if missing := [name for name in keys if name not in header]:
        separator = next((mark for mark in ";\t" if len(header) == 1 and mark in header[0]), "")
        advice = f"; its fields are separated by {separator!r}: write commas" if separator else ""
        raise ValueError(f"{path}, line 1: there is no column {missing[0]!r}{advice}")
    if description.form == "long":
        known = [*keys, "setting"]
        if unknown := [name for name in header if name not in known]:
            raise ValueError(
                f"{path}, line 1: the column {unknown[0]!r} is neither a metric of the description "
                f"nor needed{hint(unknown[0], known)}"
            )
    algorithms = [name for name in header if name not in ("setting", "dataset", "metric")]
    for line, row in rows:
        setting, dataset = row.get("setting", only_setting), row["dataset"]
        if description.form == "long":
            for quantity in quantities:
                yield _Field(line, setting, dataset, row["algorithm"], quantity, row[quantity])
        else:
            quantity = row.get("metric", quantities[0])
            for name in algorithms:
                yield _Field(line, setting, dataset, name, quantity, row[name])


def _check_names(path: Path, fields: list[_Field], description: Description) -> None:
    """Refuse names that the other file does not know, in either direction."""
    mapped = [] if description.datasets == "same" else list(description.datasets)
    not_here = "; if it is not here, write {!r}: null"
    for what, key, known, remedy in (
        ("setting", "settings", list(description.settings), ""),
        ("quantity", "metrics", description.quantities(), ""),
        ("dataset", "datasets", mapped, not_here),
        ("column", "algorithms", list(description.algorithms), not_here),
    ):
        if what == "dataset" and description.datasets == "same":
            continue
        present = dict.fromkeys(getattr(field, what) for field in fields)
        if unknown := [name for name in present if name not in known]:
            name = unknown[0]
            (line, *_) = (field.line for field in fields if getattr(field, what) == name)
            if what == "column" and description.form == "wide":
                line = 1  # in wide form the algorithms are the columns
            raise ValueError(
                f"{path}, line {line}: {name!r} is not in {key} of the description"
                f"{hint(name, known)}{remedy.format(name)}"
            )
    for key, what, named in (
        ("settings", "setting", list(description.settings)),
        ("datasets", "dataset", mapped),
        ("algorithms", "column", list(description.algorithms)),
        ("tolerances", "column", list(description.tolerances)),
        ("metrics", "quantity", description.quantities()),
    ):
        present = dict.fromkeys(getattr(field, what) for field in fields)
        if absent := [name for name in named if name not in present]:
            raise ValueError(
                f"{path}: {absent[0]!r} of {key} in the description does not occur"
                f"{hint(absent[0], present)}"
            )


def _number(path: Path, field: _Field, description: Description) -> float:
    if field.text == NOT_AVAILABLE:
        return float("nan")
    match = _NUMBER.fullmatch(field.text)
    if match is None:
        wrong = (
            f"{field.text!r} is not a number ({NOT_AVAILABLE}: printed as not available; "
            "empty: not printed)"
        )
    elif len(match[1] or "") > description.digits:
        wrong = f"{field.text} has more digits than the {description.digits} of the description"
    elif not 0 <= (value := float(field.text)) <= description.factor:
        wrong = f"{field.text} is outside 0 to {description.factor:g} (scale: {description.scale})"
    else:
        return value
    raise ValueError(f"{path}, line {field.line}, {field.column}, {field.quantity}: {wrong}")


def _check_scale(path: Path, table: pd.DataFrame, description: Description) -> None:
    if table["published"].isna().all():
        raise ValueError(f"{path}: there is no value")
    for metric, largest in table.groupby("metric", sort=False)["published"].max().items():
        if description.factor > 1 and largest <= _LARGEST_FRACTION:
            raise ValueError(
                f"{path}: no value of {description.metrics[str(metric)].value} exceeds "
                f"{_LARGEST_FRACTION:g} (scale: {description.scale}); are they fractions?"
            )


def _check_digits(path: Path, fields: list[_Field], description: Description) -> None:
    """Refuse digits that no value has: ours would be held to more than was printed."""
    values = {columns.value for columns in description.metrics.values()}
    numbers = [_NUMBER.fullmatch(field.text) for field in fields if field.quantity in values]
    most = max(len(number[1] or "") for number in numbers if number)
    if most < description.digits:
        raise ValueError(
            f"{path}: the values have {most} decimals at most, and digits of the description is "
            f"{description.digits}; if it is right, write the zeros at their ends too"
        )
