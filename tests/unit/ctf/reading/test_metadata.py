"""The model that is built from parsed metadata."""

from __future__ import annotations

from uuid import UUID

import pytest

from support.recordings import DATA, NAMES, leaf
from vestige import TraceFormatError, core
from vestige.ctf.reading.metadata import trace_class_model
from vestige.model import (
    ArrayFieldClass,
    ClockClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FloatFieldClass,
    IntegerFieldClass,
    StringFieldClass,
    StructureFieldClass,
    VariantFieldClass,
)

TEXT = """\
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = be; };
clock { name = "odd"; freq = 1000; offset_s = 7; offset = 13; precision = 5;
        absolute = true; description = "a clock"; };
stream {
    id = 3;
    packet.context := struct { u8 cpu_id; };
    event.header := struct { u8 id; };
    event.context := struct { integer { size = 5; signed = true; base = 16; } vpid; };
};
event {
    name = "first"; id = 4; stream_id = 3; loglevel = 6; model.emf.uri = "http://x";
    context := struct { u8 depth; };
    fields := struct {
        enum : u8 { A, B = 2 ... 9, "c d" = 2 } tag;
        variant <tag> { u8 A; string B; } choice;
        floating_point { exp_dig = 8; mant_dig = 24; align = 32; } real;
        u8 n;
        struct { u8 x; } rows[2][n];
        integer { size = 8; encoding = UTF8; } letters[16];
    };
};
event { name = "bare"; id = 5; stream_id = 3; };
"""


def model_of(content):
    """Return the model of metadata."""
    raw = content.encode() if isinstance(content, str) else content
    return trace_class_model(core.TraceClass.parse(raw))


def recorded(name):
    """Return the model of a recording."""
    return model_of((leaf(DATA / name) / "metadata").read_bytes())


@pytest.fixture(scope="module")
def written():
    """The model of the metadata above."""
    return model_of(TEXT)


@pytest.fixture(scope="module")
def payload(written):
    """The payload of its first event record class."""
    return written.stream_classes[0].event_classes[0].payload


def test_the_trace(written):
    """Version, and what is not stated."""
    assert written.version == (1, 8)
    assert written.uuid is None
    assert dict(written.environment) == {}


def test_the_clock(written):
    """Every attribute that it can have."""
    assert written.clocks == (
        ClockClass("odd", 1000, 7, 13, 5, description="a clock", absolute=True),
    )


def test_the_stream_class(written):
    """Its ID is the one of the metadata, its scopes are structures."""
    [stream] = written.stream_classes

    assert stream.id == 3
    assert [member.name for member in stream.packet_context.members] == ["cpu_id"]
    [vpid] = stream.event_context.members
    assert vpid.field_class == IntegerFieldClass(
        alignment=1, visible=True, size=5, signed=True, base=16
    )


def test_the_event_record_classes(written):
    """All attributes of one, and one without any."""
    first, bare = written.stream_classes[0].event_classes

    assert (first.id, first.name, first.log_level, first.emf_uri) == (
        4,
        "first",
        6,
        "http://x",
    )
    assert first.context.member("depth").field_class.size == 8
    assert (bare.id, bare.name, bare.log_level, bare.emf_uri) == (5, "bare", None, None)
    assert (bare.context, bare.payload) == (None, None)


def test_enumerations_and_variants(payload):
    """Labels with their ranges, overlapping ones too; options with their selector."""
    tag, choice = (payload.member(name).field_class for name in ("tag", "choice"))

    assert tag == EnumerationFieldClass(
        alignment=8,
        visible=True,
        size=8,
        signed=False,
        base=10,
        mappings=(
            EnumerationMapping("A", 0, 0),
            EnumerationMapping("B", 2, 9),
            EnumerationMapping("c d", 2, 2),
        ),
    )
    assert isinstance(choice, VariantFieldClass)
    assert choice.selector == "tag"
    assert [(option.name, type(option.field_class)) for option in choice.options] == [
        ("A", IntegerFieldClass),
        ("B", StringFieldClass),
    ]


def test_reals_arrays_and_texts(payload):
    """An array of arrays is nested from the outside to the inside."""
    rows, letters = (payload.member(name).field_class for name in ("rows", "letters"))

    assert payload.member("real").field_class == FloatFieldClass(
        32, visible=True, size=32
    )
    assert (rows.length, rows.text) == (2, False)
    assert (rows.element.length, rows.element.text) == ("n", False)
    assert isinstance(rows.element.element, StructureFieldClass)
    assert isinstance(letters, ArrayFieldClass)
    assert (letters.length, letters.text) == (16, True)


def test_a_recording_of_lttng():
    """Its identity, its clock and its environment."""
    trace = recorded("fields")
    [stream] = trace.stream_classes

    assert trace.uuid == UUID("0a87d5e1-136d-4feb-8418-43fd342b1682")
    assert trace.environment["tracer_name"] == "lttng-ust"
    assert trace.environment["architecture_bit_width"] == 64
    assert stream.clock is trace.clocks[0]
    assert (stream.clock.name, stream.clock.frequency) == ("monotonic", 10**9)
    assert stream.clock.uuid == UUID("69a15c08-27fd-4119-8bf8-59be199740e1")
    assert stream.clock.description == "Monotonic Clock"
    offset = stream.clock.offset_seconds * 10**9 + stream.clock.offset_cycles
    assert offset == 1_795_243_727_210_074_326


def test_the_underscore_that_lttng_puts_before_names_is_taken_away():
    """Users see the names that they gave; lengths keep the one of their own."""
    [stream] = recorded("fields").stream_classes
    sequences = next(
        event for event in stream.event_classes if event.name == "fields:sequences"
    )

    assert [member.name for member in stream.event_context.members] == [
        "ip",
        "vpid",
        "vtid",
        "procname",
    ]
    assert [member.name for member in sequences.payload.members][:2] == [
        "_numbers_length",
        "numbers",
    ]


def test_the_environment_cannot_be_changed():
    """It is a view."""
    with pytest.raises(TypeError):
        recorded("hello").environment["hostname"] = "other"


@pytest.mark.parametrize("name", NAMES)
def test_equal_metadata_make_equal_models(name):
    """Two readings of a recording, and no two events of a stream with one ID."""
    trace = recorded(name)

    assert trace == recorded(name)
    for stream in trace.stream_classes:
        ids = [event.id for event in stream.event_classes]
        assert len(set(ids)) == len(ids) > 0


def test_classes_nested_too_deep_for_python_are_a_clear_error():
    """The core reads deeper nesting than a recursion in Python may follow."""
    deep = "struct { " * 250 + "u8 a; " + "} s; " * 250
    fields = TEXT.replace("u8 n;", f"{deep} u8 n;")
    with pytest.raises(TraceFormatError, match="nested too deep for a model"):
        model_of(fields)
