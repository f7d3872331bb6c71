"""Columns of the field classes that CTF 2 has beside those of CTF 1.8."""

from __future__ import annotations

import json
import math
import struct

import pyarrow as pa
import pytest

import vestige
from support.column_rows import same, table
from support.ctf2_writer import (
    CLOCK,
    Trace2,
    bits,
    kind,
    leb128,
    location,
    real,
    signed_leb128,
    structure,
    unsigned,
)
from support.ctf_writer import write_trace
from vestige.export import export

LABELS = {"LOW": [[0, 3]], "HIGH": [[200, 300], [2**70, 2**71]]}


def columns(directory, members, records, **options):
    """Return the columns of a payload with a byte behind it, and the trace."""
    payload = structure({**members, "after": unsigned(8)})
    ended = [record + b"\x2a" for record in records]
    trace = vestige.open(Trace2(payload, ended).write(directory))
    made = table(trace, [*members, "after"], **options)
    assert made["after"].to_pylist() == [42] * len(records)
    return made


def test_booleans(tmp_path):
    """True when any bit is set."""
    made = columns(
        tmp_path,
        {"flag": bits("boolean", 8), "wide": bits("boolean", 72)},
        [bytes(10), b"\x80" + bytes(8) + b"\x01", b"\x00\x01" + bytes(8), b"\x01" * 10],
    )

    assert made.schema.field("flag").type == pa.bool_()
    assert made["flag"].to_pylist() == [False, True, False, True]
    assert made["wide"].to_pylist() == [False, True, True, True]


def test_bit_arrays_and_bit_maps_are_their_bits(tmp_path):
    """A flag without a name is not lost."""
    flags = bits("bit-map", 16, flags={"a": [[0, 3]], "b": [[15, 15]]})
    made = columns(
        tmp_path,
        {"array": bits("bit-array", 24), "map": flags},
        [b"\x01\x02\x03\xff\x80"],
    )

    assert made.schema.field("array").type == pa.uint32()
    assert made.schema.field("map").type == pa.uint16()
    assert made.to_pylist()[0] == {"array": 0x030201, "map": 0x80FF, "after": 42}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16le", "utf-16be", "utf-32be"])
def test_text_in_any_encoding(tmp_path, encoding):
    """It becomes UTF-8."""
    text = "Ünïcode \U0001f600"
    raw = (text + "\0").encode(encoding)
    member = kind("null-terminated-string", encoding=encoding)

    assert columns(tmp_path, {"t": member}, [raw])["t"].to_pylist() == [text]


def test_blobs_are_bytes(tmp_path):
    """Of any length."""
    members = {
        "fixed": kind("static-length-blob", length=3),
        "length": unsigned(8),
        "free": kind("dynamic-length-blob", length_field_location=location("length")),
    }
    made = columns(tmp_path, members, [b"\0\xff\x01\x02ab", b"abc\0"])

    assert made.schema.field("fixed").type == pa.binary()
    assert made["fixed"].to_pylist() == [b"\0\xff\x01", b"abc"]
    assert made["free"].to_pylist() == [b"ab", b""]


def test_integers_without_a_limit(tmp_path):
    """What 64 bits do not hold has no value in the column."""
    values = [0, 127, 128, 2**64 - 1, 2**64, 2**100]
    signs = [0, -1, 2**63 - 1, -(2**63), 2**63, -(2**90)]
    made = columns(
        tmp_path,
        {
            "u": kind("variable-length-unsigned-integer"),
            "s": kind("variable-length-signed-integer"),
        },
        [leb128(u) + signed_leb128(s) for u, s in zip(values, signs, strict=True)],
    )

    assert made.schema.field("u") == pa.field("u", pa.uint64())
    assert made["u"].to_pylist() == [*values[:4], None, None]
    assert made["s"].to_pylist() == [*signs[:4], None, None]


def test_labels(tmp_path):
    """Of integers without a limit and of fixed size; numbers without one are digits."""
    labelled = {"mappings": LABELS}
    members = {
        "free": kind("variable-length-unsigned-integer", **labelled),
        "wide": bits("unsigned-integer", 128, alignment=8, **labelled),
        "byte": bits("unsigned-integer", 8, alignment=8, **labelled),
    }
    values = [(3, 2**70, 4), (2**71, 5, 255), (2**80, 2**127 + 1, 0)]
    records = [
        leb128(free) + wide.to_bytes(16, "little") + bytes([byte])
        for free, wide, byte in values
    ]
    made = columns(tmp_path, members, records)
    raw = columns(tmp_path / "raw", members, records, enumerations="values")

    assert made["free"].to_pylist() == ["LOW", "HIGH", str(2**80)]
    assert made["wide"].to_pylist() == ["HIGH", "5", str(2**127 + 1)]
    assert made["byte"].to_pylist() == ["4", "HIGH", "LOW"]
    assert raw["free"].to_pylist() == [3, None, None]
    assert raw["byte"].to_pylist() == [4, 255, 0]


