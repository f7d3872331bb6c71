"""Numbers of CTF 2: every size, alignment, byte order and bit order."""

from __future__ import annotations

import itertools
import math
import random
import struct

import pytest

import vestige
from support.ctf2_writer import (
    USUAL,
    Trace2,
    bits,
    kind,
    leb128,
    real,
    reverse,
    signed,
    signed_leb128,
    structure,
)
from support.ctf_writer import Event, Packet, Trace
from vestige import BitMapValue, EnumerationValue

SIZES = (1, 3, 8, 13, 16, 31, 32, 33, 63, 64, 65, 72, 100, 128, 200, 1024)
ALIGNMENTS = (1, 2, 8, 32, 256)
BIT_ORDERS = ("first-to-last", "last-to-first")


def payloads(trace, directory):
    """Return the payloads of all event records."""
    return [event.payload.to_dict() for event in vestige.open(trace.write(directory))]


def payload(trace, directory):
    """Return the payload of the only event record."""
    [only] = payloads(trace, directory)
    return only


def write_bits(writer, value, size, align, order, bit_order):
    """Write a fixed-length field in a bit order."""
    raw = value if bit_order == USUAL[order] else reverse(value, size)
    writer.integer(raw, size, align=align, order=order)


@pytest.mark.parametrize(
    ("order", "bit_order"), list(itertools.product(("le", "be"), BIT_ORDERS))
)
@pytest.mark.parametrize("name", ["unsigned-integer", "signed-integer", "bit-array"])
def test_numbers_of_every_size_at_every_alignment(tmp_path, order, bit_order, name):
    """A field of three bits before each keeps the unaligned ones off the byte."""
    random.seed(f"{order}{bit_order}{name}")
    members, values = {}, {}
    for size, align in itertools.product(SIZES, ALIGNMENTS):
        raw = random.getrandbits(size) | 1 << (size - 1)
        negative = name == "signed-integer"
        values[f"{size}/{align}"] = raw - (1 << size) if negative else raw
        before = f"before {size}/{align}"
        values[before] = 5
        members[before] = bits("unsigned-integer", 3, order=order)
        members[f"{size}/{align}"] = bits(
            name, size, order=order, bit_order=bit_order, alignment=align
        )

    def write(writer):
        writer.align(256)
        for size, align in itertools.product(SIZES, ALIGNMENTS):
            writer.integer(5, 3, align=1, order=order)
            value = values[f"{size}/{align}"]
            write_bits(writer, value, size, align, order, bit_order)

    found = payload(Trace2(structure(members), [write]), tmp_path)

    assert found == values


@pytest.mark.parametrize("order", ["le", "be"])
def test_integers_of_ctf_1_may_be_wide_too(tmp_path, order):
    """They are exact, signed or not."""
    value = -(1 << 1000) + 12345
    fields = (
        "uint8_t n; integer { size = 3; } odd; "
        "integer { size = 1024; signed = true; align = 1; } a; "
        "integer { size = 1024; align = 8; base = hex; } b;"
    )

    def write(writer):
        writer.integer(7, 8).integer(5, 3, align=1)
        writer.integer(value, 1024, align=1).integer(value, 1024)

    trace = Trace(
        [fields], order=order, streams={"stream": [Packet([Event(5, write)])]}
    )
    [event] = vestige.open(trace.write(tmp_path))

    found = event.payload.to_dict()
    assert found == {"n": 7, "odd": 5, "a": value, "b": value + (1 << 1024)}


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("size", [16, 32, 64, 128])
@pytest.mark.parametrize("align", [1, 8, 64])
def test_floating_point_numbers(tmp_path, order, size, align):
    """All values that half precision has are exact in the others."""
    values = [0.0, -0.0, 1.0, -1.5, 2.0**-24, 65504.0, math.inf, -math.inf, 1 / 1024]
    member = bits("floating-point-number", size, order=order, alignment=align)
    name = "little" if order == "le" else "big"

    def write(writer):
        writer.align(align).integer(1, 3, align=1, order=order)
        for value in values:
            raw = int.from_bytes(real(value, size, order), name)
            writer.integer(raw, size, align=align, order=order)

    members = {"before": bits("unsigned-integer", 3, order=order)}
    members |= {str(index): member for index in range(len(values))}
    found = payload(Trace2(structure(members), [write]), tmp_path)

    assert found == {"before": 1, **{str(i): value for i, value in enumerate(values)}}
    assert math.copysign(1, found["1"]) == -1


def test_a_floating_point_number_that_is_none(tmp_path):
    """In any precision."""
    members = {
        str(size): bits("floating-point-number", size) for size in (16, 32, 64, 128)
    }
    raw = b"".join(real(math.nan, size, "le") for size in (16, 32, 64, 128))

    found = payload(Trace2(structure(members), [raw]), tmp_path)

    assert all(math.isnan(value) for value in found.values())


