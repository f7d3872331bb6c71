"""Buffers of the kernel are looked at while triggers ask for it."""

from __future__ import annotations

import asyncio

from vestige.daemon.kernel_samples import KernelSamples
from vestige.daemon.model import Channel, ChannelAttributes, Session
from vestige.daemon.triggers.conditions import ConsumedSize
from vestige.daemon.triggers.trigger import Trigger
from vestige.record.backends.channel_counts import NO_COUNTS, ChannelCounts

TIMER = 1000
"""Microseconds."""


def session_of(name: str) -> Session:
    """Return an active session with a channel that is monitored."""
    session = Session(name, 0, 0, None, active=True)
    attributes = ChannelAttributes(monitor_timer=TIMER)
    session.kernel_channels["c"] = Channel("c", attributes)
    return session


def test_a_session_of_the_same_name_is_looked_at_in_its_turn():
    """It may begin while the one before it is waited for."""
    old, new = session_of("s"), session_of("s")

    async def main() -> None:
        looked = {id(one): asyncio.Event() for one in (old, new)}

        async def counts(session: Session) -> dict[str, ChannelCounts]:
            looked[id(session)].set()
            return {"c": NO_COUNTS}

        samples = KernelSamples(counts)
        samples.watch([Trigger("t", 0, ConsumedSize("s", 1), [])])
        samples.follow(old)
        await looked[id(old)].wait()
        old.active = False
        samples.follow(new)
        async with asyncio.timeout(60):
            await looked[id(new)].wait()
        samples.close()

    asyncio.run(main())
