"""Messages of traces by the names of Babeltrace 2's Python module."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from pathlib import Path

import pytest

from support.ctf_writer import (
    Event,
    Packet,
    Trace,
    numbered,
    packetised_metadata,
    write_trace,
)
from support.recordings import DEMO
from support.relay import Served, relay
from vestige.compat import bt2


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two data streams of a packet with three events each, at 1000 to 1002 us and 1002 to 1004 us."""
    data = {
        "one": Packet(numbered(3)).encode(),
        "two": Packet(numbered(3, start=2)).encode(),
    }
    return write_trace(tmp_path / "trace", Trace().metadata(), data)


def kinds(messages) -> Counter[type]:
    """Count messages of each type."""
    return Counter(type(one) for one in messages)


def events(messages) -> list[int]:
    """Return the times of the events, microseconds."""
    return [
        one.default_clock_snapshot.ns_from_origin // 1000
        for one in messages
        if type(one) is bt2._EventMessageConst
    ]


def test_all_messages_come(trace: Path) -> None:
    """Streams and packets begin and end around the events."""
    counts = kinds(bt2.TraceCollectionMessageIterator(str(trace)))

    assert counts == {
        bt2._EventMessageConst: 6,
        bt2._StreamBeginningMessageConst: 2,
        bt2._StreamEndMessageConst: 2,
        bt2._PacketBeginningMessageConst: 2,
        bt2._PacketEndMessageConst: 2,
    }


def test_an_event_is_in_the_packet_that_began_before_it(trace: Path) -> None:
    """And in the same stream, of the same trace and class."""
    began = {}
    for message in bt2.TraceCollectionMessageIterator(str(trace)):
        if type(message) is bt2._PacketBeginningMessageConst:
            began[message.packet.stream.addr] = message.packet
        if type(message) is bt2._EventMessageConst:
            event = message.event
            assert event.packet == began[event.stream.addr]
            assert event.stream.trace[event.stream.id] == event.stream
            assert event.stream.cls[event.id] == event.cls


def test_fields_are_found_by_their_names(trace: Path) -> None:
    """In all scopes, and each is of its class."""
    messages = bt2.TraceCollectionMessageIterator(str(trace))
    event = next(one for one in messages if type(one) is bt2._EventMessageConst).event

    value = event["value"]

    assert isinstance(value, bt2._UnsignedIntegerFieldConst)
    assert value == event.payload_field["value"] == 0
    assert [*event.payload_field] == ["value"]
    assert value.cls == event.cls.payload_field_class["value"].field_class
    assert "value" in event
    assert event.specific_context_field is None
    assert event.packet.context_field is None  # only what the reader needs is in it
    with pytest.raises(KeyError, match="nothing"):
        event["nothing"]
    with pytest.raises(TypeError, match="'int' is not a 'str' object"):
        event[0]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"begin": 0.001002}, [1002, 1002, 1003, 1004]),
        ({"end": 0.001003}, [1000, 1001, 1002, 1002, 1003]),
        ({"begin": dt.datetime.now(tz=dt.UTC)}, []),
        ({"stream_intersection_mode": True}, [1002, 1002]),
    ],
)
def test_ranges_of_time(trace: Path, limits, expected: list[int]) -> None:
    """Ends are in seconds, or times of day."""
    messages = bt2.TraceCollectionMessageIterator(str(trace), **limits)

    assert events(messages) == expected


def test_sources_and_filters_by_their_classes(trace: Path) -> None:
    """As by a path."""
    source = bt2.ComponentSpec.from_named_plugin_and_component_class(
        "ctf", "fs", {"inputs": [str(trace)], "clock-class-offset-ns": 5000}
    )
    trimmer = bt2.ComponentSpec(
        bt2.find_plugin("utils").filter_component_classes["trimmer"],
        {"end": "0.001007"},
    )

    messages = bt2.TraceCollectionMessageIterator([source], trimmer)

    assert events(messages) == [1005, 1006, 1007, 1007]


def test_a_live_source_without_news_is_to_be_tried_again() -> None:
    """What comes later is there then."""
    packets = Served(
        steps=["retry", Packet(numbered(3)).encode()], ends=[numbered(3)[-1].timestamp]
    )
    metadata = packetised_metadata(Trace().metadata())
    waited, found = 0, []
    with relay([packets], [metadata]) as other:
        params = {"inputs": [other.url], "session-not-found-action": "end"}
        source = bt2.ComponentSpec.from_named_plugin_and_component_class(
            "ctf", "lttng-live", params
        )
        messages = iter(bt2.TraceCollectionMessageIterator(source))
        while True:
            try:
                found.append(next(messages))
            except bt2.TryAgain:
                waited += 1
            except StopIteration:
                break
    assert waited
    assert len(events(found)) == 3


