"""What drives programs for a daemon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ..record.backends.channel_counts import ChannelCounts
from .model import EventRule, Session
from .triggers.event_rules import EventRule as TriggerRule
from .triggers.sampled import Sample
from .triggers.trigger import Trigger

__all__ = ["Backend", "OnMatch", "OnSample"]

OnSample = Callable[[Sample], None]
"""Called with what a monitor timer has seen."""

OnMatch = Callable[[int, object], None]
"""Called with the token of a trigger whose event rule an event matched, and what was
captured of it; see :func:`~.triggers.captures.captured_values`."""


class Backend(Protocol):
    """Makes programs record what sessions say.

    A daemon calls it after each change with the session as it should be; what is to be
    done for that is the backend's. So whatever was lost on the way, the next call puts
    right.
    """

    async def open(self, sessions: Sequence[Session]) -> None:
        """Let programs come, from now on.

        Args:
            sessions: What a daemon before this one has left.
        """

    async def apply(self, session: Session) -> None:
        """Bring all programs to what a session says now.

        Args:
            session: The session; it is active or has been.
        """

    async def stop(self, session: Session) -> list[dict[str, Any]]:
        """Make the files of a session complete.

        The losses of its channels are counted when this returns.

        Args:
            session: The session, which is no longer active.

        Returns:
            The programs that have not answered, each with ``pid`` and ``name``: what
            they record until they do is not in the files.
        """

    async def rotate(
        self,
        session: Session,
        move: Callable[[], None],
        take_back: Callable[[], None],
    ) -> None:
        """Let what a session records from now on be in new files.

        What was recorded up to now is in its directory when that is moved away.

        Args:
            session: The session.
            move: Does that; the directory is there again, and empty, then.
            take_back: Moves back what is still written to, since no other file can be
                made.

        Raises:
            OSError: It cannot be moved, or is not complete. It goes on.
        """

    async def clear(self, session: Session) -> None:
        """Throw away what a session has recorded up to now.

        Args:
            session: The session.
        """

    def hold(self, session: Session, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on.

        What programs record stays in their buffers meanwhile.

        Args:
            session: The session.
            is_held: Whether nothing is written.
        """

    def chunk_size(self, session: Session) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            session: The session.
        """

    def folders(self, session: Session) -> list[str]:
        """Return the directories of the traces that are written to now.

        Args:
            session: The session.
        """

    def take_failure(self, session: Session) -> str | None:
        """Return why a part of the trace could not be written, if that is new.

        Args:
            session: The session.
        """

    async def forget(self, session: Session) -> str | None:
        """Let a session go; its files stay.

        Args:
            session: The session.

        Returns:
            Why a part of the trace is not in them; also what was told before.
        """

    def tell_matches(self, on_match: OnMatch) -> None:
        """Say who is told of events that match the rules of triggers.

        Args:
            on_match: Called with each match.
        """

    def tell_samples(self, on_sample: OnSample) -> None:
        """Say who is told how full buffers are.

        Args:
            on_sample: Called with each sample of a monitor timer.
        """

    def tell_leave(
        self, leave: Callable[[str], AbstractAsyncContextManager[None]]
    ) -> None:
        """Say how others have their turn while something of a session is waited for.

        Args:
            leave: Called with the name of the session.
        """

    def tell_counted(self, on_counted: Callable[[], None]) -> None:
        """Say who is told that a session is larger than was known.

        Args:
            on_counted: Called when :meth:`chunk_size` may be more.
        """

    async def watch(self, triggers: Sequence[Trigger]) -> None:
        """Bring all programs to the event rules of triggers.

        Args:
            triggers: All triggers that there are.
        """

    def lost_matches(self, token: int) -> int:
        """Return how many matches of a trigger's rule programs could not tell.

        Args:
            token: The trigger's.
        """

    async def dump_state(self, session: Session) -> list[dict[str, Any]]:
        """Make all programs describe their state once more.

        Args:
            session: An active session.

        Returns:
            Those that have not answered, each with ``pid`` and ``name``: they do it
            when they do.
        """

    async def write_metadata(self, session: Session) -> None:
        """Write the metadata of a session anew.

        Args:
            session: An active session.
        """

    async def snapshot(self, session: Session, folder: str, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            session: The session; it has been active.
            folder: A new directory of its owner.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """

    def counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded so far.

        It waits for no program and no disk.

        Args:
            session: The session.
        """

    def kernel_counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return the same for the channels of the kernel, which have own names.

        Args:
            session: The session.
        """

    async def kernel_losses(self, session: Session) -> dict[str, int]:
        """Return how many event records channels of the kernel have lost up to now.

        Args:
            session: The session.

        Returns:
            By channel; nothing of those of which that is not known at once.
        """

    def sample(self, session: Session, channel: str) -> bytes | None:
        """Return a packet of a channel that is being filled, as far as it is.

        Args:
            session: The session.
            channel: The channel's name.

        Returns:
            A small one, or ``None``.
        """

    def running(self) -> list[dict[str, Any]]:
        """Return the registered programs without asking them anything.

        Each has ``pid``, ``uid``, ``name``, ``tracer`` and ``sessions``, the names of
        those for which it records.
        """

    async def programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the registered programs with their tracepoints.

        Args:
            with_fields: Whether the fields of these are wanted.

        Returns:
            Programs with ``pid``, ``name`` and ``events``; each of these has ``name``,
            ``level`` and ``fields``, which have ``name``, ``type`` and ``nowrite``.
            Then those that have not answered, without events.
        """

    async def loggers(self, domain: str) -> list[dict[str, Any]]:
        """Return the programs with an agent, and the names of their loggers.

        Args:
            domain: Of which library: ``JUL``, ``LOG4J`` or ``PYTHON``.

        Each has ``pid``, ``name`` and ``loggers``.
        """

    def kernel_refusal(self) -> str | None:
        """Say why the kernel cannot be recorded, ``None`` if it can."""

    async def kernel_points(self, *, calls: bool) -> list[str]:
        """Return the names of what the kernel can record, in order.

        Args:
            calls: Whether system calls are meant, not tracepoints.

        Raises:
            OSError: They cannot be read.
        """

    async def check_kernel_rule(self, rule: EventRule) -> None:
        """Refuse a rule that this kernel cannot record, as where a probe cannot be.

        Args:
            rule: The rule.

        Raises:
            ValueError: It cannot; this says why.
            OSError: As above.
        """

    def check_trigger(self, rule: TriggerRule) -> None:
        """Refuse a rule of a trigger that this kernel cannot look at.

        Args:
            rule: The rule, which is for the kernel.

        Raises:
            ValueError: It cannot; this says why.
            OSError: As above.
        """

    async def close(self) -> None:
        """Let all programs go."""
