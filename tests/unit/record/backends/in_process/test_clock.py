"""Rates of clocks, from two moments."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from vestige.record.backends.in_process import clock as clock_module
from vestige.record.backends.in_process.clock import (
    Instant,
    RecordingClock,
    has_constant_counter,
    measure_rate,
    take,
)

FLAGS = "flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc\n"


@pytest.mark.parametrize(
    ("text", "clocks", "expected"),
    [
        (FLAGS * 2, "kvm-clock tsc hpet", True),
        (FLAGS * 2, "kvm-clock hpet", False),
        (FLAGS + FLAGS.replace("nonstop_tsc", ""), "tsc", False),
        ("processor : 0\nFeatures : fp asimd\n", "arch_sys_counter", False),
    ],
)
def test_the_counter_must_be_constant_on_all_cores(tmp_path, text, clocks, expected):
    """One core without the flag is enough to refuse it, and so is the kernel's doubt."""
    cpuinfo, available = tmp_path / "cpuinfo", tmp_path / "available"
    cpuinfo.write_text(text)
    available.write_text(clocks + "\n")

    assert has_constant_counter(cpuinfo, available) is expected
    assert not has_constant_counter(tmp_path / "nothing", available)
    assert not has_constant_counter(cpuinfo, tmp_path / "nothing")


def test_values_become_times():
    """At both moments, as far as whole values allow."""
    second = 10**9
    begin = Instant(value=5_000, monotonic=7 * second, real=1_700_000_000 * second)
    end = Instant(value=5_000 + 24 * 10**9, monotonic=17 * second, real=0)
    rate = measure_rate(begin, end)

    assert rate.frequency == 2_400_000_000
    assert (begin.value + rate.offset) * second // rate.frequency == begin.real
    assert (end.value + rate.offset) * second // rate.frequency == (
        begin.real + 10 * second
    )


def test_the_clocks_are_read_together():
    """Without a counter the clock is CLOCK_MONOTONIC itself."""
    moments = [take(None) for _ in range(100)]

    assert all(one.value == one.monotonic for one in moments)
    assert all(one.monotonic < two.monotonic for one, two in pairwise(moments))
    # One of them may be a process that had no processor for a while.
    ahead = sorted(one.real - one.monotonic for one in moments)
    assert ahead[75] - ahead[25] < 10**6


class SteadyClocks:
    """All clocks of a machine, each reading of which takes a microsecond."""

    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def __init__(self):
        self.now = 5 * 10**9

    def monotonic_ns(self):
        """Return the time, and let it go on."""
        self.now += 1_000
        return self.now

    def time_ns(self):
        """Return the time of day."""
        return 1_700_000_000 * 10**9 + self.monotonic_ns()

    def clock_gettime_ns(self, _clock):
        """Return the time of a machine that was never suspended."""
        return self.now


def test_the_rate_is_that_of_the_counter(monkeypatch):
    """At any moment, soon and late."""
    clocks = SteadyClocks()
    monkeypatch.setattr(clock_module, "time", clocks)
    clock = RecordingClock(lambda: 3 * clocks.monotonic_ns())
    clocks.now += 10**6
    first = clock.rate().frequency
    clocks.now += 10**9
    second = clock.rate().frequency

    assert (first, second) == (3 * 10**9, 3 * 10**9)


def test_the_monotonic_clock_has_a_rate_that_is_known():
    """Nothing is measured."""
    clock = RecordingClock(None)
    rates = [clock.rate(), clock.rate()]

    assert rates == [rates[0]] * 2
    assert rates[0].frequency == 10**9
    begin = clock.begin
    assert begin.monotonic + rates[0].offset == begin.real
    # One of the readings may have had no processor for a while.
    assert abs(time.time_ns() - time.monotonic_ns() - rates[0].offset) < 10 * 10**9


SECOND = 10**9


@pytest.fixture
def moments(monkeypatch):
    """What the clocks say next: values, monotonic time, time in suspension."""
    told: list[tuple[int, int, int]] = [(0, 0, 0)]

    def take(_read):
        value, monotonic, suspended = told.pop(0)
        real = 1_700_000_000 * SECOND + monotonic + suspended
        return Instant(value, monotonic, real, suspended)

    monkeypatch.setattr(clock_module, "take", take)
    return told


def test_a_counter_that_goes_on_in_suspension_keeps_its_rate(moments):
    """An hour of sleep in a recording of a minute."""
    clock = RecordingClock(lambda: 0)
    moments.append((2 * SECOND, SECOND, 0))
    moments.append((2 * 3660 * SECOND, 60 * SECOND, 3600 * SECOND))

    assert [clock.rate().frequency, clock.rate().frequency] == [2 * SECOND] * 2
    assert clock.problem is None


@pytest.mark.parametrize(
    ("value", "is_zeroed"), [(2 * 60 * SECOND, False), (2 * 10 * SECOND, True)]
)
def test_a_rate_that_suspension_has_spoilt_is_refused(moments, value, is_zeroed):
    """A counter that stood still, or began at zero: the rate from before stays."""
    clock = RecordingClock(lambda: 0)
    moments.append((2 * SECOND, SECOND, 0))
    moments.append((value, 60 * SECOND, 3600 * SECOND))
    first = clock.rate()

    assert clock.rate() == first
    assert clock.problem is not None
    assert "when the machine was suspended (2,000,000,000 Hz, then " in clock.problem
    assert is_zeroed is ("5,464,481 Hz" in clock.problem)


def test_a_rate_a_little_off_is_believed(moments):
    """The first is of milliseconds; one of a minute is better, and a jump is no rate."""
    clock = RecordingClock(lambda: 0)
    moments.append((2 * SECOND, SECOND, 0))
    moments.append((2 * SECOND * 60 + 60_000_000, 60 * SECOND, 0))
    moments.append((2 * SECOND * 61, 60 * SECOND, 0))
    rates = [clock.rate().frequency for _ in range(3)]

    assert rates == [2 * SECOND, 2_001_000_000, 2_001_000_000]
    assert "on average" in (clock.problem or "")
    assert "suspended" not in (clock.problem or "")
