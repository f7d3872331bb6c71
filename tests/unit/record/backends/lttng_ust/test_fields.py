"""Descriptions of fields that programs send become TSDL."""

from __future__ import annotations

import struct

import pytest

from vestige.record.backends.lttng_ust.fields import (
    EnumLabels,
    UnknownFieldClassError,
    field_lines,
)

INTEGER = struct.pack("=IIIIiH", 32, 1, 0, 10, 0, 8)
INTEGER_TEXT = (
    "integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; }"
)


def field(name, kind, facts):
    """Return a description of a field."""
    return (
        name.encode().ljust(256, b"\0")
        + struct.pack("=i", kind)
        + facts.ljust(660, b"\0")
    )


def label(first, last, name, options=0):
    """Return a label of an enumeration."""
    return (
        struct.pack("=q16xq16x", first, last)
        + name.encode().ljust(256, b"\0")
        + struct.pack("=I28x", options)
    )


def test_numbers_and_strings():
    """Sizes, signs, bases and byte orders."""
    network = struct.pack("=IIIIiH", 16, 0, 1, 16, 2, 8)
    real = struct.pack("=IIIH", 11, 53, 0, 8)
    text = struct.pack("=i", 1)
    raw = b"".join(
        (
            field("a", 0, INTEGER),
            field("b", 0, network),
            field("c.d", 5, real),
            field("e", 4, text),
        )
    )
    assert field_lines(raw, {}) == [
        f"{INTEGER_TEXT} _a;",
        (
            "integer { size = 16; align = 8; signed = 0; encoding = ASCII; base = 16; "
            "byte_order = be; } _b;"
        ),
        "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _c_d;",
        "string { encoding = UTF8; } _e;",
    ]


def test_arrays_and_sequences_are_followed_by_their_elements():
    """The length of a sequence is a field before it."""
    length = b"_s_length".ljust(256, b"\0")
    raw = (
        field("a", 9, struct.pack("=I", 3))
        + field("", 0, INTEGER)
        + field("s", 10, length)
        + field("", 0, INTEGER)
    )
    assert field_lines(raw, {}) == [
        f"{INTEGER_TEXT} _a[3];",
        f"{INTEGER_TEXT} _s[__s_length];",
    ]


def test_labels_of_enumerations():
    """Ranges, negative values, automatic ones, and what must be escaped."""
    raw = field("e", 8, struct.pack("=256xQ", 7)) + field("", 0, INTEGER)
    labels = label(-5, -1, 'a"b\\c') + label(0, 0, "next", 1) + label(9, 9, "nine")
    [line] = field_lines(raw, {7: EnumLabels("e", labels)})
    assert line == (
        f"enum : {INTEGER_TEXT} "
        '{ "a\\"b\\\\c" = -5 ... -1, "next" = 0 ... 0, "nine" = 9 ... 9 } _e;'
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"x",
        field("a", 99, b""),
        field("a", -1, b""),
        field("a", 9, struct.pack("=I", 3)),
        field("e", 8, struct.pack("=256xQ", 7)) + field("", 0, INTEGER),
        field("e", 8, struct.pack("=256xQ", 7)),
        b"\0" * 920 * 5000,
    ],
)
def test_what_makes_no_sense_is_refused(raw):
    """The program gets an error, and the daemon goes on."""
    with pytest.raises(UnknownFieldClassError):
        field_lines(raw, {})


def test_field_classes_within_each_other_are_bounded():
    """A program cannot exhaust the stack."""
    array = field("a", 9, struct.pack("=I", 2))
    assert field_lines(array * 15 + field("i", 0, INTEGER), {})
    with pytest.raises(UnknownFieldClassError, match="16 field classes"):
        field_lines(array * 4000 + field("i", 0, INTEGER), {})


def test_variants_and_structures():
    """A choice for each label of the field before; members in their order."""
    tag = struct.pack("=I", 2) + b"$app.p:t_tag"
    raw = b"".join(
        (
            field("$app.p:t_tag", 0, INTEGER),
            field("$app.p:t", 6, tag),
            field("none", 11, b""),
            field("pair", 11, struct.pack("=I", 2)),
            field("a", 0, INTEGER),
            field("b", 4, b"\1"),
            field("after", 0, INTEGER),
        )
    )
    assert field_lines(raw, {}) == [
        f"{INTEGER_TEXT} __app_p_t_tag;",
        (
            f"variant <__app_p_t_tag> {{ struct {{ }} _none; struct {{ {INTEGER_TEXT} _a; "
            "string { encoding = UTF8; } _b; } _pair; } __app_p_t;"
        ),
        f"{INTEGER_TEXT} _after;",
    ]
    with pytest.raises(UnknownFieldClassError):
        field_lines(field("a", 6, struct.pack("=I", 0xFFFFFFFF)), {})
