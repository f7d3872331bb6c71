"""What clients ask the session daemon for: a method for each verb.

Commands and :class:`vestige.Session` use the same methods. This is imported by each
command: no asyncio, no core, nothing that takes long.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from .connection import Connection
from .names import MOST_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["Client"]


class Client(Connection):
    """A connection to a daemon, with a method for each verb.

    Each of them raises a :class:`~vestige.SessionError` when the daemon refuses.
    """

    def create(  # noqa: PLR0913 - as the daemon takes them
        self,
        name: str | None,
        output: str | None = None,
        *,
        no_output: bool = False,
        shm_path: str | None = None,
        home: str | None = None,
        temporary: bool = False,
        pids: list[int] | None = None,
        snapshot: bool = False,
        relay: list[str] | None = None,
        live_timer: int = 0,
    ) -> dict[str, Any]:
        """Create a session.

        Args:
            name: Its name; ``None`` for one with the time in it.
            output: The directory of its trace, an absolute path.
            no_output: Whether no trace is written.
            shm_path: Where its ring buffers are.
            home: Where the trace is if there is no ``output``.
            temporary: Whether it ends with this connection.
            pids: The only processes that record; ``None`` for all.
            snapshot: Whether it is one of snapshots.
            relay: The URIs of a relay daemon that it is sent to, for control and for
                data.
            live_timer: Microseconds after which that has what was recorded, for
                viewers; 0: there are none.

        Returns:
            The session.
        """
        return self.ask(
            "create",
            name=name,
            output=output,
            no_output=no_output,
            shm_path=shm_path,
            home=home,
            temporary=temporary,
            pids=pids,
            snapshot=snapshot,
            relay=relay or [],
            live_timer=live_timer,
        )

    def sessions(self) -> list[dict[str, Any]]:
        """Return all sessions, newest first."""
        found: list[dict[str, Any]] = self.ask("list")["sessions"]
        return found

    def describe(self, session: str) -> dict[str, Any]:
        """Return a session with all that is in it.

        Args:
            session: Its name.
        """
        return self.ask("describe", session=session)

    def statistics(self, *, samples: bool = False) -> dict[str, Any]:
        """Return what is recorded now, at little cost.

        Args:
            samples: Whether a packet of each channel is wanted that is being filled.

        Returns:
            ``sessions`` with their ``channels``, and the ``programs`` that run, as
            :func:`.statistics_verb.statistics` describes them.
        """
        return self.ask("statistics", samples=samples)

    def start(self, session: str) -> dict[str, Any]:
        """Start a session.

        Args:
            session: Its name.

        Returns:
            The session.
        """
        return self.ask("start", session=session)

    def stop(self, session: str) -> dict[str, Any]:
        """Stop a session, and wait until its trace is complete.

        Args:
            session: Its name.

        Returns:
            ``discarded_events``, ``lost_packets``, ``failure``, ``gaps``, ``silent``.
        """
        return self.ask("stop", session=session)

    def destroy(self, session: str) -> dict[str, Any]:
        """Destroy a session; its trace stays.

        Args:
            session: Its name.

        Returns:
            The session, whether it ``was_active``, and then what :meth:`stop` returns.
        """
        return self.ask("destroy", session=session)

    def rotate(self, session: str) -> dict[str, Any]:
        """Archive what a session has recorded up to now.

        Args:
            session: Its name.

        Returns:
            ``path``, the archive, and ``failure``.
        """
        return self.ask("rotate", session=session)

    def clear(self, session: str) -> dict[str, Any]:
        """Throw away what a session has recorded; its archives stay.

        Args:
            session: Its name.

        Returns:
            The session, and ``failure``.
        """
        return self.ask("clear", session=session)

    def set_rotation(self, session: str, kind: str, value: int) -> None:
        """Archive chunks of a session from time to time.

        Args:
            session: Its name.
            kind: ``timer`` or ``size``.
            value: Microseconds, or bytes.
        """
        self.ask("enable-rotation", session=session, kind=kind, value=value)

    def unset_rotation(self, session: str, kind: str) -> int:
        """Archive chunks of a session so no more.

        Args:
            session: Its name.
            kind: As of :meth:`set_rotation`.

        Returns:
            What the value was.
        """
        value: int = self.ask("disable-rotation", session=session, kind=kind)["value"]
        return value

    def regenerate(self, session: str, what: str) -> list[dict[str, Any]]:
        """Write a part of a trace once more.

        Args:
            session: The session's name.
            what: ``metadata`` or ``statedump``.

        Returns:
            The programs that have not answered, and do it when they do.
        """
        answer = self.ask("regenerate", session=session, what=what)
        silent: list[dict[str, Any]] = answer["silent"]
        return silent

    def record_snapshot(
        self,
        session: str,
        path: str | None = None,
        *,
        name: str | None = None,
        max_size: int = 0,
        relay: list[str] | None = None,
    ) -> dict[str, Any]:
        """Take a snapshot.

        Args:
            session: The session's name.
            path: Where it is written to if not to the output of the session.
            name: What its name begins with.
            max_size: Bytes; 0 without a limit.
            relay: The URIs of a relay daemon that it is sent to.

        Returns:
            Its directory as ``path``, and ``left``: what became of what was kept when a
            daemon was killed.
        """
        return self.ask(
            "record-snapshot",
            session=session,
            path=path,
            name=name,
            max_size=max_size,
            relay=relay or [],
        )

    def add_snapshot_output(
        self,
        session: str,
        path: str | None,
        *,
        name: str | None = None,
        max_size: int = 0,
        relay: list[str] | None = None,
    ) -> dict[str, Any]:
        """Let snapshots be written to a directory, or sent to a relay daemon.

        Args:
            session: The session's name.
            path: The directory; ``None`` for a relay daemon.
            name: What their names begin with.
            max_size: Bytes; 0 without a limit.
            relay: The URIs of a relay daemon, for control and for data.

        Returns:
            The output.
        """
        return self.ask(
            "add-snapshot-output",
            session=session,
            path=path,
            name=name,
            max_size=max_size,
            relay=relay or [],
        )

    def snapshot_outputs(self, session: str) -> dict[str, Any]:
        """Return where the snapshots of a session are written.

        Args:
            session: Its name.

        Returns:
            ``outputs``, and ``left`` as :meth:`record_snapshot` has it.
        """
        return self.ask("list-snapshot-outputs", session=session)

    def remove_snapshot_output(self, session: str, output: str) -> dict[str, Any]:
        """Let no snapshots be written to an output any more.

        Args:
            session: The session's name.
            output: The number of the output, or its name.

        Returns:
            The output.
        """
        return self.ask("remove-snapshot-output", session=session, output=output)

    def loggers(self, domain: str) -> list[dict[str, Any]]:
        """Return the programs that have an agent, with the names of their loggers.

        Args:
            domain: ``JUL``, ``LOG4J`` or ``PYTHON``.
        """
        found: list[dict[str, Any]] = self.ask("loggers", domain=domain)["programs"]
        return found

    def programs(self, *, fields: bool = False) -> list[dict[str, Any]]:
        """Return the registered programs with their tracepoints.

        Args:
            fields: Whether the fields of these are wanted.
        """
        return self.listed_programs(fields=fields)[0]

    def listed_programs(
        self, *, fields: bool = False
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the registered programs, and those of them that have not answered.

        Args:
            fields: As of :meth:`programs`.
        """
        answer = self.ask("programs", fields=fields)
        return answer["programs"], answer["silent"]

    def kernel_points(self, *, calls: bool = False) -> list[str]:
        """Return the names of what the kernel can record, in order.

        Args:
            calls: Whether system calls are meant, not tracepoints.
        """
        found: list[str] = self.ask("kernel-points", calls=calls)["names"]
        return found

    def enable_channel(
        self,
        session: str,
        channel: str,
        *,
        domain: str = "UST",
        **attributes: object,
    ) -> dict[str, Any]:
        """Make a channel, or enable it again.

        Args:
            session: The session's name.
            channel: Its name.
            domain: Its domain.
            attributes: As :class:`~.model.ChannelAttributes` has them, and ``buffers``.

        Returns:
            The channel.
        """
        return self.ask(
            "enable-channel",
            session=session,
            domain=domain,
            channel=channel,
            **attributes,
        )

    def disable_channel(
        self, session: str, channel: str, *, domain: str = "UST"
    ) -> dict[str, Any]:
        """Disable a channel.

        Args:
            session: The session's name.
            channel: Its name.
            domain: Its domain.

        Returns:
            The channel.
        """
        return self.ask(
            "disable-channel", session=session, domain=domain, channel=channel
        )

    def add_context(
        self, session: str, name: str, channel: str | None, *, domain: str = "UST"
    ) -> None:
        """Add a context to the event records of channels.

        Args:
            session: The session's name.
            name: The context's.
            channel: The channel's; ``None`` for all.
            domain: Its domain.
        """
        self.ask(
            "add-context", session=session, domain=domain, channel=channel, type=name
        )

    def enable_event(  # noqa: PLR0913 - the conditions of a rule
        self,
        session: str,
        name: str,
        channel: str | None,
        *,
        domain: str = "UST",
        level_type: str = "ALL",
        level: int = -1,
        filter: str | None = None,  # noqa: A002 - as the field calls it
        exclusions: Sequence[str] = (),
    ) -> str:
        """Make a recording event rule, or enable it again.

        Args:
            session: The session's name.
            name: The pattern of events.
            channel: The channel's name; ``None`` for that by default.
            domain: Its domain.
            level_type: ``ALL``, ``RANGE`` or ``SINGLE``.
            level: The log level.
            filter: An expression that must be true.
            exclusions: Patterns of events that are left out.

        Returns:
            The channel's name.
        """
        answer = self.ask(
            "enable-event",
            session=session,
            domain=domain,
            channel=channel,
            name=name,
            level_type=level_type,
            level=level,
            filter=filter,
            exclusions=list(exclusions),
        )
        return str(answer["channel"])

    def enable_kernel_event(  # noqa: PLR0913 - the conditions of a rule
        self,
        session: str,
        name: str,
        channel: str | None,
        *,
        type: str = "TRACEPOINT",  # noqa: A002 - as the field calls it
        location: dict[str, Any] | None = None,
        filter: str | None = None,  # noqa: A002 - as above
    ) -> dict[str, Any]:
        """Make a recording event rule of the kernel, or enable it again.

        Args:
            session: The session's name.
            name: The pattern of events, or what the event of a probe is called.
            channel: The channel's name; ``None`` for that by default.
            type: What it matches: one of :data:`~.model.RULE_TYPES`, or ``ALL``.
            location: Where a probe is.
            filter: An expression that must be true.

        Returns:
            The channel's name as ``channel``; whether this kernel has what the rule
            matches as ``is_matching``.
        """
        return self.ask(
            "enable-event",
            session=session,
            domain="KERNEL",
            channel=channel,
            name=name,
            type=type,
            location=location,
            filter=filter,
        )

    def enable_kernel_events(  # noqa: PLR0913 - the conditions of a rule
        self,
        session: str,
        names: Sequence[str],
        channel: str | None,
        *,
        type: str = "TRACEPOINT",  # noqa: A002 - as the field calls it
        location: dict[str, Any] | None = None,
        filter: str | None = None,  # noqa: A002 - as above
    ) -> list[dict[str, Any]]:
        """Make several of these rules at once, which takes no longer than one.

        Args:
            session: The session's name.
            names: The patterns of events, or what the events of probes are called.
            channel: As of :meth:`enable_kernel_event`.
            type: As there.
            location: As there.
            filter: As there.

        Returns:
            Of each name, the channel's name as ``channel``, and whether this kernel has
            what the rule matches as ``is_matching``; or why it is refused, as
            ``refusal`` and ``detail``.
        """
        results: list[dict[str, Any]] = []
        for first in range(0, len(names), MOST_NAMES):
            answer = self.ask(
                "enable-event",
                session=session,
                domain="KERNEL",
                channel=channel,
                names=[*names[first : first + MOST_NAMES]],
                type=type,
                location=location,
                filter=filter,
            )
            results += answer["results"]
        return results

    def disable_event(
        self,
        session: str,
        name: str | None,
        channel: str | None,
        *,
        domain: str = "UST",
        type: str = "ALL",  # noqa: A002 - as the field calls it
    ) -> None:
        """Disable recording event rules.

        Args:
            session: The session's name.
            name: The pattern that they were made with; ``None`` for all.
            channel: The channel's name; ``None`` for that by default.
            domain: Its domain.
            type: Those of the kernel that match this; ``ALL`` for any.
        """
        self.ask(
            "disable-event",
            session=session,
            domain=domain,
            channel=channel,
            name=name,
            type=type,
        )

    def track(
        self, session: str, attribute: str, value: str | None, *, domain: str = "UST"
    ) -> None:
        """Let processes record.

        Args:
            session: The session's name.
            attribute: ``vpid``, ``vuid`` or ``vgid``.
            value: Which; ``None`` for all.
            domain: Its domain.
        """
        self.ask(
            "track", session=session, domain=domain, attribute=attribute, value=value
        )

    def untrack(
        self, session: str, attribute: str, value: str | None, *, domain: str = "UST"
    ) -> None:
        """Keep processes from recording.

        Args:
            session: The session's name.
            attribute: As of :meth:`track`.
            value: As of :meth:`track`.
            domain: Its domain.
        """
        self.ask(
            "untrack", session=session, domain=domain, attribute=attribute, value=value
        )

    def register_trigger(self, trigger: dict[str, Any]) -> dict[str, Any]:
        """Add a trigger.

        Args:
            trigger: As the daemon takes it.

        Returns:
            The trigger, with its name.
        """
        added: dict[str, Any] = self.ask("register-trigger", trigger=trigger)["trigger"]
        return added

    def unregister_trigger(
        self, name: str, owner_uid: int | None = None
    ) -> dict[str, Any]:
        """Remove a trigger, and return it.

        Args:
            name: Its name.
            owner_uid: Whose it is, if not of this user.
        """
        values: dict[str, object] = {"name": name}
        if owner_uid is not None:
            values["owner_uid"] = owner_uid
        removed: dict[str, Any] = self.ask("unregister-trigger", **values)["trigger"]
        return removed

    def triggers(self) -> list[dict[str, Any]]:
        """Return the triggers of this user, of all users if that is root."""
        found: list[dict[str, Any]] = self.ask("list-triggers")["triggers"]
        return found

    def save(self, session: str | None = None) -> dict[str, str]:
        """Return the configurations of sessions, by their names.

        Args:
            session: The name of the only one that is wanted.
        """
        found: dict[str, str] = self.ask("save", session=session)["documents"]
        return found

    def load(  # noqa: PLR0913 - as the daemon takes them
        self,
        text: str,
        path: str,
        *,
        session: str | None = None,
        force: bool = False,
        override_name: str | None = None,
        override_output: str | None = None,
        override_relay: list[str] | None = None,
    ) -> list[str]:
        """Set up the sessions of a configuration.

        Args:
            text: The configuration.
            path: Where it was read.
            session: The name of the only one that is wanted.
            force: Whether those of the same name are destroyed.
            override_name: Another name.
            override_output: Another directory for the trace.
            override_relay: The URIs of a relay daemon that it is sent to instead.

        Returns:
            Their names.
        """
        found: list[str] = self.ask(
            "load",
            text=text,
            path=path,
            session=session,
            force=force,
            override_name=override_name,
            override_output=override_output,
            override_relay=override_relay or [],
        )["sessions"]
        return found
