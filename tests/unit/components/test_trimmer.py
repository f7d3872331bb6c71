"""Ranges of time: `filter.utils.trimmer`."""

from __future__ import annotations

import time

import pytest

from support.ctf_writer import Event, Packet, Trace
from vestige.components.filters.trimmer import TimeBound, time_range
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import SelectionError
from vestige.graph import LostNotice, Selection, mux, notices_of

SECOND = 10**9
NOON = 1_351_512_000 * SECOND
"""2012-10-29 12:00 UTC."""


@pytest.fixture
def warsaw(monkeypatch):
    """Local time is one hour ahead of UTC on that day."""
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5 * SECOND),
        (7, 7 * SECOND),
        ("-5.25", -5_250_000_000),
        ("0.000000001", 1),
        ("1.5", 1_500_000_000),
        ("2012-10-29", NOON - 12 * 3600 * SECOND),
        ("2012-10-29 12:00", NOON),
        ("2012-10-29 12:01:02", NOON + 62 * SECOND),
        ("2012-10-29 12:00:00.123", NOON + 123_000_000),
        ("1969-12-31 23:59:59", -SECOND),
        ("9223372036.854775807", 2**63 - 1),
    ],
)
def test_times_have_the_formats_of_babeltrace(text, expected):
    """Dates with and without times, and seconds."""
    assert TimeBound.parse(text, gmt=True).resolved(None) == expected


@pytest.mark.usefixtures("warsaw")
def test_dates_are_local_unless_told_otherwise():
    """The same words name another time in UTC."""
    text = "2012-10-29 13:00"

    assert TimeBound.parse(text).resolved(None) == NOON
    assert TimeBound.parse(text, gmt=True).resolved(None) == NOON + 3600 * SECOND


@pytest.mark.usefixtures("warsaw")
def test_a_time_without_a_date_takes_that_of_the_first_message():
    """The date in the zone in which the time is meant."""
    late = NOON + (11 * 3600 + 1800) * SECOND
    """23:30 UTC, which is 00:30 on the next day here."""
    local, utc = TimeBound.parse("00:45:00.5"), TimeBound.parse("00:45", gmt=True)

    assert local.resolved(late) == late + 900 * SECOND + SECOND // 2
    assert utc.resolved(late) == NOON - (11 * 3600 + 900) * SECOND


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2012-10-29 12",
        "2012-10-29 12:48:1",
        "2012-10-29 12:48:17.",
        "2012-10-29 12:48:17.1231231231",
        "1:2",
        "12:60",
        "24:00",
        "2012-13-01",
        "1.1234567890",
        "--5",
        "+5.",
        " 5",
        "99999999999",
        "-9223372036.854775808",
    ],
)
def test_anything_else_is_an_error(text):
    """It names what was given."""
    with pytest.raises(SelectionError, match="is not a time"):
        TimeBound.parse(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("+10.2s", 10_200_000_000),
        ("+3", 3 * SECOND),
        ("+1.000000001s", SECOND + 1),
        ("+250ms", 250_000_000),
        ("+7us", 7_000),
        ("+7\u00b5s", 7_000),
        ("+2min", 120 * SECOND),
        ("+1h", 3600 * SECOND),
        ("+10s-5ms", 9_995_000_000),
        ("+10s-5ms+1ns", 9_995_000_001),
    ],
)
def test_times_may_count_from_the_first_event_on(text, after):
    """With a unit; a number alone is one of seconds."""
    assert TimeBound.parse(text).resolved(NOON) == NOON + after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-1ms", 4_999_000_000),
        ("-5+1ms", -4_999_000_000),
        ("2012-10-29+1s", NOON - 12 * 3600 * SECOND + SECOND),
        ("2012-10-29 12:00-1min", NOON - 60 * SECOND),
        ("12:00:00.5-500ms", NOON),
    ],
)
def test_a_duration_shifts_any_time(text, expected):
    """It has a unit, so that no date is taken for one."""
    assert TimeBound.parse(text, gmt=True).resolved(NOON + 60 * SECOND) == expected


@pytest.mark.parametrize("text", ["5-1", "-5s", "+", "+s", "x+1s", "+1d", "2012-10-"])
def test_durations_of_other_forms_are_errors(text):
    """As any text that is no time."""
    with pytest.raises(SelectionError, match="is not a time"):
        TimeBound.parse(text)


def test_the_first_event_counts_and_not_the_packet(tmp_path):
    """A packet may begin long before, and a trace may have no event."""
    full = [Packet([event(time) for time in (1_500, 2_000, 2_600)], begin=1_000)]
    trace = Trace(streams={"a": full, "b": [Packet([event(1_700)], begin=1)]})
    trace.write(tmp_path)
    streams = CtfFsSource([tmp_path]).streams
    bounds = TimeBound.parse("+500ns"), TimeBound.parse("+1us")

    assert time_range(streams, *bounds) == (2_000, 2_500)
    with pytest.raises(SelectionError, match="needs a trace with events"):
        time_range([], *bounds)


