"""Data streams that grow while they are merged."""

from __future__ import annotations

import random

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered
from vestige import core
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Selection, Stream, TraceInfo, mux
from vestige.graph.growing import Arrival, Feed
from vestige.graph.mux import merges

NAMES = "abc"


class Scripted(Feed):
    """Gives what a script says, one step each time it is asked."""

    def __init__(self, trace, steps):
        super().__init__("script")
        parsed = core.TraceClass.parse(trace.metadata().encode())
        self.info = TraceInfo(0, "", parsed)
        self.steps = [*steps]
        self.asked = []
        self.named = {}

    def stream(self, name):
        """Return the data stream of a name."""
        if name not in self.named:
            info, number = self.info, NAMES.index(name)
            handle = core.DataStream(
                info.parsed, [], trace_name="", trace_index=0, class_index=0, path=name
            )
            self.named[name] = Stream(info, 0, number, name, handle)
        return self.named[name]

    def poll(self, hungry):
        """Do the next step."""
        self.asked.append({one.name for one in hungry})
        arrival = Arrival()
        if not self.steps:
            arrival.is_end = True
            return arrival
        for kind, name, fact in self.steps.pop(0):
            stream = self.stream(name)
            if kind == "new":
                arrival.streams.append(stream)
                self.streams.append(stream)
            elif kind == "packet":
                file = core.DataFile.of_bytes(self.info.parsed, name, fact.encode())
                part = stream.handle.following(self.info.parsed, file)
                arrival.parts.append((stream, part))
            elif kind == "certain":
                arrival.certain.append((stream, fact))
            else:
                arrival.ended.append(stream)
        return arrival


def read(feed, selection=None):
    """Return (stream, value) of all event records, and the notices."""
    notices, found = [], []
    wanted = selection or Selection()
    for merge in merges(
        [], feeds={feed: wanted}, retry_duration=0, tell=notices.append
    ):
        found += [(one.stream.name, one["value"]) for one in merge.events()]
    return found, notices


def test_what_may_come_earlier_is_waited_for():
    """Only what is certain is given, and in order."""
    steps = [
        [("new", "a", 0), ("new", "b", 0), ("packet", "a", Packet(numbered(3)))],
        [("certain", "b", 1_001_000)],
        [("packet", "b", Packet(numbered(3, start=1)))],
    ]
    feed = Scripted(Trace(), steps)
    gotten = [
        (len(feed.steps), [one["value"] for one in merge.events()])
        for merge in merges([], feeds={feed: Selection()}, retry_duration=0, tell=print)
    ]

    values = [value for _, part in gotten for value in part]
    assert values == [0, 1, 1, 2, 2, 3]
    assert [part for left, part in gotten if left == 2 and part] == []
    assert [part for left, part in gotten if left == 1 and part] == [[0, 1]]
    assert feed.asked[1:] == [{"b"}, {"b"}, {"a"}]


def test_what_comes_later_than_was_said_is_given_at_once():
    """A packet of a collector that had to wait: out of order, but not lost."""
    steps = [
        [("new", "a", 0), ("new", "b", 0), ("packet", "a", Packet(numbered(3)))],
        [("certain", "b", 1_900_000)],
        [("packet", "b", Packet(numbered(3, start=1)))],
        [("packet", "a", Packet(numbered(2, start=5), sequence=1))],
    ]
    found, notices = read(Scripted(Trace(), steps))

    assert notices == []
    assert [one for one in found if one[0] == "b"] == [("b", 1), ("b", 2), ("b", 3)]
    assert [value for _, value in found[:3]] == [0, 1, 2]
    assert [value for _, value in found[-2:]] == [5, 6]


@pytest.mark.parametrize("seed", range(8))
def test_any_portions_give_what_files_give(tmp_path, seed):
    """Whatever comes when, with losses, and with streams that appear later."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    packets = {name: random_packets(chance) for name in NAMES}
    expected = records(Trace(streams=packets).write(tmp_path / "trace"))
    left = {name: [*packets[name]] for name in NAMES}
    steps, began = [[("new", "a", 0), ("new", "b", 0), ("new", "c", 0)]], {*NAMES}
    while any(left.values()):
        step = []
        for name in sorted(began):
            if left[name] and chance.random() < 0.6:
                packet = left[name].pop(0)
                step += [("packet", name, packet), ("certain", name, packet.end)]
            elif left[name] and chance.random() < 0.3:
                step.append(("certain", name, left[name][0].begin))
        steps.append(step)
    feed = Scripted(Trace(), steps)
    found, notices = read(feed)

    assert found == expected[0]
    assert {notice.count for notice in notices} == {*expected[1]}
    assert len(notices) == len(expected[1])


def test_ranges_of_time_and_names_hold_for_all_parts():
    """And nothing is left waiting when all is later."""
    steps = [
        [("new", "a", 0), ("packet", "a", Packet(numbered(5)))],
        [("packet", "a", Packet(numbered(5, start=5), sequence=1))],
        [("packet", "a", Packet(numbered(5, start=10), sequence=2))],
    ]
    found, _ = read(Scripted(Trace(), steps), Selection(begin=1_003_000, end=1_006_000))
    assert found == [("a", value) for value in (3, 4, 5, 6)]


def test_metadata_become_more():
    """A part is read by the classes of its time."""
    more = Trace(event_fields=("uint32_t value;", "uint32_t other;"))

    class Learning(Scripted):
        def poll(self, hungry):
            if len(self.steps) == 1:
                self.info.learn(core.TraceClass.parse(more.metadata().encode()))
            return super().poll(hungry)

    later = Packet([Event(2_000_000, (77).to_bytes(4, "little"), id=1)], sequence=1)
    steps = [
        [("new", "a", 0), ("packet", "a", Packet(numbered(2)))],
        [("packet", "a", later)],
    ]
    names = [
        one.name
        for merge in merges(
            [],
            feeds={Learning(Trace(), steps): Selection()},
            retry_duration=0,
            tell=print,
        )
        for one in merge.events()
    ]
    assert names == ["event_0", "event_0", "event_1"]


def random_packets(chance):
    """Return packets of one data stream, in order, with some losses between them."""
    time, number, packets, lost = chance.randrange(20), 0, [], 0
    for sequence in range(chance.randrange(1, 7)):
        begin, events = time, []
        for _ in range(chance.randrange(6)):
            time += chance.randrange(4)
            events.append(Event(time, number.to_bytes(4, "little")))
            number += 1
        lost += chance.choice([0, 0, 3])
        packets.append(
            Packet(events, begin=begin, end=time, sequence=sequence, discarded=lost)
        )
        time += chance.randrange(30)
    return packets


def records(directory):
    """Return what is read of files."""
    found, lost = [], []
    for merge in mux(CtfFsSource([directory]).streams):
        found += [(one.stream.name, one["value"]) for one in merge.events()]
        lost += [notice[3] for notice in merge.notices]
    return found, lost
