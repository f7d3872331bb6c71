"""Attributes of a channel, for programs with Vestige's own tracer."""

from __future__ import annotations

import pytest

from vestige.record.backends.in_process.collector import Writing
from vestige.record.backends.lttng_ust.plan import ChannelPlan
from vestige.record.backends.registered import channel_options as module
from vestige.record.backends.registered.channel_options import (
    channel_options,
    channel_writing,
)


def test_files_and_timers_are_those_of_the_channel():
    """Periods are microseconds, and nanoseconds for the collector."""
    channel = ChannelPlan(
        *("c", 4096, 4),
        tracefile_size=8192,
        tracefile_count=3,
        switch_timer=5,
        read_timer=70,
    )
    assert channel_writing(channel) == Writing(8192, 3, 5_000, 70_000, "c")
    assert channel_writing(ChannelPlan("c", 4096, 4)) == Writing(channel="c")


def test_no_attribute_is_too_large():
    """What a daemon takes, a collector takes, too."""
    most = 1 << 63
    channel = ChannelPlan(
        *("c", 4096, 4),
        tracefile_size=4096,
        tracefile_count=most,
        switch_timer=most,
        read_timer=most,
    )
    writing = channel_writing(channel)
    assert writing.file_count < 1 << 32
    assert max(writing.switch_ns, writing.read_ns) < 1 << 63


@pytest.mark.parametrize(
    ("size", "count", "packet", "buffer"),
    [
        (4096, 1, 4096, 8192),
        (4096, 4, 4096, 16384),
        (524288, 4, 65536, 2097152),
        (1 << 20, 16, 1 << 18, 16 << 20),
    ],
)
def test_buffers_are_as_large_as_all_sub_buffers(size, count, packet, buffer):
    """Packets are sub-buffers, or parts of large ones."""
    options = channel_options(ChannelPlan("c", size, count))
    assert (options.packet_size, options.buffer_size) == (packet, buffer)


def test_there_is_memory_for_the_buffers_of_all_cpus(monkeypatch: pytest.MonkeyPatch):
    """Also on a machine that has many."""
    monkeypatch.setattr(module, "cpu_count", lambda: 200)
    options = channel_options(ChannelPlan("c", 1 << 20, 4))
    assert options.arena_size == 200 * options.buffer_size
