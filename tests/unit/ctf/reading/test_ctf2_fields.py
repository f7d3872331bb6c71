"""Strings, BLOBs, arrays, optionals and variants of CTF 2, and their locations."""

from __future__ import annotations

import struct

import pytest

import vestige
from support.ctf2_writer import (
    Trace2,
    bits,
    kind,
    leb128,
    location,
    signed,
    signed_leb128,
    structure,
    unsigned,
)
from vestige import TraceDamageWarning

ENCODINGS = ("utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be")
TEXT = "Ünïcode \U0001f600 \u0100\u0001 end"


def payloads(trace, directory):
    """Return the payloads of all event records."""
    return [event.payload.to_dict() for event in vestige.open(trace.write(directory))]


def payload(trace, directory):
    """Return the payload of the only event record."""
    [only] = payloads(trace, directory)
    return only


def damage(trace, directory):
    """Return the warning about a data stream that cannot be decoded."""
    with pytest.warns(TraceDamageWarning) as caught:
        payloads(trace, directory)
    return str(caught[0].message)


@pytest.mark.parametrize("encoding", ENCODINGS)
class TestStrings:
    """The three kinds of string in the five encodings."""

    def test_a_null_terminated_string(self, tmp_path, encoding):
        """It ends with a code unit of zeros, not with a zero byte."""
        member = kind("null-terminated-string", encoding=encoding)
        raw = (TEXT + "\0").encode(encoding) + "\0".encode(encoding) + b"\x07"
        members = {"text": member, "empty": member, "after": unsigned(8)}

        found = payload(Trace2(structure(members), [raw]), tmp_path)

        assert found == {"text": TEXT, "empty": "", "after": 7}

    def test_a_static_length_string(self, tmp_path, encoding):
        """What follows the first U+0000 is padding."""
        text = TEXT.encode(encoding)
        exact = kind("static-length-string", length=len(text), encoding=encoding)
        padded = {**exact, "length": len(text) + 12}
        none = {**exact, "length": 0}
        raw = text + text + "\0\0".encode(encoding).ljust(12, b"x")[:12]
        members = {"none": none, "exact": exact, "padded": padded}

        found = payload(Trace2(structure(members), [raw]), tmp_path)

        assert found == {"none": "", "exact": TEXT, "padded": TEXT}

    def test_a_dynamic_length_string(self, tmp_path, encoding):
        """Its length counts bytes."""
        text = TEXT.encode(encoding)
        members = {
            "length": unsigned(16),
            "text": kind(
                "dynamic-length-string",
                encoding=encoding,
                length_field_location=location("length"),
            ),
        }
        records = [struct.pack("<H", len(text)) + text, b"\0\0"]

        found = payloads(Trace2(structure(members), records), tmp_path)

        assert [each["text"] for each in found] == [TEXT, ""]


def test_code_units_that_are_no_codepoints_can_be_recovered(tmp_path):
    """Lone surrogates and stray bytes survive; a number that is too great cannot."""
    wide = kind("null-terminated-string", encoding="utf-16be")
    widest = kind("null-terminated-string", encoding="utf-32le")
    narrow = kind("static-length-string", length=3)
    members = {"wide": wide, "widest": widest, "narrow": narrow}
    raw = b"\xd8\0\0A\0\0" + b"\xff\xff\xff\x7fA\0\0\0\0\0\0\0" + b"\xff\xc3A"

    found = payload(Trace2(structure(members), [raw]), tmp_path)

    assert found["wide"] == "\ud800A"
    assert found["widest"] == "\ufffdA"
    assert found["narrow"].encode(errors="surrogateescape") == b"\xff\xc3A"


def test_a_string_that_ends_within_a_code_unit_is_an_error(tmp_path):
    """The specification tells a reader to stop there."""
    member = kind("static-length-string", length=5, encoding="utf-16le")
    trace = Trace2(structure({"text": member}), [b"a\0b\0c"])

    assert "a string of 5 bytes ends within a code unit of 2" in damage(trace, tmp_path)


