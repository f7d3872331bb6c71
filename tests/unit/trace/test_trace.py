"""Opening traces, iterating over them, selecting, and what is lost or damaged."""

from __future__ import annotations

import os
import warnings
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import vestige
from support.ctf_writer import Packet, Trace, numbered
from support.recordings import DATA, RELOAD_DEBUG_INFO, copy_trace, open_demo
from vestige import NotATraceError, SelectionError, TraceDamageWarning, TraceFormatError

FIRST = 1_795_245_627_871_895_064
"""Time of the first event of `hello`."""


def texts(events):
    """Return the texts of greetings: each of the four is another."""
    return [event["text"].removeprefix("good ") for event in events]


def identities(events):
    """Return what tells event records apart."""
    return [(event.stream.path, event.file_offset, event.timestamp) for event in events]


def write_numbered(directory, count=10, **trace):
    """Write a trace whose events are a microsecond apart; return it opened."""
    streams = {"stream": [Packet(numbered(count))]}
    return vestige.open(Trace(streams=streams, **trace).write(directory))


def values(events):
    """Return the numbers of events that the writer numbered."""
    return [event["value"] for event in events]


@pytest.fixture
def hello():
    """Four greetings."""
    return vestige.open(DATA / "hello")


@pytest.fixture
def numbers(tmp_path):
    """Ten events, at 1000000 ns and then a microsecond apart."""
    return write_numbered(tmp_path)


class TestOpen:
    """What may be given to open."""

    @pytest.mark.parametrize(
        "kind", [str, Path, lambda path: [path], lambda path: (str(path),)]
    )
    def test_a_path_in_any_form(self, kind):
        """Text, a path object, or several of them."""
        trace = vestige.open(kind(DATA / "hello"))

        assert texts(trace) == ["morning", "hello", "wide world", "night"]

    def test_several_paths_are_merged_by_time(self):
        """Two recordings, one after the other, in whatever order they are given."""
        paths = [DATA / "threads-pid", DATA / "hello"]
        names = [event.name for event in vestige.open(paths)]
        expected = [
            event.name for path in reversed(paths) for event in vestige.open(path)
        ]

        assert names == expected
        assert identities(vestige.open(paths)) == identities(vestige.open(paths[::-1]))

    def test_a_path_given_twice_is_read_once(self):
        """Also when the second one leads to it from above."""
        inner = DATA / "hello" / "ust"

        trace = vestige.open([DATA / "hello", inner, DATA / "hello"])

        assert trace.count() == 4
        assert len(trace.streams) == 2

    def test_a_path_given_twice_does_not_change_the_name_of_its_trace(self):
        """It is no trace in two directories."""
        stream, *_ = vestige.open([DATA / "hello", DATA / "hello"]).streams

        assert stream.trace.name == "demo/ust/uid/0/64-bit"

    def test_a_path_relative_to_the_working_directory(self, monkeypatch):
        """File names of streams are absolute all the same."""
        monkeypatch.chdir(DATA)
        event = next(iter(vestige.open("hello")))

        assert event.stream.path.startswith(str(DATA / "hello"))
        assert event.stream.name in {"channel0_0", "channel0_1"}

    def test_a_path_without_a_trace_is_an_error(self, tmp_path):
        """It is a TraceFormatError too, and knows the path."""
        with pytest.raises(NotATraceError) as caught:
            vestige.open([DATA / "hello", tmp_path])

        assert caught.value.path == str(tmp_path)
        assert isinstance(caught.value, TraceFormatError)

    def test_no_path_at_all_is_an_error(self):
        """Nothing is not an empty trace."""
        with pytest.raises(NotATraceError, match="no CTF trace"):
            vestige.open([])

    def test_a_trace_says_what_it_is(self, hello):
        """Streams, environment and the names of its events."""
        assert repr(hello) == f"<Trace '{DATA / 'hello'}': 2 data streams>"
        assert [Path(stream.name).name for stream in hello.streams] == [
            "channel0_0",
            "channel0_1",
        ]
        assert hello.environment["hostname"] == "demo"
        assert hello.environment["tracer_minor"] == 13
        assert hello.event_names == ["greeting:said"]

    def test_event_names_of_several_traces_are_joined(self):
        """Sorted, each once."""
        trace = vestige.open([DATA / "threads-pid", DATA / "hello"])

        assert trace.event_names == sorted(set(trace.event_names))
        assert {"greeting:said", "threads:begin", "threads:step"} <= set(
            trace.event_names
        )


