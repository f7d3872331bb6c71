"""The collector of a recording: it owns the files, and the memory that programs fill.

The threads of traced programs write to an *arena*, memory that they share with the
collector (``docs/formats/arena.md``). The collector is native code that runs beside the
interpreter and appends what is complete to data stream files; here is what it is told,
and what becomes of its answers.
"""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING, NamedTuple
from ....errors import RecordError
from ..._agreement import AGREEMENT, ARENA_FILE, ARENA_IN_DIRECTORY, EVENTS
from ..._collector import (
    Collector,
    Outcome,
    PlanRequest,
    Progress,
    act_by_default,
    counter,
)
from ...collected import Collected, Unreached
from ...rules.options import THREADS, RecordingOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from ..._collector import LoadedState

    ToldProcess: TypeAlias = tuple[int, int, int, bytes, bytes]
    """Its ID here, and as it sees it, the inode of its PID namespace, its name, and the
    contexts of its records.
    """

__all__ = [
    "Owner",
    "PlanRequest",
    "Rings",
    "RunningCollector",
    "Writing",
    "act_by_default",
    "collected_from",
    "counter",
]

NANOSECONDS = 1_000_000_000
CLASS_BYTES = 4 << 20
"""Address space that programs need for the texts of event classes."""
HIGHEST = 1024
"""The number of an inherited descriptor is below it, and as high as it may be."""
PATIENCE = 2.0
"""Seconds for which a full disk may become free at the end."""


class Rings(NamedTuple):
    """Whose the rings are in which packets are kept until they are written."""

    of_cpus: int = 0
    """So many CPUs have rings, which the threads on them share."""

    overwrite: bool = False
    """Whether a thread whose buffer is full gives up its oldest packet."""


class Writing(NamedTuple):
    """How the files of a recording are written; 0: as the collector likes."""

    file_bytes: int = 0
    """After so many, a data stream goes on in another file."""

    file_count: int = 0
    """So many of them stay, the newest."""

    switch_ns: int = 0
    """What was recorded is written after so many nanoseconds at the latest."""

    read_ns: int = 0
    """Full packets are looked for as often, and programs tell of none."""

    channel: str = ""
    """What the files of CPUs are called, before their number; empty: ``channel0``."""

    keep: bool = False
    """Whether nothing is written but snapshots."""

    live_ns: int = 0
    """As often, all that was recorded is written, and it is told until when."""


class Owner(NamedTuple):
    """A user other than root, whose trace root's collector writes."""

    uid: int
    gid: int
    groups: list[int]
    """With the one before."""


