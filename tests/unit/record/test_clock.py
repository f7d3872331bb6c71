"""Rates of clocks, from two moments."""

from __future__ import annotations

import queue
import time

import pytest

from vestige.record.clock import (
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
    first, second = take(None), take(None)

    assert first.value == first.monotonic < second.monotonic
    assert (
        abs((second.real - first.real) - (second.monotonic - first.monotonic)) < 10**6
    )


def test_the_rate_is_measured_again_and_again(monkeypatch):
    """While the program runs, until it ends."""
    monkeypatch.setattr("vestige.record.clock.LATER_SPANS", (10**6, 2 * 10**6, 10**12))
    clock = RecordingClock(lambda: 3 * time.monotonic_ns())
    first = clock.first_rate()
    rates = queue.SimpleQueue()
    with clock.measured_again(rates.put):
        later = [rates.get(timeout=60), rates.get(timeout=60)]

    assert rates.empty()
    for rate in (first, *later, clock.rate()):
        assert rate.frequency == pytest.approx(3 * 10**9, rel=1e-3)


def test_a_disk_that_is_full_leaves_the_rate_before(monkeypatch):
    """The program goes on, and so do the measurements."""
    monkeypatch.setattr("vestige.record.clock.LATER_SPANS", (10**6, 2 * 10**6))
    rates = queue.SimpleQueue()

    def refuse(rate):
        rates.put(rate)
        raise OSError

    with RecordingClock(time.monotonic_ns).measured_again(refuse):
        assert rates.get(timeout=60)
        assert rates.get(timeout=60)


def test_the_monotonic_clock_has_a_rate_that_is_known():
    """Nothing is measured."""
    clock = RecordingClock(None)
    rates = [clock.first_rate(), clock.rate()]
    with clock.measured_again(rates.append):
        pass

    assert rates == [rates[0]] * 2
    assert rates[0].frequency == 10**9
    now = time.monotonic_ns() + rates[0].offset
    assert abs(now - time.time_ns()) < 10**7
