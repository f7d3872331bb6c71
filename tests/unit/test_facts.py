"""Numbers and times of a selection, without decoding it."""

from __future__ import annotations

import collections

import pytest

import vestige
from support.column_rows import RECORDINGS
from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA
from vestige import TraceDamageWarning


@pytest.mark.parametrize("name", RECORDINGS)
def test_they_are_those_of_the_events(name):
    """By name, together, and in time."""
    trace = vestige.open(DATA / name)
    events = list(trace)
    times = [event.timestamp for event in events]

    assert len(trace) == len(events) > 0
    assert trace.counts() == collections.Counter(event.name for event in events)
    assert list(trace.counts()) == sorted(trace.counts())
    assert trace.time_span == (min(times), max(times))
    assert vestige.open(DATA / name).time_span == (min(times), max(times))


def test_a_selection_has_its_own():
    """Pattern and times count."""
    trace = vestige.open(DATA / "threads-pid")
    events = [event for event in trace if event.name == "threads:step"]
    begin, end = events[10].timestamp, events[30].timestamp
    selection = trace.events("*:step", begin=begin, end=end)

    assert len(selection) == 21
    assert selection.counts() == {"threads:step": 21}
    assert selection.time_span == (begin, end)
    assert trace.events("*:step").time_span == (
        events[0].timestamp,
        events[-1].timestamp,
    )


def test_a_selection_whose_last_events_are_not_in_the_last_packet(tmp_path):
    """Then more than the last packet is read."""
    packets = [
        Packet([Event(10, bytes(4)), Event(20, bytes(4))]),
        Packet([Event(30, id=1)]),
        Packet([Event(40, id=1)]),
    ]
    trace = vestige.open(
        Trace(["uint32_t value;", ""], streams={"s": packets}).write(tmp_path)
    )

    assert trace.events("event_0").time_span == (10, 20)
    assert trace.time_span == (10, 40)


@pytest.mark.filterwarnings("ignore:no event matches")
def test_nothing():
    """No event has no time."""
    nothing = vestige.open(DATA / "hello").events("nothing")

    assert (len(nothing), nothing.counts(), nothing.time_span) == (0, {}, None)
    assert not nothing
    assert vestige.open(DATA / "hello")


def test_without_a_clock(tmp_path):
    """Events can be counted all the same."""
    metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };"
    metadata += "event { fields := struct { integer { size = 8; } x; }; };"
    (tmp_path / "metadata").write_text(metadata)
    (tmp_path / "stream").write_bytes(b"abc")
    trace = vestige.open(tmp_path)

    assert (len(trace), trace.counts(), trace.time_span) == (3, {None: 3}, None)


def test_damage_is_reported_once(tmp_path):
    """By whichever asks first; the answers are kept."""
    directory = Trace(streams={"s": [Packet(numbered(5))]}).write(tmp_path)
    with (directory / "s").open("r+b") as file:
        file.truncate((directory / "s").stat().st_size - 3)
    trace = vestige.open(directory)
    with pytest.warns(TraceDamageWarning) as caught:
        assert len(trace) == 4

    assert len(caught) == 1
    assert trace.counts() == {"event_0": 4}
    assert len(trace) == 4
    assert len(trace.damage) == 1