def test_blobs_are_bytes(tmp_path):
    """Of any content, byte-aligned, with a length or a length field."""
    members = {
        "bit": bits("unsigned-integer", 1),
        "static": kind("static-length-blob", length=5, media_type="image/tiff"),
        "length": kind("variable-length-unsigned-integer"),
        "dynamic": kind(
            "dynamic-length-blob", length_field_location=location("length")
        ),
    }
    raw = b"\x01\0a\xff\0\n" + leb128(300) + bytes(range(256)) + bytes(44)

    found = payload(Trace2(structure(members), [raw]), tmp_path)

    assert found["static"] == b"\0a\xff\0\n"
    assert found["dynamic"] == bytes(range(256)) + bytes(44)


@pytest.mark.parametrize("length", [3, 1 << 60, (1 << 64) - 1])
@pytest.mark.parametrize("name", ["array", "blob", "string"])
def test_a_length_that_the_packet_cannot_hold(tmp_path, length, name):
    """Nothing is allocated for it."""
    member = kind(f"dynamic-length-{name}", length_field_location=location("length"))
    if name == "array":
        member["element-field-class"] = unsigned(8)
    members = {"length": unsigned(64), "long": member}
    trace = Trace2(structure(members), [struct.pack("<Q", length) + b"ab"])

    assert "event record runs past the end" in damage(trace, tmp_path)


class TestArrays:
    """Elements of any class."""

    def test_an_array_may_be_aligned_more_than_its_elements(self, tmp_path):
        """Example 57: 32 flags in one aligned integer; the elements are packed."""
        flag = bits("boolean", 1)
        flags = {"length": 32, "element_field_class": flag, "minimum_alignment": 32}
        members = {
            "before": unsigned(8),
            "static": kind("static-length-array", **flags),
            "length": unsigned(8),
            "dynamic": kind(
                "dynamic-length-array",
                element_field_class=flag,
                minimum_alignment=64,
                length_field_location=location("length"),
            ),
        }
        value = 0b1011_0000_0000_0000_0000_0000_0000_0101

        def write(writer):
            writer.align(64).integer(1, 8).align(32).integer(value)
            writer.integer(3, 8).align(64).integer(0b110, 3, align=1)

        found = payload(Trace2(structure(members), [write]), tmp_path)

        assert found["static"] == [bool(value >> bit & 1) for bit in range(32)]
        assert found["dynamic"] == [False, True, True]

    def test_elements_of_no_fixed_size(self, tmp_path):
        """Strings, integers of variable length, structures of both."""
        text = kind("null-terminated-string")
        pair = structure({"n": kind("variable-length-signed-integer"), "s": text})
        member = kind("static-length-array", length=3, element_field_class=pair)
        values = [(-1, "a"), (300, ""), (1 << 40, "xyz")]
        raw = b"".join(signed_leb128(n) + s.encode() + b"\0" for n, s in values)

        found = payload(Trace2(structure({"list": member}), [raw]), tmp_path)

        assert found == {"list": [{"n": n, "s": s} for n, s in values]}


class TestOptionals:
    """A field that is there or not."""

    @pytest.mark.parametrize(
        ("selector", "ranges", "values"),
        [
            (bits("boolean", 8, order="be"), None, {0: False, 1: True, 255: True}),
            (unsigned(8), [[3, 5], [200, 255]], {2: False, 3: True, 201: True}),
            (signed(8), [[-12, -12], [-5, 0]], {256 - 12: True, 5: False, 0: True}),
            (unsigned(8, mappings={"x": [[0, 9]]}), [[1, 1]], {1: True, 0: False}),
            (kind("variable-length-unsigned-integer"), [[7, 7]], {7: True, 8: False}),
        ],
    )
    def test_its_selector_tells(self, tmp_path, selector, ranges, values):
        """A boolean by its value, an integer by ranges."""
        member = kind(
            "optional",
            field_class=unsigned(16),
            selector_field_location=location("is-there", origin="event-record-payload"),
        )
        if ranges is not None:
            member["selector-field-ranges"] = ranges
        members = {"is-there": selector, "field": member, "after": unsigned(8)}
        records = [
            bytes([value]) + (b"\x34\x12" if there else b"") + b"\x09"
            for value, there in values.items()
        ]

        found = payloads(Trace2(structure(members), records), tmp_path)

        expected = [0x1234 if there else None for there in values.values()]
        assert [each["field"] for each in found] == expected
        assert all(each["after"] == 9 for each in found)

    def test_a_length_inside_of_one_that_is_not_there(self, tmp_path):
        """No value of an earlier event record is taken for it."""
        members = {
            "is-there": bits("boolean", 8),
            "length": kind(
                "optional",
                field_class=unsigned(8),
                selector_field_location=location("is-there"),
            ),
            "bytes": kind(
                "dynamic-length-blob", length_field_location=location("length")
            ),
        }
        good, bad = b"\x01\x02ab", b"\x00ab"
        trace = Trace2(structure(members), [good, good])
        assert payload(Trace2(trace.payload, [good]), tmp_path / "a")["bytes"] == b"ab"

        message = damage(Trace2(trace.payload, [good, bad]), tmp_path / "b")

        assert "event record runs past the end" in message