def test_wrong_arguments(tmp_path: Path, trace: Path) -> None:
    """Are refused as by the module that it is like."""
    iterator = bt2.TraceCollectionMessageIterator
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(TypeError, match="'int' is not a 'bool' object"):
        iterator(str(trace), stream_intersection_mode=1)
    with pytest.raises(TypeError, match="is not an integral number or a datetime"):
        iterator(str(trace), begin="noon")
    with pytest.raises(RuntimeError, match="did not produce any component"):
        iterator([str(trace), str(tmp_path / "nothing")])
    with pytest.raises(TypeError, match="is not a ComponentSpec"):
        iterator([1])
    with pytest.raises(ValueError, match="no such plugin: none"):
        bt2.ComponentSpec.from_named_plugin_and_component_class("none", "fs")
    with pytest.raises(KeyError, match="`pretty` not found in plugin `text`"):
        bt2.ComponentSpec.from_named_plugin_and_component_class("text", "pretty")
    with pytest.raises(bt2._Error, match="cannot create the components") as error:
        iterator(
            bt2.ComponentSpec.from_named_plugin_and_component_class(
                "ctf", "fs", str(empty)
            )
        )
    assert "no CTF trace" in error.value[0].message


def test_a_stream_without_a_clock(tmp_path: Path) -> None:
    """Has no times, and says so."""
    metadata = re.sub(r"clock {.*};\n|map = .*?;", "", Trace().metadata())
    metadata = metadata.replace("timestamp", "moment")
    path = write_trace(tmp_path / "t", metadata, {"one": Packet(numbered(1)).encode()})

    for message in bt2.TraceCollectionMessageIterator(str(path)):
        with pytest.raises(ValueError, match="has no default clock class"):
            message.default_clock_snapshot  # noqa: B018 - asking is the test


def test_what_a_filter_adds_is_a_field() -> None:
    """As behind Babeltrace 2's filter: a member of the common context from the beginning."""
    params = {
        "debug-info-dir": str(DEMO / "debug"),
        "target-prefix": str(DEMO / "root"),
    }
    spec = bt2.ComponentSpec.from_named_plugin_and_component_class(
        "lttng-utils", "debug-info", params
    )
    streams, found, without = set(), Counter(), 0
    for message in bt2.TraceCollectionMessageIterator(str(DEMO / "trace"), spec):
        if type(message) is bt2._StreamBeginningMessageConst:
            streams.add(message.stream)
            members = message.stream.cls.event_common_context_field_class
            assert [*members["debug_info"].field_class] == ["bin", "func", "src"]
        elif type(message) is bt2._EventMessageConst:
            event = message.event
            assert event.stream in streams
            context = event.common_context_field
            assert event["debug_info"] == context["debug_info"]
            assert [*context][-1] == "debug_info"
            source = event["debug_info"]["src"]
            if event.name.startswith("lttng_ust"):
                without += source == ""
            else:
                found[str(source)] += 1

    assert found["shop.c:79"] > 1
    assert all(re.fullmatch(r"\w+\.c:\d+", source) for source in found)
    assert without


def test_damage_is_an_error(tmp_path: Path) -> None:
    """Behind what comes before it; of a damaged packet nothing comes at all."""
    broken = Packet([*numbered(2), Event(9_000_000, b"", id=99)])
    later = Packet(numbered(3, start=10_000))
    record = Trace(streams={"one": [broken], "two": [later]}).write(tmp_path / "record")
    seen: list[object] = []
    with pytest.raises(bt2._Error, match="event record of class 99"):
        seen.extend(bt2.TraceCollectionMessageIterator(str(record)))
    assert events(seen) == [1000, 1001]

    packet = Packet(numbered(2), magic=7)
    trace = Trace(streams={"one": [packet]}).write(tmp_path / "packet")
    messages = bt2.TraceCollectionMessageIterator(str(trace))
    with pytest.raises(bt2._Error, match="expected the magic number"):
        next(messages)


def test_metadata_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A directory with metadata is a trace; one without is none."""
    write_trace(tmp_path / "trace", "/* CTF 1.8 */ trace { major = ; };", {})
    (tmp_path / "empty").mkdir()
    with pytest.raises(bt2._Error, match="metadata: line 1: "):
        bt2.TraceCollectionMessageIterator(str(tmp_path / "trace"))
    with pytest.raises(RuntimeError, match="did not produce any component"):
        bt2.TraceCollectionMessageIterator(str(tmp_path / "empty"))