def test_a_float_in_the_other_bit_order(tmp_path):
    """Its first bit is the last of the number."""
    [raw] = struct.unpack("<I", struct.pack("<f", -2.75))
    member = bits("floating-point-number", 32, bit_order="last-to-first")

    def write(writer):
        writer.integer(reverse(raw, 32), 32)

    assert payload(Trace2(structure({"x": member}), [write]), tmp_path) == {"x": -2.75}


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("size", [1, 8, 12, 64, 99])
def test_a_boolean_is_true_when_any_bit_is_set(tmp_path, order, size):
    """Neither its size nor its orders matter."""
    member = bits("boolean", size, order=order, alignment=8)
    values = [0, 1, 1 << (size - 1), (1 << size) - 1]

    def write(writer):
        for value in values:
            writer.integer(value, size, order=order)

    members = {str(index): member for index in range(4)}
    found = payload(Trace2(structure(members), [write]), tmp_path)

    assert list(found.values()) == [False, True, True, True]
    assert all(isinstance(value, bool) for value in found.values())


FLAGS = {
    "RED": [[0, 2], [4, 4], [10, 10]],
    "ORANGE": [[6, 6]],
    "GREEN": [[7, 7], [9, 9], [11, 11]],
    "YELLOW": [[9, 9], [13, 14]],
    "BLUE": [[15, 15]],
}
"""Example 97 of the specification."""


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        (0, ()),
        (1 << 4 | 1 << 9, ("RED", "GREEN", "YELLOW")),
        (1 << 15 | 1 << 6, ("ORANGE", "BLUE")),
        (1 << 3 | 1 << 5, ()),
    ],
)
def test_a_bit_map_knows_its_flags(tmp_path, value, flags):
    """A flag is set when any of its bits is."""
    member = bits("bit-map", 16, order="be", flags=FLAGS)
    raw = value.to_bytes(2, "big")

    found = payload(Trace2(structure({"map": member}), [raw]), tmp_path)["map"]

    assert isinstance(found, BitMapValue)
    assert (found, found.flags) == (value, flags)


def test_a_bit_map_of_more_than_64_bits(tmp_path):
    """Its flags are found in all of them."""
    member = bits("bit-map", 100, flags={"HIGH": [[90, 200]], "LOW": [[0, 50]]})
    value = 1 << 99 | 1 << 60

    def write(writer):
        writer.integer(value, 100)

    found = payload(Trace2(structure({"map": member}), [write]), tmp_path)["map"]

    assert (found, found.flags) == (value, ("HIGH",))


UNSIGNED = [0, 1, 127, 128, 1_876_916, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 300]
SIGNED = [0, -1, 63, 64, -64, -65, -220_236, (1 << 63) - 1, -(1 << 63), 1 << 63]


def test_variable_length_integers(tmp_path):
    """LEB128 of any length, whatever groups a tracer adds in vain."""
    member = kind("variable-length-unsigned-integer")
    raw = b"".join(leb128(value) + leb128(value, pad=9) for value in UNSIGNED)
    members = {str(index): member for index in range(2 * len(UNSIGNED))}

    found = payload(Trace2(structure(members), [raw]), tmp_path)

    assert list(found.values()) == [value for value in UNSIGNED for _ in range(2)]


def test_signed_variable_length_integers(tmp_path):
    """Their sign is bit 6 of the last byte."""
    values = [*SIGNED, -(1 << 63) - 1, -(1 << 200)]
    member = kind("variable-length-signed-integer")
    members = {str(index): member for index in range(len(values))}
    raw = b"".join(map(signed_leb128, values))

    found = payload(Trace2(structure(members), [raw]), tmp_path)

    assert list(found.values()) == values


@pytest.mark.parametrize(
    ("member", "encode"),
    [
        (signed(16), lambda value: struct.pack("<h", value)),
        (signed(96), lambda value: value.to_bytes(12, "little", signed=True)),
        (kind("variable-length-signed-integer"), signed_leb128),
    ],
)
def test_mappings_give_values_names(tmp_path, member, encode):
    """A value has the names of all ranges that hold it."""
    mappings = {"lo": [[-300, -1], [7, 7]], "hi": [[0, 300]], "all": [[-300, 300]]}
    members = {"value": {**member, "mappings": mappings}}
    trace = Trace2(structure(members), [encode(value) for value in (-7, 7, 1000)])

    values = [each["value"] for each in payloads(trace, tmp_path)]

    assert all(isinstance(value, EnumerationValue) for value in values)
    assert [(int(value), value.labels) for value in values] == [
        (-7, ("lo", "all")),
        (7, ("lo", "hi", "all")),
        (1000, ()),
    ]
