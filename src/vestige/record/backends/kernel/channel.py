"""A channel of the kernel: an instance with its events, and the files of its trace."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from .event_classes import Operation, event_class
from .formats import EventFormat, read_format
from .metadata import metadata_text
from .probes import Probes
from .selection import choose
from .state_dump import CLASSES, StateDump
from .system_calls import has_unread_texts
from .tracefs import Instance, NoKernelTracerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .tracefs import Tracefs
    from .wanted import ChannelWanted, Wanted

__all__ = ["Channel"]

_Tells = tuple[str, int, int]
_Plan = tuple[int, int | None, list[Operation], _Tells | None]
"""As :func:`vestige.record._kernel.collect` has it."""

_WAKE_PERCENT = 25
"""How full a buffer is when it is read."""
_PAGE_SHAPE = (8, 8, 16)
"""Where a page has its length, how many bytes that has, and where its records begin."""
_LOGGER = ("ftrace", "print")
"""What is written to the marker of an instance, which needs not be switched on."""
_NEW_THREAD = ("task", "task_newtask")
"""The event that has the flags of clone(2), right before a fork."""
_FORK = ("sched", "sched_process_fork")


_WITHOUT_TEXTS = (
    "this kernel does not tell the texts to which arguments of system calls point: "
    "fields such as filename are empty, and filename_addr has the address"
)

_Files = tuple[int, int, int, int, int]
"""A CPU; descriptors of its pages, its statistics, its data file and its index."""


class Channel:
    """An instance that is ready to record.

    Args:
        tracefs: Where it is made.
        wanted: The trace.
        own: What of it is recorded in this channel.

    Raises:
        NoKernelTracerError: The kernel cannot record so, or nothing of it.
        OSError: A file cannot be made.
    """

    def __init__(self, tracefs: Tracefs, wanted: Wanted, own: ChannelWanted) -> None:
        self.problems: list[str] = []
        """What cannot be recorded, and why."""
        self._wanted, self._own = wanted, own
        self._files: list[_Files] = []
        self._dump: StateDump | None = None
        self._page = _page_bytes(tracefs)
        self._hidden: set[tuple[str, str]] = set()
        self._probes = Probes(tracefs)
        try:
            self._formats = self._chosen(tracefs)
            self._instance = Instance(tracefs, own.name)
        except BaseException:
            self._probes.close()
            raise
        if any(has_unread_texts(one) for one in self._formats):
            self.problems.append(_WITHOUT_TEXTS)
        self._classes = [
            event_class(one, self._probes.names.get(one.id))
            for one in self._formats
            if (one.system, one.name) not in self._hidden
        ]
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _chosen(self, tracefs: Tracefs) -> list[EventFormat]:
        lines = tracefs.read("available_events").split()
        available = [(one, name) for one, _, name in map(_split, lines)]
        matches, without = choose(self._own.rules, available)
        self.problems += [f"this kernel has no event {one.text}" for one in without]
        chosen = [(one.system, one.name) for one in matches]
        probes = self._made_probes()
        if not chosen and not probes:
            why = [] if matches or without else self.problems
            raise NoKernelTracerError(
                "; ".join(why) or "none of the events is in this kernel"
            )
        if _FORK in chosen and _NEW_THREAD in available and _NEW_THREAD not in chosen:
            chosen.append(_NEW_THREAD)
            self._hidden.add(_NEW_THREAD)
        there = [
            read_format(system, name, tracefs.read(f"events/{system}/{name}/format"))
            for system, name in (*chosen, _LOGGER)
        ]
        return [*there, *probes]

    def _made_probes(self) -> list[EventFormat]:
        made = []
        for rule in self._own.rules:
            if rule.location is not None:
                try:
                    made += self._probes.add(rule.kind, rule.location, rule.pattern)
                except NoKernelTracerError as error:
                    self.problems.append(str(error))
        return made

    def _prepare(self) -> None:
        instance, wanted = self._instance, self._wanted
        clock = "x86-tsc" if wanted.clock.is_counter else "mono"
        try:
            instance.write("trace_clock", clock)
        except OSError as error:
            raise NoKernelTracerError(f"this kernel has no clock {clock}") from error
        instance.write("options/overwrite", int(self._own.is_overwriting))
        instance.write("buffer_size_kb", -(-self._own.buffer_size // 1024))
        # Older kernels wake readers for each page.
        with suppress(OSError):
            instance.write("buffer_percent", _WAKE_PERCENT)
        self.problems += instance.enable(
            (one.system, one.name) for one in self._formats if one.system != "ftrace"
        )
        self._make_files()

    def _make_files(self) -> None:
        wanted = self._wanted
        directory = _made_directory(wanted.directory)
        index = _made_directory("index", directory)
        text = metadata_text(
            wanted.uuid,
            wanted.name,
            wanted.clock,
            [*((one.name, one.fields) for one in self._classes), *CLASSES.items()],
        )
        made = [directory, index, _new("metadata", directory)]
        with os.fdopen(os.dup(made[-1]), "wb") as file:
            file.write(text.encode())
        for cpu in self._instance.cpus():
            place = f"per_cpu/cpu{cpu}"
            self._files.append(
                (
                    cpu,
                    self._instance.open(f"{place}/trace_pipe_raw", _UNBLOCKED),
                    self._instance.open(f"{place}/stats"),
                    _new(f"{self._own.name}_{cpu}", directory),
                    _new(f"{self._own.name}_{cpu}.idx", index),
                )
            )
            made += self._files[-1][3:]
        if wanted.user != os.geteuid():
            for descriptor in made:
                os.chown(descriptor, wanted.user, wanted.group)
        for descriptor in made[:3]:
            os.close(descriptor)

    def start(self, now: Callable[[], int], left_out: Sequence[int]) -> None:
        """Record, and read the state that there is.

        Args:
            now: Gives the present value of the clock.
            left_out: Threads of the recorder, which are not recorded.
        """
        # Threads and children of this process are left out with it, from now on.
        self._instance.write("options/event-fork", 1)
        self.leave_out((os.getpid(), *left_out))
        self._instance.record(is_on=True)
        self._dump = StateDump(now, len(self._classes))
        self._dump.read()

    def descriptors(self) -> set[int]:
        """Return the descriptors that are needed to collect."""
        return {descriptor for one in self._files for descriptor in one[1:]}

    def to_collect(
        self,
    ) -> tuple[
        tuple[bytes, int, int, int],
        list[_Plan],
        Mapping[int, int],
        list[_Files],
        tuple[int, list[tuple[int, int, bytes]]],
    ]:
        """Return what :func:`vestige.record._kernel.collect` needs."""
        dump = self._dump
        groups = {} if dump is None else dump.groups
        own = [] if dump is None else dump.records
        uuid = bytes.fromhex(self._wanted.uuid.replace("-", ""))
        count = len(self._classes) + len(CLASSES)
        recording = (uuid, count, self._page, self._wanted.clock.begin)
        place = self._files[0][0]
        return recording, self._plans(), groups, self._files, (place, own)

    def _plans(self) -> list[_Plan]:
        plans: list[_Plan] = []
        number = 0
        for one in self._formats:
            key = one.system, one.name
            tells: _Tells | None = None
            if key == _NEW_THREAD:
                thread, flags = one.at("pid"), one.at("clone_flags")
                if thread is not None and flags is not None:
                    tells = "new_thread", thread, flags
            if key in self._hidden:
                plans.append((one.id, None, [], tells))
                continue
            operations = list(self._classes[number].operations)
            plans.append((one.id, number, operations, tells))
            number += 1
        return plans

    def let_children_be_recorded(self) -> None:
        """Leave out nobody else from here on: all of our threads are there."""
        self._instance.write("options/event-fork", 0)

    def leave_out(self, threads: Sequence[int]) -> None:
        """Record nothing of some threads, besides those that are left out already.

        Args:
            threads: Their IDs.
        """
        text = " ".join(map(str, threads))
        self._instance.write("set_event_notrace_pid", text, is_added=True)

    def stop(self) -> None:
        """Record nothing any more."""
        self._instance.record(is_on=False)

    def close_files(self) -> None:
        """Close what another process has by now."""
        for one in self._files:
            for descriptor in one[1:]:
                os.close(descriptor)
        self._files = []

    def close(self) -> None:
        """Remove the instance."""
        self.close_files()
        with suppress(OSError):
            self._instance.remove()
        self._probes.close()


_UNBLOCKED = os.O_RDONLY | os.O_NONBLOCK


def _split(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _page_bytes(tracefs: Tracefs) -> int:
    """Return the bytes of a page, if it is one that can be read.

    Raises:
        NoKernelTracerError: It has another shape.
    """
    page = read_format("", "", f"ID: 0\n{tracefs.read('events/header_page')}")
    fields = {one.name: one for one in page.fields}
    if {"commit", "data"} <= fields.keys():
        length, data = fields["commit"], fields["data"]
        if (length.at, length.bytes, data.at) == _PAGE_SHAPE:
            return data.at + data.bytes
    raise NoKernelTracerError("its buffers have pages of an unknown shape")


def _made_directory(path: str, above: int | None = None) -> int:
    """Make a directory, and open it.

    Raises:
        OSError: It cannot be made, or somebody has put another one in its place.
    """
    os.mkdir(path, dir_fd=above)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(path, flags, dir_fd=above)
    # The one above may belong to a user, who may do there what he likes.
    if os.fstat(opened).st_uid != os.geteuid():
        os.close(opened)
        raise PermissionError(errno.EPERM, "it is another's directory", path)
    return opened


def _new(name: str, directory: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, 0o644, dir_fd=directory)
