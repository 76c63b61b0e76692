"""Random splits: the anomaly cap, the shuffle, the standardisation, in the protocol's order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.dataset import Dataset, Split
from datasets.digest import row_hashes

# The random streams of a split, each independent of the others: changing the cap leaves the
# detector's seed alone, and so on.
_SUBSET, _SHUFFLE, _DETECTOR = range(3)


def make_split(
    dataset: Dataset,
    *,
    setting: Mapping[str, Any],
    protocol: Mapping[str, Any],
    seed: int,
    split: int,
) -> Split:
    """Make one of a data set's random splits.

    The anomalies are capped, the rows shuffled and cut in two; the novelty setting then drops the
    anomalies from the training part. Both settings of one (seed, data set, split) share the subset
    of anomalies and the cut. The rows are put in an order of their own first, so that the split is
    the same whichever source served the table.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    setting : mapping
        `anomalies_in_train`: false for novelty detection, true for outlier detection.
    protocol : mapping
        `max_anomaly_ratio` (anomalies per normal point, or None for no cap), `anomaly_subset`
        ("per_split" or "fixed", one subset for all splits), `standardise` ("all": on train and test
        together, as the paper's experiments were run; "train"; "none") and `train_size` in (0, 1).
    seed : int
        The root seed, at least 0.
    split : int
        The number of the split, at least 0.

    Raises
    ------
    ValueError
        If a part would be empty or the test part would hold a single class.
    """
    _check(protocol, seed, split)
    order = np.argsort(row_hashes(dataset.X, dataset.y), kind="stable")
    kept = _cap(dataset, order, protocol, seed, split)
    rng = np.random.default_rng(_stream(dataset.name, seed, split, _SHUFFLE))
    shuffled = rng.permutation(kept)
    n_train = int(Fraction(str(protocol["train_size"])) * len(shuffled))
    train, test = shuffled[:n_train], shuffled[n_train:]
    if not setting["anomalies_in_train"]:
        train = train[dataset.y[train] == 0]
    _refuse_degenerate(dataset, train, test, split)
    X_train, X_test = dataset.X[train], dataset.X[test]
    if protocol["standardise"] != "none":
        # Here, not at the top: processes that only fetch would wait a second for scikit-learn.
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler()
        scaler.fit(dataset.X[kept] if protocol["standardise"] == "all" else X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    state = _stream(dataset.name, seed, split, _DETECTOR).generate_state(1)[0]
    return Split(
        X_train=np.ascontiguousarray(X_train),
        X_test=np.ascontiguousarray(X_test),
        y_test=dataset.y[test],
        y_train=dataset.y[train],
        random_state=int(state) & 0x7FFFFFFF,  # some detectors take a signed 32-bit seed only
    )


def _stream(name: str, seed: int, *key: int) -> np.random.SeedSequence:
    """Return the seed sequence of a data set's stream."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "little")
    return np.random.SeedSequence([seed, digest], spawn_key=key)


def _cap(
    dataset: Dataset,
    order: NDArray[np.intp],
    protocol: Mapping[str, Any],
    seed: int,
    split: int,
) -> NDArray[np.intp]:
    """Return the rows that stay when the anomalies are capped, in their order."""
    ratio = protocol["max_anomaly_ratio"]
    if ratio is None:
        return order
    anomalous = np.flatnonzero(dataset.y[order])
    n_normal = len(order) - len(anomalous)
    # Through the decimal that was written: the float product falls short of some whole numbers
    # (0.29 * 100 is 28.999...).
    limit = int(Fraction(str(ratio)) * n_normal)
    if len(anomalous) <= limit:
        return order
    # One key word for the fixed subset, two for a split's: the streams never coincide.
    key = (_SUBSET,) if protocol["anomaly_subset"] == "fixed" else (split, _SUBSET)
    rng = np.random.default_rng(_stream(dataset.name, seed, *key))
    stays = dataset.y[order] == 0
    stays[rng.choice(anomalous, size=limit, replace=False)] = True
    return order[stays]


def _check(protocol: Mapping[str, Any], seed: int, split: int) -> None:
    for name, value in (("seed", seed), ("split", split)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a non-negative integer; got {value!r}")
    for key, valid in (
        ("anomaly_subset", ("per_split", "fixed")),
        ("standardise", ("all", "train", "none")),
    ):
        if protocol[key] not in valid:
            raise ValueError(
                f"protocol.{key} must be one of {', '.join(valid)}; got {protocol[key]!r}"
            )
    if not 0 < protocol["train_size"] < 1:
        raise ValueError(f"protocol.train_size must lie in (0, 1); got {protocol['train_size']!r}")
    ratio = protocol["max_anomaly_ratio"]
    if ratio is not None and not ratio > 0:
        raise ValueError(f"protocol.max_anomaly_ratio must be positive or null; got {ratio!r}")


def _refuse_degenerate(
    dataset: Dataset, train: NDArray[np.intp], test: NDArray[np.intp], split: int
) -> None:
    where = f"split {split} of data set {dataset.name!r}"
    if len(train) < 1:
        raise ValueError(f"{where}: no training point is left")
    n_anomalies = int(np.count_nonzero(dataset.y[test]))
    if n_anomalies in (0, len(test)):
        raise ValueError(
            f"{where}: of its {len(test)} test points {n_anomalies} are anomalies, and both "
            f"classes are needed (before the cap the data set has {dataset.n_anomalies} anomalies "
            f"in {len(dataset.y)} rows)"
        )
