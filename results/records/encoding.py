"""Curves as text in record files: without loss, and decoded when asked for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

#: First byte of what `encode_curve` writes. Without it, zlib's own first byte follows: records of
#: earlier versions hold the bytes of the numbers themselves, put side by side by significance.
_SECOND_DIFFERENCES = b"\x02"


def encode_curve(values: NDArray[np.float64]) -> str:
    """Return a float64 vector as text, without loss.

    The bit patterns are taken as integers and differenced twice, modulo 2**64. Curves are linear
    between few points, where that leaves next to nothing for zlib to write.
    """
    array = np.ascontiguousarray(values, dtype="<f8")
    if array.ndim != 1:
        raise ValueError(f"a curve is one-dimensional, got shape {array.shape}")
    bits = array.view("<u8")
    for _ in range(2):
        bits = np.diff(bits, prepend=np.uint64(0))
    data = _SECOND_DIFFERENCES + zlib.compress(bits.tobytes(), 9)
    return base64.b64encode(data).decode("ascii")


def decode_curve(text: str) -> NDArray[np.float64]:
    """Return the vector that :func:`encode_curve` wrote, in this or an earlier version.

    Raises
    ------
    ValueError
        If the text is damaged.
    """
    try:
        data = base64.b64decode(text)
        if data.startswith(_SECOND_DIFFERENCES):
            bits = np.frombuffer(zlib.decompress(data[1:]), dtype="<u8")
            for _ in range(2):
                bits = np.cumsum(bits, dtype=np.uint64)
        else:
            planes = np.frombuffer(zlib.decompress(data), dtype=np.uint8)
            bits = np.ascontiguousarray(planes.reshape(8, -1).T).reshape(-1).view("<u8")
    except (zlib.error, ValueError) as error:
        raise ValueError(f"a curve is damaged: {error}") from error
    return bits.view("<f8").astype(np.float64, copy=False)


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
