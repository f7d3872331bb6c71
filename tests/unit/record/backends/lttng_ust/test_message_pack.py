"""Packed values are read as programs write them, and nothing else is."""

from __future__ import annotations

import random
import struct

import pytest

from vestige.record.backends.lttng_ust.message_pack import unpack


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\xc0", None),
        (b"\x00", 0),
        (b"\x7f", 127),
        (b"\xff", -1),
        (b"\xe0", -32),
        (b"\xcc\xff", 255),
        (b"\xcd\x01\x00", 256),
        (b"\xcf" + b"\xff" * 8, (1 << 64) - 1),
        (b"\xd0\x80", -128),
        (b"\xd3\x80" + bytes(7), -(1 << 63)),
        (b"\xcb" + struct.pack(">d", 2.5), 2.5),
        (b"\xa2ab", b"ab"),
        (b"\xd9\x02ab", b"ab"),
        (b"\xda\x00\x02\xff\x00", b"\xff\x00"),
        (b"\x92\x01\xc0", [1, None]),
        (b"\xdc\x00\x01\xa1x", [b"x"]),
        (
            b"\x82\xa4type\xa4enum\xa5value\xd1\xff\x00",
            {b"type": b"enum", b"value": -256},
        ),
    ],
)
def test_values(raw, value):
    """All kinds that LTTng-UST writes."""
    assert unpack(raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\xa2a", b"\x91", b"\xcd\x01", b"\xc1", b"\xc0\xc0"),
        *(b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\x81\x01\x01"),
        b"\x91" * 10 + b"\x01",
    ],
)
def test_what_is_no_value(raw):
    """Too short, too long, too deep, or of another kind."""
    with pytest.raises(ValueError, match="expected"):
        unpack(raw)


def test_anything():
    """Any bytes are a value or an error, and no more."""
    source = random.Random(7)  # noqa: S311 - a test
    for _ in range(20_000):
        raw = source.randbytes(source.randrange(24))
        try:
            unpack(raw)
        except ValueError:
            continue
