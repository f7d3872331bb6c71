"""A trace that grows is shown as far as it is there, and what has come is read once."""

from __future__ import annotations

import threading

import pytest

from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis.intervals import GrowingIntervals, intervals_of
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.components.sources.recording import RecordingSource
from vestige.debuginfo import DebugFileFinder, Resolver
from vestige.page.served_trace import Opener, ServedTrace

A, B = 0x10000, 0x20000
MS = 1_000_000


class Source(RecordingSource):
    """Counts what it gives out."""

    def __init__(self, path):
        super().__init__(str(path))
        self.packets = 0

    def poll(self, hungry):
        """Count the packets."""
        arrival = super().poll(hungry)
        self.packets += sum(part.packet_count for _, part in arrival.parts)
        return arrival


class Growing:
    """A recording that goes on, and the server's view of it."""

    def __init__(self, path, packets, *, above=False):
        read = path.parent if above else path
        self.path = write_calls(path, {"a": packets})
        (self.path / ".arena").touch()
        self.feeds = []
        self.data = ServedTrace(
            Opener(
                "a trace",
                lambda: CtfFsSource([read]),
                lambda _: Resolver(DebugFileFinder()),
                lambda _: None,
                (self.path / ".arena").exists,
                self._feeds,
            )
        )

    def _feeds(self, source):
        if source.trace_count != len(source.directories):
            return None
        self.feeds.append([Source(path) for path in source.directories])
        return self.feeds[-1]

    def append(self, name, *packets):
        """Write packets to a data stream file."""
        with (self.path / name).open("ab") as file:
            for one in packets:
                file.write(one.encode())

    def meta(self, version):
        """Ask until there is a version, as a page does; return what it is told."""
        while (meta := self.data.meta())["version"] < version:
            pass
        return meta


def calls(begin, count, *, vtid=11, last=()):
    """Return a packet of calls of A with B in it, and more entries or exits."""
    events = []
    for at in range(begin, begin + count * 1000, 1000):
        events += [enter(at, A), enter(at + 100, B), leave(at + 300), leave(at + 900)]
    return packet([*events, *last], vtid=vtid)


def shown(data):
    """Return what a page shows of a trace: functions by their names."""
    meta = data.meta()
    names = [one["name"] for one in meta["functions"]]
    columns = data.window(0, meta["span"])
    blocks = [data.blocks(level, 0, 1 << 62) for level in range(len(meta["levels"]))]
    rows = [(row["tid"], row["calls"], row["events"]) for row in meta["rows"]]
    sums = {names[number]: sums for number, sums in meta["sums"].items()}
    return rows, sums, meta["begin"], meta["span"], columns, blocks


def facts(row):
    """Return what a function's calls add up to."""
    return row.function.name, row.calls, row.total, row.self_time, row.longest


def fresh(path):
    """Return the view of a server that begins now."""
    return ServedTrace(
        Opener(
            "a trace",
            lambda: CtfFsSource([path]),
            lambda _: Resolver(DebugFileFinder()),
            lambda _: None,
            lambda: False,
        )
    )


def test_what_has_come_is_read_once(tmp_path):
    """Each state is that of a reading from the beginning; a call may be open between."""
    open_calls = [enter(90_000, A), enter(91_000, B)]
    growing = Growing(tmp_path / "trace", [calls(1000, 40, last=open_calls)])

    assert shown(growing.data) == shown(fresh(growing.path))
    growing.append("a", packet([leave(95_000), leave(99_000)], vtid=11))
    growing.append("b", calls(100_000, 30, vtid=12), calls(140_000, 30, vtid=12))
    assert growing.meta(1)["isGrowing"]
    assert shown(growing.data) == shown(fresh(growing.path))

    [[feed]] = growing.feeds
    assert feed.packets == 4
    assert growing.data.meta()["version"] == 1


def test_in_the_end_it_is_a_trace_as_others(tmp_path):
    """Nobody asks again; what was open has no exit."""
    growing = Growing(tmp_path / "trace", [calls(1000, 4, last=[enter(9000, A)])])
    assert growing.data.meta()["isGrowing"]

    (growing.path / ".arena").unlink()

    assert not growing.meta(1)["isGrowing"]
    assert shown(growing.data) == shown(fresh(growing.path))


def test_traces_that_appear_are_shown(tmp_path):
    """Of a program that is recorded besides: all is read from the beginning."""
    growing = Growing(tmp_path / "session" / "first", [calls(1000, 4)], above=True)
    write_calls(tmp_path / "session" / "second", {"a": [calls(900, 4, vtid=12)]})
    growing.append("a", calls(60_000, 4))

    growing.meta(1)
    assert shown(growing.data) == shown(fresh(tmp_path / "session"))
    assert sorted(row[0] for row in shown(growing.data)[0]) == [11, 12]


def test_one_page_at_a_time_reads_on(tmp_path):
    """The others get what is there, and do not wait for it."""
    growing = Growing(tmp_path / "trace", [calls(1000, 4)])
    feed = growing.feeds[0][0]
    is_reading, may_go_on = threading.Event(), threading.Event()
    poll = feed.poll

    def slow_poll(hungry):
        is_reading.set()
        assert may_go_on.wait(20)
        return poll(hungry)

    feed.poll = slow_poll
    growing.append("b", calls(100_000, 3, vtid=12))
    reader = threading.Thread(target=growing.meta, args=(1,))
    reader.start()
    try:
        assert is_reading.wait(20)
        assert growing.data.meta()["version"] == 0
    finally:
        may_go_on.set()
        reader.join()
    assert growing.data.meta()["version"] == 1


@pytest.mark.parametrize("every", [1, 1 << 15])
def test_parts_are_read_from_points_between(tmp_path, every):
    """Of a snapshot of what grows, as of an index: the streams have their numbers."""
    path = write_calls(
        tmp_path / "trace", {"b": [calls(1000, 9, vtid=12)], "a": [calls(1500, 9)]}
    )
    (path / ".arena").touch()
    source = CtfFsSource([path])
    growing = GrowingIntervals(
        [RecordingSource(str(path))],
        Resolver(DebugFileFinder()),
        longest=1,
        every=every,
    )
    growing.advance(20)
    with (path / "0").open("wb") as file:
        file.write(calls(20_000, 9, vtid=10).encode())
    growing.advance(20)
    source = CtfFsSource([path])
    found, tree = growing.so_far(source)
    whole, whole_tree = intervals_of(source, longest=1, every=every)

    assert found.rows == whole.rows
    assert (found.index.points > 0) is (every == 1)
    assert [*map(facts, tree.functions())] == [*map(facts, whole_tree.functions())]
    for begin in range(0, 30_000, 1700):
        assert found.window(begin, begin + 2500) == whole.window(begin, begin + 2500)
