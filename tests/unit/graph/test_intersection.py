"""The time in which all data streams of a trace are active."""

from __future__ import annotations

import uuid as uuids

import pytest

import vestige
from support.ctf_writer import UUID, UUID_TEXT, Event, Packet, Trace
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import SelectionError
from vestige.graph.intersection import intersections


def write(directory, **ranges):
    """Write data streams with an event every 10 cycles; return the trace."""
    streams = {
        name: [
            Packet(
                [Event(time, bytes(4)) for time in range(begin, end + 1, 10)],
                begin,
                end,
            )
        ]
        for name, (begin, end) in ranges.items()
    }
    return Trace(streams=streams).write(directory)


def test_it_lasts_from_the_latest_beginning_to_the_earliest_end(tmp_path):
    """Both ends are shown."""
    trace = write(tmp_path, one=(100, 200), two=(150, 300), three=(120, 180))

    assert intersections(CtfFsSource([trace]).streams) == {0: (150, 180)}
    events = vestige.open(trace, stream_intersection=True)
    assert {event.timestamp for event in events} == {150, 160, 170, 180}
    assert {event.timestamp for event in events.events(begin=165)} == {170, 180}


def test_no_common_time_is_an_error(tmp_path):
    """It tells both times."""
    trace = write(tmp_path, one=(100, 200), two=(210, 300))

    with pytest.raises(SelectionError, match=r"begins at 210 ns, .* ended at 200 ns"):
        list(vestige.open(trace, stream_intersection=True))


def test_each_trace_has_a_time_of_its_own(tmp_path):
    """One trace says nothing about another."""
    first = write(tmp_path / "first", one=(100, 200))
    second = write(tmp_path / "second", one=(300, 400))
    for trace, uuid in ((first, b"1"), (second, b"2")):
        change_uuid(trace, uuid * 16)

    source = CtfFsSource([first, second])

    assert intersections(source.streams) == {0: (100, 200), 1: (300, 400)}


def change_uuid(trace, uuid):
    """Give a trace another UUID, in its metadata and in its packets."""
    metadata = trace / "metadata"
    new = str(uuids.UUID(bytes=uuid))
    metadata.write_text(metadata.read_text().replace(UUID_TEXT, new))
    for file in trace.iterdir():
        if file != metadata:
            file.write_bytes(file.read_bytes().replace(UUID, uuid))
