"""A channel of a recording session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ..daemon.client import Client
from ..daemon.log_levels import level_number
from ..daemon.numbers import read_size, read_time, round_sizes
from ..errors import SelectionError, VestigeError, error_context
from .recording_event_rule import RecordingEventRule

FOR_EVER = "inf"
"""As lttng-enable-channel(1) has it."""

__all__ = [
    "Channel",
    "ChannelOfDomain",
    "Owner",
    "channel_attributes",
    "enable_event",
]


class Owner(Protocol):
    """The session of a channel."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def client(self) -> Client:
        """The connection to the daemon."""

    def _facts(self) -> dict[str, Any]:
        """Return what the daemon says of it, or has said at its end."""


class ChannelOfDomain:
    """What channels of all domains have.

    Args:
        session: Its session.
        facts: What the daemon says of it.
    """

    _domain: ClassVar[str] = "UST"
    """As the daemon calls it."""

    _member: ClassVar[str] = "channels"
    """Where the facts of a session have the channels of the domain."""

    def __init__(self, session: Owner, facts: dict[str, Any]) -> None:
        self._session = session
        self._attributes: dict[str, Any] = facts["attributes"]
        self.name: str = facts["name"]
        """Its name."""

    @property
    def subbuf_size(self) -> int:
        """Bytes of a sub-buffer, as it was rounded up to a power of two."""
        return int(self._attributes["subbuf_size"])

    @property
    def num_subbuf(self) -> int:
        """The number of sub-buffers of each ring buffer."""
        return int(self._attributes["num_subbuf"])

    @property
    def overwrite(self) -> bool:
        """Whether the oldest sub-buffer makes room when all are full."""
        return bool(self._attributes["overwrite"])

    @property
    def is_enabled(self) -> bool:
        """Whether its rules match anything."""
        return bool(self._now()["enabled"])

    @property
    def rules(self) -> tuple[RecordingEventRule, ...]:
        """Its recording event rules, also those that are disabled."""
        return tuple(RecordingEventRule.of(one) for one in self._now()["rules"])

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the contexts that its event records have."""
        return tuple(one["name"] for one in self._now()["contexts"])

    def _now(self) -> dict[str, Any]:
        """Return what the daemon says of it now, or has said at the session's end."""
        facts = self._session._facts()  # noqa: SLF001 - of this package
        found: dict[str, Any] | None = facts[self._member].get(self.name)
        if found is None:
            # Somebody has made another session of this name.
            with self._context():
                raise VestigeError("the session has no such channel any more")
        return found

    def add_context(self, *names: str) -> None:
        """Add fields to each event record of the channel.

        Args:
            names: Such as ``vpid`` or ``perf:thread:instructions``; of the kernel such
                as ``pid``, ``procname`` or ``perf:cpu:page-fault``.

        Raises:
            SessionError: There is no such context, or the session was started before.
        """
        for name in names:
            with self._context(), error_context(f"context '{name}'"):
                self._session.client.add_context(
                    self._session.name, name, self.name, domain=self._domain
                )

    def disable(self) -> None:
        """Disable the channel: none of its rules matches any longer.

        Raises:
            SessionError: The session has no such channel.
        """
        with self._context():
            self._session.client.disable_channel(
                self._session.name, self.name, domain=self._domain
            )

    def _context(self) -> error_context:
        return error_context(f"session '{self._session.name}': channel '{self.name}'")

    def __repr__(self) -> str:
        """Show name, session and size."""
        return (
            f"{type(self).__name__}({self.name!r}, session={self._session.name!r}, "
            f"subbuf_size={self.subbuf_size}, num_subbuf={self.num_subbuf})"
        )