def test_a_range_must_not_begin_after_its_end():
    """Both times are in the message."""
    begin, end = TimeBound(6), TimeBound(5)

    with pytest.raises(SelectionError, match="begin 6 ns, end 5 ns"):
        time_range([], begin, end)


def test_a_time_without_a_date_needs_a_first_message():
    """A trace without packets has none."""
    with pytest.raises(SelectionError, match="without a date"):
        time_range([], TimeBound.parse("12:00"), None)


def event(time):
    """Return an event of class 0 at a time."""
    return Event(time, time.to_bytes(4, "little"))


def packets(*facts):
    """Return packets of two events each: begin, end, lost so far, sequence number."""
    return [
        Packet(
            [event(begin), event(begin + 10)],
            begin=begin,
            end=end,
            discarded=lost,
            sequence=sequence,
        )
        for begin, end, lost, sequence in facts
    ]


@pytest.fixture
def streams(tmp_path):
    """Two events each at 100, 300 and 500; losses between the packets."""
    content = packets((100, 200, 0, 0), (300, 400, 4, 1), (500, 600, 4, 4))
    trace = Trace(streams={"stream": content})
    return CtfFsSource([trace.write(tmp_path)]).streams


def shown(streams, begin, end):
    """Return times of events, and losses, of a range."""
    times, losses = [], []
    for merge in mux(streams, Selection(begin, end)):
        times += [event.timestamp for event in merge.shown().events()]
        losses += [
            (notice.kind, notice.count, notice.begin, notice.end)
            for notice in notices_of(merge)
            if isinstance(notice, LostNotice)
        ]
    return times, losses


@pytest.mark.parametrize(
    ("begin", "end", "times", "losses"),
    [
        (
            None,
            None,
            [100, 110, 300, 310, 500, 510],
            [("events", 4, 200, 400), ("packets", 2, 400, 500)],
        ),
        (110, 300, [110, 300], [("events", None, 200, 300)]),
        (
            310,
            None,
            [310, 500, 510],
            [("events", None, 310, 400), ("packets", 2, 400, 500)],
        ),
        # The first two packets are not read, but their counters count.
        (450, None, [500, 510], [("packets", None, 450, 500)]),
        (401, 499, [], [("packets", None, 401, 499)]),
        (None, 199, [100, 110], []),
        (None, 200, [100, 110], [("events", None, 200, 200)]),
        (501, 505, [], []),
        (700, None, [], []),
        (None, 50, [], []),
    ],
)
def test_both_ends_are_in_the_range(streams, begin, end, times, losses):
    """A loss that lies partly in it is told of without a count."""
    assert shown(streams, begin, end) == (times, losses)


def test_packets_outside_of_the_range_are_not_read(tmp_path):
    """Damage in their records is not even seen."""
    first, *rest = packets((100, 200, 0, 0), (300, 400, 0, 1))
    broken = Packet([*first.events, Event(150, id=99)], begin=100, end=200)
    directory = Trace(streams={"stream": [broken, *rest]}).write(tmp_path)
    merges = list(mux(CtfFsSource([directory]).streams, Selection(250, None)))

    assert [len(merge.notices) for merge in merges] == [0]
    assert [event.timestamp for event in merges[0].events()] == [300, 310]


def of_tracer(name, version):
    """Return the environment of a trace."""
    major, minor, patch = version
    return (
        f'env {{ tracer_name = "{name}"; tracer_major = {major};\n'
        f"tracer_minor = {minor}; tracer_patchlevel = {patch}; }};\n"
    )


@pytest.mark.parametrize(
    ("tracer", "facts"),
    [
        # An event at 250 in a packet that claims to end at 200.
        (("lttng-ust", (2, 10, 5)), [(100, 200, (100, 250)), (300, 400, (300,))]),
        # A packet that a crash left open.
        (("lttng-ust", (2, 13, 0)), [(100, 0, (100, 250)), (300, 400, (300,))]),
        # An event at 250 in a packet that claims to begin at 270.
        (("barectf", (2, 3, 0)), [(100, 260, (100,)), (270, 400, (250, 300))]),
    ],
)
def test_wrong_packet_times_of_known_tracers_hide_no_event(tmp_path, tracer, facts):
    """What cannot be believed does not decide what is read."""
    content = [
        Packet([event(time) for time in times], begin, end, sequence=number)
        for number, (begin, end, times) in enumerate(facts)
    ]
    trace = Trace(declarations=of_tracer(*tracer), streams={"stream": content})
    streams = CtfFsSource([trace.write(tmp_path)]).streams

    assert shown(streams, 240, 260)[0] == [250]
    assert shown(streams, None, 265)[0] == [100, 250]


@pytest.mark.parametrize("end", [0, 150])
def test_the_last_record_tells_when_a_packet_without_a_true_end_ends(tmp_path, end):
    """Stream intersection needs it."""
    content = [Packet([event(100), event(180)], 100, end)]
    declarations = of_tracer("lttng-modules", (2, 9, 12))
    trace = Trace(declarations=declarations, streams={"stream": content})
    [stream] = CtfFsSource([trace.write(tmp_path)]).streams

    assert stream.handle.time_range() == (100, 180)
    assert stream.handle.beginning == 100
