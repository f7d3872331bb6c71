"""Rates of clocks, from two moments."""

from __future__ import annotations

import pytest

from vestige.record.clock import Instant, has_constant_counter, measure_rate, take

FLAGS = "flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FLAGS * 2, True),
        (FLAGS + FLAGS.replace("nonstop_tsc", ""), False),
        ("processor : 0\nFeatures : fp asimd\n", False),
    ],
)
def test_the_counter_must_be_constant_on_all_cores(tmp_path, text, expected):
    """One core without the flag is enough to refuse it."""
    (tmp_path / "cpuinfo").write_text(text)

    assert has_constant_counter(tmp_path / "cpuinfo") is expected
    assert not has_constant_counter(tmp_path / "nothing")


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
