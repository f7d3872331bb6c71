"""Only calls that last long enough are shown; all other events stay."""

from __future__ import annotations

import random

import pytest

from support.call_traces import enter, leave, packet, write_calls
from support.ctf_writer import Packet
from support.recordings import DATA
from vestige.cli import main as cli
from vestige.components.filters.call_duration import CallDurationFilter
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import SelectionError
from vestige.graph import Graph, Selection

A, B, C = 0x1000, 0x2000, 0x3000


class Times:
    """A sink that notes the time and the kind of each event."""

    looks_at_records = True

    def __init__(self):
        self.seen = []

    def consume(self, merge):
        """Take the next merge."""
        self.seen += [
            (event.timestamp, event.name.partition("_")[2].rpartition("_")[2])
            for event in merge.events()
        ]

    def finish(self):
        """End."""


def shown(path, least, selection=None):
    """Return what is shown of a trace."""
    source = CtfFsSource([path])
    selection = selection or Selection()
    sink = Times()
    Graph(
        [source], sink, [CallDurationFilter(least, [source], selection)], selection
    ).run()
    return sink.seen


EVENTS = [
    enter(100, A),
    enter(110, B),
    leave(115),
    enter(120, B),
    leave(140),
    enter(150, C),
    enter(151, B),
    leave(152),
    leave(160),
    leave(200),
]


@pytest.mark.parametrize(
    ("least", "times"),
    [
        (0, [100, 110, 115, 120, 140, 150, 151, 152, 160, 200]),
        (5, [100, 110, 115, 120, 140, 150, 160, 200]),
        (6, [100, 120, 140, 150, 160, 200]),
        (20, [100, 120, 140, 200]),
        (21, [100, 200]),
        (101, []),
    ],
)
def test_pairs_of_long_calls_are_shown(tmp_path, least, times):
    """The entry and the exit of each."""
    path = write_calls(tmp_path / "trace", {"s": [packet(EVENTS)]})

    assert [time for time, _ in shown(path, least)] == times


@pytest.mark.parametrize("bounds", [(6, 20), (20, 6), (5, 101, 6)])
def test_what_any_filter_hides_is_hidden(tmp_path, bounds):
    """In whatever order they stand."""
    path = write_calls(tmp_path / "trace", {"s": [packet(EVENTS)]})
    source, sink = CtfFsSource([path]), Times()
    filters = [CallDurationFilter(least, [source]) for least in bounds]
    Graph([source], sink, filters).run()

    assert sink.seen == shown(path, max(bounds))


def test_over_many_merges(tmp_path):
    """The first entry comes long before its exit."""
    events = [enter(1000, A)]
    for index in range(50_000):
        long = index % 10_000 == 0
        events += [enter(2000 + 20 * index, B), leave(2001 + 20 * index + 9 * long)]
    events += [leave(2_000_000)]
    packets = [
        packet(events[start : start + 30_000], sequence=start // 30_000)
        for start in range(0, len(events), 30_000)
    ]
    path = write_calls(tmp_path / "trace", {"s": packets})

    assert shown(path, 10) == [
        (1000, "entry"),
        *[
            pair
            for index in range(0, 50_000, 10_000)
            for pair in ((2000 + 20 * index, "entry"), (2010 + 20 * index, "exit"))
        ],
        (2_000_000, "exit"),
    ]


def test_calls_that_lack_an_end_are_shown_when_they_lasted_long_enough(tmp_path):
    """As far as that is known."""
    events = [enter(100, C), leave(105), leave(150), enter(160, A), enter(190, B)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})

    assert shown(path, 30) == [(150, "exit"), (160, "entry")]


def test_a_range_of_time_cuts_no_call(tmp_path):
    """Its other end counts, wherever it is."""
    packets = [packet(EVENTS[:4]), packet(EVENTS[4:], sequence=1)]
    path = write_calls(tmp_path / "trace", {"s": packets})

    assert shown(path, 20, Selection(105, 130)) == [(120, "entry")]
    assert shown(path, 20, Selection(130, 170)) == [(140, "exit")]


def test_together_with_a_pattern(tmp_path):
    """Entries alone can be shown."""
    path = write_calls(tmp_path / "trace", {"s": [packet(EVENTS)]})

    assert shown(path, 20, Selection(patterns=("*entry",))) == [
        (100, "entry"),
        (120, "entry"),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_any_calls_of_several_threads(tmp_path, seed):
    """As their durations say."""
    source = random.Random(seed)  # noqa: S311 - no secret
    streams, expected = {}, []
    for vtid in range(4):
        time, stack, events = 1000 + vtid, [], []
        while len(events) < 200 or stack:
            time += 4 * source.randint(1, 5)
            if len(events) < 200 and (not stack or source.random() < 0.5):
                stack.append(time)
                events.append(enter(time, source.choice((A, B, C))))
            else:
                start = stack.pop()
                events.append(leave(time))
                if time - start >= 40:
                    expected += [(start, "entry"), (time, "exit")]
        streams[f"s{vtid}"] = [packet(events, vtid=vtid)]
    path = write_calls(tmp_path / "trace", streams)

    assert shown(path, 40) == sorted(expected)


def test_threads_that_nothing_tells_apart_are_refused(tmp_path):
    """Nobody knows which exit belongs to which entry."""
    streams = {"cpu0": [Packet(EVENTS[:2], context=bytes(4))]}
    path = write_calls(tmp_path / "trace", streams, per_thread=False)

    with pytest.raises(SelectionError, match="lttng add-context -u -t vpid -t vtid"):
        CallDurationFilter(1, [CtfFsSource([path])])


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("20ns", 4),
        ("0.021us", 2),
        ("0.000000020s", 4),
        ("1ms", 0),
        ("0.000000000h", 10),
        ("0ns", 10),
    ],
)
def test_the_command_line_takes_units(tmp_path, capfd, text, count):
    """And numbers with decimals."""
    path = write_calls(tmp_path / "trace", {"s": [packet(EVENTS)]})
    status = cli.main(["view", "--no-pager", f"--min-duration={text}", str(path)])
    out = capfd.readouterr().out

    assert (status, len(out.splitlines())) == (0, count)


@pytest.mark.parametrize(
    "text", ["10", "us", "-1us", "1 hour", "1e3us", "9" * 12 + "min"]
)
def test_what_is_no_duration_is_wrong_usage(tmp_path, capsys, text):
    """It says what was expected."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["view", f"--min-duration={text}", str(tmp_path)])

    assert ended.value.code == 2
    assert text in capsys.readouterr().err


def test_a_trace_without_calls_says_so(capfd):
    """Its events are all shown."""
    hello = str(DATA / "hello")
    assert cli.main(["view", "--no-pager", hello]) == 0
    expected = capfd.readouterr().out
    assert cli.main(["view", "--no-pager", "--min-duration=1s", hello]) == 0
    captured = capfd.readouterr()

    assert captured.out == expected != ""
    assert "no entries or exits of functions" in captured.err