class TestIteration:
    """Reading again and again."""

    def test_each_iteration_reads_all_events(self, hello):
        """Two at the same time do not disturb each other."""
        first, second = iter(hello), iter(hello)
        pairs = list(zip(first, second, strict=True))

        assert [(one["number"], other["number"]) for one, other in pairs] == [
            (-1, -1),
            (1, 1),
            (2, 2),
            (9, 9),
        ]
        assert identities(hello) == identities(hello)

    def test_events_are_in_the_order_of_time(self):
        """Over all streams of both processes."""
        times = [event.timestamp for event in vestige.open(DATA / "threads-pid")]

        assert len(times) == 176
        assert times == sorted(times)

    @pytest.mark.parametrize(
        ("name", "count"),
        [("fields", 114), ("hello", 4), ("lost", 400), ("reload", 87)],
    )
    def test_count_agrees_with_the_peer(self, name, count):
        """As many as Babeltrace 2 printed lines."""
        trace = vestige.open(DATA / name)

        assert trace.count() == len(list(trace)) == count

    def test_merges_hold_the_events_in_order(self, hello):
        """The layer below events, for bulk work."""
        found = [
            merge.event(index)
            for merge in hello.merges()
            for index in range(len(merge))
        ]

        assert texts(found) == texts(hello)

    def test_an_index_behind_a_merge_is_an_index_error(self, hello):
        """Both ways of reading agree on the number."""
        merge = next(hello.merges())

        assert merge.event(len(merge) - 1)["text"] == "good night"
        with pytest.raises(IndexError, match="no such event record"):
            merge.event(len(merge))

    def test_an_empty_trace_has_no_events(self, tmp_path):
        """Metadata alone are a trace."""
        trace = vestige.open(Trace().write(tmp_path))

        assert (list(trace), trace.count(), trace.streams) == ([], 0, ())


class TestPatterns:
    """Selecting by name."""

    @pytest.mark.parametrize(
        ("pattern", "count"),
        [
            ("greeting:said", 4),
            ("greeting:*", 4),
            ("gr??ting:[rst]aid", 4),
            ("*", 4),
            ("greeting", 0),
            ("GREETING:*", 0),
            ("", 0),
        ],
    )
    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_shell_patterns_match_whole_names(self, hello, pattern, count):
        """With their case; an empty pattern matches nothing."""
        selection = hello.events(pattern)

        assert (selection.count(), len(list(selection))) == (count, count)

    def test_only_matching_events_are_given_and_in_order(self):
        """The rest is stepped over."""
        trace = vestige.open(DATA / "threads-pid")
        expected = [event for event in trace if event.name == "threads:begin"]

        assert 0 < len(expected) < 176
        assert identities(trace.events("*:begin")) == identities(expected)

    def test_a_selection_can_be_iterated_again(self, hello):
        """It holds no state of its own."""
        selection = hello.events("greeting:*")

        assert texts(selection) == texts(selection) == texts(hello)

    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_selecting_among_selected_events_never_gives_more(self, tmp_path):
        """Ranges of time overlap, and names match all patterns."""
        trace = write_numbered(tmp_path)
        selection = trace.events("event_*", begin=1_002_000, end=1_005_000)

        assert values(selection.events(begin=1_000_000)) == [2, 3, 4, 5]
        assert values(selection.events(begin=1_004_000, end=2_000_000)) == [4, 5]
        assert values(selection[1_000_000:1_003_000]) == [2]
        assert values(selection.events("*_0", end=1_003_000)) == [2, 3]
        assert values(selection.events("other")) == []
        parts = selection.partitions(2)
        assert [v for p in parts for v in values(p.events(begin=0))] == [2, 3, 4, 5]

    def test_times_of_pandas_keep_their_nanoseconds(self, tmp_path):
        """What a data frame shows can be asked for."""
        pandas = pytest.importorskip("pandas")
        trace = write_numbered(tmp_path)
        for offset, expected in ((0, 8), (1, 7)):
            begin = pandas.Timestamp(1_002_000 + offset, tz="UTC")
            assert len(trace.events(begin=begin)) == expected
        last = trace.to_pandas()["timestamp"].max()
        assert values(trace.events(end=last)) == list(range(10))

    @pytest.mark.parametrize("time", [10**30, -(10**30), 2**63])
    def test_a_time_outside_of_64_bits_is_refused(self, tmp_path, time):
        """At once, not when events are read."""
        trace = write_numbered(tmp_path)
        with pytest.raises(SelectionError, match="does not fit the 64 bits"):
            trace.events(begin=time)
        with pytest.raises(SelectionError, match="does not fit the 64 bits"):
            trace[:time]
        assert len(trace[: -(2**63)]) == 0

    def test_counting_leaves_the_losses_of_the_last_iteration(self):
        """`len()` in a loop reads too, but it is not what the user iterates over."""
        trace = vestige.open(DATA / "lost", debug_info=False)
        list(trace)
        losses = list(trace.losses)
        trace.events("*").counts()
        assert bool(trace)
        assert trace.losses == losses != []

    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_a_selection_leaves_the_trace_as_it_is(self, hello):
        """It is a new object."""
        assert hello.events("nothing").count() == 0
        assert hello.count() == 4


