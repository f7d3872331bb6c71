"""Durations of calls: what is counted in buckets is near what was counted one by one."""

from __future__ import annotations

import random
from math import inf

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis import Durations
from vestige.analysis.durations.durations import bucket_of
from vestige.errors import SelectionError

CALLER, SHORT, LONG = 0x1000, 0x2000, 0x3000


def write(path, times, function=SHORT):
    """Write a trace of calls of a function that take so long, called by another one."""
    events, now = [enter(100, CALLER)], 100
    for time in times:
        events += [enter(now + 1, function), leave(now + 1 + time)]
        now += 1 + time
    events.append(leave(now + 5))
    return write_calls(path, {"s": [packet(events)]})


@pytest.fixture(scope="module")
def times():
    """Return durations of all sizes."""
    source = random.Random(19)  # noqa: S311 - no secret
    return [source.randrange(1 << source.randrange(1, 30)) for _ in range(3000)]


@pytest.fixture(scope="module")
def rows(tmp_path_factory, times):
    """Return the functions of a trace of calls that took so long."""
    trace = vestige.open(write(tmp_path_factory.mktemp("calls") / "trace", times))
    tree = trace.call_tree(durations=True, longest=5)
    return {one.function.address: one for one in tree.functions()}


@pytest.mark.parametrize("q", [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1])
def test_quantiles_are_near_the_true_ones(rows, times, q):
    """No further than half of a bucket."""
    true = sorted(times)[round(q * (len(times) - 1))]
    found = rows[SHORT].durations.quantile(q)

    assert abs(found - true) <= 0.016 * true + 0.5
    assert found == true or 0 < q < 1


def test_buckets_have_the_numbers_that_the_core_gives_them(rows, times):
    """So that what is counted here can be put together with what it counts."""
    found = {}
    for time in times:
        found[bucket_of(time)] = found.get(bucket_of(time), 0) + 1

    assert found == rows[SHORT].durations.buckets


def test_a_histogram_has_every_call(rows, times):
    """In the bucket that its duration belongs to."""
    durations = rows[SHORT].durations
    buckets = durations.histogram()

    assert durations.count == rows[SHORT].complete == len(times)
    for bucket in buckets:
        within = [time for time in times if bucket.begin <= time < bucket.end]
        assert bucket.count == len(within)
        assert bucket.end - bucket.begin <= max(1, 0.032 * bucket.begin)
    assert sum(bucket.count for bucket in buckets) == len(times)


def test_the_longest_calls(rows, times):
    """When they were, in which thread, and who called them."""
    longest = rows[SHORT].durations.longest

    assert [call.duration for call in longest] == sorted(times, reverse=True)[:5]
    place = times.index(longest[0].duration)
    assert longest[0].begin == 100 + sum(times[:place]) + place + 1
    assert longest[0].end - longest[0].begin == longest[0].duration
    assert (longest[0].thread.tid, longest[0].thread.process.pid) == (1, 77)
    assert longest[0].caller is rows[CALLER].function
    assert rows[CALLER].durations.longest[0].caller is None


def test_nothing_is_kept_unless_asked(tmp_path):
    """And of no calls there are no quantiles."""
    trace = vestige.open(write(tmp_path / "trace", [5]))

    assert trace.call_tree().functions()[0].durations is None
    assert Durations({}, 0, 0).quantile(0.5) is None


def test_incomplete_calls_are_not_in_it(tmp_path):
    """They have no time of their own."""
    events = [enter(100, LONG), leave(110), enter(120, LONG)]
    trace = vestige.open(write_calls(tmp_path / "trace", {"s": [packet(events)]}))
    (row,) = trace.call_tree(durations=True).functions()

    assert (row.calls, row.complete, row.durations.count) == (2, 1, 1)
    assert [call.begin for call in row.durations.longest] == [100]


def test_of_calls_that_are_left_out_later_nothing_is_told(tmp_path):
    """Their times are still in the buckets."""
    trace = vestige.open(write(tmp_path / "trace", [5, 7], function=CALLER))
    tree = trace.call_tree(durations=True)

    assert tree.functions()[0].durations.count == 3
    chosen = tree.leave_out(lambda _: True, max_depth=1).functions()
    assert (chosen[0].complete, chosen[0].durations) == (1, None)


@pytest.mark.parametrize("q", [-0.1, 1.1, inf, float("nan")])
def test_wrong_quantiles(q):
    """A quantile is from 0 to 1."""
    with pytest.raises(SelectionError, match="expected 0 to 1"):
        Durations({1: 1}, 1, 1).quantile(q)
