"""How full the buffers of the kernel are, for triggers that want to know."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ..record.backends.channel_counts import ChannelCounts, Usage
from .backend import OnSample
from .model import Channel, Session
from .triggers.conditions import BufferUsage, ConsumedSize
from .triggers.sampled import KERNEL_TRACER, Sample
from .triggers.trigger import Trigger

__all__ = ["KernelSamples"]

_Counts = dict[str, ChannelCounts]


class KernelSamples:
    """Looks at buffers as often as monitor timers say, while triggers ask for it.

    Args:
        counts: Counts what there is of a session now; ``None``: nothing is.
    """

    def __init__(self, counts: Callable[[Session], Awaitable[_Counts | None]]) -> None:
        self._counts = counts
        self._asked: set[str] = set()
        """The sessions that triggers ask for."""
        self._followed: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.on_sample: OnSample = _ignore

    def watch(self, triggers: Sequence[Trigger]) -> None:
        """Look at what triggers ask for from now on.

        Args:
            triggers: All triggers that there are.
        """
        self._asked = {
            one.condition.session
            for one in triggers
            if isinstance(one.condition, ConsumedSize)
            or (
                isinstance(one.condition, BufferUsage)
                and one.condition.domain == "KERNEL"
            )
        }
        for session in [*self._followed.values()]:
            self.follow(session)

    def follow(self, session: Session) -> None:
        """Look at a session as long as it is active and anybody asks for it.

        Args:
            session: The session.
        """
        self._followed = {
            name: one for name, one in self._followed.items() if one.active
        }
        if not session.active:
            return
        name = session.name
        self._followed[name] = session
        if name in self._asked and name not in self._tasks:
            task = asyncio.ensure_future(self._look(session))
            self._tasks[name] = task
            task.add_done_callback(lambda _: self._end(session))

    def _end(self, session: Session) -> None:
        """Go on with a session of the same name that has begun meanwhile."""
        del self._tasks[session.name]
        now = self._followed.get(session.name)
        if now is not None and now is not session:
            self.follow(now)

    async def _look(self, session: Session) -> None:
        while session.active and session.name in self._asked:
            counts = await self._counts(session)
            if counts is not None:
                self.see(session, counts)
            timers = [one.attributes.monitor_timer for one in _monitored(session)]
            if not timers:
                return
            await asyncio.sleep(min(timers) / 1e6)

    def see(self, session: Session, counts: Mapping[str, ChannelCounts]) -> None:
        """Tell what there is of a session.

        Args:
            session: The session.
            counts: Of its channels.
        """
        if session.name not in self._asked:
            return
        for channel in _monitored(session):
            found = counts.get(channel.name)
            if found is not None:
                size = channel.attributes.subbuf_size * channel.attributes.num_subbuf
                usage = Usage(round(found.fill * size), size, found.bytes)
                of_kernel = {0: usage}
                self.on_sample(
                    Sample(session.name, channel.name, KERNEL_TRACER, of_kernel)
                )

    def close(self) -> None:
        """Look at nothing any more."""
        for task in self._tasks.values():
            task.cancel()


def _monitored(session: Session) -> list[Channel]:
    channels = session.kernel_channels.values()
    return [one for one in channels if one.attributes.monitor_timer]


def _ignore(sample: Sample) -> None:
    """Do nothing: nobody wants to know.

    Args:
        sample: What was seen.
    """
