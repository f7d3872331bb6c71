"""Follows system calls, requests to disks and packets through traces of a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from ... import core
from ..._typing import TYPE_CHECKING, NamedTuple
from ...graph import Graph, Inputs, LostNotice, Selection, Stream, notices_of
from ...units import Nanoseconds
from ..durations.keeper import DurationKeeper
from ..threads import Process, Thread
from .io import (
    SECTOR,
    DiskUse,
    InterfaceUse,
    IoOperation,
    KernelIo,
    LongIo,
    ThreadIo,
    device_name,
)

if TYPE_CHECKING:
    from ...damage import Damage

__all__ = ["IoReader", "io_events", "kernel_io"]

_NOTHING = "\0"
"""A pattern that no name matches."""

SWITCH = "sched_switch"
_BOTH = ("splice", "sendfile", "sendfile64", "copy_file_range")
KINDS: dict[str, frozenset[str]] = {
    "open": frozenset(
        {"open", "openat", "openat2", "creat", "socket", "accept", "accept4"}
        | {"dup", "dup2", "dup3", "fcntl"}
    ),
    "read": frozenset(
        {"read", "readv", "pread", "pread64", "preadv", "preadv2"}
        | {"recvfrom", "recvmsg", *_BOTH}
    ),
    "write": frozenset(
        {"write", "writev", "pwrite", "pwrite64", "pwritev", "pwritev2"}
        | {"sendto", "sendmsg", *_BOTH}
    ),
    "sync": frozenset({"sync", "syncfs", "fsync", "fdatasync", "sync_file_range"}),
}
"""System calls by kind; what reads from one file and writes to another one is both.

