"""The decompressor of .Z files, on files that ncompress 5.0 wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.errors import SourceFailed
from datasets.sources.unlzw import unlzw

HERE = Path(__file__).parent
# What was compressed: enough different text for codes of 9 to 11 bits.
NUMBERS = " ".join(str((i * i * 7919) % 100003) for i in range(900)).encode()


@pytest.mark.parametrize(
    ("file", "text"),
    # With 10 bits at most the table fills up, and stays.
    [("numbers.Z", NUMBERS), ("numbers-thrice-10-bits.Z", NUMBERS * 3)],
)
def test_what_compress_wrote(file, text):
    assert unlzw((HERE / file).read_bytes()) == text


def test_one_byte():
    assert unlzw(b"\x1f\x9d\x90a\x00") == b"a"


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"PK"])
def test_another_format_is_refused(content):
    with pytest.raises(SourceFailed, match="not a compress"):
        unlzw(content)


def test_damage_is_noticed():
    damaged = bytearray((HERE / "numbers.Z").read_bytes())
    damaged[5:8] = b"\xff\xff\xff"
    with pytest.raises(SourceFailed, match="damaged"):
        unlzw(bytes(damaged))