def variant(options, **more):
    """Return a variant field class: each option with its ranges."""
    listed = [
        {"field-class": member, "selector-field-ranges": ranges, **named}
        for member, ranges, named in options
    ]
    return kind("variant", options=listed, **more)


class TestVariants:
    """One of several fields."""

    def test_ranges_select_an_option(self, tmp_path):
        """With a signed selector in the specific context, and unnamed options."""
        place = location("sel", origin="event-record-specific-context")
        options = [
            (kind("null-terminated-string"), [[-5, -5], [5, 5]], {}),
            (signed(16), [[8, 100]], {"name": "number"}),
            (structure({"a": unsigned(8), "b": unsigned(8)}), [[-128, -100]], {}),
        ]
        trace = Trace2(
            structure({"v": variant(options, selector_field_location=place)}),
            [b"\xfbxy\0", b"\x05\0", b"\x63\xfe\xff", b"\x80\x01\x02"],
            specific=structure({"sel": signed(8)}),
        )

        found = [each["v"] for each in payloads(trace, tmp_path)]

        assert found == ["xy", "", -2, {"a": 1, "b": 2}]

    def test_a_selector_that_selects_nothing_is_an_error(self, tmp_path):
        """The rest of the packet cannot be decoded."""
        options = [(unsigned(8), [[1, 1]], {})]
        member = variant(options, selector_field_location=location("sel"))
        trace = Trace2(structure({"sel": unsigned(8), "v": member}), [b"\x02\x03"])

        assert "value 2 of 'sel' selects no option" in damage(trace, tmp_path)

    def test_an_optional_and_a_variant_may_share_a_selector(self, tmp_path):
        """Example 63 of the specification."""
        place = location("sel", origin="event-record-payload")
        options = [
            (kind("null-terminated-string"), [[1, 1]], {}),
            (kind("variable-length-signed-integer"), [[2, 2]], {}),
        ]
        member = kind(
            "optional",
            selector_field_location=place,
            selector_field_ranges=[[1, 255]],
            field_class=variant(options, selector_field_location=place),
        )
        trace = Trace2(
            structure({"sel": unsigned(8), "v": member}), [b"\0", b"\1a\0", b"\2\x7f"]
        )

        assert [each["v"] for each in payloads(trace, tmp_path)] == [None, "a", -1]


