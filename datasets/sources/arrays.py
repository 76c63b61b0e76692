"""NumPy's .npz and MATLAB's .mat: arrays `X` of shape (rows, features) and `y`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasets.errors import DataError

#: MATLAB's format of version 7.3 is HDF5, which begins with this after an optional head of text.
_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_npz(file: Path, where: str, target: str | None) -> pa.Table:
    """Read the arrays `X` and `y` of an .npz file; nothing in it is unpickled."""
    # Opened here: NumPy leaves a damaged file open.
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return _table({name: arrays[name] for name in arrays.files}, file, where, target)


def read_mat(file: Path, where: str, target: str | None) -> pa.Table:
    """Read the arrays `X` and `y` of a .mat file, whatever its version."""
    with file.open("rb") as stream:
        is_hdf5 = _HDF5 in stream.read(1024)
    if is_hdf5:
        import h5py

        with h5py.File(file) as content:
            # MATLAB stores columns first, HDF5 reads rows first.
            arrays = {n: np.asarray(a).T for n, a in content.items() if isinstance(a, h5py.Dataset)}
    else:
        from scipy.io import loadmat
        from scipy.io.matlab import MatReadError

        try:
            arrays = {n: _dense(a) for n, a in loadmat(file).items() if not n.startswith("__")}
        except MatReadError as error:
            raise ValueError(error) from error
    return _table(arrays, file, where, target)


def _dense(array: Any) -> Any:
    from scipy.sparse import issparse

    return array.toarray() if issparse(array) else array


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the byte order of this machine, the only one that Arrow takes."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _table(
    arrays: Mapping[str, NDArray[Any]], file: Path, where: str, target: str | None
) -> pa.Table:
    label = target or "y"
    if missing := [name for name in ("X", label) if name not in arrays]:
        raise DataError(
            f"{where}: {file} has no array {missing[0]!r}; it has "
            f"{', '.join(map(repr, arrays)) or 'none'} (X holds the features, y or the YAML's "
            "target the labels)"
        )
    X, y = _native(np.asarray(arrays["X"])), _native(np.asarray(arrays[label]))
    if X.ndim != 2:
        raise DataError(f"{where}: X of {file} has the shape {X.shape}; (rows, features) is needed")
    if y.size != len(X):
        raise DataError(f"{where}: {file} has {len(X)} rows in X and {y.size} labels in {label}")
    for name, array in (("X", X), (label, y)):
        if array.dtype.kind not in ("biuf" if name == "X" else "biufSU"):
            raise DataError(f"{where}: {name} of {file} holds no numbers ({array.dtype})")
    columns = {f"V{j + 1}": pa.array(np.ascontiguousarray(column)) for j, column in enumerate(X.T)}
    return pa.table(columns | {label: pa.array(y.ravel())})
