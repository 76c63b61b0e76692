"""From a label column to classes, and from the YAML's lists to anomalies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasets.definition import Definition
from datasets.errors import DataError, listed
from datasets.features import listing, missing
from datasets.row_numbers import holds_row_numbers
from datasets.tables import read_as_boolean
from datasets.values import label_key


class Labels:
    """The label column of a table.

    Attributes
    ----------
    names : list of str
        The distinct labels, spelled uniformly, ascending.
    codes : ndarray of shape (n_samples,)
        Every row's position among them.
    """

    def __init__(self, column: pa.ChunkedArray, target: str, definition: Definition, where: str):
        self.where = where
        if not len(column):
            raise DataError(f"{where}: 0 rows are left, and at least 2 are needed")
        gone = missing(column).to_numpy()
        if gone.any():
            raise DataError(
                f"{where}: {gone.sum()} of {len(column)} labels are missing in column {target!r} "
                f"(the first in row {np.argmax(gone)}; rows are counted from 0)"
            )
        if definition.own and definition.target is None and holds_row_numbers(target, column):
            raise DataError(
                f"{where}: the last column, {target!r}, numbers the rows and cannot hold the "
                "labels; name the column that does with target (data.target on the command line)"
            )
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks()
        spelled = [label_key(value) for value in encoded.dictionary.to_pylist()]
        self.names = sorted(set(spelled))
        self._position = {name: code for code, name in enumerate(self.names)}
        position = np.array([self._position[label] for label in spelled], dtype=np.intp)
        self.codes = position[encoded.indices.to_numpy(zero_copy_only=False)]
        self._refuse_missing(definition.missing_labels, target)

    def _refuse_missing(self, listed_as: Sequence[str] | None, target: str) -> None:
        found = [written for label in listed_as or () for written in self._written(label)]
        if found:
            n = int(np.isin(self.codes, [self._position[label] for label in found]).sum())
            raise DataError(
                f"{self.where}: {n} of {len(self.codes)} labels are missing in column {target!r} "
                f"(missing_labels lists {listed(found)}); drop_classes: {found} "
                f"({listing('drop_classes', found)} on the command line) leaves these rows out"
            )

    def _written(self, label: str) -> list[str]:
        """Return the labels that a label of the YAML means: itself, or what it reads as boolean."""
        return [label] if label in self._position else read_as_boolean(label, self._position)

    def rows(self, definition: Definition) -> NDArray[np.bool_] | None:
        """Return the mask of the rows to keep, or None to keep all."""
        if definition.keep_classes is not None:
            return np.isin(self.codes, self._find(definition.keep_classes, "keep_classes"))
        if definition.drop_classes is not None:
            return ~np.isin(self.codes, self._find(definition.drop_classes, "drop_classes"))
        return None

    def anomalies(self, codes: NDArray[np.intp], definition: Definition) -> NDArray[np.int8]:
        """Return 1 for each of the rows with these codes that is an anomaly, and 0 for the others.

        Raises
        ------
        DataError
            If a listed label does not occur, or all rows are of one kind.
        """
        chosen = definition.anomalies if definition.anomalies is not None else definition.normal
        assert chosen is not None  # Definition holds exactly one of the two
        key = "anomalies" if definition.anomalies is not None else "normal"
        left = np.unique(codes)
        inside = np.isin(codes, self._find(chosen, key, left))
        y = (inside if key == "anomalies" else ~inside).astype(np.int8)
        if y.all() or not y.any():
            raise DataError(
                f"{self.where}: with {key} {list(chosen)} all {len(y)} rows are "
                f"{'anomalies' if y.all() else 'normal'}; the labels are "
                f"{listed([self.names[code] for code in left])}"
            )
        return y

    def used(self, target: str, codes: NDArray[np.intp], y: NDArray[np.int8]) -> str:
        """Say which labels were taken for anomalies and which for normal, with their rows."""
        kinds = []
        for value, kind in enumerate(("normal", "anomalies")):
            own, counts = np.unique(codes[y == value], return_counts=True)
            kinds.append(f"{kind}: {listed([self.names[i] for i in own], counts.tolist())}")
        return f"label {target!r}: {'; '.join(reversed(kinds))}"

    def _find(
        self, wanted: Sequence[str], key: str, codes: NDArray[np.intp] | None = None
    ) -> list[int]:
        """Return the positions of labels among all of them, or among those with some codes."""
        left = self._position
        if codes is not None:
            left = {self.names[code]: int(code) for code in codes}
        found = []
        for label in wanted:
            # In YAML, an unquoted yes is true: it means the label that is written so.
            spellings = read_as_boolean(label, left)
            if label not in left and len(spellings) == 1:
                label = spellings[0]
            if label not in left:
                hint = "; quote a label that YAML takes for true or false" if spellings else ""
                raise DataError(
                    f"{self.where}: the label {label!r} of {key} does not occur; "
                    f"the labels are {listed(list(left))}{hint}"
                )
            found.append(left[label])
        return found
