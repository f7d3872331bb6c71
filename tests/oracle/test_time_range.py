"""Ranges of time and stream intersections are those of Babeltrace 2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.peers import babeltrace
from support.recordings import DATA
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

NAMES = ("lost", "threads-pid")
"""One with losses, and one of two processes."""


def outcome(done):
    """Return text and warnings; these come in any order where times are equal."""
    lines = done.stderr.decode().splitlines()
    return done.stdout, sorted(line for line in lines if line.startswith("WARNING: Tr"))


def times_of(trace: Path) -> list[int]:
    """Return the nanoseconds of all events."""
    text = babeltrace(trace, "--clock-seconds", "--no-delta").stdout.decode()
    return [
        int(line[1 : line.index("]")].replace(".", "")) for line in text.splitlines()
    ]


def seconds(nanoseconds: int) -> str:
    """Return a time as the command line takes it."""
    whole, part = divmod(nanoseconds, 10**9)
    return f"{whole}.{part:09}"


def compare(trace: Path, words: Sequence[str]) -> None:
    """Compare one command line."""
    assert outcome(convert(trace, *words)) == outcome(babeltrace(trace, *words)), words


@pytest.mark.parametrize("name", NAMES)
def test_begin_and_end(name):
    """At events, one nanosecond beside them, and outside of the trace."""
    times = times_of(DATA / name)
    count = len(times)
    points = {times[0], times[count // 3], times[2 * count // 3], times[-1]}
    points |= {point + step for point in points for step in (-1, 1)}
    points |= {times[0] - 10**9, times[-1] + 10**9}

    for point in sorted(points):
        compare(DATA / name, [f"--begin={seconds(point)}"])
        compare(DATA / name, [f"--end={seconds(point)}"])


@pytest.mark.parametrize("name", NAMES)
def test_timerange(name):
    """Between events, also without any between them."""
    times = times_of(DATA / name)
    step = max(1, len(times) // 4)
    for begin in times[::step]:
        for end in times[::step]:
            if begin <= end:
                compare(DATA / name, [f"--timerange=[{seconds(begin)},{seconds(end)}]"])


@pytest.mark.parametrize(
    "words",
    [
        ("--begin=07:20:27.8718974", "--clock-gmt"),
        ("--end=07:20:28", "--clock-gmt"),
        ("--end=07:20", "--clock-gmt", "--clock-date"),
        ("--begin=2026-11-21",),
        ("--begin=2026-11-21 07:20:27.871897527", "--clock-gmt"),
        ("--end=2026-11-21 07:20:27.9", "--clock-gmt"),
        ("--begin=1795245627",),
        ("--begin=1795245628",),
        ("--stream-intersection",),
    ],
)
def test_formats_of_times(words):
    """With and without a date, in UTC."""
    compare(DATA / "hello", words)


@pytest.mark.parametrize("name", NAMES)
def test_stream_intersection(name):
    """For one trace, and for the traces of two processes."""
    compare(DATA / name, ["--stream-intersection"])


@pytest.mark.parametrize("words", [("--begin=2", "--end=1"), ("--begin=soon",)])
def test_what_is_refused(words):
    """Both print nothing and fail."""
    for command in (convert, babeltrace):
        done = command(DATA / "hello", *words)
        assert (done.stdout, done.status > 0) == (b"", True)
