"""Decompress Unix `compress` files (.Z): UCI's archive still holds one, and no library reads it."""

from __future__ import annotations

from datasets.errors import SourceFailed

_MAGIC = b"\x1f\x9d"
_CLEAR = 256
_FIRST_BITS = 9


def unlzw(data: bytes) -> bytes:
    """Decompress the content of a .Z file.

    Codes are packed least significant bit first, in groups of eight of the same width; a group is
    filled up when the width changes. The width grows from 9 bits to the header's maximum; in block
    mode the code 256 empties the table.

    Raises
    ------
    SourceFailed
        If the data are no such file, or are damaged.
    """
    if data[:2] != _MAGIC or len(data) < 3:
        raise SourceFailed("not a compress (.Z) file")
    max_bits, block_mode = data[2] & 0x1F, bool(data[2] & 0x80)
    if not _FIRST_BITS < max_bits <= 16:  # compress itself writes other files for 9
        raise SourceFailed(f"a compress (.Z) file of {max_bits}-bit codes is not supported")
    singles = [bytes([value]) for value in range(256)]
    table = [*singles, b""] if block_mode else list(singles)
    output: list[bytes] = []
    previous = b""
    bits, position, group_start = _FIRST_BITS, 3 * 8, 3 * 8
    end = len(data) * 8
    while position + bits <= end:
        byte = position >> 3
        word = int.from_bytes(data[byte : byte + 4], "little")
        code = (word >> (position & 7)) & ((1 << bits) - 1)
        position += bits
        if code == _CLEAR and block_mode:
            table = [*singles, b""]
            previous = b""
            position = group_start = _next_group(position, group_start, bits)
            bits = _FIRST_BITS
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and previous:
            entry = previous + previous[:1]
        else:
            raise SourceFailed("the compress (.Z) file is damaged")
        output.append(entry)
        if previous and len(table) < 1 << max_bits:
            table.append(previous + entry[:1])
        previous = entry
        # The encoder is one entry ahead: it widens the codes when the table has filled this width.
        if len(table) == 1 << bits and bits < max_bits:
            position = group_start = _next_group(position, group_start, bits)
            bits += 1
    return b"".join(output)


def _next_group(position: int, start: int, bits: int) -> int:
    """Return where the next group of eight codes starts."""
    group = 8 * bits
    return start + -(-(position - start) // group) * group
