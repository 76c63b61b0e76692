"""The two things this package makes: a data set, and a split of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from datasets.digest import ordered_digest, row_hashes
from datasets.errors import WrongContent


@dataclass(frozen=True, eq=False)
class Dataset:
    """A preprocessed data set.

    Attributes
    ----------
    name : str
        The name of its YAML file.
    X : ndarray of shape (n_samples, n_features), float64, C-contiguous
        The features as they are; the protocol scales them.
    y : ndarray of shape (n_samples,), int8
        1 for an anomaly, 0 for a normal point.
    feature_names : tuple of str, length n_features
        Names as the source that served the table gives them.
    origin : str
        The source that served it.
    expected_order : str or None
        The `ordered_digest` that its YAML expects.
    rows : ndarray of shape (n_samples,) or None
        The numbers of the rows in the table that the source served; None if it served these alone.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int8]
    feature_names: tuple[str, ...]
    origin: str
    expected_order: str | None = None
    rows: NDArray[np.intp] | None = None

    @cached_property
    def ordered_digest(self) -> str:
        """Digest of the rows in their order (`datasets.digest.ordered_digest`)."""
        return ordered_digest(self.X, self.y)

    @cached_property
    def order_of_its_own(self) -> NDArray[np.intp]:
        """Row numbers in the order of the rows' hashes, the same whichever source served them."""
        return np.argsort(row_hashes(self.X, self.y), kind="stable")

    def require_order(self) -> None:
        """Refuse rows in another order than the expected one, where one is expected.

        A protocol calls this whose splits depend on the order of the rows.

        Raises
        ------
        WrongContent
            With both digests.
        """
        if self.expected_order not in (None, self.ordered_digest):
            raise WrongContent(
                f"{self.origin} served the rows of {self.name!r} in another order: the digest of "
                f"the ordered rows is {self.ordered_digest}, {self.expected_order} expected"
            )

    @property
    def n_anomalies(self) -> int:
        """Number of rows that are anomalies."""
        return int(np.count_nonzero(self.y))

    @property
    def anomaly_rate(self) -> float:
        """Share of the rows that are anomalies, in [0, 1]."""
        return self.n_anomalies / len(self.y)


@dataclass(frozen=True, eq=False)
class Split:
    """One random train/test split of a data set, as a protocol and a setting make it.

    Attributes
    ----------
    X_train : ndarray of shape (n_train, n_features), float64, C-contiguous
        What a detector is fitted on.
    X_test : ndarray of shape (n_test, n_features), float64, C-contiguous
        What it scores.
    y_test : ndarray of shape (n_test,), int8
        1 for an anomaly.
    y_train : ndarray of shape (n_train,), int8
        Kept for counting, and for the detectors that declare that they are supervised. No other
        detector may see it.
    test_rows : ndarray of shape (n_test,)
        Which rows of the table that the source served are tested, from 0.
    random_state : int
        The seed of the detector, derived from (seed, data set, split) alone, in [0, 2**31).
    stream : RandomState or None
        What the detector draws from in place of a seed, where a published run is replayed.
    """

    X_train: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int8]
    y_train: NDArray[np.int8]
    test_rows: NDArray[np.intp]
    random_state: int
    stream: np.random.RandomState | None = None
