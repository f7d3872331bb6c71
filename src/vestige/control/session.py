"""Recording sessions: :class:`Session` and :func:`sessions`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from ..advice import VestigeWarning
from ..daemon.client import Client
from ..daemon.run_paths import home_folder
from ..errors import SelectionError, SessionError, VestigeError, error_context
from ..notebook import facts_html
from .channel import Channel, channel_attributes, enable_event
from .facts import ChannelStatistics, Losses, Program
from .inclusion_sets import Tracked, change_sets, tracked_of
from .link import Link

if TYPE_CHECKING:
    from types import TracebackType

    from ..trace import Trace
    from .kernel_domain import KernelDomain

__all__ = ["Session", "session_on", "sessions"]

Size = int | str
Time = int | str
Domain = Literal["userspace", "jul", "log4j", "python"]
_DOMAINS = {"userspace": "UST", "jul": "JUL", "log4j": "LOG4J", "python": "PYTHON"}


class Session:
    """A recording session: what programs record, and where to, while they run.

    Programs of LTTng-UST take part, also those that run already; as root, also the
    kernel (:attr:`kernel`). The session daemon keeps the session; one is started if
    none runs. At the end of the context, or when this program ends, the session is
    destroyed. Its trace stays.

    A session is for one thread at a time.

    Args:
        name: Its name; by default, one with the time in it.
        output: The directory of its trace; by default one in ``lttng-traces`` of
            ``$LTTNG_HOME`` or ``$HOME``.
        private: Whether it has a daemon of its own, which only programs with
            :attr:`environment` find.
        keep: Whether it goes on after the context and after this program.
        has_output: Whether a trace is written.
        shm_path: The directory of its ring buffers, if they are to survive a crash of
            the machine's memory file system.
        group: Whose members may use root's daemon.
        snapshot: Whether it only keeps what came last, in its buffers: channels
            overwrite, and :meth:`snapshot` writes what they hold to ``output``.

    Raises:
        DaemonRunsError: LTTng's daemon is in the way.
        SessionError: The name is taken or cannot be one, or no daemon can be started.
        VestigeError: As above.

    Example:
        >>> with vestige.Session("demo", output="demo-trace") as session:
        ...     channel = session.add_channel("ch", subbuf_size="1M")
        ...     channel.enable_event("my_app:*", level="INFO", filter="size > 100")
        ...     channel.add_context("vpid", "procname")
        ...     session.start()
        ...     time.sleep(10)
        ...     print(session.stop())
        >>> trace = vestige.open("demo-trace")
    """

    def __init__(  # noqa: PLR0913 - by name
        self,
        name: str | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        private: bool = False,
        keep: bool = False,
        has_output: bool = True,
        shm_path: str | os.PathLike[str] | None = None,
        group: str = "tracing",
        snapshot: bool = False,
    ) -> None:
        if private and keep:
            raise VestigeError("a private session cannot be kept: its daemon ends")
        link = Link.to_private_daemon() if private else Link.to_daemon(group)
        self._create(
            link,
            name,
            output,
            is_temporary=not keep,
            no_output=not has_output,
            snapshot=snapshot,
            shm_path=None if shm_path is None else os.path.abspath(shm_path),  # noqa: PTH100 - as it is
        )

    def _create(
        self,
        link: Link,
        name: str | None,
        output: str | os.PathLike[str] | None,
        *,
        is_temporary: bool = True,
        **options: Any,
    ) -> None:
        try:
            with error_context(f"session '{name}'" if name else "new session"):
                facts = link.client.create(
                    name,
                    None if output is None else os.path.abspath(output),  # noqa: PTH100 - as it is
                    home=home_folder(),
                    temporary=is_temporary,
                    **options,
                )
        except BaseException:
            link.close()
            raise
        self._begin(link, facts, is_owner=is_temporary)

    def _begin(self, link: Link, facts: dict[str, Any], *, is_owner: bool) -> None:
        self._link: Link | None = link
        self._environment = link.environment
        self._name = str(facts["name"])
        # What is sent to a relay daemon is not here.
        self._output: str | None = None if facts.get("relay") else facts["output"]
        self._is_owner = is_owner
        self._process = os.getpid()
        self._last: dict[str, Any] | None = None
        """What it was like when it was destroyed."""

    @classmethod
    def find(cls, name: str, *, group: str = "tracing") -> Session:
        """Return a session that is there; the end of its context does nothing to it.

        Args:
            name: Its name.
            group: Whose members may use root's daemon.

        Raises:
            SessionError: There is none of this name, or no daemon.
        """
        link = Link(Client.connect(group))
        try:
            with error_context(f"session '{name}'"):
                facts = link.client.describe(name)
        except BaseException:
            link.close()
            raise
        found = cls.__new__(cls)
        found._begin(link, facts, is_owner=False)  # noqa: SLF001 - of this class
        return found

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def client(self) -> Client:
        """The connection to the daemon.

        Raises:
            VestigeError: The session was closed.
        """
        if self._link is None:
            raise VestigeError("the session is closed")
        return self._link.client

    @property
    def environment(self) -> dict[str, str]:
        """What programs need in their environment to find a private daemon.

        Empty for a session that is not private: programs find its daemon by themselves.
        """
        return dict(self._environment)

    def _facts(self) -> dict[str, Any]:
        if self._link is None and self._last is not None:
            return self._last
        with self._context():
            return self.client.describe(self._name)

    def _context(self) -> error_context:
        return error_context(f"session '{self._name}'")

    @property
    def output(self) -> Path | None:
        """The directory of its trace; ``None`` if nothing is written."""
        return None if self._output is None else Path(self._output)

    @property
    def is_active(self) -> bool:
        """Whether it is started."""
        return bool(self._facts()["active"])

    @property
    def has_recorded(self) -> bool:
        """Whether it has ever been started."""
        return bool(self._facts()["was_active"])

    @property
    def kernel(self) -> KernelDomain:
        """What it records of the kernel: channels, rules, inclusion sets."""
        # Few sessions record it.
        from .kernel_domain import KernelDomain  # noqa: PLC0415 - see above

        return KernelDomain(self)

    @property
    def channels(self) -> dict[str, Channel]:
        """Its channels of user space, by name; :attr:`kernel` has the others."""
        found = self._facts()["channels"]
        return {name: Channel(self, facts) for name, facts in found.items()}

    def add_channel(  # noqa: PLR0913 - by name
        self,
        name: str = "channel0",
        *,
        subbuf_size: Size | None = None,
        num_subbuf: int | None = None,
        overwrite: bool = False,
        blocking_timeout: Time | None = None,
        switch_timer: Time | None = None,
        read_timer: Time | None = None,
        monitor_timer: Time | None = None,
        tracefile_size: Size | None = None,
        tracefile_count: int | None = None,
        buffers: Literal["uid", "pid"] | None = None,
    ) -> Channel:
        """Make a channel. Its attributes are final.

        Args:
            name: Its name.
            subbuf_size: Bytes of a sub-buffer, or a text such as ``4M``; rounded up to
                a power of two.
            num_subbuf: The number of sub-buffers, rounded up to a power of two.
            overwrite: Whether the oldest sub-buffer makes room when all are full.
                Otherwise new events are discarded.
            blocking_timeout: How long programs that allow it wait for room; ``"inf"``
                and -1 are for ever. Times are microseconds, or texts such as ``50ms``.
            switch_timer: How often sub-buffers are given away that are not full.
            read_timer: How often full sub-buffers are looked for.
            monitor_timer: How often it is sampled how full buffers are.
            tracefile_size: Bytes after which a new file begins.
            tracefile_count: How many files of a stream are kept.
            buffers: Whether each user (``uid``, the default) or each process (``pid``)
                has buffers of its own; the same for all channels of a session.

        Returns:
            The channel.

        Raises:
            SelectionError: A text is no size, or no time.
            SessionError: It is there, comes too late, or cannot be.
        """
        attributes = channel_attributes(
            {
                "subbuf_size": subbuf_size,
                "num_subbuf": num_subbuf,
                "tracefile_size": tracefile_size,
                "tracefile_count": tracefile_count,
            },
            {
                "blocking_timeout": blocking_timeout,
                "switch_timer": switch_timer,
                "read_timer": read_timer,
                "monitor_timer": monitor_timer,
            },
            buffers,
        )
        with self._context(), error_context(f"channel '{name}'"):
            facts = self.client.enable_channel(
                self._name, name, overwrite=overwrite, **attributes
            )
        return Channel(self, facts)

    def enable_event(  # noqa: PLR0913 - the conditions of a rule
        self,
        name: str,
        *,
        domain: Domain = "userspace",
        filter: str | None = None,  # noqa: A002 - as the field calls it
        level: str | int | None = None,
        only_level: str | int | None = None,
        exclude: Sequence[str] = (),
    ) -> None:
        """Record events to the channel by default, which is made if it is not there.

        Args:
            name: As of :meth:`.Channel.enable_event`; the others, too. The name of a
                logger in other domains than ``userspace``.
            domain: Where the events come from.
            filter: See there.
            level: See there.
            only_level: See there.
            exclude: See there.

        Raises:
            SelectionError: A level is wrong, or there is no such domain here.
            SessionError: The daemon refuses the rule, or a channel must be named.
        """
        with self._context():
            enable_event(
                self,
                None,
                name,
                domain=_domain(domain),
                filter=filter,
                level=level,
                only_level=only_level,
                exclude=exclude,
            )

    def add_context(self, *names: str) -> None:
        """Add fields to each event record of all channels of user space.

        Args:
            names: Such as ``vpid`` or ``perf:thread:instructions``.

        Raises:
            SessionError: There is no such context, or the session was started before.
        """
        for name in names:
            with self._context(), error_context(f"context '{name}'"):
                self.client.add_context(self._name, name, None)

    @property
    def tracked(self) -> dict[str, tuple[str, ...] | None]:
        """Who may record: the values of each set, ``None`` for all processes."""
        return tracked_of(self._facts()["trackers"])

    def track(
        self,
        *,
        vpid: Tracked | None = None,
        vuid: Tracked | None = None,
        vgid: Tracked | None = None,
    ) -> None:
        """Let only some processes record: those that are added here.

        A set has all processes at first; the first values empty it. ``"*"`` puts all
        into it again.

        Args:
            vpid: Process IDs, as the processes see them.
            vuid: Users, by number or name.
            vgid: Groups, by number or name.

        Raises:
            SessionError: One is in the set already, or nobody has this name.
        """
        sets = {"vpid": vpid, "vuid": vuid, "vgid": vgid}
        with self._context():
            change_sets(self.client.track, self._name, "UST", sets)

    def untrack(
        self,
        *,
        vpid: Tracked | None = None,
        vuid: Tracked | None = None,
        vgid: Tracked | None = None,
    ) -> None:
        """Take processes out of a set again; ``"*"`` takes all.

        Args:
            vpid: As of :meth:`track`.
            vuid: As of :meth:`track`.
            vgid: As of :meth:`track`.

        Raises:
            SessionError: One is not in the set, or the set has all processes.
        """
        sets = {"vpid": vpid, "vuid": vuid, "vgid": vgid}
        with self._context():
            change_sets(self.client.untrack, self._name, "UST", sets)

    def start(self) -> None:
        """Start it: programs record from now on.

        Raises:
            SessionError: It is started, or has no channel.
        """
        with self._context():
            self.client.start(self._name)

    def stop(self) -> Losses:
        """Stop it, and wait until its trace is complete. It can be started again.

        Returns:
            What was lost since it was started.

        Raises:
            SessionError: It is not started.
        """
        with self._context():
            answer = self.client.stop(self._name)
        return Losses(
            answer["discarded_events"],
            answer["lost_packets"],
            answer["failure"],
            tuple((begin, end) for begin, end in answer["gaps"]),
        )

    def snapshot(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        max_size: Size = 0,
    ) -> Path:
        """Write what the buffers hold now, which stays there; programs go on.

        Args:
            output: The directory in which the snapshot gets one of its own; by default
                that of the session.
            name: What its name begins with, before the time and a number.
            max_size: Bytes of the newest sub-buffers that are written, or a text such
                as ``4M``; 0 for all.

        Returns:
            The snapshot, a trace as others.

        Warns:
            VestigeWarning: A daemon was killed since the last snapshot: what became of
                what was kept until then.

        Raises:
            SelectionError: A text is no size.
            SessionError: The session has an output of its own, was never started, or
                the snapshot cannot be written.

        Example:
            >>> with vestige.Session("s", output="snapshots", snapshot=True) as session:
            ...     session.enable_event("my_app:*")
            ...     session.start()
            ...     trace = vestige.open(session.snapshot())
        """
        attributes = channel_attributes({"max_size": max_size}, {}, None)
        with self._context():
            taken = self.client.record_snapshot(
                self._name,
                None if output is None else os.path.abspath(output),  # noqa: PTH100 - as it is
                name=name,
                max_size=attributes["max_size"],
            )
        for said in taken["left"]:
            warnings.warn(said, VestigeWarning, stacklevel=2)
        return Path(taken["path"])

    def rotate(self) -> Path:
        """Archive what was recorded up to now; programs go on.

        Returns:
            The archive, a trace as others, which nobody writes to any more. Each event
            is in one of them.

        Raises:
            SessionError: The session has no output, was never started or has recorded
                nothing since it was last rotated or cleared, or the archive cannot be
                made.
            VestigeError: A part of it could not be written.

        Example:
            >>> with vestige.Session("s", output="trace") as session:
            ...     session.enable_event("my_app:*")
            ...     session.start()
            ...     events = list(vestige.open(session.rotate()))
        """
        with self._context():
            answer = self.client.rotate(self._name)
            self._tell(answer["failure"])
        return Path(answer["path"])

    def set_rotation(
        self, *, timer: Time | None = None, size: Size | None = None
    ) -> None:
        """Archive what is recorded from time to time.

        Args:
            timer: After so many microseconds, or after a text such as ``10m``; 0 for
                never any more. ``None`` leaves it as it is.
            size: As soon as so many bytes are written, or a text such as ``1G``; as
                above.

        Raises:
            SelectionError: A text is no size, or no time.
            SessionError: The session has no output.
        """
        wanted = channel_attributes({"size": size}, {"timer": timer}, None)
        facts = self._facts()
        with self._context():
            for kind in ("timer", "size"):
                value = wanted.get(kind)
                if value is None:
                    continue
                if facts[f"rotation_{kind}"]:
                    self.client.unset_rotation(self._name, kind)
                if value:
                    self.client.set_rotation(self._name, kind, value)

    def clear(self) -> None:
        """Throw away what was recorded since it was last rotated; programs go on.

        Raises:
            SessionError: Something cannot be removed.
            VestigeError: As above.
        """
        with self._context():
            self._tell(self.client.clear(self._name)["failure"])

    def _tell(self, failure: str | None) -> None:
        if failure is not None:
            raise VestigeError(f"a part of the trace could not be written: {failure}")

    def dump_state(self) -> None:
        """Let programs record once more which objects they have loaded.

        The kernel's channels get the state of processes again, where a rule takes
        ``lttng_statedump_*``.

        Raises:
            SessionError: It is not started.
        """
        with self._context():
            self.client.regenerate(self._name, "statedump")

    def statistics(self) -> dict[str, ChannelStatistics]:
        """Return what each channel of user space has recorded and lost, by its name.

        :meth:`.KernelDomain.statistics` has those of the kernel. The trace is read for
        that, as far as it is written: completely after :meth:`stop`.
        """
        # As in trace().
        from .statistics import channel_statistics  # noqa: PLC0415 - see above

        return channel_statistics(self._facts())

    def programs(self, *, fields: bool = False) -> list[Program]:
        """Return the programs that have registered with the daemon.

        Args:
            fields: Whether the fields of their tracepoints are wanted.
        """
        with self._context():
            return [Program.of(one) for one in self.client.programs(fields=fields)]

    def trace(self, **options: Any) -> Trace:
        """Open what was recorded.

        Args:
            options: As of :func:`vestige.open`.

        Returns:
            The trace, as far as it is written: completely after :meth:`stop`.

        Raises:
            VestigeError: It writes no trace.
            NotATraceError: Nothing was recorded.
        """
        # Who only controls sessions reads nothing.
        from ..trace import open as open_trace  # noqa: PLC0415 - see above

        output = self.output
        if output is None:
            raise VestigeError(f"session '{self._name}' writes no trace")
        return open_trace(output, **options)

    def destroy(self) -> None:
        """Stop and destroy it; its trace stays.

        Raises:
            SessionError: It is there no more.
        """
        with self._context():
            self._last = self.client.destroy(self._name)
        self._is_owner = False
        self.close()

    def close(self) -> None:
        """Destroy it if it is not to be kept, and end the connection.

        More than once does no harm. In a process that was forked since, it does
        nothing: the session is its parent's.
        """
        if self._link is None or os.getpid() != self._process:
            return
        try:
            if self._is_owner:
                self._last = self._link.client.destroy(self._name)
        except SessionError as error:
            if error.name != "SESS_NOT_FOUND":
                raise
        finally:
            self._link.close()
            self._link = None

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Destroy it if it is not to be kept; its trace stays."""
        self.close()

    def __repr__(self) -> str:
        """Show its name, and whether it is started."""
        return f"Session({', '.join([repr(self._name), *self._state()])})"

    def _state(self) -> list[str]:
        where = "no output" if self._output is None else repr(self._output)
        return [self._condition(), where]

    def _condition(self) -> str:
        if self._link is None:
            return "closed"
        try:
            return "active" if self.is_active else "inactive"
        except VestigeError:
            # It was destroyed by others, or the daemon is gone.
            return "gone"

    def _repr_html_(self) -> str:
        """Show notebooks a table of what is in it."""
        rows: list[tuple[str, object]] = [
            ("state", self._condition()),
            ("output", self._output or "none"),
        ]
        try:
            facts = self._facts()
        except VestigeError:
            facts = {}
        for member, label in (
            ("kernel_channels", "kernel channel"),
            ("channels", "channel"),
        ):
            for name, channel in facts.get(member, {}).items():
                rules = [one["name"] for one in channel["rules"] if one["enabled"]]
                lost = channel["discarded_events"]
                note = f"; {lost:,} events discarded" if lost else ""
                text = f"{', '.join(rules) or 'no rule'}{note}"
                rows.append((f"{label} {name}", text))
        return facts_html(f"Session {self._name}", rows)