class TestTimes:
    """Selecting by time; events stand at 1000000, 1001000, ... nanoseconds."""

    @pytest.mark.parametrize(
        ("begin", "end", "expected"),
        [
            (None, None, range(10)),
            (1_003_000, None, range(3, 10)),
            (1_003_001, None, range(4, 10)),
            (None, 1_003_000, range(4)),
            (None, 1_002_999, range(3)),
            (1_003_000, 1_003_000, [3]),
            (1_003_001, 1_003_999, []),
            (1_005_000, 1_002_000, []),
            (-5, 1 << 62, range(10)),
            (1_009_001, None, []),
        ],
    )
    def test_both_ends_belong_to_a_selection(self, numbers, begin, end, expected):
        """An end before the begin selects nothing."""
        selection = numbers.events(begin=begin, end=end)

        assert values(selection) == list(expected)
        assert selection.count() == len(expected)

    @pytest.mark.parametrize(
        ("times", "expected"),
        [
            (slice(None), range(10)),
            (slice(1_003_000, None), range(3, 10)),
            (slice(None, 1_003_000), range(3)),
            (slice(None, 1_003_001), range(4)),
            (slice(1_003_000, 1_005_000), [3, 4]),
            (slice(1_003_000, 1_003_000), []),
        ],
    )
    def test_the_end_of_a_slice_does_not_belong_to_it(self, numbers, times, expected):
        """As with all slices."""
        assert values(numbers[times]) == list(expected)

    def test_a_slice_of_a_trace_in_two_is_the_whole(self):
        """No event is lost or doubled at the border."""
        trace = vestige.open(DATA / "lost")
        middle = list(trace)[200].timestamp

        assert identities(trace[:middle]) + identities(trace[middle:]) == identities(
            trace
        )
        assert trace[middle:].count() == 200

    @pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=5, minutes=30))])
    def test_aware_datetimes(self, hello, zone):
        """They have microseconds; an event within one is later than its beginning."""
        begin = datetime(2026, 11, 21, 7, 20, 27, 871_897, tzinfo=UTC).astimezone(zone)

        assert texts(hello.events(begin=begin)) == ["hello", "wide world", "night"]
        assert texts(hello[:begin]) == ["morning"]
        assert texts(hello[begin : begin + timedelta(microseconds=1)]) == [
            "hello",
            "wide world",
            "night",
        ]

    def test_naive_datetimes_are_local_time(self, hello, time_zone):
        """As everywhere in Python."""
        time_zone("IST-5:30")
        begin = datetime(2026, 11, 21, 12, 50, 27, 871_897)  # noqa: DTZ001 - on purpose

        assert hello.events(begin=begin).count() == 3
        assert hello.events(end=begin).count() == 1

    def test_datetimes_and_numbers_may_be_mixed(self, hello):
        """Both are times."""
        end = datetime(2026, 11, 21, 7, 20, 27, 871_897, tzinfo=UTC)

        assert texts(hello.events(begin=FIRST, end=end)) == ["morning"]
        assert texts(hello.events(begin=FIRST + 1, end=FIRST + 2714)) == [
            "hello",
            "wide world",
        ]

    @pytest.mark.parametrize("time", [1.5, "07:20", b"1"])
    def test_anything_else_is_no_time(self, hello, time):
        """A float cannot hold nanoseconds."""
        for select in (
            lambda: hello.events(begin=time),
            lambda: hello.events(end=time),
            lambda: hello[time:],
            lambda: hello[:time],
        ):
            with pytest.raises(SelectionError, match="is not a time"):
                select()

    @pytest.mark.parametrize(
        "index", [0, slice(None, None, 2), slice(0, 5, 1), "a", (1, 2)]
    )
    def test_events_have_no_index_and_no_step(self, hello, index):
        """Only ranges of times."""
        with pytest.raises(SelectionError, match="expected a range of times"):
            hello[index]


