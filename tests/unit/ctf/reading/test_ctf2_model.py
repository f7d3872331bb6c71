"""The field classes of CTF 2 as frozen values."""

from __future__ import annotations

import pytest

from support.ctf2_writer import (
    Trace2,
    bits,
    kind,
    location,
    metadata,
    signed,
    structure,
    unsigned,
)
from vestige import BitMapValue
from vestige.core import TraceClass
from vestige.ctf.reading.metadata import trace_class_model
from vestige.model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BitMapFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FloatFieldClass,
    IntegerFieldClass,
    OptionalFieldClass,
    StringFieldClass,
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)

SHOWN = {"visible": True}
MAPPINGS = (EnumerationMapping("A", 0, 3), EnumerationMapping("A", 9, 9))
NAMED = {"A": [[0, 3], [9, 9]]}
WIDE = kind("static-length-string", length=8, encoding="utf-16be")
LENGTH = location("n", origin="event-record-payload")
OPTION = {"field-class": unsigned(8), "selector-field-ranges": [[1, 2], [7, 7]]}
BYTE = IntegerFieldClass(alignment=8, size=8, signed=False, base=10, **SHOWN)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (
            signed(100, alignment=32, preferred_display_base=16),
            IntegerFieldClass(alignment=32, size=100, signed=True, base=16, **SHOWN),
        ),
        (
            unsigned(100, mappings=NAMED),
            EnumerationFieldClass(
                alignment=8, size=100, signed=False, base=10, mappings=MAPPINGS, **SHOWN
            ),
        ),
        (
            bits("floating-point-number", 128),
            FloatFieldClass(alignment=1, size=128, **SHOWN),
        ),
        (bits("bit-array", 3), BitArrayFieldClass(alignment=1, size=3, **SHOWN)),
        (bits("boolean", 3), BooleanFieldClass(alignment=1, size=3, **SHOWN)),
        (
            bits("bit-map", 16, flags=NAMED),
            BitMapFieldClass(alignment=1, size=16, flags=MAPPINGS, **SHOWN),
        ),
        (
            kind("variable-length-signed-integer", mappings=NAMED),
            VariableLengthIntegerFieldClass(
                alignment=8, signed=True, base=10, mappings=MAPPINGS, **SHOWN
            ),
        ),
        (kind("null-terminated-string"), StringFieldClass(alignment=8, **SHOWN)),
        (
            WIDE,
            EncodedStringFieldClass(
                alignment=8, length=8, encoding="utf-16be", **SHOWN
            ),
        ),
        (
            kind("dynamic-length-blob", length_field_location=LENGTH, media_type="a/b"),
            BlobFieldClass(
                alignment=8,
                length="event-record-payload.n",
                media_type="a/b",
                **SHOWN,
            ),
        ),
        (
            kind("static-length-blob", length=2),
            BlobFieldClass(
                alignment=8, length=2, media_type="application/octet-stream", **SHOWN
            ),
        ),
        (
            kind(
                "static-length-array",
                length=2,
                minimum_alignment=64,
                element_field_class=unsigned(8),
            ),
            ArrayFieldClass(alignment=64, element=BYTE, length=2, text=False, **SHOWN),
        ),
        (
            kind(
                "optional",
                field_class=unsigned(8),
                selector_field_location=location("n"),
                selector_field_ranges=[[1, 1], [3, 4]],
            ),
            OptionalFieldClass(
                alignment=1,
                field_class=BYTE,
                selector="n",
                ranges=((1, 1), (3, 4)),
                **SHOWN,
            ),
        ),
    ],
)
def test_each_field_class_has_a_model(declared, expected):
    """With all that the metadata says of it."""
    trace = Trace2(structure({"n": unsigned(8), "x": declared}))
    parsed = TraceClass.parse(metadata(*trace.fragments()))

    payload = trace_class_model(parsed).stream_classes[0].event_classes[0].payload

    assert payload is not None
    member = payload.member("x")
    assert member is not None
    assert member.field_class == expected
    assert type(member.field_class) is type(expected)


def test_a_variant_knows_the_ranges_of_its_options():
    """An option need not have a name."""
    member = kind("variant", options=[OPTION], selector_field_location=location("n"))
    trace = Trace2(structure({"n": unsigned(8), "x": member}))
    parsed = TraceClass.parse(metadata(*trace.fragments()))

    payload = trace_class_model(parsed).stream_classes[0].event_classes[0].payload

    assert payload is not None
    found = payload.members[1].field_class
    assert isinstance(found, VariantFieldClass)
    assert (found.selector, found.ranges) == ("n", (((1, 2), (7, 7)),))
    assert [option.name for option in found.options] == [""]


def test_a_bit_map_value_shows_its_flags():
    """And is an integer all the same."""
    value = BitMapValue(5, ["A", "C"])

    assert value | 2 == 7
    assert repr(value) == "<'A' | 'C': 0x5>"
    assert repr(BitMapValue(0, [])) == "<<none>: 0x0>"
