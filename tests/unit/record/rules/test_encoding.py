"""The file of rules that the tracer reads."""

from __future__ import annotations

import struct

import pytest

from vestige.errors import SelectionError
from vestige.record import EventRule, RecordingOptions
from vestige.record.rules import encoding
from vestige.record.rules.encoding import encode_rules
from vestige.record.rules.event_rules import compile_rules


def test_the_layout():
    """That of ``tracer/rules/rules.h``; all parts have multiples of eight bytes."""
    rules = [
        EventRule("app:*", exclude=("*:b",), level=6, filter='s == "x" && r < 1.5'),
        "b:c",
    ]
    data = encode_rules(compile_rules(rules))
    head, first = data[:16], data[16:]

    assert head == struct.pack("=8sII", b"VESTRUL1", len(data), 2)
    size, *rest = struct.unpack_from("=IiiIIIII", first)
    assert rest == [-(2**31), 6, 2, 16, 8, 8, 0]
    assert size == 32 + 16 + 8 * 16 + 8
    assert first[32:48] == b"app:*\0*:b\0".ljust(16, b"\0")
    assert first[48:64] == struct.pack("=HHIII", 4, 0, 0, 0, 1)
    assert struct.unpack_from("=HHId", first, 48 + 5 * 16) == (2, 0, 0, 1.5)
    assert first[size - 8 : size] == b"sxr".ljust(8, b"\0")
    assert first[size:] == (
        struct.pack("=IiiIIIII", 40, -(2**31), 2**31 - 1, 1, 8, 0, 0, 0)
        + b"b:c".ljust(8, b"\0")
    )


def test_bytes_that_are_no_text():
    """Are passed on as the command line had them."""
    data = encode_rules(compile_rules(["a:\udcff*"]))

    assert b"a:\xff*\0" in data


def test_rules_that_are_too_large(monkeypatch):
    """Are refused, before a program starts."""
    monkeypatch.setattr(encoding, "LARGEST", 100)
    RecordingOptions(events=("a:b",))
    with pytest.raises(SelectionError, match=r"events of 112 bytes: .* 100$"):
        RecordingOptions(events=(EventRule("a:b", filter="a == 1"),))