class TestCombinations:
    """Selections of selections."""

    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_what_is_not_stated_stays(self, tmp_path):
        """Pattern, begin and end each come from the call that stated them."""
        streams = {"s": [Packet(numbered(10))]}
        trace = vestige.open(Trace(streams=streams).write(tmp_path))
        selection = trace.events("event_*")[1_002_000:].events(end=1_006_000)

        assert values(selection) == [2, 3, 4, 5, 6]
        assert values(selection.events(begin=1_004_000)) == [4, 5, 6]
        assert values(selection[:1_004_000]) == [2, 3]
        assert selection.events("other").count() == 0
        assert values(selection) == [2, 3, 4, 5, 6]

    def test_pattern_and_times_together(self):
        """The same as both conditions in Python."""
        trace = vestige.open(DATA / "threads-pid")
        events = list(trace)
        begin, end = events[40].timestamp, events[120].timestamp
        expected = [
            event
            for event in events
            if event.name == "threads:step" and begin <= event.timestamp <= end
        ]

        assert len(expected) > 10
        assert identities(trace.events("*:step", begin=begin, end=end)) == identities(
            expected
        )
        assert identities(trace[begin : end + 1].events("*:step")) == identities(
            expected
        )


class TestDebugInfo:
    """Selections and the events that tell which objects are mapped."""

    def test_places_do_not_need_the_state_dump_to_be_selected(self):
        """A pattern that hides it gives the places of the whole trace."""
        demo = open_demo()
        whole = {
            event.timestamp: str(event.debug_info)
            for event in demo
            if event.name.startswith("shop:")
        }
        chosen = {
            event.timestamp: str(event.debug_info) for event in demo.events("shop:*")
        }

        assert chosen == whole
        assert len(chosen) == 24
        assert all(
            place.endswith(("shop.c:79", "shop.c:63", "shop.c:52"))
            for place in chosen.values()
        )

    def test_places_do_not_need_the_state_dump_to_be_in_the_range(self):
        """It lies before the begin."""
        demo = open_demo()
        last = list(demo.events("shop:*"))[-1]
        [again] = demo.events("shop:*", begin=last.timestamp, end=last.timestamp)

        assert str(again.debug_info).startswith("refuse at ")
        assert str(again.debug_info) == str(last.debug_info)

    def test_a_base_that_is_used_again_belongs_to_the_object_of_that_time(self):
        """Two libraries in turn at one address, also when the loads are hidden."""
        trace = vestige.open(DATA / "reload", debug_info=RELOAD_DEBUG_INFO)
        events = list(trace.events("reload:inside"))
        places = [event.debug_info for event in events]

        assert len({event["ip"] for event in events}) == 1
        assert [event["library"] for event in events] == (
            ["alpha"] * 3 + ["bravo"] * 3
        ) * 2
        assert [place.binary.mapping.path for place in places] == [
            f"/opt/vestige-tests/lib{event['library']}.so" for event in events
        ]
        assert all(place.line for place in places)

    def test_it_can_be_left_out(self):
        """Then nothing is looked up."""
        trace = vestige.open(DATA / "reload", debug_info=False)

        assert {event.debug_info for event in trace} == {None}
        assert trace.count() == 87