def _domain(name: str) -> str:
    """Return what the daemon calls a domain of user space."""
    found = _DOMAINS.get(name)
    if found is None:
        expected = ", ".join(map(repr, _DOMAINS))
        hint = "; events of the kernel: session.kernel.enable_event"
        raise SelectionError(f"domain={name!r}: expected one of {expected}{hint}")
    return found


def session_on(link: Link, name: str, output: str, pids: Sequence[int]) -> Session:
    """Make a session of some processes, of a daemon that is known.

    Args:
        link: The connection, which is closed with the session.
        name: Its name.
        output: The directory of its trace.
        pids: The processes.
    """
    made = Session.__new__(Session)
    made._create(link, name, output, pids=[*pids])  # noqa: SLF001 - its module
    return made


def sessions(*, group: str = "tracing") -> list[Session]:
    """Return the sessions of the daemon that this user sees, the newest first.

    Args:
        group: Whose members may use root's daemon.

    Returns:
        The sessions; none if no daemon runs.

    Example:
        >>> for session in vestige.sessions():
        ...     print(session.name, session.is_active)
    """
    try:
        with_names = Client.connect(group)
    except SessionError:
        return []
    names = [str(one["name"]) for one in with_names.sessions()]
    with_names.close()
    # Each has a connection of its own, which is closed with it.
    return [Session.find(name, group=group) for name in names]
