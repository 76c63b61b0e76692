"""Curves as text in record files: without loss, and decoded when asked for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray


def encode_curve(values: NDArray[np.float64]) -> str:
    """Return a float64 vector as text, without loss.

    Bytes of equal significance are put side by side first: neighbouring points of a curve share
    their exponents, so that zlib finds longer runs.
    """
    array = np.ascontiguousarray(values, dtype="<f8")
    if array.ndim != 1:
        raise ValueError(f"a curve is one-dimensional, got shape {array.shape}")
    planes = array.view(np.uint8).reshape(-1, 8).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")


def decode_curve(text: str) -> NDArray[np.float64]:
    """Return the vector that :func:`encode_curve` wrote."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    flat = np.ascontiguousarray(planes.reshape(8, -1).T).reshape(-1)
    return flat.view("<f8").astype(np.float64, copy=False)


class Curves(Mapping[str, NDArray[np.float64]]):
    """Curves by name, kept encoded and decoded when asked for.

    Scanning a store of 20000 records for its metrics must not decode 40 million numbers.
    """

    __slots__ = ("_encoded",)

    def __init__(self, encoded: Mapping[str, str] | None = None):
        self._encoded = dict(encoded or {})

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> Curves:
        """Encode arrays of shape (n_points,)."""
        return cls({name: encode_curve(values) for name, values in arrays.items()})

    @property
    def encoded(self) -> dict[str, str]:
        """The curves as they stand in the file."""
        return dict(self._encoded)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return decode_curve(self._encoded[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping) or set(self) != set(other):
            return False
        return all(self[name].tobytes() == np.asarray(other[name]).tobytes() for name in self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Curves({', '.join(self._encoded)})"
