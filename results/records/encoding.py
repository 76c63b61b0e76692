"""Curves as text in record files: without loss, and decoded when asked for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from results.metrics.curves import GRID_POINTS

#: First byte of an encoded curve: it names the encoding.
_SECOND_DIFFERENCES = b"\x02"
_BYTES = 8 * GRID_POINTS


def encode_curve(values: NDArray[np.float64]) -> str:
    """Return a curve as text, without loss.

    The bit patterns are taken as integers and differenced twice, modulo 2**64. Curves are linear
    between few points, where nearly all second differences are 0 and zlib writes next to nothing.

    Parameters
    ----------
    values : ndarray of shape (1000,)
    """
    array = np.ascontiguousarray(values, dtype="<f8")
    if array.shape != (GRID_POINTS,):
        raise ValueError(f"a curve has shape ({GRID_POINTS},), not {array.shape}")
    bits = array.view("<u8")
    for _ in range(2):
        bits = np.diff(bits, prepend=np.uint64(0))
    data = _SECOND_DIFFERENCES + zlib.compress(bits.tobytes(), 9)
    return base64.b64encode(data).decode("ascii")


def decode_curve(text: str) -> NDArray[np.float64]:
    """Return the curve that :func:`encode_curve` wrote.

    Raises
    ------
    ValueError
        If the text is damaged, or holds another number of points: no more than the bytes of a
        curve are decompressed.
    """
    bits = np.frombuffer(decompressed(text), dtype="<u8")
    for _ in range(2):
        bits = np.cumsum(bits, dtype=np.uint64)
    return bits.view("<f8").astype(np.float64, copy=False)


def decompressed(text: str) -> bytes:
    """Return the second differences that an encoded curve holds; raises as :func:`decode_curve`."""
    try:
        data = base64.b64decode(text, validate=True)
        stream = zlib.decompressobj()
        plain = stream.decompress(data[1:], _BYTES + 1)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"a curve is damaged: {error}") from error
    if not data.startswith(_SECOND_DIFFERENCES) or len(plain) != _BYTES or not stream.eof:
        raise ValueError(f"a curve is damaged: it does not hold {GRID_POINTS} points")
    return plain


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
