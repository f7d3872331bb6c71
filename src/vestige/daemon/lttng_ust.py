"""The backend for programs of LTTng-UST: sessions as plans that programs are given."""

from __future__ import annotations

from typing import Any

from ..record.backends.lttng_ust.plan import (
    ChannelPlan,
    ContextPlan,
    RulePlan,
    SessionPlan,
)
from ..record.backends.lttng_ust.programs import Losses, Programs
from ..record.backends.lttng_ust.ring_files import make_private, remove_folder
from .contexts import ContextType
from .model import AGENT_CHANNELS, Channel, Context, Session
from .refusals import refused
from .run_paths import RunPaths
from .tracking_verbs import tracked_number

__all__ = ["LttngUstBackend", "plan_of"]


class LttngUstBackend:
    """Records unmodified programs of LTTng-UST.

    Args:
        paths: The places of the daemon.
    """

    def __init__(self, paths: RunPaths) -> None:
        self._programs = Programs(paths.application_socket, paths.wait_page)
        self._rings = paths.rings

    async def open(self) -> None:
        """Let programs come."""
        make_private(self._rings)
        self._programs.save_left(self._rings)
        remove_folder(self._rings)
        make_private(self._rings)
        await self._programs.open()

    async def apply(self, session: Session) -> None:
        """Bring all programs to what a session says now.

        Args:
            session: The session.
        """
        await self._programs.apply(plan_of(session, self._rings))

    async def stop(self, session: Session) -> None:
        """Make the files of a session complete.

        Args:
            session: The session, which is no longer active.
        """
        lost = await self._programs.stop(plan_of(session, self._rings))
        _set_losses(session, lost)

    def failure(self, session: Session) -> str | None:
        """Return why a part of the trace could not be written, if that is so.

        Args:
            session: The session.
        """
        error = self._programs.failure(session.name)
        return None if error is None else str(error)

    async def forget(self, session: Session) -> None:
        """Let a session go; its files stay.

        Args:
            session: The session.
        """
        await self._programs.forget(session.name)

    async def dump_state(self, session: Session) -> None:
        """Make all programs describe their state once more.

        Args:
            session: An active session.
        """
        await self._programs.dump_state(session.name)

    async def write_metadata(self, session: Session) -> None:
        """Write the metadata of a session once more.

        Args:
            session: An active session.

        Raises:
            SessionError: Buffers of processes begin and end at any time.
        """
        if session.buffers == "pid":
            raise refused("NOT_SUPPORTED")
        await self._programs.write_metadata(session.name)

    async def programs(self, *, with_fields: bool) -> list[dict[str, Any]]:
        """Return the registered programs with their tracepoints.

        Args:
            with_fields: Whether the fields of these are wanted.
        """
        return await self._programs.list_programs(with_fields=with_fields)

    async def close(self) -> None:
        """Let all programs go."""
        await self._programs.close()
        # Sessions have removed what was in it.
        remove_folder(self._rings)


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
    channels = session.channels.values()
    of_agents = AGENT_CHANNELS.values()
    numbers = [
        None
        if values is None
        else frozenset(tracked_number(attribute, one) for one in values)
        for attribute, values in session.trackers.items()
    ]
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
        tuple(_channel(one) for one in channels if one.name not in of_agents),
        (numbers[0], numbers[1], numbers[2]),
    )


def _channel(channel: Channel) -> ChannelPlan:
    attributes = channel.attributes
    return ChannelPlan(
        channel.name,
        attributes.subbuf_size,
        attributes.num_subbuf,
        channel.enabled,
        attributes.tracefile_size,
        attributes.tracefile_count,
        tuple(map(_context, channel.contexts)),
        tuple(
            (
                RulePlan(
                    one.name,
                    one.level_type,
                    one.level,
                    one.filter,
                    tuple(one.exclusions),
                ),
                one.enabled,
            )
            for one in channel.rules
        ),
        attributes.switch_timer,
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