class TestLosses:
    """What the tracer could not record."""

    EXPECTED = [
        (
            "discarding_1",
            "events",
            83,
            1_795_245_713_487_515_106,
            1_795_245_713_490_627_438,
        ),
        (
            "overwriting_1",
            "packets",
            2,
            1_795_245_713_487_528_055,
            1_795_245_713_490_636_521,
        ),
        (
            "discarding_1",
            "events",
            82,
            1_795_245_713_490_640_317,
            1_795_245_713_694_939_002,
        ),
    ]

    def losses(self, trace):
        """Return the losses as facts."""
        return [
            (Path(loss.stream.name).name, loss.kind, loss.count, loss.begin, loss.end)
            for loss in trace.losses
        ]

    def test_they_are_known_after_an_iteration(self):
        """The same three that Babeltrace 2 reports."""
        trace = vestige.open(DATA / "lost")
        before = list(trace.losses)
        list(trace)

        assert before == []
        assert self.losses(trace) == self.EXPECTED

    def test_a_second_iteration_does_not_add_them_again(self):
        """They are those of the last one."""
        trace = vestige.open(DATA / "lost")
        list(trace)
        list(trace)

        assert self.losses(trace) == self.EXPECTED

    def test_a_trace_that_lost_nothing(self, hello):
        """An empty list."""
        list(hello)

        assert hello.losses == []


class TestDamage:
    """Traces that cannot be read to their end."""

    @pytest.fixture
    def cut(self, tmp_path):
        """A copy of `lost` whose third packet of four ends too early."""
        directory = copy_trace("lost", tmp_path / "cut")
        os.truncate(directory / "discarding_1", 2 * 4096 + 1000)
        return directory

    def test_the_events_before_the_damage_are_given(self, cut, tmp_path):
        """With a warning that names the file and the packet, and all other streams."""
        whole = vestige.open(copy_trace("lost", tmp_path / "whole"))
        trace = vestige.open(cut)
        with pytest.warns(
            TraceDamageWarning, match=r"discarding_1, byte 9160: packet cut"
        ):
            found = list(trace)
        expected, inside = [], []
        for event in whole:
            name = Path(event.stream.name).name
            if name != "discarding_1" or event.file_offset < 9192:
                expected.append((name, event.file_offset))
                if name == "discarding_1" and event.file_offset > 8192:
                    inside.append(expected[-1])
        # The record that the cut goes through is lost, those before it are not.
        expected.remove(inside.pop())

        assert inside
        assert [
            (Path(event.stream.name).name, event.file_offset) for event in found
        ] == expected
        [damage] = trace.damage
        assert (damage.path, damage.start) == (str(cut / "discarding_1"), 9160)

    def test_strict_makes_it_an_error(self, cut):
        """Raised when the reader gets there, after the good events."""
        trace = vestige.open(cut, strict=True)
        seen = []
        with pytest.raises(TraceFormatError, match="packet cut") as caught:
            seen.extend(event.timestamp for event in trace)

        assert caught.value.offset == 9160
        assert len(seen) > 200

    def test_the_same_damage_is_listed_once(self, cut):
        """However often the trace is read; each reading warns."""
        trace = vestige.open(cut)
        for _ in range(2):
            with pytest.warns(TraceDamageWarning) as caught:
                for _ in trace:
                    pass
            assert len(caught) == 1

        assert len(trace.damage) == 1

    def test_a_file_that_cannot_be_opened_is_reported_at_once(self, tmp_path):
        """The warning points at the line that opens the trace."""
        directory = copy_trace("hello", tmp_path / "trace")
        (directory / "notes").write_text(
            "no packets in here, but quite a lot of text\n"
        )
        with pytest.warns(TraceDamageWarning, match="notes, byte 0: ") as caught:
            trace = vestige.open(directory)

        assert caught[0].filename == __file__
        assert [damage.path for damage in trace.damage] == [str(directory / "notes")]
        assert texts(trace) == ["morning", "hello", "wide world", "night"]
        assert len(trace.damage) == 1

    def test_strict_refuses_to_open_it(self, tmp_path):
        """Before any event is read."""
        directory = copy_trace("hello", tmp_path / "trace")
        (directory / "notes").write_text(
            "no packets in here, but quite a lot of text\n"
        )
        with pytest.raises(TraceFormatError, match="notes, byte 0: "):
            vestige.open(directory, strict=True)

    def test_a_good_trace_is_read_without_a_warning(self, hello):
        """Warnings are errors in these tests; strict reads the same."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = texts(hello)

        assert caught == []
        assert hello.damage == []
        assert found == texts(vestige.open(DATA / "hello", strict=True))