class Channel(ChannelOfDomain):
    """A channel: ring buffers with the rules of what is recorded to them.

    :meth:`vestige.Session.add_channel` makes one. Its attributes are final.

    Args:
        session: Its session.
        facts: What the daemon says of it.
    """

    def enable_event(
        self,
        name: str,
        *,
        filter: str | None = None,  # noqa: A002 - as the field calls it
        level: str | int | None = None,
        only_level: str | int | None = None,
        exclude: Sequence[str] = (),
    ) -> None:
        """Record events: make a recording event rule, or enable it again.

        It takes effect at once, also in programs that run.

        Args:
            name: The full name of events, ``provider:name``; ``*`` is any text.
            filter: An expression of fields and contexts that must be true.
            level: The least severe log level, such as ``INFO``.
            only_level: The only log level.
            exclude: Patterns of names that are left out.

        Raises:
            SelectionError: A level or a filter is wrong.
            SessionError: The rule is enabled already, or the daemon refuses it.
        """
        with self._context():
            enable_event(
                self._session,
                self.name,
                name,
                filter=filter,
                level=level,
                only_level=only_level,
                exclude=exclude,
            )

    def disable_event(self, name: str | None = None) -> None:
        """Disable the rules that were made with a name.

        Args:
            name: The same text; ``None`` disables all rules of the channel.

        Raises:
            SessionError: There is no such rule.
        """
        with self._context(), error_context(f"event '{name or '*'}'"):
            self._session.client.disable_event(self._session.name, name, self.name)


def enable_event(  # noqa: PLR0913 - the conditions of a rule
    session: Owner,
    channel: str | None,
    name: str,
    *,
    domain: str = "UST",
    filter: str | None = None,  # noqa: A002 - as the field calls it
    level: str | int | None = None,
    only_level: str | int | None = None,
    exclude: Sequence[str] = (),
) -> None:
    """Make a recording event rule in a session.

    Args:
        session: The session.
        channel: The name of the channel; ``None`` for that by default.
        name: As of :meth:`Channel.enable_event`; the others, too.
        domain: The domain.
        filter: See there.
        level: See there.
        only_level: See there.
        exclude: See there.
    """
    if isinstance(exclude, str):
        raise SelectionError(f"exclude={exclude!r}: expected a list of patterns")
    if level is not None and only_level is not None:
        raise SelectionError(f"'{name}': expected level or only_level, not both")
    kind, chosen = "ALL", -1
    if level is not None:
        kind, chosen = "RANGE", _level(domain, level)
    elif only_level is not None:
        kind, chosen = "SINGLE", _level(domain, only_level)
    with error_context(f"event '{name}'"):
        session.client.enable_event(
            session.name,
            name,
            channel,
            domain=domain,
            level_type=kind,
            level=chosen,
            filter=filter,
            exclusions=exclude,
        )


def _level(domain: str, level: str | int) -> int:
    if isinstance(level, int):
        return level
    number = level_number(domain, level)
    if number is None:
        raise SelectionError(f"no log level '{level}': expected one such as INFO")
    return number


def channel_attributes(
    sizes: Mapping[str, int | str | None],
    times: Mapping[str, int | str | None],
    buffers: str | None,
) -> dict[str, Any]:
    """Return the attributes of a channel as the daemon takes them.

    Args:
        sizes: Bytes or numbers by name, or texts such as ``4M``; ``None`` for those by
            default.
        times: Microseconds by name, or texts such as ``50ms``.
        buffers: Who has buffers of its own: ``uid``, ``pid``.

    Raises:
        SelectionError: A text is none of these.
    """
    attributes: dict[str, Any] = {"buffers": buffers}
    for values, read, expected in (
        (sizes, read_size, "a number, or a text such as '4M'"),
        (times, read_time, "microseconds, or a text such as '50ms'"),
    ):
        for name, value in values.items():
            number = read(value) if isinstance(value, str) else value
            if name == "blocking_timeout" and value == FOR_EVER:
                number = -1
            if isinstance(value, str) and number is None:
                raise SelectionError(f"{name}={value!r}: expected {expected}")
            if number is not None:
                attributes[name] = number
    for _ in round_sizes(attributes):
        pass  # The channel says what it was made with.
    return attributes
