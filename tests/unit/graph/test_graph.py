"""Running components, and what happens beside event records."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA, copy_trace
from vestige.components.filters.debug_info import DebugInfoFilter, DebugInfoOptions
from vestige.components.sinks.text_pretty import TextOptions, TextPrettySink
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import DamageNotice, Graph, LostNotice, Selection, mux, notices_of


class Collector:
    """A sink that keeps what it gets."""

    def __init__(self, *, looks_at_records=True):
        self.looks_at_records = looks_at_records
        self.names = []
        self.finished = 0

    def consume(self, merge):
        """Keep the names of the event records."""
        assert not self.finished
        self.names += [event.name for event in merge.events()]

    def finish(self):
        """Count the ends."""
        self.finished += 1


class Watcher:
    """A filter that notes what passes."""

    def __init__(self, journal, label, needed=()):
        self.needed_events = frozenset(needed)
        self.journal = journal
        self.label = label

    def process(self, merge):
        """Note the names of the event records."""
        self.journal.append((self.label, {event.name for event in merge.events()}))


def test_a_graph_moves_all_events_to_the_sink():
    """Those of all sources, in time order, and then the sink is finished."""
    sink = Collector()
    sources = [CtfFsSource([DATA / name]) for name in ("threads-pid", "hello")]
    damage = Graph(sources, sink).run()

    assert damage == []
    assert len(sink.names) == 180
    assert sink.names[:4] == ["greeting:said"] * 4
    assert sink.finished == 1


def test_filters_see_every_merge_in_their_order_and_what_they_need():
    """The sink sees only what is selected."""
    journal, sink = [], Collector()
    filters = [
        Watcher(journal, "first", ["lttng_ust_lib:load"]),
        Watcher(journal, "second", ["lttng_ust_lib:unload"]),
    ]
    selection = Selection(patterns=("reload:inside",))
    Graph([CtfFsSource([DATA / "reload"])], sink, filters, selection).run()

    seen = {"reload:inside", "lttng_ust_lib:load", "lttng_ust_lib:unload"}
    assert journal == [("first", seen), ("second", seen)]
    assert sink.names == ["reload:inside"] * 12


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a"), ("a", "b", "c"), ("a", "a")])
def test_each_filter_adds_a_column_of_its_own(names, tmp_path):
    """In the order of the filters; a field that is there already stays as it is."""
    source = CtfFsSource([DATA / "reload"])
    filters = [
        DebugInfoFilter(DebugInfoOptions(field_name=name, full_path=number > 0))
        for number, name in enumerate(names)
    ]
    path = tmp_path / "text"
    with path.open("wb") as file:
        sink = TextPrettySink(TextOptions(), descriptor=file.fileno())
        Graph([source], sink, filters).run()

    lines = path.read_text().splitlines()
    found = [re.findall(r"(\w+) = \{ bin = \"([^\"]*)", line) for line in lines]
    for added in found:
        assert [name for name, _ in added] == list(dict.fromkeys(names))
    known = [[place for _, place in added] for added in found if added[0][1]]
    assert len(known) == 20
    for first, *others in known:
        assert "/" not in first
        assert all(one.endswith(f"/{first}") for one in others)


def test_damage_is_returned_what_could_not_be_opened_first(tmp_path):
    """And the rest is moved all the same."""
    directory = copy_trace("lost", tmp_path / "trace")
    os.truncate(directory / "discarding_1", 5000)
    (directory / "zzz").write_bytes(b"no packet" * 20)
    sink = Collector()
    damage = Graph([CtfFsSource([directory])], sink).run()

    places = [(Path(found.path).name, found.start, found.kind) for found in damage]
    assert places == [
        ("zzz", 0, "stream-unreadable"),
        ("discarding_1", 4996, "packet-cut"),
    ]
    assert 200 < len(sink.names) < 400
    assert sink.finished == 1


@pytest.mark.parametrize("checks", [False, True])
def test_a_sink_may_ask_for_every_field_to_be_checked(tmp_path, checks):
    """Records whose fields cannot be decoded are damage then."""
    members = "enum : uint8_t { one = 1 } tag; variant <tag> { uint8_t one; } v;"
    events = [Event(1, b"\x01\x05"), Event(2, b"\x01\x06"), Event(3, b"\x07\x07")]
    trace = Trace([members], streams={"s": [Packet(events, padding=8)]}).write(tmp_path)
    sink = Collector(looks_at_records=not checks)
    damage = Graph([CtfFsSource([trace])], sink).run()

    assert len(damage) == 1
    assert "value 7 of 'tag' selects no option" in str(damage[0])
    assert sink.names == ["event_0"] * 2


def test_a_sink_that_looks_at_no_records_gets_none_of_a_good_trace():
    """They are decoded in any order then; a filter still sees them all."""
    sink = Collector(looks_at_records=False)
    damage = Graph([CtfFsSource([DATA / "hello"])], sink).run()

    assert (damage, sink.names, sink.finished) == ([], [], 1)

    class Seen:
        needed_events = frozenset()
        records = 0

        def process(self, merge):
            self.records += len(merge)

    seen = Seen()
    sink = Collector(looks_at_records=False)
    Graph([CtfFsSource([DATA / "hello"])], sink, [seen]).run()
    assert seen.records == len(sink.names) > 0


def test_notices_of_losses_carry_their_facts():
    """Stream, kind, number and times in nanoseconds, each at its run of the merge."""
    [merge] = mux(CtfFsSource([DATA / "lost"]).streams)
    notices = list(notices_of(merge))

    assert [type(notice) for notice in notices] == [LostNotice] * 3
    assert [(notice.kind, notice.count) for notice in notices] == [
        ("events", 83),
        ("packets", 2),
        ("events", 82),
    ]
    assert [notice.run for notice in notices] == sorted(
        notice.run for notice in notices
    )
    assert all(notice.begin < notice.end for notice in notices)


def test_a_loss_before_the_first_packet_has_no_number(tmp_path):
    """The first packet begins with a counter that is not zero; nobody knows since when."""
    packets = [
        Packet(numbered(2), discarded=5, sequence=4),
        Packet(numbered(2, start=10), discarded=6, sequence=5),
    ]
    [merge] = mux(CtfFsSource([Trace(streams={"s": packets}).write(tmp_path)]).streams)
    found = [(notice.kind, notice.count) for notice in notices_of(merge)]

    assert ("events", None) in found
    assert ("events", 1) in found


def test_notices_of_damage_carry_the_error(tmp_path):
    """With the data stream that has it."""
    packet = Packet([*numbered(2), Event(9_000_000, b"", id=99)])
    source = CtfFsSource([Trace(streams={"s": [packet]}).write(tmp_path)])
    notices = [notice for merge in mux(source.streams) for notice in notices_of(merge)]

    [notice] = notices
    assert isinstance(notice, DamageNotice)
    assert notice.stream is source.streams[0]
    assert notice.damage.path == str(tmp_path / "s")
    assert notice.damage.kind == "unknown-event-class"
    assert "class 99" in notice.damage.message


def test_a_loss_in_a_stream_without_clock_has_no_times(tmp_path):
    """None, not the origin."""
    metadata = (
        "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8;\n"
        "trace { major = 1; minor = 8; byte_order = le;\n"
        "packet.header := struct { u8 pad; }; };\n"
        "stream { packet.context := struct { u8 packet_size; u8 content_size;\n"
        "u8 events_discarded; }; };\n"
        'event { name = "e"; fields := struct { u8 a; }; };\n'
    )
    (tmp_path / "metadata").write_text(metadata)
    sizes = bytes([40, 40])
    (tmp_path / "s").write_bytes(
        b"\0" + sizes + b"\x00\x01" + b"\0" + sizes + b"\x03\x02"
    )
    merges = list(mux(CtfFsSource([tmp_path]).streams))
    losses = [notice for merge in merges for notice in notices_of(merge)]

    assert [event["a"] for merge in merges for event in merge.events()] == [1, 2]
    assert [(loss.kind, loss.count, loss.begin, loss.end) for loss in losses] == [
        ("events", 3, None, None)
    ]
