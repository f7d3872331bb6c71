"""Stub of the compiled module that collects what the kernel records.

The binding is ``crates/vestige-kernel-python``; what it binds is
``crates/vestige-kernel``.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, final

__all__ = [
    "Collector",
    "CpuOutcome",
    "__interface__",
    "__version__",
    "attach_program",
    "counter_array",
    "drop_rights",
    "impossible_filters",
    "kernel_functions",
    "kernel_symbol",
    "open_counter",
    "open_map_events",
    "open_tracefs",
    "shorten_slice",
    "work_memory",
]

__version__: str
__interface__: bytes

_Operation: TypeAlias = tuple[str, int, int]
"""Its kind and two numbers: see :class:`Collector`."""

_Tells: TypeAlias = tuple[str, int, int]
"""What records tell besides, and where: ``new_thread`` (places of its ID and its flags
of clone(2)), ``kernel_stack`` (those of the number of addresses and of these),
``user_stack`` (that of the addresses, and 0), ``text`` (that of the word that leads to
a text of the call that comes next, or to values of counters at the next event; the
token of these), ``gets_texts`` (where the kernel's own
fields end and how many texts there are: words that lead to them are put there),
``gets_memory`` (the same place, and 1 where a call ends: there are words that lead to
what is in memory to which its arguments lead).
"""

_Event: TypeAlias = tuple[int, int | None, Sequence[_Operation], _Tells | None]
"""Its ID in the kernel, that of its class in the trace (``None``: it is not there),
what its fields are made of, and what it tells.
"""

_Cpu: TypeAlias = tuple[int, int, int]
"""Its number; descriptors of its pages and its statistics."""

_Files: TypeAlias = Sequence[tuple[int, int]]
"""By CPU, descriptors of an empty data file and its empty index."""

_OwnRecord: TypeAlias = tuple[int, int, bytes]
"""Value of the clock, class, context and fields."""

_Filters: TypeAlias = tuple[
    str,
    Sequence[
        tuple[
            int,
            Sequence[_Operation] | None,
            Sequence[tuple[int, int, int | float | str]],
        ]
    ],
]
"""Metadata with one class for each filter; IDs of events, the operations for contexts
and fields of these classes (``None``: those of the trace), instructions as those of
:mod:`vestige.expressions`, with a character for each byte.
"""

_Processes: TypeAlias = tuple[Sequence[tuple[int, str, Sequence[int]]], Sequence[int]]
"""IDs of events, what they tell and where; descriptors of their pages, which are
taken.
"""

_Others: TypeAlias = Mapping[int, int | None]
"""IDs of events of which records stay that the recorder's own threads cause: always
(``None``), or where the thread at a place in them is none of these.
"""

_Thread: TypeAlias = tuple[
    int,
    int,
    tuple[int, int, Sequence[int], str, Sequence[int], Sequence[int], bool],
]
"""Its ID, the value of the clock when it was read; process, parent; process, thread and
parent in their namespace; name, with a character for each byte; users and groups (real,
effective, saved); namespaces (cgroup, ipc, mnt, net, pid, time, user, uts); whether the
IDs in its namespace are those of the machine.
"""

def impossible_filters(filters: _Filters) -> list[int]:
    """Tell which filters can be true of no record.

    Args:
        filters: The filters.

    Returns:
        The IDs of their events.

    Raises:
        ValueError: They are none.
    """

def kernel_functions(
    text: bytes, modules: Sequence[tuple[str, int, int]], addresses: Sequence[int]
) -> list[tuple[int, int, str, str]]:
    """Find the functions of the kernel in which addresses are.

    Args:
        text: What ``/proc/kallsyms`` says.
        modules: Names, begins and sizes of modules.
        addresses: The addresses.

    Returns:
        Of each function its begin, the first address behind it, its name, and its
        module (empty: the kernel itself).
    """

def kernel_symbol(text: bytes, name: bytes) -> int | None:
    """Find the address of a symbol of the kernel itself.

    Args:
        text: What ``/proc/kallsyms`` says, or a part of it.
        name: Its name.

    Returns:
        The address; ``None`` if it is not there, or hidden.
    """

@final
class Collector:
    """Collects the events of all CPUs, each by a thread.

    It opens nothing: all descriptors that it gets are taken, and closed some time.

    Operations are ``address`` (place of one, which is noted: see
    :meth:`note_addresses`), ``copy`` (place, bytes), ``subtract`` (place, number),
    ``text`` and ``relative_text`` (place of the word that leads to it), ``sequence``
    and ``relative_sequence`` (the same, bytes of an element), ``line`` (place),
    ``request_bits`` (place, bytes), ``zeros`` (bytes), ``groups`` (places of the IDs of
    parent and child), ``kernel_stack`` and ``user_stack`` (of the thread then, if they
    are recorded), ``counter`` (which value, the number of the event; -1: nobody reads
    it there), ``memory:`` and what becomes of memory to which an argument of a call
    leads (place of its word, or of the first one; bytes), ``context:`` and LTTng's
    name of a context, or ``preemptible-call``.
    Places are bytes from the beginning of the kernel's record.

    Args:
        page: Bytes of a page, where nobody says more.
    """

    def __new__(cls, page: int) -> Collector: ...
    def learn(self, groups: Mapping[int, int]) -> None:
        """Learn thread groups.

        Args:
            groups: By thread.
        """

    def follow(self, host: bytes, processes: _Processes | None = None) -> None:
        """Know this machine, and what becomes of its threads; once.

        Events are ``born`` (places of thread, name and flags), ``renamed`` (thread,
        name), ``executed``, ``user_asked`` and ``group_asked`` (the arguments of
        setuid(2) and its like, up to three), ``ids`` (what these return), ``unshared``
        and ``entered`` (the flags of unshare(2) and setns(2); 0: there is no such
        field), ``spaces`` (what these return) and ``ended`` (whether the process does;
        0: there is no such field).

        Args:
            host: Its name, 65 bytes with zeros.
            processes: Where threads are told of.

        Raises:
            ValueError: An event has no such kind.
        """

    def know(self, threads: Sequence[_Thread]) -> None:
        """Know what was read of threads.

        Args:
            threads: The threads, if these are followed.
        """

    def know_spaces(
        self, threads: Sequence[tuple[int, int, int, list[int], list[int] | None]]
    ) -> None:
        """Take namespaces that were read of threads after they came into others.

        Args:
            threads: IDs; values of the clock before and after it was read; inodes of
                the namespaces, in the order of LTTng's contexts; process and thread in
                their namespace, ``None`` if that is the machine's.

        Raises:
            OSError: What becomes of threads cannot be read.
        """

    def read_ids(self, proc: int) -> None:
        """Read users and groups of whoever begins a program, as long as it runs.

        Args:
            proc: The descriptor of ``/proc``, which is taken.

        Raises:
            ValueError: It is none.
        """

    def gaps(self) -> int:
        """Return how often it was lost what becomes of threads.

        From then on, nothing is known of those that were there.
        """

    def note_addresses(self, lowest: int) -> None:
        """Note which addresses of the kernel's code are in records from now on.

        Args:
            lowest: The lowest one that is noted.
        """

    def take_addresses(self) -> list[int]:
        """Return the addresses that came since the last call, each once in all.

        Of many (65,536), the rest is not noted.
        """

    def note_pages(self) -> None:
        """Note which pages of programs are in their call stacks from now on."""

    def take_pages(self) -> list[tuple[int, int]]:
        """Return the pages that came since the last call, each once in all.

        Of many (65,536), the rest is not noted.

        Returns:
            Threads, and addresses of 4,096 bytes divided by that.
        """

    def track(self, ids: Mapping[str, Sequence[int]]) -> None:
        """Want records of some processes and users only, from the next page on.

        Args:
            ids: Those wanted, by ``pid``, ``vpid``, ``uid``, ``vuid``, ``gid``,
                ``vgid``; of what is not there, all are.

        Raises:
            ValueError: There are no such IDs.
        """

    def leave_out(self, threads: Mapping[int, int]) -> None:
        """Leave out what more of the recorder's own threads do; those here are already.

        Args:
            threads: Their IDs, and the values of the clock from which on.
        """

    def end_own(self, threads: Sequence[int], until: int) -> None:
        """Leave out no more those that have ended: their IDs may be of others then.

        Args:
            threads: Their IDs; others are left alone.
            until: The value of the clock from which on.
        """

    def add(
        self,
        recording: tuple[bytes, int, bool, int],
        events: Sequence[_Event],
        cpus: Sequence[_Cpu],
        files: _Files,
        *,
        buffer: int = 0,
        page: int | None = None,
        kept: int | None = None,
        period: int = 0,
        own: Sequence[_OwnRecord] = ...,
        filters: _Filters | None = None,
        others: _Others | None = None,
    ) -> None:
        """Begin to collect what a channel records.

        Args:
            recording: The UUID of the trace, the ID of the class of its data streams,
                whether there are 31 classes of events at most, the value of the clock
                where it begins.
            events: What is recorded.
            cpus: The CPUs.
            files: Where it goes; none if it is kept.
            buffer: Bytes of the buffer of a CPU, of which a part is read at a time; 0:
                unknown.
            page: Bytes of a page of it; ``None``: as of others.
            kept: Bytes of each CPU that are kept in memory until somebody asks for
                them; nothing is read before that.
            period: Microseconds after which packets are written in any case; 0: never.
            own: Records to be put among those of the first CPU, by their times; what
                is kept has none.
            filters: What must be true of records.
            others: What stays of the recorder's own threads; ``None``: the kernel
                leaves out what is to be left out.

        Raises:
            OSError: No thread can be started, or a file not be written.
            ValueError: An operation has no such kind, or the UUID not 16 bytes.
        """

    def set_events(
        self,
        channel: int,
        events: Sequence[_Event],
        filters: _Filters | None = None,
        others: _Others | None = None,
    ) -> None:
        """Say anew what is recorded in a channel.

        Args:
            channel: Its number, in the order in which they were added.
            events: All events.
            filters: What must be true of their records.
            others: As of :meth:`add`.

        Raises:
            OSError: There is no such channel.
            ValueError: An operation has no such kind.
        """

    def wait_for_own(self) -> None:
        """Read on, but let what was read wait for records that :meth:`put` gives.

        32 MiB of each CPU wait at most; what is not read then stays in its buffer.
        """

    def put(
        self, channel: int, records: Sequence[_OwnRecord], until: int | None = None
    ) -> None:
        """Put records among those of the first CPU of a channel, by their times.

        Other CPUs wait no longer.

        Args:
            channel: The channel's number.
            records: The records, in order.
            until: The value of the clock up to which all were put; ``None``: no more
                come.

        Raises:
            OSError: There is no such channel, or a thread of it has ended.
        """

    def flush(self, end: int, *, is_stopped: bool) -> list[list[CpuOutcome]]:
        """Write all that there is.

        Args:
            end: The value of the clock up to which that is all.
            is_stopped: Whether nothing is recorded any more, for the moment.

        Returns:
            For each channel, what became of each CPU's.
        """

    def flush_some(self, end: int) -> None:
        """Write what was taken, where anything was, and take nothing more.

        Args:
            end: A value of the clock; nothing that is older comes later: :meth:`look`
                has taken it.
        """

    def limit(
        self,
        channel: int,
        directories: tuple[int, int],
        names: Sequence[str],
        size: int,
        count: int,
    ) -> None:
        """Go on in more files when one has enough; it is told anew after a cut.

        Args:
            channel: The channel's number.
            directories: Those of data files and of indexes, open; they stay so.
            names: By CPU, how the names of files begin: ``_`` and a number follow. The
                first file has the number 0.
            size: Bytes of a data file.
            count: How many stay; 0: all.

        Raises:
            OSError: There is no such channel, or the names are not as many as the CPUs.
        """

    def hold(self, *, is_held: bool) -> None:
        """Read nothing for the moment, or go on; buffers may run full meanwhile.

        Args:
            is_held: Whether nothing is read.
        """

    def cut(
        self, end: int, files: Sequence[_Files], *, is_dropped: bool
    ) -> list[list[CpuOutcome]]:
        """Let all that comes from now on be in other files.

        Args:
            end: The value of the clock up to which what was there is all.
            files: By channel, the files; none for one that is kept.
            is_dropped: Whether what is not written yet is thrown away.

        Returns:
            As of :meth:`flush`.

        Raises:
            OSError: These are not as many as the channels.
        """

    def copy(
        self, end: int, files: Sequence[_Files], most: Sequence[int]
    ) -> list[list[CpuOutcome]]:
        """Write what is kept, which stays there.

        Args:
            end: The value of the clock up to which that is all.
            files: By channel, the files.
            most: By channel, how many bytes of each CPU, the newest.

        Returns:
            As of :meth:`flush`.

        Raises:
            OSError: The files are not as many as the CPUs.
        """

    def look(self, end: int | None = None) -> None:
        """Take what buffers have.

        Args:
            end: The value of the clock up to which all is taken, and what comes later
                waits for :meth:`flush_some`; ``None``: as far as pages are full.
        """

    def outcomes(self) -> list[list[CpuOutcome]]:
        """Return what became of all up to now, as :meth:`flush` does."""

    def end(self, end: int) -> list[list[CpuOutcome]]:
        """Write all that there is, and end.

        Args:
            end: The value of the clock then.

        Returns:
            As of :meth:`flush`.
        """

@final
class CpuOutcome:
    """What became of a CPU's events."""

    @property
    def records(self) -> int:
        """Event records in files."""

    @property
    def lost(self) -> int:
        """Event records that are not, as the trace tells."""

    @property
    def packets(self) -> int:
        """Packets in files."""

    @property
    def bytes(self) -> int:
        """Bytes of packets in files."""

    @property
    def damaged(self) -> int:
        """Pages and records of the kernel that made no sense."""

    @property
    def unknown(self) -> int:
        """Event records of which a counter is unknown that is read at their event."""

    @property
    def overwritten(self) -> int:
        """Records of the kernel's buffer that made room for newer ones.

        Where what there is stays in memory until it is asked for; else it is 0, and
        such records are lost ones.
        """

    @property
    def failure(self) -> str | None:
        """Why not all could be read or written."""

