"""The process that reads pages and writes files: it has no rights but its user's.

It is a child of the one that has the rights (:mod:`.collector_process`), has from it
the descriptors of the kernel's files, and is told by it in lines of JSON what to do.
Each of these is answered by a line: ``done``, or ``failed`` with the reason. The end of
the lines is the end of the trace.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ....owner_rights import groups_of
from ..._kernel import Collector, CpuOutcome, drop_rights, shorten_slice
from .kernel_names import KernelNames, lowest_code
from .order_values import filters_of, plan_of, records_of, text_of, told_of, totals_of
from .trace_files import TraceFiles
from .urgency import SLICE, go_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from .to_read import ChannelToRead, TraceToRead

__all__ = ["run_reader"]

_STANDARD = (0, 1, 2)
"""The descriptors that every program has."""
_GAP = (
    "there were too many new threads at a time, and of those that were there nobody "
    "knows any more whose they are"
)

_PERIOD = 1.0
"""Seconds after which one looks around if nothing else is due."""


def run_reader(
    trace: TraceToRead, control: socket.socket, now: Callable[[], int]
) -> None:
    """Do what one is told until there is nobody who tells; it does not come back.

    Args:
        trace: What is read.
        control: Where orders come from.
        now: Gives the present value of the clock.
    """
    try:
        # What says to others that this process is there, and what has rights.
        kept = {
            one for channel in trace.channels for cpu in channel.files for one in cpu
        }
        threads = [] if trace.threads is None else trace.threads[1]
        maps = [] if trace.maps is None else trace.maps.files
        kept |= {*threads, *(trace.names or ()), *maps}
        _close_all_but({control.fileno(), *kept})
        go_first()
        with suppress(OSError):
            shorten_slice(SLICE)
        try:
            drop_rights(trace.user, trace.group, _groups(trace.user, trace.group))
        except OSError as error:
            _refuse(control, f"its reader cannot give up its rights: {error.strerror}")
            return
        _Reader(trace, now).follow(control)
    finally:
        os._exit(0)


def _refuse(control: socket.socket, why: str) -> None:
    """Do not do what one is told first."""
    with control.makefile("rb") as lines, suppress(OSError):
        lines.readline()
        control.sendall(json.dumps({"failed": why}).encode() + b"\n")


class _Reader:
    """Does what it is told."""

    def __init__(self, trace: TraceToRead, now: Callable[[], int]) -> None:
        self._trace = trace
        self._now = now
        self._collector = Collector(trace.page)
        self._files: TraceFiles | None = None
        self._metadata = ""
        self._names = None if trace.names is None else KernelNames(trace.names)
        if self._names is not None:
            self._collector.note_addresses(lowest_code())
        self._maps = trace.maps
        if self._maps is not None:
            self._maps.open()
            self._collector.note_pages()
        self._is_running = self._is_held = self._reads_ids = False
        self._is_waiting = False
        self._due = 0.0
        """When viewers are told next."""

    def follow(self, control: socket.socket) -> None:
        """Do what the lines say, and what is due between them."""
        with control.makefile("rb") as lines:
            # One line is answered before the next one comes: none is in a buffer.
            while self._wait_for_line(control) and (line := lines.readline()):
                order = json.loads(line)
                try:
                    answer: dict[str, Any] = {"done": self._do(order)}
                except (OSError, ValueError) as error:
                    answer = {"failed": text_of(error)}
                with suppress(OSError):
                    control.sendall(json.dumps(answer).encode() + b"\n")
        if self._is_running:
            self._complete()

    def _wait_for_line(self, control: socket.socket) -> bool:
        live = self._trace.live / 1_000_000
        period = live or _PERIOD
        asked = select.poll()
        for one in (control.fileno(), *self._map_files):
            asked.register(one, select.POLLIN)
        while True:
            rest = self._due - time.monotonic()
            if rest > 0:
                ready = dict(asked.poll(rest * 1000))
                if control.fileno() in ready:
                    return True
                self._follow_maps(asked, ready)
                continue
            # However often somebody asks meanwhile.
            self._due = time.monotonic() + period
            if live and self._is_running and not self._is_held and not self._is_waiting:
                self._go_live()

    def _follow_maps(self, asked: select.poll, ready: dict[int, int]) -> None:
        """Take what the kernel told of processes."""
        for one, what in ready.items():
            if not what & select.POLLIN:
                # Such as of a CPU that was switched off.
                asked.unregister(one)
        if self._maps is not None and ready:
            self._maps.follow()

    @property
    def _map_files(self) -> Sequence[int]:
        return () if self._maps is None else self._maps.files

    def _go_live(self) -> None:
        """Write what there is, and say up to when that is all."""
        now = self._now()
        self._collector.look(now)
        # What is written may be sent to viewers at once: names come before it.
        self._tell_names()
        self._collector.flush_some(now)
        if self._files is not None:
            # The next time may be better.
            with suppress(OSError):
                self._files.tell_live(now)

    def _tell_names(
        self, files: TraceFiles | None = None, *, is_end: bool = False
    ) -> None:
        """Give names to the addresses that came, in the metadata.

        Args:
            files: A trace that has some, besides the one that is written.
            is_end: Whether nothing comes any more.
        """
        more = ""
        # Without names, a trace is whole all the same.
        if self._names is not None:
            with suppress(OSError):
                more += self._names.name(self._collector.take_addresses())
        if self._maps is not None:
            with suppress(OSError):
                more += self._maps.name(self._collector.take_pages(), is_end=is_end)
        for one in (files, self._files):
            if more and one is not None:
                with suppress(OSError):
                    one.add_metadata(more)

    @property
    def _all_metadata(self) -> str:
        named = [one.text for one in (self._names, self._maps) if one is not None]
        return self._metadata + "".join(named)

    def _hold(self, order: dict[str, Any]) -> None:
        self._is_held = order["is_held"]
        self._collector.hold(is_held=self._is_held)

    def _do(self, order: dict[str, Any]) -> object:
        actions: dict[str, Callable[[dict[str, Any]], object]] = {
            "open": self._open,
            "run": self._run,
            "wait_for_own": self._wait_for_own,
            "put": self._put,
            "change": self._change,
            "track": self._track,
            "leave_out": self._leave_out,
            "end_own": self._end_own,
            "spaces": self._know_spaces,
            "metadata": self._write_metadata,
            "describe": self._describe,
            "flush": self._flush,
            "cut": self._cut,
            "copy": self._copy,
            "counts": self._counts,
            "hold": self._hold,
            "end": self._end,
        }
        if self._names is not None:
            self._names.learn(order.get("sections", {}))
        return actions[order["do"]](order)

    def _open(self, order: dict[str, Any]) -> str | None:
        """Make the files; nothing is written but snapshots if all is kept.

        Returns:
            The directory.
        """
        self._metadata = order["metadata"]
        if not self._is_written:
            return None
        directory = self._trace.directory
        self._files, self._streams = self._new_streams(directory, self._written())
        return self._files.path

    def _run(self, order: dict[str, Any]) -> None:
        """Begin to read."""
        trace = self._trace
        streams = iter(self._streams if self._is_written else ())
        self._collector.follow(trace.host, trace.threads)
        self._know(order)
        if self._maps is not None:
            self._maps.learn(
                (process, threads, [(one[0], one[1], one[2], one[3]) for one in parts])
                for process, threads, parts in order["maps"]
            )
        self._collector.track(order["tracked"])
        self._leave_out(order)
        for one in trace.channels:
            self._collector.add(
                (trace.uuid, one.stream, one.is_compact, trace.begin),
                one.plans,
                one.files,
                [] if one.kept is not None else next(streams),
                kept=one.kept,
                period=one.period,
                filters=one.filters,
                buffer=one.buffer,
                page=one.page,
                others=one.others,
            )
        self._is_running = True
        self._limit()

    def _know(self, order: dict[str, Any]) -> None:
        """Know of threads what is asked for."""
        if order["has_ids"] and not self._reads_ids:
            self._reads_ids = True
            self._collector.read_ids(os.open("/proc", os.O_RDONLY | os.O_CLOEXEC))
        self._collector.know(told_of(order["known"]))

    def _know_spaces(self, order: dict[str, Any]) -> None:
        self._collector.know_spaces([tuple(one) for one in order["read"]])

    def _limit(self) -> None:
        """Let data files have no more bytes than is wanted."""
        for number, one in enumerate(self._trace.channels):
            size, count = one.limits
            if size and self._files is not None and one.kept is None:
                names = [f"{one.name}_{cpu}" for cpu in _cpus(one)]
                folders = self._files.folders
                self._collector.limit(number, folders, names, size, count)

    def _leave_out(self, order: dict[str, Any]) -> None:
        left_out = {int(one): since for one, since in order["left_out"].items()}
        self._collector.leave_out(left_out)

    def _end_own(self, order: dict[str, Any]) -> None:
        """Leave out no more threads that have ended: others may get their IDs."""
        self._collector.end_own(order["threads"], self._now())

    def _wait_for_own(self, order: dict[str, Any]) -> None:  # noqa: ARG002
        """Read, and let records wait for those of the state, which come then."""
        self._is_waiting = True
        self._collector.wait_for_own()

    def _put(self, order: dict[str, Any]) -> None:
        self._collector.learn({int(one): to for one, to in order["groups"].items()})
        for number in range(len(self._trace.channels)):
            records = records_of(order["records"].get(str(number), ()))
            self._collector.put(number, records, order["until"])
        self._is_waiting = order["until"] is not None

    def _change(self, order: dict[str, Any]) -> None:
        """Know more classes of events; the metadata come first."""
        added = order["metadata"]
        if added and self._files is not None:
            self._files.add_metadata(added)
        self._metadata += added
        # What was recorded up to now is as it was wanted then.
        self._collector.flush(self._now(), is_stopped=False)
        self._know(order)
        for number, plans in order["plans"].items():
            filters = filters_of(order["filters"][number])
            given = order["others"][number]
            others = given and {int(one): place for one, place in given.items()}
            self._collector.set_events(
                int(number), [plan_of(one) for one in plans], filters, others
            )

    def _track(self, order: dict[str, Any]) -> None:
        self._collector.flush(self._now(), is_stopped=False)
        self._know(order)
        self._collector.track(order["tracked"])

    def _write_metadata(self, order: dict[str, Any]) -> None:
        self._metadata = order["metadata"]
        if self._files is not None:
            self._files.write_metadata(self._all_metadata)

    def _describe(self, order: dict[str, Any]) -> None:
        """Know what metadata will be written, if there are any."""
        self._metadata = order["metadata"]

    def _flush(self, order: dict[str, Any]) -> object:
        found = self._collector.flush(self._now(), is_stopped=order["is_stopped"])
        self._tell_names()
        return self._totals(found)

    def _cut(self, order: dict[str, Any]) -> object:
        """Go on in another directory."""
        streams: Sequence[Sequence[tuple[int, int]]] = [[]] * len(self._trace.channels)
        before: TraceFiles | None = None
        if self._is_written:
            self._metadata = order["metadata"]
            files, new = self._new_streams(order["directory"], self._written())
            made = iter(new)
            streams = [
                [] if one.kept is not None else next(made)
                for one in self._trace.channels
            ]
            before, self._files = self._files, files
        dropped = order["is_dropped"]
        found = self._collector.cut(self._now(), streams, is_dropped=dropped)
        if before is not None:
            self._tell_names(before)
            # What is there is all of it.
            before.tell_no_more()
            before.close()
        self._limit()
        if dropped and self._is_written:
            # Few traces come here.
            import shutil  # noqa: PLC0415 - see above

            shutil.rmtree(order["old"], ignore_errors=True)
        return self._totals(found)

    def _counts(self, order: dict[str, Any]) -> object:
        if order["is_read"] and not self._is_held:
            self._collector.look()
        return self._totals(self._collector.outcomes())

    def _copy(self, order: dict[str, Any]) -> object:
        """Write a snapshot."""
        self._metadata = order["metadata"]
        return self._totals(self._snapshot(order["directory"], order["most"]))

    def _snapshot(self, directory: str, most: list[int]) -> list[list[CpuOutcome]]:
        files, streams = self._new_streams(
            directory,
            (
                [f"{one.name}_{cpu}" for cpu in _cpus(one)]
                for one in self._trace.channels
            ),
        )
        try:
            found = self._collector.copy(self._now(), streams, most)
            self._tell_names(files)
        finally:
            files.close()
        return found

    def _end(self, order: dict[str, Any]) -> object:
        self._metadata = order["metadata"]
        return self._complete()

    def _complete(self) -> list[dict[str, Any]]:
        """Write what is not written yet, and end.

        Raises:
            OSError: What is kept cannot be written.
        """
        self._is_running = False
        if self._is_written or not self._trace.directory:
            totals = self._collector.end(self._now())
            self._tell_names(is_end=True)
            if self._files is not None:
                self._files.tell_no_more()
            return self._totals(totals)
        # What was kept up to now is the trace; snapshots are not part of it.
        before = self._totals(self._collector.outcomes())
        kept = [one.kept or 0 for one in self._trace.channels]
        try:
            found = self._totals(self._snapshot(self._trace.directory, kept))
        finally:
            self._collector.end(self._now())
        for one, other in zip(found, before, strict=True):
            for name in ("records", "packets", "bytes", "damaged", "unknown"):
                one[name] -= other[name]
        return found

    def _totals(self, outcomes: Sequence[Sequence[CpuOutcome]]) -> list[dict[str, Any]]:
        """Return what became of each channel."""
        found = totals_of(outcomes, _GAP if self._collector.gaps() else None)
        untold = 0 if self._maps is None else self._maps.lost
        return [{**one, "untold": untold} for one in found]

    @property
    def _is_written(self) -> bool:
        return any(one.kept is None for one in self._trace.channels)

    def _written(self) -> Iterator[list[str]]:
        """Yield the names of the first data files of each channel."""
        for one in self._trace.channels:
            if one.kept is None:
                number = "_0" if one.limits[0] else ""
                yield [f"{one.name}_{cpu}{number}" for cpu in _cpus(one)]

    def _new_streams(
        self, directory: str, channels: Iterable[list[str]]
    ) -> tuple[TraceFiles, list[list[tuple[int, int]]]]:
        """Make the files of a trace, or nothing of it."""
        files = TraceFiles(directory, self._trace.older)
        try:
            files.write_metadata(self._all_metadata)
            return files, files.open_streams(channels)
        except BaseException:
            files.remove()
            raise


def _groups(user: int, group: int) -> list[int]:
    """Return the groups that a user has besides; this process has those of its own."""
    if user == os.geteuid():
        return [os.getegid(), *os.getgroups()]
    return groups_of(user, group)


def _cpus(channel: ChannelToRead) -> list[int]:
    return [one[0] for one in channel.files]


def _close_all_but(kept: set[int]) -> None:
    # What is said to nobody must not come into a file of the trace.
    nobody = os.open(os.devnull, os.O_RDWR)
    for standard in _STANDARD:
        os.dup2(nobody, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept and descriptor not in _STANDARD:
            # That of the directory is closed by now.
            with suppress(OSError):
                os.close(descriptor)
