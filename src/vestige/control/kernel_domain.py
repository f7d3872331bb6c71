"""The kernel's domain of a recording session: ``session.kernel``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..errors import SessionError, error_context
from .channel import Owner, channel_attributes
from .inclusion_sets import Tracked, change_sets, tracked_of
from .kernel_channel import (
    KERNEL,
    KernelChannel,
    KernelEventType,
    enable_kernel_event,
)

if TYPE_CHECKING:
    from .facts import ChannelStatistics

__all__ = ["KernelDomain"]

Size = int | str
Time = int | str
_NO_KERNEL = {"KERNEL_NOT_AVAILABLE", "NEED_ROOT_SESSIOND"}
"""What the daemon says where nothing of the kernel can be recorded."""


class KernelDomain:
    """What a session records of the kernel.

    :attr:`vestige.Session.kernel` is one. It has channels with names of their own,
    rules for tracepoints, system calls and probes, and inclusion sets, as the commands
    of ``vestige lttng`` have with ``--kernel``. Root's daemon alone records the kernel:
    for root, and for members of the group ``tracing``. What happens in both domains of
    a session is on one time line.

    Args:
        session: The session.

    Example:
        >>> with vestige.Session("demo", output="demo-trace") as session:
        ...     session.kernel.enable_event("sched_*")
        ...     session.kernel.enable_event("openat", type="syscall")
        ...     session.kernel.add_context("pid", "procname")
        ...     session.start()
        ...     time.sleep(10)
        ...     session.stop()
        >>> trace = vestige.open("demo-trace")
    """

    def __init__(self, session: Owner) -> None:
        self._session = session

    def unavailable_because(self) -> str | None:
        """Say why nothing of the kernel can be recorded here.

        Returns:
            The reason; ``None`` if it can be recorded.
        """
        try:
            self.tracepoints()
        except SessionError as error:
            if error.name not in _NO_KERNEL:
                raise
            return error.detail or error.message
        return None

    def tracepoints(self) -> list[str]:
        """Return the tracepoints that can be recorded, by LTTng's names, in order.

        Raises:
            SessionError: The kernel cannot be recorded.
        """
        with self._context():
            return self._session.client.kernel_points()

    def syscalls(self) -> list[str]:
        """Return the system calls that can be recorded, in order.

        Raises:
            SessionError: The kernel cannot be recorded.
        """
        with self._context():
            return self._session.client.kernel_points(calls=True)

    @property
    def channels(self) -> dict[str, KernelChannel]:
        """The channels of the kernel, by name."""
        found = self._session._facts()["kernel_channels"]  # noqa: SLF001 - of this package
        return {name: KernelChannel(self._session, one) for name, one in found.items()}

    def add_channel(  # noqa: PLR0913 - by name
        self,
        name: str = "channel0",
        *,
        subbuf_size: Size | None = None,
        num_subbuf: int | None = None,
        overwrite: bool = False,
        switch_timer: Time | None = None,
        read_timer: Time | None = None,
        monitor_timer: Time | None = None,
        tracefile_size: Size | None = None,
        tracefile_count: int | None = None,
        output: Literal["mmap", "splice"] | None = None,
    ) -> KernelChannel:
        """Make a channel. Its attributes are final.

        Args:
            name: Its name; user space may have another channel that is called so.
            subbuf_size: Bytes of a sub-buffer, or a text such as ``4M``; rounded up to
                a power of two. By default 1 MiB.
            num_subbuf: The number of sub-buffers of each CPU, rounded up to a power of
                two. By default 4.
            overwrite: Whether what is oldest makes room when all are full. Otherwise
                new events are discarded.
            switch_timer: How often sub-buffers are given away that are not full. Times
                are microseconds, or texts such as ``50ms``.
            read_timer: How often full sub-buffers are looked for.
            monitor_timer: How often it is sampled how full buffers are.
            tracefile_size: Bytes after which a new file begins.
            tracefile_count: How many files of a stream are kept.
            output: As LTTng has it; it is kept for those who ask, and changes nothing.

        Returns:
            The channel.

        Raises:
            SelectionError: A text is no size, or no time.
            SessionError: It is there, comes too late, or cannot be; or the kernel
                cannot be recorded.
        """
        attributes = channel_attributes(
            {
                "subbuf_size": subbuf_size,
                "num_subbuf": num_subbuf,
                "tracefile_size": tracefile_size,
                "tracefile_count": tracefile_count,
            },
            {
                "switch_timer": switch_timer,
                "read_timer": read_timer,
                "monitor_timer": monitor_timer,
            },
            None,
        )
        with self._context(), error_context(f"channel '{name}'"):
            facts = self._session.client.enable_channel(
                self._session.name,
                name,
                domain=KERNEL,
                overwrite=overwrite,
                output=output,
                **attributes,
            )
        return KernelChannel(self._session, facts)

    def enable_event(
        self,
        name: str,
        *,
        type: KernelEventType = "tracepoint",  # noqa: A002 - as the field calls it
        location: str | None = None,
        filter: str | None = None,  # noqa: A002 - as above
    ) -> None:
        """Record events to the channel by default, which is made if it is not there.

        Args:
            name: As of :meth:`.KernelChannel.enable_event`; the others, too.
            type: See there.
            location: See there.
            filter: See there.

        Raises:
            SelectionError: The type is none, or the location does not go with it.
            SessionError: The daemon refuses the rule, or a channel must be named.

        Warns:
            VestigeWarning: This kernel has nothing that the rule matches.
        """
        with self._context():
            enable_kernel_event(
                self._session, None, name, type, location=location, filter=filter
            )

    def add_context(self, *names: str) -> None:
        """Add fields to each event record of all channels of the kernel.

        Args:
            names: Such as ``pid``, ``procname`` or ``perf:cpu:page-fault``.

        Raises:
            SessionError: There is no such context, this machine cannot have it, or the
                session was started before.
        """
        for name in names:
            with self._context(), error_context(f"context '{name}'"):
                self._session.client.add_context(
                    self._session.name, name, None, domain=KERNEL
                )

    @property
    def tracked(self) -> dict[str, tuple[str, ...] | None]:
        """Who may be recorded: the values of each set, ``None`` for all processes."""
        return tracked_of(self._session._facts()["kernel_trackers"])  # noqa: SLF001 - as above

    def track(  # noqa: PLR0913 - the sets that there are
        self,
        *,
        pid: Tracked | None = None,
        vpid: Tracked | None = None,
        uid: Tracked | None = None,
        vuid: Tracked | None = None,
        gid: Tracked | None = None,
        vgid: Tracked | None = None,
    ) -> None:
        """Let the kernel record only what some processes do: those added here.

        A set has all processes at first; the first values empty it. ``"*"`` puts all
        into it again.

        Args:
            pid: Process IDs.
            vpid: Process IDs, as the processes see them.
            uid: Users, by number or name.
            vuid: Users as their user namespace has them, by number or name.
            gid: Groups, by number or name.
            vgid: Groups as their user namespace has them, by number or name.

        Raises:
            SessionError: One is in the set already, or nobody has this name.
        """
        sets = {"pid": pid, "vpid": vpid, "uid": uid}
        sets |= {"vuid": vuid, "gid": gid, "vgid": vgid}
        with self._context():
            change_sets(self._session.client.track, self._session.name, KERNEL, sets)

    def untrack(  # noqa: PLR0913 - as above
        self,
        *,
        pid: Tracked | None = None,
        vpid: Tracked | None = None,
        uid: Tracked | None = None,
        vuid: Tracked | None = None,
        gid: Tracked | None = None,
        vgid: Tracked | None = None,
    ) -> None:
        """Take processes out of a set again; ``"*"`` takes all.

        Args:
            pid: As of :meth:`track`; the others, too.
            vpid: See there.
            uid: See there.
            vuid: See there.
            gid: See there.
            vgid: See there.

        Raises:
            SessionError: One is not in the set, or the set has all processes.
        """
        sets = {"pid": pid, "vpid": vpid, "uid": uid}
        sets |= {"vuid": vuid, "gid": gid, "vgid": vgid}
        with self._context():
            change_sets(self._session.client.untrack, self._session.name, KERNEL, sets)

    def statistics(self) -> dict[str, ChannelStatistics]:
        """Return what each channel of the kernel has recorded and lost, by its name.

        The trace is read for that, as far as it is written: completely after
        :meth:`vestige.Session.stop`. What overwriting channels lose are event records.
        """
        # Who only controls sessions reads nothing.
        from .statistics import channel_statistics  # noqa: PLC0415 - see above

        facts = self._session._facts()  # noqa: SLF001 - of this package
        return channel_statistics(facts, "kernel_channels")

    @property
    def gaps(self) -> tuple[tuple[float, float | None], ...]:
        """When the kernel was not recorded, since the process that does was killed.

        Begin and end, in seconds since the epoch; the last one may have no end yet.
        """
        gaps = self._session._facts()["kernel_gaps"]  # noqa: SLF001 - as above
        return tuple((one[0], one[1] if one[1:] else None) for one in gaps)

    def __repr__(self) -> str:
        """Show the session and the channels."""
        return f"KernelDomain(session={self._session.name!r})"

    def _context(self) -> error_context:
        return error_context(f"session '{self._session.name}'")
