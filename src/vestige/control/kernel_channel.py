"""A channel of the kernel's domain of a recording session."""

from __future__ import annotations

import re
import warnings
from typing import ClassVar, Literal, get_args

from ..advice import VestigeWarning, nearest
from ..caller import caller_level
from ..daemon.client import Client
from ..errors import SelectionError, error_context
from .channel import ChannelOfDomain, Owner
from .kernel_places import read_place

__all__ = [
    "KERNEL",
    "KernelChannel",
    "KernelEventType",
    "enable_kernel_event",
]

KERNEL = "KERNEL"
"""The domain, as the daemon calls it."""

KernelEventType = Literal[
    "tracepoint", "syscall", "all", "probe", "function", "userspace-probe"
]
"""What a recording event rule of the kernel matches, in the words of
lttng-enable-event(1); ``all`` is tracepoints and system calls."""

_MATCHED = {
    "tracepoint": "tracepoint",
    "syscall": "system call",
    "all": "tracepoint or system call",
}
"""What people are told of types whose names are those of the kernel."""

_EVENT_OF_CALL = re.compile(r"(?:syscall_entry|syscall_exit|sys_enter|sys_exit)_(.+)")
"""What people may have seen in a trace, with the name of the system call."""


class KernelChannel(ChannelOfDomain):
    """A channel of the kernel: a ring buffer for each CPU, and its rules.

    :meth:`.KernelDomain.add_channel` makes one. Its attributes are final.

    Args:
        session: Its session.
        facts: What the daemon says of it.
    """

    _domain: ClassVar[str] = KERNEL
    _member: ClassVar[str] = "kernel_channels"

    def enable_event(
        self,
        name: str,
        *,
        type: KernelEventType = "tracepoint",  # noqa: A002 - as the field calls it
        location: str | None = None,
        filter: str | None = None,  # noqa: A002 - as above
    ) -> None:
        """Record events: make a recording event rule, or enable it again.

        It takes effect at once.

        Args:
            name: LTTng's name of tracepoints (``sched_switch``), or the name of system
                calls (``openat``, without what LTTng's events have before it); ``*`` is
                any text. Of a probe, what its event is called.
            type: What it matches. A ``syscall`` has two events, its entry and its exit.
                A ``function`` has them, too, as ``NAME_entry`` and ``NAME_exit``.
            location: Where a probe is. Of ``probe`` and ``function``: ``SYMBOL``,
                ``SYMBOL+OFFSET`` or an address of the kernel. Of ``userspace-probe``:
                ``PATH:FUNCTION``, or ``sdt:PATH:PROVIDER:PROBE`` for a probe that was
                compiled in; a colon of a path has a backslash.
            filter: An expression of fields and contexts that must be true; not of
                probes.

        Raises:
            SelectionError: The type is none, or the location does not go with it.
            SessionError: The rule is enabled already, or the daemon refuses it.

        Warns:
            VestigeWarning: This kernel has nothing that the rule matches. It waits for
                a module that brings it.
        """
        with self._context():
            enable_kernel_event(
                self._session, self.name, name, type, location=location, filter=filter
            )

    def disable_event(
        self,
        name: str | None = None,
        *,
        type: KernelEventType = "all",  # noqa: A002 - as the field calls it
    ) -> None:
        """Disable the rules that were made with a name.

        Args:
            name: The same text; ``None`` disables all rules of the channel.
            type: Only those of this type; ``all`` for any.

        Raises:
            SelectionError: The type is none.
            SessionError: There is no such rule.
        """
        with self._context(), error_context(f"event '{name or '*'}'"):
            self._session.client.disable_event(
                self._session.name,
                name,
                self.name,
                domain=KERNEL,
                type=_type_of_daemon(type),
            )


def enable_kernel_event(  # noqa: PLR0913 - the conditions of a rule
    session: Owner,
    channel: str | None,
    name: str,
    type: KernelEventType,  # noqa: A002 - as the field calls it
    *,
    location: str | None = None,
    filter: str | None = None,  # noqa: A002 - as above
) -> None:
    """Make a recording event rule of the kernel in a session.

    Args:
        session: The session.
        channel: The name of the channel; ``None`` for that by default.
        name: As of :meth:`KernelChannel.enable_event`; the others, too.
        type: See there.
        location: See there.
        filter: See there.
    """
    with error_context(f"event '{name}'"):
        answer = session.client.enable_kernel_event(
            session.name,
            name,
            channel,
            type=_type_of_daemon(type),
            location=read_place(location, type),
            filter=filter,
        )
    if not answer["is_matching"]:
        text = _why_nothing(session.client, name, type)
        warnings.warn(text, VestigeWarning, stacklevel=caller_level())


def _type_of_daemon(kind: str) -> str:
    """Return what the daemon calls a type of rules."""
    known = get_args(KernelEventType)
    if kind not in known:
        expected = ", ".join(map(repr, known))
        raise SelectionError(f"type={kind!r}: expected one of {expected}")
    return kind.upper().replace("-", "_")


def _why_nothing(client: Client, name: str, kind: str) -> str:
    """Say that a rule waits for what this kernel does not have."""
    what = f"no {_MATCHED[kind]} of this kernel"
    call = _EVENT_OF_CALL.fullmatch(name)
    if call:
        hint = f"enable_event({call[1]!r}, type='syscall') has both events of calls"
        return f"{what} is called '{name}'; {hint}"
    if "*" in name:
        return f"{what} matches '{name}'"
    known = [] if kind == "syscall" else client.kernel_points()
    if kind != "tracepoint":
        known += client.kernel_points(calls=True)
    return f"{what} is called '{name}'; there {nearest(name, known)}"
