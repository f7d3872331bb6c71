"""Where the fields are that tell lengths and select."""

from __future__ import annotations

import pytest

from support.ctf_writer import Packet, Trace, write_trace
from vestige.compat import bt2
from vestige.compat.bt2.fields.field_paths import FieldPathScope
from vestige.compat.bt2.traces.builders import _TraceClass

MEMBERS = """
enum : uint32_t { one, two } tag;
struct {
    uint32_t n;
    struct { uint32_t values[n]; } inner;
    variant <tag> { uint32_t one; uint64_t two; } which;
    uint32_t rows[event.fields.tag];
} outer;
"""


def steps(path):
    """Return the scope and the steps of a path; a step without an index is a word."""
    kinds = {
        bt2._CurrentArrayElementFieldPathItem: "element",
        bt2._CurrentOptionContentFieldPathItem: "content",
    }
    return path.root_scope, [kinds.get(type(one)) or one.index for one in path]


def test_those_of_metadata_are_found_by_their_names(tmp_path) -> None:
    """In the structures around, in the parts before, and where a name says so."""
    trace = Trace([MEMBERS])
    directory = write_trace(
        tmp_path / "trace", trace.metadata(), {"s": Packet([]).encode()}
    )
    stream = next(bt2.TraceCollectionMessageIterator(str(directory))).stream
    [event_class] = stream.cls.values()
    outer = event_class.payload_field_class["outer"].field_class
    scope = FieldPathScope.EVENT_PAYLOAD

    values = outer["inner"].field_class["values"].field_class
    assert steps(values.length_field_path) == (scope, [1, 0])
    which = outer["which"].field_class
    assert steps(which.selector_field_path) == (scope, [0])
    rows = outer["rows"].field_class
    assert steps(rows.length_field_path) == (scope, [0])


@pytest.mark.parametrize("container", ["array", "option"])
def test_those_that_are_made_are_found_when_they_are_used(container) -> None:
    """By what was given; before that nobody knows where they are."""
    trace_class = _TraceClass(assigns_automatic_stream_class_id=True)
    length = trace_class.create_unsigned_integer_field_class(8)
    element = trace_class.create_string_field_class()
    array = trace_class.create_dynamic_array_field_class(element, length)
    inner = trace_class.create_structure_field_class(
        [("other", element), ("length", length), ("array", array)]
    )
    if container == "array":
        made = trace_class.create_static_array_field_class(inner, 2)
    else:
        made = trace_class.create_option_without_selector_field_class(inner)
    outer = trace_class.create_structure_field_class([("o", element), ("i", made)])
    assert array.length_field_path is None

    trace_class.create_stream_class(
        packet_context_field_class=outer, supports_packets=True
    )

    step = "element" if container == "array" else "content"
    expected = (FieldPathScope.PACKET_CONTEXT, [1, step, 1])
    assert steps(array.length_field_path) == expected