class TestLocations:
    """Where a length or a selector is (sections 5.3.1 and 6.4.2)."""

    def test_within_the_element_of_an_array(self, tmp_path):
        """Example 88: each element has its own length."""
        element = structure(
            {
                "laser": kind("variable-length-unsigned-integer"),
                "joystick": kind(
                    "dynamic-length-array",
                    length_field_location=location("laser"),
                    element_field_class=kind("null-terminated-string"),
                ),
            }
        )
        member = kind("static-length-array", length=2, element_field_class=element)
        raw = b"\x02a\0b\0\x01c\0"

        found = payload(Trace2(structure({"nature": member}), [raw]), tmp_path)

        assert [each["joystick"] for each in found["nature"]] == [["a", "b"], ["c"]]

    def test_through_the_element_that_is_being_decoded(self, tmp_path):
        """An absolute location leads into the same element."""
        place = location("nature", "laser", origin="event-record-payload")
        blob = kind("dynamic-length-blob", length_field_location=place)
        element = structure({"laser": unsigned(8), "bytes": blob})
        member = kind("static-length-array", length=2, element_field_class=element)

        found = payload(
            Trace2(structure({"nature": member}), [b"\x01a\x02bc"]), tmp_path
        )

        assert [each["bytes"] for each in found["nature"]] == [b"a", b"bc"]

    def test_parents_of_a_structure(self, tmp_path):
        """`null` is the structure around the current one, past arrays and variants."""
        blob = kind(
            "dynamic-length-blob", length_field_location=location(None, None, "n")
        )
        inner = structure({"deep": structure({"bytes": blob})})
        listed = kind("static-length-array", length=2, element_field_class=inner)
        members = {"n": unsigned(8), "list": listed}

        found = payload(Trace2(structure(members), [b"\x02abcd"]), tmp_path)

        assert [each["deep"]["bytes"] for each in found["list"]] == [b"ab", b"cd"]

    def test_a_length_in_each_option_of_a_variant(self, tmp_path):
        """Examples 90 and 91: whichever option is there has it."""
        sel = location("sel", origin="event-record-common-context")
        eagle = location("glass", "eagle", origin="event-record-payload")
        options = [
            (structure({"eagle": unsigned(16), "road": unsigned(8)}), [[0, 0]], {}),
            (
                structure({"x": unsigned(8), "eagle": unsigned(24, order="be")}),
                [[1, 9]],
                {},
            ),
            (
                structure(
                    {
                        "eagle": kind("variable-length-unsigned-integer"),
                        "lock": kind(
                            "dynamic-length-blob", length_field_location=eagle
                        ),
                    }
                ),
                [[10, 10]],
                {},
            ),
        ]
        members = {
            "glass": variant(options, selector_field_location=sel),
            "margin": kind(
                "dynamic-length-array",
                length_field_location=eagle,
                element_field_class=kind("null-terminated-string"),
            ),
        }
        records = [
            b"\x00" + b"\x02\x00\xff" + b"a\0b\0",
            b"\x05" + b"\xff\x00\x00\x01" + b"c\0",
            b"\x0a" + b"\x03xyz" + b"d\0e\0f\0",
        ]
        trace = Trace2(
            structure(members), records, common=structure({"sel": unsigned(8)})
        )

        found = payloads(trace, tmp_path)

        margins = [each["margin"] for each in found]
        assert margins == [["a", "b"], ["c"], ["d", "e", "f"]]
        assert found[2]["glass"]["lock"] == b"xyz"

    def test_a_length_in_the_packet_context(self, tmp_path):
        """One value for all event records of the packet."""
        place = location("size", origin="packet-context")
        blob = kind("dynamic-length-blob", length_field_location=place)
        trace = Trace2(
            structure({"bytes": blob}),
            [b"abc", b"def"],
            context={"size": unsigned(8)},
            context_bytes=b"\x03",
        )

        assert [each["bytes"] for each in payloads(trace, tmp_path)] == [b"abc", b"def"]

    def test_a_length_in_the_event_record_header(self, tmp_path):
        """The fast way through headers does not lose it."""
        place = location("number", origin="event-record-header")
        blob = kind("dynamic-length-blob", length_field_location=place)
        trace = Trace2(structure({"bytes": blob, "x": unsigned(8)}), [b"\x05", b"\x06"])

        assert payloads(trace, tmp_path) == [
            {"bytes": b"", "x": 5},
            {"bytes": b"", "x": 6},
        ]


def test_aliases_may_stand_for_field_classes_anywhere(tmp_path):
    """An alias of an alias, in a member, an element, an option and an optional."""
    options = [("u8", [[1, 1]], {})]
    members = {
        "a": "byte",
        "list": kind("static-length-array", length=2, element_field_class="u8"),
        "v": variant(options, selector_field_location=location("a")),
        "o": kind(
            "optional",
            field_class="pair",
            selector_field_location=location("a"),
            selector_field_ranges=[[1, 1]],
        ),
    }
    aliases = {
        "u8": unsigned(8),
        "byte": "u8",
        "pair": structure({"x": "u8", "y": "byte"}),
    }

    found = payload(
        Trace2(structure(members), [bytes([1, 2, 3, 4, 5, 6])], aliases=aliases),
        tmp_path,
    )

    assert found == {"a": 1, "list": [2, 3], "v": 4, "o": {"x": 5, "y": 6}}


def test_names_are_shown_as_they_are(tmp_path):
    """Only CTF 1.8 lets a tracer hide a keyword behind an underscore."""
    members = {"_a": unsigned(8), "a": unsigned(8), "": unsigned(8), "x y": unsigned(8)}

    found = payload(Trace2(structure(members), [b"\1\2\3\4"]), tmp_path)

    assert found == {"_a": 1, "a": 2, "": 3, "x y": 4}
