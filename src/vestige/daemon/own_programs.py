"""The backends for programs with Vestige's own tracer, and for all programs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from ..record.backends.channel_counts import ChannelCounts, by_channel
from ..record.backends.in_process.tracer import library_path
from ..record.backends.kernel.points import (
    call_names,
    check_probe,
    check_rule_filter,
    tracepoint_names,
    why_not,
)
from ..record.backends.lttng_ust.plan import SessionPlan
from ..record.backends.lttng_ust.ring_files import make_private, remove_folder
from ..record.backends.registered.programs import RegisteredPrograms
from ..record.backends.registered.trace import Losses
from .backend import OnMatch, OnSample
from .kernel_backend import KernelBackend
from .kernel_wanted import kernel_rule
from .lttng_ust import LttngUstBackend, plan_of
from .model import AGENT_CHANNELS, EventRule, Session
from .program_backend import ProgramBackend, failure_text
from .run_paths import RunPaths
from .triggers.event_rules import EventRule as TriggerRule
from .triggers.kernel_matches import KernelMatches
from .triggers.plans import notifier_plans
from .triggers.trigger import Trigger

__all__ = ["AllPrograms", "OwnPrograms"]


class OwnPrograms(ProgramBackend):
    """Records programs that have Vestige's own tracer.

    Args:
        paths: The places of the daemon.
        warn: Says which programs cannot be recorded.
    """

    tracer = "vestige"

    def __init__(
        self, paths: RunPaths, warn: Callable[[str], None] | None = None
    ) -> None:
        self._programs = RegisteredPrograms(paths.folder, library_path(), warn)
        super().__init__(self._programs)
        self._rings, self._kept = paths.rings, f"{paths.folder}/vestige-kept"
        self._before: dict[str, dict[str, Losses]] = {}
        """By session and channel: losses that daemons have told that were killed."""

    async def open(self, sessions: Sequence[Session]) -> None:
        """Let programs come.

        Args:
            sessions: What a daemon before this one has left.
        """
        make_private(self._kept)
        await self._programs.open([*map(self._plan_of, sessions)])
        for session in sessions:
            again = self._counted_again(session)
            self._before[session.name] = {
                name: Losses(events - again[name], packets)
                for name, (events, packets) in session.own_lost.items()
            }

    def _counted_again(self, session: Session) -> Counter[str]:
        """Return how much of what the last ``stop`` has said is counted again.

        Threads that have ended since have told theirs, and the memory has it no more.
        """
        there = self._programs.counts(session.name)
        most = {name: one.discarded_events for name, one in there.items()}
        return Counter(session.own_untold) & Counter(most)

    def take_back_losses(self, session: Session) -> None:
        """Take what :meth:`stop` has added away, before it adds all of it again.

        Args:
            session: The session.
        """
        for name, (events, packets) in session.own_lost.items():
            if name in session.channels:
                session.channels[name].discarded_events -= events
                session.channels[name].lost_packets -= packets
        session.own_lost = {}

    async def apply(self, session: Session) -> None:
        """Bring all programs to what a session says now.

        Args:
            session: The session.
        """
        await self._programs.apply(self._plan_of(session))

    async def stop(self, session: Session) -> list[dict[str, Any]]:
        """Make the files of a session complete, and add its losses.

        Args:
            session: The session, which is no longer active.

        Returns:
            The programs that have not answered.
        """
        told, silent = await self._programs.stop(self._plan_of(session))
        before = self._before.get(session.name, {})
        for name in session.channels.keys() & {*told, *before}:
            lost = told.get(name, Losses()).plus(before.get(name, Losses()))
            session.channels[name].discarded_events += lost.events
            session.channels[name].lost_packets += lost.packets
            session.own_lost[name] = [*lost]
        session.own_untold = self._programs.untold(session.name)
        return silent

    def cut(self, session: Session) -> bool:
        """Let what programs record from now on be in the new directory of a session.

        Args:
            session: The session.

        Returns:
            Whether it is so.
        """
        return self._programs.cut(session.name)

    def clear(self, session: Session) -> None:
        """Throw away what programs have recorded up to now.

        Args:
            session: The session.
        """
        self._programs.clear(session.name)

    def _plan_of(self, session: Session) -> SessionPlan:
        """Return what programs are told: they have no loggers."""
        plan = plan_of(session, self._rings)
        others = AGENT_CHANNELS.values()
        return plan._replace(
            channels=tuple(
                one
                for one in plan.channels
                # What tells of objects is in a ring of its own in any case.
                if one.name not in others and not one.tells_of_objects
            ),
            kept=f"{self._kept}/{session.name}",
        )

    async def forget(self, session: Session) -> str | None:
        """Let a session go; its files stay.

        Args:
            session: The session.

        Returns:
            Why a part of the trace is not in them; also what was told before.
        """
        self._before.pop(session.name, None)
        return failure_text(await self._programs.forget(session.name))

    def tell_matches(self, on_match: OnMatch) -> None:
        """Say who is told of events that match the rules of triggers.

        Args:
            on_match: Called with each match.
        """
        self._programs.watched.on_match = on_match

    async def watch(self, triggers: Sequence[Trigger]) -> None:
        """Bring all programs to the event rules of triggers: they have no loggers.

        Args:
            triggers: All triggers that there are.
        """
        self._programs.watched.set(notifier_plans(triggers, has_loggers=False))
        await self._programs.apply_watched()

    def lost_matches(self, token: int) -> int:
        """Return how many matches of a trigger's rule programs could not tell.

        Args:
            token: The trigger's.
        """
        return self._programs.watched.lost(token)

    async def close(self) -> None:
        """Let all programs go."""
        await self._programs.close()
        # Sessions have removed what was in it.
        remove_folder(self._kept)


NO_KERNEL = "the session daemon was started with --no-kernel"


class AllPrograms:
    """Records programs of LTTng-UST, and those with Vestige's own tracer.

    Args:
        paths: The places of the daemon.
        warn: Says what is missing, but hinders nothing else.
        has_kernel: Whether the kernel is recorded, too.
    """

    def __init__(
        self,
        paths: RunPaths,
        warn: Callable[[str], None] | None = None,
        *,
        has_kernel: bool = True,
    ) -> None:
        self._has_kernel = has_kernel
        self._kernel_matches = KernelMatches(warn)
        self._lttng_ust = LttngUstBackend(paths, warn)
        self._own = OwnPrograms(paths, warn)
        self._kernel = KernelBackend(warn)

    async def open(self, sessions: Sequence[Session]) -> None:
        """Let programs come.

        Args:
            sessions: What a daemon before this one has left.
        """
        await self._lttng_ust.open(sessions)
        await self._own.open(sessions)

    async def apply(self, session: Session) -> None:
        """Bring all programs to what a session says now.

        Args:
            session: The session.
        """
        # The kernel first: where it cannot be recorded, nothing has been begun.
        await self._kernel.apply(session)
        await asyncio.gather(self._lttng_ust.apply(session), self._own.apply(session))

    async def stop(self, session: Session) -> list[dict[str, Any]]:
        """Make the files of a session complete.

        Args:
            session: The session, which is no longer active.

        Returns:
            The programs that have not answered.
        """
        # The first sets the losses of channels that it has, the second adds to them.
        self._own.take_back_losses(session)
        silent = await self._lttng_ust.stop(session)
        silent += await self._own.stop(session)
        await self._kernel.stop(session)
        return silent

    async def rotate(
        self,
        session: Session,
        move: Callable[[], None],
        take_back: Callable[[], None],
    ) -> None:
        """Let what a session records from now on be in new files.

        Args:
            session: The session.
            move: Moves its directory away, with what was recorded up to now.
            take_back: Moves back what is still written to.
        """
        await self._lttng_ust.end_packets(session)
        # Nothing else happens from here on: no program comes, and no packet.
        self._lttng_ust.end_chunk(session)
        # If it fails, all goes on where it is.
        move()
        try:
            is_cut = False
            try:
                is_cut = self._own.cut(session)
            finally:
                # Also after an error that nobody has foreseen: collectors write there.
                if not is_cut:
                    take_back()
        finally:
            self._lttng_ust.begin_chunk(session)
        await self._kernel.rotate(session)
        await self._dump_for_chunk(session)

    async def _dump_for_chunk(self, session: Session) -> None:
        """Let a chunk resolve its addresses alone."""
        if session.active:
            await asyncio.gather(
                self._lttng_ust.dump_state_for_chunk(session),
                self._own.dump_state_for_chunk(session),
            )

    async def clear(self, session: Session) -> None:
        """Throw away what a session has recorded up to now.

        Args:
            session: The session.
        """
        await self._lttng_ust.end_packets(session)
        self._lttng_ust.clear(session)
        self._own.clear(session)
        await self._kernel.clear(session)
        await self._dump_for_chunk(session)

    def hold(self, session: Session, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on.

        Args:
            session: The session.
            is_held: Whether nothing is written.
        """
        self._lttng_ust.hold(session, is_held=is_held)
        self._own.hold(session, is_held=is_held)
        self._kernel.hold(session, is_held=is_held)

    def chunk_size(self, session: Session) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            session: The session.
        """
        backends = (self._lttng_ust, self._own, self._kernel)
        return sum(one.chunk_size(session) for one in backends)

    def folders(self, session: Session) -> list[str]:
        """Return the directories of the traces that are written to now.

        Args:
            session: The session.
        """
        return [*self._lttng_ust.folders(session), *self._own.folders(session)]

    def take_failure(self, session: Session) -> str | None:
        """Return why a part of the trace could not be written, if that is new.

        Args:
            session: The session.
        """
        backends = (self._lttng_ust, self._own, self._kernel)
        return _joined(one.take_failure(session) for one in backends)

    async def forget(self, session: Session) -> str | None:
        """Let a session go; its files stay.

        Args:
            session: The session.

        Returns:
            Why a part of the trace is not in them; also what was told before.
        """
        backends = (self._lttng_ust, self._own, self._kernel)
        return _joined([await one.forget(session) for one in backends])

    def tell_matches(self, on_match: OnMatch) -> None:
        """Say who is told of events that match the rules of triggers.

        Args:
            on_match: Called with each match.
        """
        self._lttng_ust.tell_matches(on_match)
        self._own.tell_matches(on_match)
        self._kernel_matches.on_match = on_match

    def tell_samples(self, on_sample: OnSample) -> None:
        """Say who is told how full buffers are.

        Args:
            on_sample: Called with each sample of a monitor timer.
        """
        self._lttng_ust.tell_samples(on_sample)
        self._own.tell_samples(on_sample)
        self._kernel.tell_samples(on_sample)

    def tell_leave(
        self, leave: Callable[[str], AbstractAsyncContextManager[None]]
    ) -> None:
        """Say how others have their turn while something of a session is waited for.

        Args:
            leave: Called with the name of the session.
        """
        # No program is waited for longer than some seconds.
        self._kernel.leave = leave

    def tell_counted(self, on_counted: Callable[[], None]) -> None:
        """Say who is told that a session is larger than was known.

        Args:
            on_counted: Called when :meth:`chunk_size` may be more.
        """
        # That of programs is always known.
        self._kernel.on_counted = on_counted

    async def watch(self, triggers: Sequence[Trigger]) -> None:
        """Bring all programs to the event rules of triggers.

        Args:
            triggers: All triggers that there are.
        """
        await asyncio.gather(self._lttng_ust.watch(triggers), self._own.watch(triggers))
        self._kernel_matches.watch(triggers)
        self._kernel.watch(triggers)

    def lost_matches(self, token: int) -> int:
        """Return how many matches of a trigger's rule programs could not tell.

        Args:
            token: The trigger's.
        """
        backends = (self._lttng_ust, self._own)
        in_programs = sum(one.lost_matches(token) for one in backends)
        return in_programs + self._kernel_matches.lost(token)

    async def dump_state(self, session: Session) -> list[dict[str, Any]]:
        """Make all programs describe their state once more.

        Args:
            session: An active session.

        Returns:
            Those that have not answered.
        """
        silent = await asyncio.gather(
            self._lttng_ust.dump_state(session), self._own.dump_state(session)
        )
        await self._kernel.dump_state(session)
        return [*silent[0], *silent[1]]

    async def write_metadata(self, session: Session) -> None:
        """Write the metadata of a session once more.

        Args:
            session: An active session.
        """
        await self._lttng_ust.write_metadata(session)
        await self._own.write_metadata(session)
        await self._kernel.write_metadata(session)

    async def snapshot(self, session: Session, folder: str, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            session: The session.
            folder: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """
        await self._lttng_ust.snapshot(session, folder, most)
        await self._own.snapshot(session, folder, most)
        await self._kernel.snapshot(session, folder, most)

    def kernel_counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return what the channels of the kernel have recorded, a moment ago.

        Args:
            session: The session.
        """
        return self._kernel.counts(session)

    async def kernel_losses(self, session: Session) -> dict[str, int]:
        """Return how many event records channels of the kernel have lost up to now.

        Args:
            session: The session.
        """
        return await self._kernel.losses(session)

    def counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded so far.

        Args:
            session: The session.
        """
        backends = (self._lttng_ust, self._own)
        return by_channel(
            found for one in backends for found in one.counts(session).items()
        )

    def sample(self, session: Session, channel: str) -> bytes | None:
        """Return a packet of a channel that is being filled, as far as it is.

        What programs with our own tracer record is in files a second later.

        Args:
            session: The session.
            channel: The channel's name.
        """
        return self._lttng_ust.sample(session, channel)

    def running(self) -> list[dict[str, Any]]:
        """Return the registered programs without asking them anything."""
        return [*self._lttng_ust.running(), *self._own.running()]

    async def programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the registered programs, and those that have not answered.

        Args:
            with_fields: Whether the fields of their tracepoints are wanted.
        """
        theirs, ours = await asyncio.gather(
            self._lttng_ust.programs(with_fields=with_fields),
            self._own.programs(with_fields=with_fields),
        )
        return [*theirs[0], *ours[0]], [*theirs[1], *ours[1]]

    async def loggers(self, domain: str) -> list[dict[str, Any]]:
        """Return the programs with an agent, and the names of their loggers.

        Args:
            domain: Of which library: ``JUL``, ``LOG4J`` or ``PYTHON``.
        """
        return await self._lttng_ust.loggers(domain)

    def kernel_refusal(self) -> str | None:
        """Say why the kernel cannot be recorded, ``None`` if it can."""
        return why_not() if self._has_kernel else NO_KERNEL

    async def kernel_points(self, *, calls: bool) -> list[str]:
        """Return the names of what the kernel can record, in order.

        Args:
            calls: Whether system calls are meant, not tracepoints.
        """
        # Who asks has learnt whether the kernel can be recorded.
        return call_names() if calls else tracepoint_names()

    async def check_kernel_rule(self, rule: EventRule) -> None:
        """Refuse a rule that this kernel cannot record.

        Args:
            rule: The rule.

        Raises:
            ValueError: It cannot; this says why.
            FilterError: Its filter can be true of no event.
        """
        if rule.location is not None:
            kind = rule.type.lower().replace("_", "-")
            check_probe(kind, rule.location, rule.name)
        elif rule.filter is not None:
            check_rule_filter(kernel_rule(rule))

    def check_trigger(self, rule: TriggerRule) -> None:
        """Refuse a rule of a trigger that this kernel cannot look at.

        Args:
            rule: The rule, which is for the kernel.

        Raises:
            ValueError: It cannot; this says why.
            OSError: As above.
        """
        self._kernel_matches.check(rule)

    async def close(self) -> None:
        """Let all programs go."""
        self._kernel_matches.close()
        await self._lttng_ust.close()
        await self._own.close()
        await self._kernel.close()


def _joined(failures: Iterable[str | None]) -> str | None:
    """Return all failures in one text; ``None`` if there are none."""
    return "; ".join(one for one in failures if one is not None) or None
