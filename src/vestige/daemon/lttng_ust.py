"""The backend for programs of LTTng-UST: sessions as plans that programs are given."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..record.backends.lttng_ust.agents import Agents
from ..record.backends.lttng_ust.clock import Clock, chosen_clock
from ..record.backends.lttng_ust.plan import (
    ChannelPlan,
    ContextPlan,
    RulePlan,
    SessionPlan,
    with_objects_apart,
)
from ..record.backends.lttng_ust.programs import Losses, Programs, command_of
from ..record.backends.lttng_ust.ring_files import (
    Left,
    RingOwner,
    make_private,
    remove_folder,
)
from .backend import OnMatch
from .contexts import ContextType
from .left_snapshots import folders_of_snapshots, tell_snapshots
from .loggers import agent_plans, logger_rules
from .model import AGENT_CHANNELS, Channel, Context, EventRule, Session
from .program_backend import ProgramBackend, failure_text
from .run_paths import RunPaths
from .tracking_verbs import tracked_number
from .triggers import plans
from .triggers.trigger import Trigger

__all__ = ["LttngUstBackend", "plan_of"]


class LttngUstBackend(ProgramBackend):
    """Records unmodified programs of LTTng-UST.

    Args:
        paths: The places of the daemon.
        warn: Says what is missing, but hinders nothing else.
    """

    tracer = "lttng-ust"

    def __init__(
        self, paths: RunPaths, warn: Callable[[str], None] | None = None
    ) -> None:
        self._clock = chosen_clock(os.environ, warn)
        self._programs = Programs(
            paths.application_socket, paths.wait_page, self._clock
        )
        super().__init__(self._programs)
        self._agents = Agents(
            paths.agent_port, paths.agent_ports, self._programs.has_program
        )
        self._ports, self._warn = paths.agent_ports, warn
        self._rings = paths.rings
        self._watching: set[int] = set()
        """Users who have triggers for loggers."""

    async def open(self, sessions: Sequence[Session]) -> None:
        """Let programs come.

        Args:
            sessions: What a daemon before this one has left.
        """
        make_private(self._rings)
        folders = folders_of_snapshots(sessions)
        left = self._programs.save_left(self._rings, None, folders)
        for session in sessions:
            if session.shm_path is not None:
                owner = RingOwner(session.uid, session.gid)
                mine = self._programs.save_left(session.shm_path, owner, folders)
                left += [one for one in mine if one.session == session.name]
        _tell_gaps(sessions, left, self._clock)
        failures = self._programs.not_saved
        for said in tell_snapshots(sessions, left, folders, failures):
            if self._warn is not None:
                self._warn(said)
        for session in sessions:
            self._programs.add_lost(session.name, _add_lost(session, left))
        remove_folder(self._rings)
        make_private(self._rings)
        await self._programs.open()
        if not await self._agents.open() and self._warn is not None:
            first, last = self._ports[0], self._ports[-1]
            ports = (
                f"port {first} is" if first == last else f"ports {first} to {last} are"
            )
            self._warn(f"{ports} in use: loggers of Java and Python are not recorded")

    async def apply(self, session: Session) -> None:
        """Bring all programs to what a session says now.

        Args:
            session: The session.
        """
        await self._programs.apply(plan_of(session, self._rings))
        # Events of loggers have a place in the program before they come.
        await self._agents.apply(session.name, agent_plans(session))

    async def stop(self, session: Session) -> list[dict[str, Any]]:
        """Make the files of a session complete.

        Args:
            session: The session, which is no longer active.

        Returns:
            The programs that have not answered.
        """
        await self._agents.apply(session.name, {})
        since = self._programs.recording_since(session.name)
        _end_gap(session, time.time() if since is None else since)
        lost, silent = await self._programs.stop(plan_of(session, self._rings))
        _set_losses(session, lost)
        return silent

    async def end_packets(self, session: Session) -> None:
        """Let what was recorded up to now be in packets that are full.

        Args:
            session: The session.
        """
        await self._programs.end_packets(session.name)

    def end_chunk(self, session: Session) -> None:
        """Write what is full: the files may be moved then.

        Args:
            session: The session.

        Raises:
            OSError: A trace could not be read without what is still to be written.
        """
        self._programs.end_chunk(session.name)

    def begin_chunk(self, session: Session) -> None:
        """Let what is recorded from now on be in new files.

        Args:
            session: The session.
        """
        self._programs.begin_chunk(session.name)

    def clear(self, session: Session) -> None:
        """Throw away what was recorded up to now.

        Args:
            session: The session.
        """
        self._programs.clear(session.name)

    def sample(self, session: Session, channel: str) -> bytes | None:
        """Return a packet of a channel that is being filled, as far as it is.

        Args:
            session: The session.
            channel: The channel's name.
        """
        return self._programs.sample(session.name, channel)

    async def forget(self, session: Session) -> str | None:
        """Let a session go; its files stay.

        Args:
            session: The session.

        Returns:
            Why a part of the trace is not in them; also what was told before.
        """
        await self._agents.apply(session.name, {})
        return failure_text(await self._programs.forget(session.name))

    def tell_matches(self, on_match: OnMatch) -> None:
        """Say who is told of events that match the rules of triggers.

        Args:
            on_match: Called with each match.
        """
        self._programs.notified.on_match = on_match

    async def watch(self, triggers: Sequence[Trigger]) -> None:
        """Bring all programs to the event rules of triggers.

        Args:
            triggers: All triggers that there are.
        """
        self._programs.notified.set(plans.notifier_plans(triggers))
        await self._programs.apply_notified()
        agents = plans.agent_plans(triggers)
        for uid in self._watching | agents.keys():
            # No session has such a name.
            await self._agents.apply(f"/triggers/{uid}", agents.get(uid, {}))
        self._watching = {*agents}

    def lost_matches(self, token: int) -> int:
        """Return how many matches of a trigger's rule programs could not tell.

        Args:
            token: The trigger's.
        """
        return self._programs.notified.lost(token)

    async def loggers(self, domain: str) -> list[dict[str, Any]]:
        """Return the programs with an agent, and the names of their loggers.

        Args:
            domain: Of which library.
        """
        return [
            {"pid": pid, "name": command_of(pid), "loggers": names}
            for pid, names in await self._agents.loggers(domain)
        ]

    async def close(self) -> None:
        """Let all programs go."""
        await self._agents.close()
        await self._programs.close()
        # Sessions have removed what was in it.
        remove_folder(self._rings)


def _tell_gaps(sessions: Sequence[Session], left: Sequence[Left], clock: Clock) -> None:
    """Note of each session that was active since when nothing is recorded."""
    offset = clock.offset()
    for session in sessions:
        mine = [one for one in left if one.session == session.name]
        if session.active and mine:
            made = min(one.made for one in mine)
            # One that nobody has noted the end of: its daemon was killed, too.
            _end_gap(session, made)
            newest = max(one.last_event for one in mine)
            begin = (newest + offset) / clock.frequency if newest else made
            session.gaps.append([min(begin, time.time())])


def _end_gap(session: Session, end: float) -> None:
    """Note that a session is recorded again, if that is not noted yet."""
    if session.gaps and len(session.gaps[-1]) == 1:
        session.gaps[-1].append(max(end, session.gaps[-1][0]))


def _add_lost(session: Session, left: Sequence[Left]) -> Losses:
    """Keep what was lost in buffers that are gone; return what was before these."""
    before = {name: (one[0], one[1]) for name, one in session.lost_before.items()}
    for one in left:
        if one.session == session.name:
            for channel, (events, packets) in one.lost.items():
                known = session.lost_before.setdefault(channel, [0, 0])
                known[0] += events
                known[1] += packets
    return before


def _set_losses(session: Session, lost: Losses) -> None:
    for name, (events, packets) in lost.items():
        if name in session.channels:
            session.channels[name].discarded_events = events
            session.channels[name].lost_packets = packets


def plan_of(session: Session, rings: str) -> SessionPlan:
    """Return what programs are told of a session.

    Args:
        session: The session.
        rings: The directory of all ring buffers.
    """
    numbers = [
        None
        if values is None
        else frozenset(tracked_number(attribute, one) for one in values)
        for attribute, values in session.trackers.items()
    ]
    channels = tuple(_channel(session, one) for one in session.channels.values())
    return SessionPlan(
        session.name,
        session.uid,
        session.gid,
        session.created,
        session.output,
        session.shm_path or f"{rings}/{session.name}",
        session.shm_path is not None,
        session.active,
        session.buffers == "pid",
        channels if session.output is not None else with_objects_apart(channels),
        (numbers[0], numbers[1], numbers[2]),
        None if session.pids is None else frozenset(session.pids),
        session.is_taken_over,
        live_timer=session.live_timer,
        clock_offset=session.clock_offset,
    )


def _channel(session: Session, channel: Channel) -> ChannelPlan:
    attributes = channel.attributes
    # Of what is sent, the relay daemon limits the files.
    limits = (attributes.tracefile_size, attributes.tracefile_count)
    size, count = (0, 0) if session.relay is not None else limits
    rules = [(_rule(one), one.enabled) for one in channel.rules]
    for domain, name in AGENT_CHANNELS.items():
        if name == channel.name:
            rules += logger_rules(session, domain)
    return ChannelPlan(
        channel.name,
        attributes.subbuf_size,
        attributes.num_subbuf,
        channel.enabled,
        size,
        count,
        tuple(map(_context, channel.contexts)),
        tuple(rules),
        attributes.overwrite,
        attributes.blocking_timeout,
        attributes.read_timer,
        attributes.monitor_timer,
        attributes.switch_timer,
    )


def _rule(rule: EventRule) -> RulePlan:
    return RulePlan(
        rule.name, rule.level_type, rule.level, rule.filter, tuple(rule.exclusions)
    )


def _context(context: Context) -> ContextPlan:
    kind = ContextType(
        context.kind,
        context.name,
        is_of_user_space=True,
        type=context.type,
        config=context.config,
    )
    name = ""
    if context.kind == "PERF":
        name = kind.counter_field
    elif context.kind == "APP":
        name = ":".join(kind.application)
    return ContextPlan(context.kind, name, context.type, context.config)