Of ``fcntl``, only what duplicates a file counts.
"""
_DUPLICATING = {0, 1030}
"""Commands of ``fcntl``: ``F_DUPFD``, ``F_DUPFD_CLOEXEC``."""
_ENTRIES = ("syscall_entry_", "compat_syscall_entry_")
_EXITS = ("syscall_exit_", "compat_syscall_exit_")
_DESCRIPTORS = ("fd", "fd_in", "in_fd", "sockfd", "oldfd", "fildes")
"""What fields with a file are called."""
_ALLOCATED = frozenset({"mm_page_alloc", "kmem_mm_page_alloc"})
_FREED = frozenset({"mm_page_free", "kmem_mm_page_free"})
_MOST_ORDER = 20
"""Kernels have no larger blocks of pages."""
_ISSUE, _COMPLETE = "block_rq_issue", "block_rq_complete"
_SENT = "net_dev_xmit"
_RECEIVED = ("netif_receive_skb", "net_if_receive_skb")
_DISK_NAME = "lttng_statedump_block_device"
_OF_ANYBODY = frozenset({_SENT, *_RECEIVED, _ISSUE, _COMPLETE})
"""What has no thread, or tells it itself."""
_OTHERS = frozenset({*_ALLOCATED, *_FREED, _ISSUE, _COMPLETE, _SENT, *_RECEIVED})


def io_events(names: Iterable[str]) -> set[str]:
    """Return which events are about input and output.

    Args:
        names: Names of events.
    """
    return {name for name in names if name in _OTHERS or _kinds_of(name)}


def _kinds_of(name: str) -> list[str]:
    """Return the kinds of the system call that an event begins or ends."""
    for beginning in (*_ENTRIES, *_EXITS):
        if name.startswith(beginning):
            call = name.removeprefix(beginning)
            return [kind for kind, calls in KINDS.items() if call in calls]
    return []


def kernel_io(
    streams: Sequence[Stream],
    *,
    selection: Selection | None = None,
    threads: Collection[int] = (),
    longest: int = 10,
    progress: Callable[[int], object] | None = None,
) -> list[KernelIo]:
    """Read traces of kernels.

    Args:
        streams: The data streams; of other traces than those of kernels, nothing is
            read.
        selection: The range of time that counts; all by default.
        threads: IDs of the threads whose system calls, requests and pages count; all by
            default. Interfaces have no thread.
        longest: How many of the longest operations of a kind are kept.
        progress: Called with the number of event records read so far.

    Returns:
        What happened, for each trace that has any of these events.
    """
    traces: dict[int, list[Stream]] = {}
    for stream in streams:
        traces.setdefault(stream.process_space, []).append(stream)
    found = []
    for own in traces.values():
        names = {name for stream in own for name in stream.event_names if name}
        if io_events(names):
            reader = IoReader(names, selection or Selection(), threads, longest)
            nothing = Selection(patterns=(_NOTHING,))
            inputs = Inputs(own)
            damage = Graph([inputs], reader, (), nothing, progress=progress).run()
            found.append(reader.found(own[0].trace.name, damage))
    return found


class _Call(NamedTuple):
    # A system call that has begun.
    name: str
    begin: int
    file_descriptor: int | None


class _Request(NamedTuple):
    # A request to a disk that was issued.
    begin: int
    sectors: int
    writes: bool
    thread: int | None


class _Kept(NamedTuple):
    # What is kept of one of the longest.
    begin: int
    call: str
    thread: int | None
    file_descriptor: int | None
    size: int | None


class _Disk:
    def __init__(self, longest: int) -> None:
        self.kept = DurationKeeper(longest)
        self.sectors = [0, 0]
        self.pending: dict[int, _Request] = {}


class IoReader:
    """A sink that follows what each CPU does.

    Args:
        names: Names of all events of the trace.
        selection: The range of time that counts.
        threads: The threads that count; all if empty.
        longest: How many of the longest operations are kept.
    """

    looks_at_records = True
    checks_fields = False

    def __init__(
        self,
        names: Iterable[str],
        selection: Selection,
        threads: Collection[int],
        longest: int,
    ) -> None:
        known = set(names)
        self.needed_events = frozenset(
            io_events(known) | (known & {SWITCH, _DISK_NAME})
        )
        self._kinds = {name: _kinds_of(name) for name in self.needed_events}
        self._begin, self._end = selection.begin, selection.end
        self._wanted = threads
        self._longest = longest
        self._cpus: dict[Stream, int | None] = {}
        self._running: dict[int | None, int | None] = {}
        self._names: dict[int, str] = {}
        self._calls: dict[tuple[int | None, int | None], _Call] = {}
        self._kept = {kind: DurationKeeper(longest) for kind in KINDS}
        self._sums: dict[str, Counter[int]] = {}
        self._disks: dict[int, _Disk] = {}
        self._disk_names: dict[int, str] = {}
        self._interfaces: dict[str, list[int]] = {}
        self.losses: list[LostNotice] = []
        """What the tracer lost."""

    def finish(self) -> None:
        """Do nothing: what has not ended has no time."""

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        lost = [one for one in notices_of(merge) if isinstance(one, LostNotice)]
        self.losses += lost
        if lost:
            # Their ends may be among what was lost.
            self._calls.clear()
            for disk in self._disks.values():
                disk.pending.clear()
        for event in merge.events():
            self._add(event)

    def _add(self, event: core.Event) -> None:
        name, time = event.name or "", event.timestamp or 0
        stream = event.stream
        if stream not in self._cpus:
            self._cpus[stream] = event.cpu
        cpu = self._cpus[stream]
        if name == SWITCH:
            thread = event.get("next_tid")
            self._running[cpu] = thread
            command = event.get("next_comm")
            if isinstance(thread, int) and isinstance(command, str):
                self._names[thread] = command
            return
        if name == _DISK_NAME:
            self._disk_names[_number(event, "dev")] = str(event.get("diskname") or "")
            return
        thread = event.thread
        if thread is None:
            thread = self._running.get(cpu)
        if self._wanted and name not in _OF_ANYBODY and thread not in self._wanted:
            return
        if kinds := self._kinds.get(name):
            self._system_call(event, name, time, (cpu, thread), kinds)
        elif self._is_in(time) or name in {_ISSUE, _COMPLETE}:
            self._other(event, name, time, thread)

    def _is_in(self, time: int) -> bool:
        return (self._begin is None or time >= self._begin) and (
            self._end is None or time <= self._end
        )

    def _system_call(
        self,
        event: core.Event,
        name: str,
        time: int,
        who: tuple[int | None, int | None],
        kinds: list[str],
    ) -> None:
        # A call goes with its thread to another CPU; where nobody knows the thread, it
        # is the CPU's.
        cpu, thread = who
        key = (cpu, None) if thread is None else (None, thread)
        if name.startswith(_ENTRIES):
            if name.endswith("_fcntl") and event.get("cmd") not in _DUPLICATING:
                self._calls.pop(key, None)
                return
            descriptor = next(
                (it for field in _DESCRIPTORS if (it := event.get(field)) is not None),
                None,
            )
            number = descriptor if isinstance(descriptor, int) else None
            self._calls[key] = _Call(_call_name(name), time, number)
            return
        call = self._calls.pop(key, None)
        if call is None or call.name != _call_name(name) or not self._is_in(time):
            return
        result = _number(event, "ret")
        moves = not {"read", "write"}.isdisjoint(kinds)
        size = result if moves and result >= 0 else None
        kept = _Kept(call.begin, call.name, thread, call.file_descriptor, size)
        for kind in kinds:
            self._kept[kind].add(time - call.begin, call.begin, kept)
        if thread is None:
            return
        if result < 0:
            self._count("failed", thread)
        if size is not None:
            for kind in kinds:
                self._count(f"{kind} calls", thread)
                self._count(kind, thread, size)

    def _other(
        self, event: core.Event, name: str, time: int, thread: int | None
    ) -> None:
        if name in _ALLOCATED or name in _FREED:
            if thread is not None:
                what = "freed" if name in _FREED else "allocated"
                self._count(what, thread, _pages(event))
        elif name == _ISSUE:
            self._issue(event, time, thread)
        elif name == _COMPLETE:
            self._complete(event, time)
        else:
            sums = self._interfaces.setdefault(str(event.get("name")), [0, 0, 0, 0])
            first = 2 if name == _SENT else 0
            sums[first] += _number(event, "len")
            sums[first + 1] += 1

    def _issue(self, event: core.Event, time: int, thread: int | None) -> None:
        sectors = _number(event, "nr_sector")
        if not sectors:
            return
        told = event.get("tid")
        thread = told if isinstance(told, int) else thread
        # The lowest bit says that it writes.
        writes = bool(_number(event, "rwbs") & 1)
        if self._wanted and thread not in self._wanted:
            return
        disk = self._disk(event)
        disk.pending[_number(event, "sector")] = _Request(time, sectors, writes, thread)

    def _complete(self, event: core.Event, time: int) -> None:
        sectors, disk = _number(event, "nr_sector"), self._disk(event)
        request = disk.pending.get(_number(event, "sector"))
        # Of a part of a request, the rest is completed later.
        if request is None or request.sectors != sectors:
            return
        del disk.pending[_number(event, "sector")]
        if not self._is_in(time):
            return
        size = sectors * SECTOR
        call = "write" if request.writes else "read"
        kept = _Kept(request.begin, call, request.thread, None, size)
        disk.kept.add(time - request.begin, request.begin, kept)
        disk.sectors[request.writes] += sectors
        if request.thread is not None:
            self._count(f"disk {call}", request.thread, size)

    def _disk(self, event: core.Event) -> _Disk:
        device = _number(event, "dev")
        disk = self._disks.get(device)
        if disk is None:
            disk = self._disks[device] = _Disk(self._longest)
        return disk

    def _count(self, what: str, thread: int, number: int = 1) -> None:
        self._sums.setdefault(what, Counter())[thread] += number

    def found(self, trace: str, damage: list[Damage]) -> KernelIo:
        """Return what happened.

        Args:
            trace: Name of the trace.
            damage: What could not be read.
        """
        long = partial(_long, trace)
        return KernelIo(
            trace=trace,
            threads=sorted(self._threads(), key=_by_bytes),
            operations=[
                IoOperation(name=kind, durations=kept.durations(long), total=kept.total)
                for kind, kept in self._kept.items()
            ],
            disks=[
                DiskUse(
                    device=device,
                    name=device_name(device, self._disk_names),
                    requests=disk.kept.count,
                    sectors_read=disk.sectors[0],
                    sectors_written=disk.sectors[1],
                    durations=disk.kept.durations(long),
                    total=disk.kept.total,
                )
                for device, disk in sorted(self._disks.items())
            ],
            interfaces=[
                InterfaceUse(
                    name=name,
                    received=sums[0],
                    received_packets=sums[1],
                    sent=sums[2],
                    sent_packets=sums[3],
                )
                for name, sums in sorted(self._interfaces.items())
            ],
            losses=self.losses,
            damage=damage,
        )

    def _threads(self) -> Iterator[ThreadIo]:
        for thread in sorted(set().union(*self._sums.values())):
            of = partial(self._sum, thread)
            yield ThreadIo(
                thread=thread,
                name=self._names.get(thread),
                read=of("read"),
                written=of("write"),
                reads=of("read calls"),
                writes=of("write calls"),
                failed=of("failed"),
                disk_read=of("disk read"),
                disk_written=of("disk write"),
                pages_allocated=of("allocated"),
                pages_freed=of("freed"),
            )

    def _sum(self, thread: int, what: str) -> int:
        return self._sums.get(what, Counter())[thread]


def _call_name(event: str) -> str:
    for beginning in (*_ENTRIES, *_EXITS):
        event = event.removeprefix(beginning)
    return event


def _number(event: core.Event, name: str) -> int:
    """Return a field; 0 where the trace has another type or no such field."""
    value = event.get(name)
    return int(value) if isinstance(value, int) else 0


def _pages(event: core.Event) -> int:
    """Return how many pages a block has: two to the power of its order."""
    order = _number(event, "order")
    return 1 << order if 0 <= order <= _MOST_ORDER else 1


def _by_bytes(one: ThreadIo) -> tuple[int, int]:
    return -(one.read + one.written + one.disk_read + one.disk_written), one.thread


def _long(trace: str, duration: int, kept: _Kept) -> LongIo:
    return LongIo(
        begin=Nanoseconds(kept.begin),
        duration=duration,
        call=kept.call,
        thread=Thread(process=Process(None, None, trace), tid=kept.thread),
        file_descriptor=kept.file_descriptor,
        size=kept.size,
    )