class RunningCollector:
    """The collector of one recording.

    Args:
        directory: The trace, absolute.
        uuid: Its UUID.
        options: What is recorded.
        rules: The rules as the tracer reads them; ``None`` are those of the options.
        rings: Whose the rings are, and what they do when they are full; ``None``: those
            of threads, which do not overwrite.
        writing: How its files are written.
        owner: Whose the trace is, if it is not this process's user.
        user: Whose programs record at first; ``None``: those of whom the trace is.
            Others than this process's user only for root.

    Raises:
        RecordError: There is no memory, or no place for the trace.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it is told is one thing each
        self,
        directory: str,
        uuid: str,
        options: RecordingOptions,
        rules: bytes | None = None,
        rings: Rings | None = None,
        writing: Writing | None = None,
        owner: Owner | None = None,
        user: int | None = None,
    ) -> None:
        if rings is None:
            rings = Rings()
        if rules is None:
            rules = _encoded(options) if options.events else b""
        self._directory = directory
        self._bytes_before = 0
        self._inherited: tuple[int, int] | None = None
        try:
            self._core = Collector(
                directory,
                bytes.fromhex(uuid.replace("-", "")),
                chunk_bytes=options.chunk_size,
                # One more is with the collector.
                ring=options.ring_size + rings.overwrite,
                arena_size=options.memory_size,
                thread_chunks=options.thread_packets,
                slots=THREADS,
                wait_ns=_wait(options),
                overwrite=options.mode == "overwrite",
                keep_states=options.is_rotated,
                max_size=options.size_limit,
                rules=rules,
                fingerprint=int(AGREEMENT, 16),
                first_class=len(EVENTS),
                class_bytes=CLASS_BYTES,
                cpu_rings=rings.of_cpus,
                overwrite_rings=rings.overwrite,
                owner=owner,
                user=user,
                **({} if writing is None else writing._asdict()),
            )
            if options.inherit_socket:
                self._inherited = _with_high_number(self._core.make_inherited())
        except OSError as error:
            raise RecordError(
                f"cannot be recorded to: {_why(error, directory)}",
                path=error.filename or directory,
            ) from error

    @classmethod
    def _of(cls, directory: str, core: Collector) -> RunningCollector:
        made = cls.__new__(cls)
        made._directory = directory  # noqa: SLF001 - its own class
        made._core = core  # noqa: SLF001
        made._inherited = None  # noqa: SLF001
        made._bytes_before = 0  # noqa: SLF001
        return made

    @property
    def arena(self) -> int:
        """The inode of the memory that programs write to."""
        return self._core.arena_fd_info[1]

    @property
    def memory(self) -> str:
        """The path of the memory that programs write to."""
        return self._core.arena_path

    @property
    def words(self) -> dict[str, object]:
        """What the tracer must know to find the memory: words of its environment."""
        _, inode, _ = self._core.arena_fd_info
        path = self._core.arena_path
        if path == os.path.join(self._directory, ARENA_FILE):
            path = ARENA_IN_DIRECTORY
        socket, token = self._core.socket
        inherited = ""
        if self._inherited is not None:
            descriptor, number = self._inherited
            inherited = f"{number},{os.fstat(descriptor).st_ino}"
        return {
            "arena": path,
            "arena-id": inode,
            "socket": socket,
            "token": token,
            "inherited": inherited,
        }

    @property
    def to_inherit(self) -> tuple[int, int] | None:
        """A descriptor that programs are to inherit, and its number there."""
        return self._inherited

    @property
    def inherited(self) -> int | None:
        """The descriptor with which another process goes on to answer these."""
        return self._core.inherited

    @property
    def inodes(self) -> frozenset[int]:
        """Inodes of the files that programs map; each user has one."""
        return frozenset(self._core.inodes)

    def has(self, process: int, namespace: int) -> bool:
        """Tell whether a process records now.

        Args:
            process: Its ID in its own PID namespace.
            namespace: The inode of that.
        """
        return (process, namespace) in self.processes()

    def processes(self) -> set[tuple[int, int]]:
        """Return the processes whose threads have places in memory.

        Returns:
            Their IDs in their own PID namespaces, and the inodes of these, 0 for one
            that is not known. A thread whose end the kernel did not tell is among them.
        """
        return {*self.names()}

    def names(self) -> dict[tuple[int, int], str]:
        """Return the same processes, each with the name of one of its threads."""
        return {(vpid, space): name for vpid, _, space, name in self._core.live_slots()}

    def open_requests(self) -> int:
        """Let programs ask for plans, before the start.

        Returns:
            A descriptor that is readable when one asks.

        Raises:
            RecordError: There can be none.
        """
        try:
            return self._core.open_requests()
        except OSError as error:
            raise RecordError(f"programs cannot ask: {error.strerror}") from error

    def requests(self) -> Iterator[PlanRequest]:
        """Yield what programs ask now; they wait for an answer until it is deleted."""
        while (request := self._core.take_request()) is not None:
            yield request
            del request

    def let_watch(self) -> None:
        """Answer this user, and root, who ask how far it is, from the start on."""
        self._core.let_watch()

    def start(self) -> None:
        """Begin to collect.

        Raises:
            RecordError: No thread can be started.
        """
        try:
            self._core.start()
        except OSError as error:
            why = _why(error, self._directory)
            raise RecordError(
                f"cannot be collected, since no thread can be started: {why}",
                path=self._directory,
            ) from error

    def expect(self, programs: int) -> None:
        """Keep memory for the first records of programs, which may begin at once.

        Args:
            programs: How many were told to record, all together.
        """
        self._core.expect(programs)

    def hold(self, *, is_held: bool) -> None:
        """Write nothing for the moment, or go on.

        Args:
            is_held: Whether nothing is written.
        """
        self._core.hold(is_held)

    def progress(self) -> Progress:
        """Tell what was recorded up to now; nothing is waited for."""
        return self._core.progress()

    def close(self) -> Collected:
        """Write all that is there, and end the recording for programs that go on.

        Losses that no stream tells stay in memory, until :meth:`remove`.

        Returns:
            What the recording holds.
        """
        return collected_from(self._core.close(PATIENCE, keep_losses=True))

    def remove(self) -> None:
        """Give the memory back, once the trace tells what was lost."""
        self._core.remove()

    def abandon(self) -> None:
        """End a recording to which nobody has written."""
        self._core.close(0.0)

    def cut(
        self,
        directory: str,
        processes: Sequence[ToldProcess] = (),
        loaded: LoadedState | None = None,
    ) -> None:
        """End a chunk of the recording, and go on in another directory.

        Args:
            directory: That, absolute; it is empty, and gets a copy of the metadata, or
                it has metadata without classes of programs.
            processes: Those whose state the next chunk begins with.
            loaded: What they have loaded.

        Raises:
            RecordError: It cannot be written to. All goes on as before.
        """
        try:
            self._core.cut(directory, processes, loaded)
        except OSError as error:
            raise RecordError(
                f"no chunk can begin: {error.strerror or error}",
                path=error.filename or directory,
            ) from error
        self._directory = directory
        self._bytes_before = self._core.progress().bytes

    def archive(self, directory: str) -> None:
        """Move what was recorded up to now to another directory, and go on here.

        Args:
            directory: That, absolute; it is empty.

        Raises:
            OSError: It cannot be moved.
        """
        self._core.archive(directory)
        self._bytes_before = self._core.progress().bytes

    @property
    def chunk_size(self) -> int:
        """How many bytes were written since a chunk was ended."""
        return self._core.progress().bytes - self._bytes_before

    def clear(self) -> None:
        """Throw away what was recorded up to now.

        Raises:
            RecordError: A file cannot be removed.
        """
        try:
            self._core.clear()
        except OSError as error:
            raise RecordError(
                f"cannot be cleared: {error.strerror or error}",
                path=error.filename or self._directory,
            ) from error

    def now(self) -> int:
        """Return the time now, as records have it."""
        return self._core.now()

    def set_monotonic(self) -> None:
        """Take ``CLOCK_MONOTONIC`` for the clock of the trace, and not the counter."""
        self._core.set_monotonic()

    def write_state(
        self, processes: Sequence[ToldProcess], loaded: LoadedState, time: int | None
    ) -> None:
        """Write what processes have loaded, as their own state dumps would say it.

        Args:
            processes: The processes.
            loaded: What they have loaded; those that are not there are left out.
            time: When that was; ``None`` is when the present chunk began.

        Raises:
            OSError: It cannot be written.
        """
        self._core.write_state(processes, loaded, time)

    def hand_over(self) -> Collected:
        """Write what is there, and let another process collect what is to come.

        Returns:
            What the recording holds.
        """
        return collected_from(self._core.hand_over())

    def snapshot(self, directory: str, most: int | None, owner: Owner | None) -> None:
        """Copy what all rings hold now, which stays there, to data files elsewhere.

        Args:
            directory: Where; it is empty.
            most: Packets of all rings together; ``None`` for all.
            owner: Whose that is, if it is not this process's user.

        Raises:
            OSError: It cannot be written.
        """
        chosen = {} if most is None else {"most": most}
        self._core.snapshot(directory, owner=owner, **chosen)

    def copy(self, directory: str) -> None:
        """Write what is in memory, and copy all files of the trace as they are then.

        Args:
            directory: Where; it is empty.

        Raises:
            OSError: It cannot be written.
        """
        self._core.copy(directory)

    @classmethod
    def take_over(
        cls,
        directory: str,
        inherited: int | None = None,
        owner: Owner | None = None,
    ) -> RunningCollector:
        """Collect for a recording that another process has handed over.

        Args:
            directory: The trace, absolute.
            inherited: The descriptor of that name of the one before.
            owner: As above.

        Returns:
            The collector, which has not been started.

        Raises:
            RecordError: The memory is gone, or has a collector.
        """
        try:
            core = Collector.attach(directory, owner=owner)
            if inherited is not None:
                core.set_inherited(inherited)
        except OSError as error:
            raise RecordError(
                f"cannot be collected: {error.strerror or error}",
                path=error.filename or directory,
            ) from error
        return cls._of(directory, core)


def _why(error: OSError, directory: str) -> str:
    # Hardly any recording needs it.
    from .refused import why_refused  # noqa: PLC0415 - see above

    return why_refused(error, directory)


def _with_high_number(descriptor: int) -> tuple[int, int]:
    """Return a descriptor, and a number for it that programs hardly use."""
    # Few recordings need it.
    import resource  # noqa: PLC0415 - see above

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or limit > HIGHEST:
        # The kernel has a table as long as the highest number.
        limit = HIGHEST
    for number in range(limit - 1, 2, -1):
        try:
            os.fstat(number)
        except OSError:
            return descriptor, number
    return descriptor, descriptor


def _encoded(options: RecordingOptions) -> bytes:
    # Few recordings have any.
    from ...rules.encoding import encode_rules  # noqa: PLC0415 - see above

    return encode_rules(options.rules())


def _wait(options: RecordingOptions) -> int:
    """Return how long a thread waits, nanoseconds."""
    return 0 if options.mode == "discard" else round(options.timeout * NANOSECONDS)


def _unreached(outcome: Outcome) -> list[Unreached]:
    told = outcome.unreached
    if not told:
        return []
    # Few recordings have any.
    from .unreached_programs import reason_of  # noqa: PLC0415 - see above

    return [
        Unreached(process, name, reason_of(reason), parent)
        for process, parent, _, reason, name in told
    ]


def collected_from(outcome: Outcome) -> Collected:
    """Say what a recording holds, of what the native collector tells.

    Args:
        outcome: What it tells.

    Returns:
        The same, for people.
    """
    failure = outcome.failure
    return Collected(
        streams=outcome.streams,
        packets=outcome.packets,
        lost=outcome.lost,
        unplaced=outcome.lost_unplaced,
        unbegun=outcome.lost_unbegun,
        untold=outcome.lost_untold,
        most_threads=outcome.most_threads,
        overwritten=outcome.overwritten,
        lost_packets=outcome.lost_packets,
        written=outcome.bytes,
        unreached=_unreached(outcome),
        more_unreached=outcome.more_unreached,
        problems=outcome.problems,
        failure=(failure[0], f"{failure[2]}: {failure[1]}") if failure else None,
        is_drained=outcome.is_drained,
        is_full=outcome.is_full,
        is_damaged=outcome.is_damaged,
    )
