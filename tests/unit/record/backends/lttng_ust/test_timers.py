"""Timers do what they are for while a session is active, and samples are kept."""

from __future__ import annotations

import asyncio
import os

import pytest

from vestige.record.backends.channel_counts import Usage
from vestige.record.backends.lttng_ust.buffers import TraceBuffers
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.plan import ChannelPlan, SessionPlan
from vestige.record.backends.lttng_ust.timers import Timers

SECONDS = 60.0
EVERYBODY = (None, None, None)


@pytest.fixture
def plan(tmp_path):
    """A session without output, with one small channel."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (None, str(tmp_path / "rings"))
    return SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )


def test_a_timer_runs_until_its_end():
    """Once for a channel, and not at all without a period."""

    async def main():
        done, timers = [], Timers()
        enough = asyncio.Event()

        async def work():
            done.append(1)
            if len(done) == 3:
                enough.set()

        timers.begin("read", "c", 0, work)
        for _ in range(2):
            timers.begin("read", "c", 1000, work)
        await asyncio.wait_for(enough.wait(), SECONDS)
        timers.end()
        seen = len(done)
        await asyncio.sleep(0.02)
        return seen, len(done)

    seen, later = asyncio.run(main())
    assert seen == later


def test_a_sample_says_how_full_the_rings_are(plan):
    """The fullest one, and what was read; bounded by their size."""

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        channel = traces.channel(plan.channels[0])
        try:
            channel.rings[-1].set(128, 9000)
            channel.rings[-1].set(152, 4096)
            usage = channel.sample()
            channel.rings[-1].set(152, 1 << 63)
            return usage, channel.sample()
        finally:
            traces.close()

    usage, wild = asyncio.run(main())
    assert usage == Usage(4904, 4 * 4096, 4096)
    assert wild.fullest <= 4 * 4096