def attach_program(code: bytes, tracepoint: str) -> int:
    """Let a program of the kernel (BPF) run at a tracepoint.

    Args:
        code: Its instructions, as bpf(2) takes them for a raw tracepoint.
        tracepoint: Its name, such as ``sys_enter``.

    Returns:
        A descriptor; the program runs until it is closed.

    Raises:
        OSError: The kernel has no such tracepoint, or takes no such program.
    """

def counter_array(counters: Sequence[int | None]) -> int:
    """Return an array of counters, as programs of the kernel read them.

    Args:
        counters: Their descriptors, which stay open; ``None``: there is none.

    Returns:
        A descriptor.

    Raises:
        OSError: The kernel has no such arrays, or it is forbidden.
    """

def open_counter(kind: int, config: int, cpu: int) -> int:
    """Count something on a CPU, whoever runs there; see perf_event_open(2).

    Args:
        kind: The type of the counter.
        config: Which of that type.
        cpu: The number of the CPU.

    Returns:
        A descriptor; it counts until it is closed.

    Raises:
        OSError: There is no such counter or CPU, or it is forbidden.
    """

def open_map_events(cpu: int, watermark: int) -> int:
    """Let the kernel tell what processes map on a CPU, see perf_event_open(2).

    It tells of files that are mapped (``PERF_RECORD_MMAP2``, with build IDs), of
    processes and threads that begin and end, and of programs that are executed, each
    with its time by ``CLOCK_MONOTONIC``.

    Args:
        cpu: The number of the CPU.
        watermark: Bytes after which the descriptor can be read.

    Returns:
        A descriptor, to be mapped; it tells until it is closed.

    Raises:
        OSError: This kernel cannot, or it is forbidden.
    """

def open_tracefs() -> int:
    """Open the kernel's file system of tracing where nobody else sees it.

    Returns:
        A descriptor of its topmost directory. It is mounted nowhere, and gone when that
        is closed; what is made in it is not.

    Raises:
        OSError: The kernel has none, is older than 5.2, or forbids it.
    """

def shorten_slice(nanoseconds: int) -> None:
    """Let this thread, and those that it starts, have the processor sooner.

    Kernels before Linux 6.12 take no notice.

    Args:
        nanoseconds: For how long they have it at a time; 100,000 is the least.

    Raises:
        OSError: The system refuses it.
    """

def drop_rights(user: int, group: int, more: Sequence[int]) -> None:
    """Give up all rights of this process for good.

    It may have one thread only.

    Args:
        user: The ID of the user that it becomes.
        group: That of the group.
        more: Those of further groups.

    Raises:
        OSError: The system refuses it; some rights may be gone.
    """

def work_memory(size: int) -> int:
    """Return memory of each CPU in which programs of the kernel work.

    Args:
        size: Its bytes.

    Returns:
        A descriptor.

    Raises:
        OSError: The kernel has no such memory, or it is forbidden.
    """
