"""Traces and events by the names of Babeltrace 1's Python module."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered, write_trace
from support.recordings import DATA
from vestige.compat import babeltrace
from vestige.compat.babeltrace import CTFScope, CTFTypeId


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Three events a millisecond behind the origin, a microsecond apart."""
    data = {"one": Packet(numbered(3)).encode()}
    return write_trace(tmp_path / "trace", Trace().metadata(), data)


@pytest.fixture
def collection(trace: Path):
    """Return a collection of that trace."""
    found = babeltrace.TraceCollection()
    assert found.add_trace(str(trace), "ctf") is not None
    return found


def test_events_are_mappings(collection) -> None:
    """Of their fields in all scopes, the packet's among them."""
    first = next(iter(collection.events))

    assert (first.name, first.timestamp, first.cycles) == ("event_0", 1000000, 1000000)
    assert (first.datetime.timestamp(), first.datetime.tzinfo) == (0.001, None)
    assert first["value"] == first.get("value") == 0
    assert first.get("other", 5) == 5
    assert "value" in first
    assert "other" not in first
    assert {"value", "timestamp_begin", "packet_size"} <= set(first.keys())
    assert ("value", 0) in first.items()
    assert first["timestamp_begin"] == 1000000
    assert first.handle.path == collection.events.__next__().handle.path
    with pytest.raises(KeyError):
        first["other"]


def test_fields_of_a_scope(collection) -> None:
    """Others do not count; a scope that there is not is an error."""
    first = next(iter(collection.events))

    assert first.field_list_with_scope(CTFScope.EVENT_FIELDS) == ["value"]
    assert first.field_with_scope("value", CTFScope.EVENT_FIELDS) == 0
    assert first.field_with_scope("value", CTFScope.EVENT_CONTEXT) is None
    assert first.field_list_with_scope(CTFScope.STREAM_EVENT_HEADER) == []
    with pytest.raises(ValueError, match="Invalid scope"):
        first.field_with_scope("value", 9)


def test_ranges_of_time(collection) -> None:
    """Of events, of traces, and those that are wanted."""
    assert (collection.timestamp_begin, collection.timestamp_end) == (1000000, 1002000)
    assert [one["value"] for one in collection.events_timestamps(1001000, 1001000)] == [
        1
    ]
    assert collection.has_intersection


def test_several_traces(trace: Path) -> None:
    """Below a folder; one that is removed is not read."""
    collection = babeltrace.TraceCollection()

    handles = collection.add_traces_recursive(str(trace.parent), "ctf")

    assert [*handles] == [str(trace)]
    handle = handles[str(trace)]
    assert (handle.timestamp_begin, handle.timestamp_end) == (1000000, 1002000)
    collection.remove_trace(handle)
    assert [*collection.events] == []
    assert collection.timestamp_begin is None
    with pytest.raises(TypeError, match="must be a TraceHandle"):
        collection.remove_trace(trace)


def test_what_is_no_trace(tmp_path: Path) -> None:
    """Has no handle."""
    collection = babeltrace.TraceCollection()
    (tmp_path / "metadata").write_text("nonsense", encoding="utf-8")

    assert collection.add_trace(str(tmp_path), "ctf") is None
    assert collection.add_trace(str(tmp_path / "none"), "ctf") is None
    assert collection.add_trace(str(DATA / "hello"), "text") is None
    assert collection.add_traces_recursive(str(tmp_path), "ctf") is None


def test_enumerations_are_their_labels(tmp_path: Path) -> None:
    """A value without one is an error."""
    metadata = (
        Trace()
        .metadata()
        .replace("uint32_t value;", "enum : uint32_t { one = 1 } value;")
    )
    events = [Event(number, struct.pack("<I", number)) for number in (1, 2)]
    path = write_trace(tmp_path / "t", metadata, {"s": Packet(events).encode()})
    collection = babeltrace.TraceCollection()
    collection.add_trace(str(path), "ctf")

    one, two = collection.events

    assert one["value"] == "one"
    with pytest.raises(babeltrace.FieldError, match="field value of type ENUM"):
        two["value"]


def test_declarations() -> None:
    """All kinds of fields, each with its scope."""
    collection = babeltrace.TraceCollection()
    handles = collection.add_traces_recursive(str(DATA / "fields"), "ctf")
    [handle] = handles.values()

    declared = {one.name: one for one in handle.events}

    fields = {one.name: one for one in declared["fields:integers"].fields}
    assert fields["i8"].type == CTFTypeId.INTEGER
    assert (fields["i8"].signedness, fields["i8"].length) == (1, 8)
    assert fields["i8"].scope == CTFScope.EVENT_FIELDS
    assert fields["procname"].element_declaration.length == 8
    assert repr(fields["cpu_id"]) == "(STREAM_PACKET_CONTEXT) INTEGER cpu_id"
