"""The order in which event records of several data streams come."""

from __future__ import annotations

import itertools
from pathlib import Path
from uuid import UUID

import pytest

from support.ctf_writer import UUID_TEXT, Packet, Trace, numbered, write_trace
from support.recordings import DATA
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Selection, mux

LOW, HIGH = UUID(int=1), UUID(int=1 << 127)


def records(merges):
    """Return (file, value) of all event records."""
    return [
        (Path(event.stream.name).name, event["value"])
        for merge in merges
        for event in merge.events()
    ]


def write(directory, uuid, **streams):
    """Write a trace with a UUID and some streams of packets of three events."""
    trace = Trace()
    data = {
        name: Packet(numbered(3, start=start), uuid=uuid.bytes).encode()
        for name, start in streams.items()
    }
    return write_trace(directory, trace.metadata().replace(UUID_TEXT, str(uuid)), data)


def test_streams_are_merged_by_time(tmp_path):
    """Whatever their names."""
    write(tmp_path, LOW, late=10, early=0, between=5)
    found = records(mux(CtfFsSource([tmp_path]).streams))

    assert found == [
        *(("early", value) for value in (0, 1, 2)),
        *(("between", value) for value in (5, 6, 7)),
        *(("late", value) for value in (10, 11, 12)),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_in_a_tie_the_stream_with_the_lower_id_is_first(tmp_path, order):
    """The order in which streams are given does not matter."""
    write(tmp_path, LOW, a=0, b=0, c=0)
    streams = CtfFsSource([tmp_path]).streams
    found = records(mux([streams[index] for index in order]))

    assert found == [(name, value) for value in range(3) for name in "abc"]


@pytest.mark.parametrize("given", [("x", "y"), ("y", "x")])
def test_in_a_tie_the_trace_with_the_lower_uuid_is_first(tmp_path, given):
    """Neither the order of the paths nor their names matter."""
    write(tmp_path / "x", HIGH, high=0)
    write(tmp_path / "y", LOW, low=0)
    found = records(mux(CtfFsSource(tmp_path / name for name in given).streams))

    assert found == [(name, value) for value in range(3) for name in ("low", "high")]


def test_in_a_tie_a_trace_without_uuid_is_last(tmp_path):
    """Then names decide."""
    text = Trace().metadata().replace(f'uuid = "{UUID_TEXT}";', "")
    text = text.replace("uint8_t uuid[16]; ", "")
    packet = Packet(numbered(1)).encode()
    bare = packet[:4] + packet[20:]
    # The packet context follows the shorter header: its sizes shrink by 16 bytes.
    size = (len(bare) * 8).to_bytes(8, "little")
    bare = bare[:8] + size + size + bare[24:]
    write_trace(tmp_path / "m", text, {"m": bare})
    write_trace(tmp_path / "k", text, {"k": bare})
    write(tmp_path / "a", LOW, a=0)
    found = records(mux(CtfFsSource([tmp_path]).streams))

    assert found == [("a", 0), ("k", 0), ("m", 0), ("a", 1), ("a", 2)]


def test_the_order_key_names_what_decides(tmp_path):
    """UUID, name of the trace, stream class, data stream."""
    write(tmp_path / "t", LOW, a=0, b=0)
    keys = [stream.order_key() for stream in CtfFsSource([tmp_path]).streams]

    known = (False, LOW.bytes, "t")
    assert keys == [(*known, 0, 0), (*known, 0, 1)]


def test_a_stream_tells_its_trace_and_class():
    """As values for users; the handle is not shown."""
    streams = CtfFsSource([DATA / "lost"]).streams
    stream = streams[1]

    assert stream.trace.uuid == UUID("fada75c6-0b28-47b6-a883-51989af28130")
    assert (
        stream.stream_class
        is stream.trace.trace_class.stream_classes[stream.class_index]
    )
    assert {event.name for event in stream.stream_class.event_classes} >= {"flood:drop"}
    assert "handle" not in repr(stream)
    assert len({stream, *streams}) == len(streams) == 4


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), [0, 1, 2]),
        (Selection(patterns=("event_?",)), [0, 1, 2]),
        (Selection(patterns=("other",)), []),
        (Selection(begin=1_001_000), [1, 2]),
        (Selection(end=1_001_000), [0, 1]),
        (Selection(begin=1_001_000, end=1_001_000, patterns=("*",)), [1]),
    ],
)
def test_only_what_is_selected_comes(tmp_path, selection, expected):
    """By time and by name."""
    write(tmp_path, LOW, a=0)
    found = records(mux(CtfFsSource([tmp_path]).streams, selection))

    assert found == [("a", value) for value in expected]


def test_what_a_filter_needs_comes_and_is_not_shown():
    """The state dump, for one who wants only the library's events."""
    streams = CtfFsSource([DATA / "reload"]).streams
    needed = {"lttng_ust_lib:load", "lttng_ust_lib:unload"}
    selection = Selection(patterns=("reload:*",))
    merges = list(mux(streams, selection, needed))
    everything = [event.name for merge in merges for event in merge.events()]
    shown = [event.name for merge in merges for event in merge.shown().events()]

    assert set(everything) == {"reload:inside", "reload:loaded", *needed}
    assert shown == [name for name in everything if name.startswith("reload:")]
    assert sum(len(merge.shown()) for merge in merges) == len(shown) == 16


def test_needed_events_before_the_begin_come_too():
    """A filter must know the past."""
    streams = CtfFsSource([DATA / "reload"]).streams
    [last] = [
        event.timestamp
        for merge in mux(streams, Selection(patterns=("reload:loaded",)))
        for event in merge.events()
    ][-1:]
    selection = Selection(begin=last, patterns=("reload:loaded",))
    merges = list(mux(streams, selection, {"lttng_ust_lib:load"}))

    assert [event.name for merge in merges for event in merge.events()] == [
        "lttng_ust_lib:load"
    ] * 4 + ["reload:loaded"]
    assert [len(merge.shown()) for merge in merges if len(merge.shown())] == [1]


def test_a_pattern_chooses_event_record_classes():
    """None says that all are wanted, which is faster than a list."""
    stream = CtfFsSource([DATA / "hello"]).streams[0]

    assert Selection().wanted_classes(stream) is None
    assert Selection(begin=5).wanted_classes(stream) is None
    assert Selection(patterns=("gr*",)).wanted_classes(stream) == [True]
    assert Selection(patterns=("GR*",)).wanted_classes(stream) == [False]


def test_without_streams_there_are_no_merges(tmp_path):
    """Nothing to merge: no merge at all."""
    Trace().write(tmp_path)

    assert list(mux([])) == []
    assert list(mux(CtfFsSource([tmp_path]).streams)) == []


def test_a_merge_tells_the_times_of_its_first_and_last_record(tmp_path):
    """And how many runs it has."""
    write(tmp_path, LOW, a=0, b=5)
    [merge] = mux(CtfFsSource([tmp_path]).streams)

    assert len(merge) == 6
    assert merge.time_span == (1_000_000, 1_007_000)
    assert merge.run_count == 2