def test_integers_of_more_than_64_bits_are_their_digits(tmp_path):
    """Exactly, with their sign."""
    members = {
        "u": bits("unsigned-integer", 128, alignment=8),
        "s": bits("signed-integer", 96, alignment=8, order="be"),
    }
    values = [(0, -1), (2**128 - 1, -(2**95)), (10**30, 2**95 - 1)]
    records = [
        u.to_bytes(16, "little") + s.to_bytes(12, "big", signed=True) for u, s in values
    ]
    made = columns(tmp_path, members, records)

    assert made["u"].to_pylist() == [str(u) for u, _ in values]
    assert made["s"].to_pylist() == [str(s) for _, s in values]


@pytest.mark.parametrize("size", [16, 32, 64, 128])
def test_floats_of_all_sizes(tmp_path, size):
    """Small ones in 32 bits, great ones in 64."""
    values = [0.0, -1.5, 65504.0, math.inf, math.nan]
    member = bits("floating-point-number", size, alignment=8)
    made = columns(tmp_path, {"x": member}, [real(v, size, "le") for v in values])

    wide = pa.float32() if size <= 32 else pa.float64()
    assert made.schema.field("x").type == wide
    assert same(made["x"].to_pylist(), values)


def test_optional_fields(tmp_path):
    """One that is not there has no value, at the top and inside of others."""
    optional = {"selector_field_location": location("there")}
    members = {
        "there": bits("boolean", 8),
        "number": kind("optional", field_class=unsigned(16), **optional),
        "inner": structure({"x": unsigned(8)}),
        "nested": kind(
            "optional",
            field_class=structure(
                {"a": unsigned(8), "b": kind("null-terminated-string")}
            ),
            **optional,
        ),
    }
    records = [b"\x01" + struct.pack("<H", 7) + b"\x05\x09text\0", b"\x00\x06"]
    made = columns(tmp_path, members, records)

    assert made.schema.field("number").nullable
    assert not made.schema.field("inner").nullable
    assert made["number"].to_pylist() == [7, None]
    assert made["inner"].to_pylist() == [{"x": 5}, {"x": 6}]
    assert made["nested"].to_pylist() == [{"a": 9, "b": "text"}, None]


def test_variants_whose_options_have_no_name(tmp_path):
    """They are numbered."""
    variant = kind(
        "variant",
        selector_field_location=location("tag"),
        options=[
            {"selector-field-ranges": [[0, 0]], "field-class": unsigned(8)},
            {
                "selector-field-ranges": [[1, 9]],
                "field-class": kind("null-terminated-string"),
            },
        ],
    )
    made = columns(
        tmp_path, {"tag": unsigned(8), "v": variant}, [b"\x00\x07", b"\x05hi\0"]
    )

    assert made["v"].to_pylist() == [
        {"option_0": 7, "option_1": None},
        {"option_0": None, "option_1": "hi"},
    ]


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("unix-epoch", pa.timestamp("ns", "UTC")),
        (None, pa.duration("ns")),
        ({"name": "boot", "uid": "7"}, pa.duration("ns")),
    ],
)
def test_the_origin_of_the_clock_decides_what_times_are(tmp_path, origin, expected):
    """A point in real time, or the time since something."""
    trace = Trace2(structure({"x": unsigned(8)}), [b"\x01"])
    fragments = [
        {**part, "origin": origin, "offset-from-origin": {"seconds": 5}}
        if part["type"] == CLOCK["type"]
        else part
        for part in trace.fragments()
    ]
    for part in fragments:
        if part.get("origin", "") is None:
            del part["origin"]
    text = b"".join(b"\x1e" + json.dumps(part).encode() + b"\n" for part in fragments)
    opened = vestige.open(write_trace(tmp_path, text, {"stream": trace.data()}))

    assert pa.schema(opened.to_arrow()).field(0).type == expected


def test_as_text(tmp_path):
    """Bytes are hexadecimal digits, booleans words."""
    members = {
        "flag": bits("boolean", 8),
        "blob": kind("static-length-blob", length=2),
        "wide": bits("unsigned-integer", 128, alignment=8),
    }
    record = b"\x01\xab\x01" + (2**100).to_bytes(16, "little")
    trace = vestige.open(Trace2(structure(members), [record]).write(tmp_path / "t"))
    names = list(members)
    export(trace, tmp_path / "out.jsonl", "jsonl", columns=names)
    export(trace, tmp_path / "out.csv", "csv", columns=names)

    assert (tmp_path / "out.jsonl").read_text() == (
        f'{{"flag":true,"blob":"ab01","wide":"{2**100}"}}\n'
    )
    assert (tmp_path / "out.csv").read_text() == (
        f"flag,blob,wide\ntrue,ab01,{2**100}\n"
    )
