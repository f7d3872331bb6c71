"""A trace of the kernel: its channels, its metadata, the process that reads."""

from __future__ import annotations

import os
from binascii import b2a_base64
from contextlib import ExitStack

from ...._typing import TYPE_CHECKING
from .channel import Channel
from .contexts import context_fields, host
from .counters import UNKNOWN
from .kernel_names import NameFiles
from .metadata import FEW, StreamText, classes_text, metadata_text
from .module_sections import ModuleSections
from .order_values import text_of
from .proc_files import is_in_pid_namespace, threads_of
from .process_events import ProcessEvents, read_threads
from .reader_link import ReaderGoneError, ReaderLink
from .state_dump import StateDump
from .sub_buffers import page_bytes
from .to_read import ChannelToRead, TraceToRead
from .tracefs import NoKernelTracerError
from .watched_threads import WatchedThreads

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .metadata import DeclaredClass
    from .namespace_watch import NamespaceWatch
    from .process_maps import ProcessMaps
    from .tracefs import Tracefs
    from .wanted import ChannelWanted, Wanted

__all__ = ["KernelTrace"]

_CONTEXT_BYTES = 4
"""Of the context that records of the state dump have: the thread."""
_SOURCES = {"pid": "process", "vpid": "spaces"}
"""What inclusion sets need to know; those of users and groups need these."""
_NAMING = {"run", "flush", "cut", "copy", "end"}
"""Orders before which is told where modules are, for names that are given then."""
_WITHOUT_ID = "the kernel's ID of the recorder, in this PID namespace, is unknown"
_PERIOD = 1.0
"""Seconds between two looks whether somebody has the ID of a thread that has ended."""
_WITHOUT_IDS = (
    "in this PID namespace the kernel's IDs of some threads are unknown, and so is "
    "their state; threads:"
)
_STATE_ID = 0
"""The class of the first event of the state dump, in each channel."""


class KernelTrace:
    """A trace that is ready to be recorded, in instances of its own.

    Args:
        tracefs: Where these are made.
        wanted: What is recorded.
        now: Gives the present value of the clock.

    Raises:
        NoKernelTracerError: The kernel cannot record so, or nothing of it.
        ReaderGoneError: A file of the trace cannot be made.
        OSError: A file of the kernel cannot be opened.
    """

    def __init__(
        self, tracefs: Tracefs, wanted: Wanted, now: Callable[[], int]
    ) -> None:
        self._wanted, self._now, self._tracefs = wanted, now, tracefs
        self._page = page_bytes(tracefs)
        self._channels: list[Channel] = []
        self._declared: list[list[DeclaredClass]] = []
        self._link: ReaderLink | None = None
        self._is_running = self._has_maps = False
        self._threads: ProcessEvents | None = None
        self._spaces: NamespaceWatch | None = None
        self._pieces: Iterator[None] = iter(())
        """Of the state, what is not read yet."""
        self._is_unread = False
        """Whether more is told of threads than was read of them."""
        self._tracked = _only(wanted.tracked)
        self._left_out: dict[int, int] = {}
        """Threads of the recorder, and since when; only what is new matters."""
        self._machine_ids: dict[int, int] = {}
        """Of threads of the recorder that is in a PID namespace: the kernel's IDs."""
        self._ids: dict[int, int] | None = None
        """In a PID namespace: the kernel's IDs of all threads, when they were read."""
        self._are_ids_told = False
        """Whether it was said that some IDs are unknown."""
        self._watched = WatchedThreads()
        self._ended: set[int] = set()
        """Threads of the recorder that have ended, and that the kernel leaves out."""
        self._sections = ModuleSections()
        self._problems: list[str] = []
        self._unknown = 0
        """Event records of which it was said that they lack counters."""
        self._untold = 0
        """Changes of maps of which it was said that they had no room."""
        try:
            self._make_channels(tracefs)
            self._follow_threads(tracefs)
            self._declared = [one.take_new() for one in self._channels]
            self._compact = [
                not wanted.grows and one.classes <= FEW for one in self._channels
            ]
            for channel in self._channels:
                channel.switch()
            self._start_reader()
            self.directory: str | None = self._ask("open", metadata=self._metadata())
            """Where it is written to; ``None`` if nothing but snapshots is."""
        except BaseException:
            self.close()
            raise

    def _make_channels(self, tracefs: Tracefs) -> None:
        wanted = self._wanted
        for one in wanted.channels:
            self._channels.append(Channel(tracefs, self._clock, one))
        is_text_wanted = wanted.grows or wanted.logger is not None
        if not is_text_wanted and not any(one.has_events() for one in self._channels):
            why = "; ".join(self.take_problems())
            raise NoKernelTracerError(why or "none of the events is in this kernel")

    def _follow_threads(self, tracefs: Tracefs) -> None:
        """Let it be told whose threads there are, if anybody asks or may ask for it."""
        if self._sources() or self._wanted.grows:
            self._threads = ProcessEvents(tracefs, self._clock)
            # Before the events of the channels: what changes at an event is told then.
            self._need()
        for channel in self._channels:
            if self._wanted.is_followed:
                channel.follow(None)
            elif "pid" in self._tracked:
                channel.track(self._tracked["pid"])

    def _need(self) -> None:
        """Let it be told what must be known of threads."""
        sources = self._sources()
        if self._threads is not None:
            self._is_unread |= self._threads.need(sources)
        is_watched = "spaces" in sources and not is_in_pid_namespace()
        if is_watched and self._spaces is None:
            # Few traces need it.
            from .namespace_watch import NamespaceWatch  # noqa: PLC0415 - see above

            self._spaces = NamespaceWatch(self._tracefs, self._now)

    @property
    def watched(self) -> list[int]:
        """What can be read once there is something to look at."""
        spaces = [] if self._spaces is None else self._spaces.descriptors
        return [*spaces, *self._watched.descriptors]

    @property
    def pause(self) -> float | None:
        """Seconds after which one looks in any case; ``None``: there is no need."""
        return _PERIOD if self._ended else self._watched.pause

    def look(self) -> None:
        """Look at what can be read: which threads of the recorder have ended, first.

        Raises:
            OSError: The kernel refuses what it is told.
            ReaderGoneError: The process that reads has ended.
        """
        self._forget_ended()
        self._tell_spaces()

    def _forget_ended(self) -> None:
        """Leave out no more threads that have ended: others may get their IDs."""
        ended = self._watched.ended()
        if ended:
            for one in ended:
                self._left_out.pop(one, None)
            here = {kernel: one for one, kernel in self._machine_ids.items()}
            for one in here.keys() & {*ended}:
                del self._machine_ids[here[one]]
            self._ended.update(ended)
            if self._is_running:
                self._ask("end_own", threads=ended)
        # Of another namespace nobody knows whether there is somebody with the ID.
        used = {
            one
            for one in self._ended
            if is_in_pid_namespace() or os.path.exists(f"/proc/{one}")
        }
        if ended or used:
            left = [one.forget(self._ended, used) for one in self._channels]
            self._ended = set().union(*left)

    def _tell_spaces(self) -> None:
        """Look at the namespaces that threads have come into."""
        read = [] if self._spaces is None else self._spaces.read()
        if read and self._is_running:
            self._ask("spaces", read=read)

    def _sources(self) -> set[str]:
        """Return what must be known of threads."""
        found = {_SOURCES.get(kind, "ids") for kind in self._tracked}
        return found.union(*(one.sources() for one in self._channels))

    @property
    def _has_ids(self) -> bool:
        """Whether anybody asks for users, and processes have the same IDs here."""
        return "ids" in self._sources() and not is_in_pid_namespace()

    def _newly_known(self) -> list[Any]:
        """Return what is known of threads, if more must be known than before."""
        self._need()
        if not self._is_unread:
            return []
        self._is_unread = False
        return read_threads(self._now, self._all_ids())

    def _all_ids(self) -> dict[int, int] | None:
        """Return the kernel's IDs of all threads, if they have others here."""
        if not is_in_pid_namespace():
            return None
        # As where the recorder's own are asked for.
        from .machine_ids import all_machine_ids  # noqa: PLC0415 - see above

        found, unknown = all_machine_ids(self._tracefs, self._machine_ids)
        if unknown and not self._are_ids_told:
            self._are_ids_told = True
            self._problems.append(f"{_WITHOUT_IDS} {unknown:,}")
        return found

    @property
    def _clock(self) -> str:
        return "x86-tsc" if self._wanted.clock.is_counter else "mono"

    def take_problems(self) -> list[str]:
        """Return what cannot be recorded, and why; each is told once."""
        own, self._problems = self._problems, []
        problems = [text for one in self._channels for text in one.problems] + own
        for one in self._channels:
            one.problems = []
        return list(dict.fromkeys(problems))

    def note_missing_state(self, error: OSError) -> None:
        """Let it be told that a part of the state could not be read.

        Args:
            error: Why.
        """
        why = text_of(error)
        self._problems.append(f"a part of the state dump is missing: {why}")

    def _metadata(self) -> str:
        wanted = self._wanted
        streams = [
            StreamText(
                number,
                self._compact[number],
                declared,
                context_fields(self._channels[number].contexts),
            )
            for number, declared in enumerate(self._declared)
        ]
        return metadata_text(
            wanted.uuid,
            wanted.name,
            wanted.clock,
            streams,
            is_followed=wanted.is_followed,
        )

    def _start_reader(self) -> None:
        # While files of theirs are open, the instances cannot be removed.
        with ExitStack() as opened:
            self._link = ReaderLink(self._to_read(opened), self._now)

    def _to_read(self, opened: ExitStack) -> TraceToRead:
        """Return what the one that reads has to know, with files that are closed so."""
        wanted, threads = self._wanted, self._threads
        channels = [
            ChannelToRead(
                one.wanted.name,
                number,
                self._compact[number],
                one.plans(),
                one.open_files(opened),
                one.wanted.buffer_size if one.wanted.is_kept else None,
                one.wanted.switch_timer,
                (one.wanted.tracefile_size, one.wanted.tracefile_count),
                one.filters(),
                one.wanted.buffer_size,
                one.page,
                one.others(),
            )
            for number, one in enumerate(self._channels)
        ]
        names = NameFiles.open()
        if names is not None:
            opened.callback(names.close)
        return TraceToRead(
            wanted.directory,
            wanted.older,
            bytes.fromhex(wanted.uuid.replace("-", "")),
            self._page,
            wanted.clock.begin or self._now(),
            wanted.user,
            wanted.group,
            wanted.live,
            channels,
            host(),
            None if threads is None else (threads.events(), threads.open_files(opened)),
            names,
            self._open_maps(
                (cpu for one in channels for cpu, _, _ in one.files), opened
            ),
        )

    def _open_maps(self, cpus: Iterable[int], opened: ExitStack) -> ProcessMaps | None:
        """Let the kernel tell what is mapped, if stacks of programs are wanted."""
        if not any("callstack-user" in one.contexts for one in self._channels):
            return None
        self._has_maps = True
        # As above.
        from .map_events import open_all  # noqa: PLC0415 - see above
        from .process_maps import ProcessMaps  # noqa: PLC0415 - see above

        files = open_all(set(cpus))
        for one in files:
            opened.callback(os.close, one)
        return ProcessMaps(files, self._now)

    @property
    def _reader(self) -> ReaderLink:
        assert self._link is not None  # noqa: S101 - it was started
        return self._link

    def _ask(self, order: str, **facts: Any) -> Any:
        """Tell the process that reads what to do: see :meth:`.ReaderLink.ask`."""
        if order in _NAMING:
            facts["sections"] = self._sections.more()
        return self._reader.ask(order, **facts)

    @property
    def reader(self) -> socket.socket:
        """What can be read, though nothing was asked, once the reader has ended."""
        return self._reader.control

    def start(self, left_out: Sequence[int], *, is_whole: bool = False) -> None:
        """Record, and read which threads there are.

        :meth:`complete_state` comes before anything else, and reads the rest of the
        state: what begins in the meantime is told by events. So whoever waits for this
        waits for no more than it takes to read the threads.

        Args:
            left_out: Threads of the recorder, which are not recorded.
            is_whole: Whether all of the state is read at once.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        own = self._kernel_ids([os.getpid(), self._reader.process, *left_out])
        self._tell_left_out(own)
        self._watch(left_out)
        for one in self._channels:
            # Threads that the reader starts are left out with it.
            one.leave_out(own)
            one.begin_dump()
        self._run()
        # Buffers would be full before the state was read.
        self._ask("wait_for_own")
        for one in self._channels:
            one.record(is_on=True)
        self._pieces = self._dump()
        next(self._pieces)
        if is_whole or self._is_looked_after:
            self.complete_state()

    @property
    def _is_looked_after(self) -> bool:
        """Whether what comes must be looked at or passed on soon."""
        is_logged = self._wanted.logger is not None
        return is_logged or self._has_maps or self._spaces is not None

    def complete_state(self) -> None:
        """Read the state that :meth:`start` has left, if it has left any.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        try:
            for _ in self._pieces:
                pass
        except OSError as error:
            # All else is recorded.
            self.note_missing_state(error)
        readers = self._kernel_ids(threads_of(self._reader.process))
        for one in self._channels:
            # Events that come later may need the kernel to leave them out.
            one.leave_out(readers)
            one.end_dump()

    def _run(self) -> None:
        """Begin to read, or go on."""
        if self._is_running:
            return
        known = self._newly_known()
        self._ask(
            "run",
            known=known,
            has_ids=self._has_ids,
            tracked=self._tracked,
            left_out=self._left_out,
            # The one that reads is told of what comes by now.
            maps=_read_maps() if self._has_maps else [],
        )
        self._is_running = True

    def _tell_left_out(self, threads: Sequence[int]) -> None:
        now = self._now()
        self._left_out |= {one: now for one in threads if one not in self._left_out}
        if self._is_running:
            self._ask("leave_out", left_out=self._left_out)

    def dump(self) -> None:
        """Record the state that there is now.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        for one in self._channels:
            one.begin_dump()
        self._run()
        self._ask("wait_for_own")
        for _ in self._dump():
            pass
        for one in self._channels:
            one.end_dump()

    def _dump(self) -> Iterator[None]:
        """Pass the state on, piece by piece; the first one has all threads."""
        self._ids = self._all_ids()
        dump = StateDump(self._now, _STATE_ID, self._ids)
        groups: Mapping[int, int] | None = dump.groups
        try:
            for until in dump.pieces():
                self._put(dump.take(), groups or {}, until)
                groups = None
                yield
        finally:
            self._put([], groups or {}, None)

    def _put(
        self,
        state: Sequence[tuple[int, int, bytes]],
        groups: Mapping[int, int],
        until: int | None,
    ) -> None:
        """Pass on a piece of the state, up to a value of the clock; ``None``: all."""
        records = {}
        for number, channel in enumerate(self._channels):
            context = channel.own_context(self._ids)
            states = channel.states() if channel.wanted.is_enabled else set()
            if states:
                records[number] = [
                    (time, kind, _as_text(context + body[_CONTEXT_BYTES:]))
                    for time, kind, body in state
                    if kind in states
                ]
        self._ask("put", groups=groups, records=records, until=until)

    def leave_out(self, threads: Sequence[int]) -> None:
        """Record nothing more of some threads.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        known = self._kernel_ids(threads)
        self._tell_left_out(known)
        for one in self._channels:
            one.leave_out(known)
        self._watch(threads)

    def follow(self, thread: int) -> None:
        """Record what a thread starts from now on, and nothing of itself.

        Args:
            thread: Its ID.

        Raises:
            ReaderGoneError: The process that reads has ended, or the kernel has another
                ID that is not known.
        """
        found = self._kernel_ids([thread])
        if not found:
            raise ReaderGoneError(_WITHOUT_ID)
        self._tell_left_out(found)
        self._watch([thread])
        for channel in self._channels:
            channel.follow(found[0])

    def _watch(self, threads: Sequence[int]) -> None:
        """Watch threads that are left out for their end."""
        if is_in_pid_namespace():
            ids = self._machine_ids
            known = {ids[one]: one for one in threads if one in ids}
        else:
            known = {one: one for one in threads}
        self._ended -= known.keys()
        self._watched.add(known)

    def _kernel_ids(self, threads: Sequence[int]) -> list[int]:
        """Return the IDs that the kernel has for threads, of those that are known."""
        if not is_in_pid_namespace():
            return [*threads]
        # As above.
        from .machine_ids import machine_ids  # noqa: PLC0415 - see above

        new = [one for one in threads if one not in self._machine_ids]
        self._machine_ids |= machine_ids(self._tracefs, new)
        return [self._machine_ids[one] for one in threads if one in self._machine_ids]

    def change(self, wanted: Sequence[ChannelWanted]) -> None:
        """Record what is wanted now.

        Args:
            wanted: The channels, in their order.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        text = ""
        for number, (channel, one) in enumerate(
            zip(self._channels, wanted, strict=True)
        ):
            channel.change(one)
            new = channel.take_new()
            self._declared[number] += new
            text += classes_text(number, new)
        if self._is_running:
            plans = {number: one.plans() for number, one in enumerate(self._channels)}
            filters = {
                number: one.filters() for number, one in enumerate(self._channels)
            }
            others = {number: one.others() for number, one in enumerate(self._channels)}
            self._ask(
                "change",
                metadata=text,
                plans=plans,
                filters=filters,
                others=others,
                known=self._newly_known(),
                has_ids=self._has_ids,
            )
        for channel in self._channels:
            channel.switch()

    def track(self, tracked: Mapping[str, list[int] | None]) -> None:
        """Record other processes and users from now on.

        Args:
            tracked: The inclusion sets, see :class:`.wanted.Wanted`.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._tracked = _only(tracked)
        if self._is_running:
            known = self._newly_known()
            self._ask(
                "track", tracked=self._tracked, known=known, has_ids=self._has_ids
            )
        for channel in self._channels:
            channel.track(self._tracked.get("pid"))

    def stop(self) -> list[dict[str, Any]]:
        """Record nothing for the moment; all that was recorded is in files then.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        for one in self._channels:
            one.record(is_on=False)
        return self._last_totals("flush", is_stopped=True)

    def rotate(self, directory: str) -> list[dict[str, Any]]:
        """Let what comes from now on be in another directory.

        Args:
            directory: It is made.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended, or cannot make it.
        """
        text = self._metadata()
        return self._totals("cut", directory=directory, metadata=text, is_dropped=False)

    def clear(self, directory: str, old: str) -> list[dict[str, Any]]:
        """Throw away what there is, and go on in another directory.

        Args:
            directory: It is made.
            old: Where the one is that was written to up to now; it is removed.

        Raises:
            ReaderGoneError: As of :meth:`rotate`.
        """
        text = self._metadata()
        return self._totals(
            "cut", directory=directory, metadata=text, is_dropped=True, old=old
        )

    def snapshot(self, directory: str, most: Sequence[int | None]) -> None:
        """Write what the buffers hold, which stays in memory.

        Args:
            directory: It is made.
            most: By channel, how many bytes of each CPU, the newest; ``None``: all.

        Raises:
            ReaderGoneError: As of :meth:`rotate`.
        """
        sizes = [
            channel.wanted.buffer_size if one is None else one
            for channel, one in zip(self._channels, most, strict=True)
        ]
        self._totals("copy", directory=directory, metadata=self._metadata(), most=sizes)

    def hold(self, *, is_held: bool) -> None:
        """Read nothing for the moment, or go on.

        Args:
            is_held: Whether nothing is read; buffers may run full meanwhile.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        if self._is_running:
            self._ask("hold", is_held=is_held)

    def write_metadata(self) -> None:
        """Write the metadata anew.

        Raises:
            ReaderGoneError: The process that reads has ended, or cannot write.
        """
        self._ask("metadata", metadata=self._metadata())

    def set_rate(self, frequency: int, offset: int) -> None:
        """Know the rate of the clock better, for metadata that are written from now on.

        Args:
            frequency: Values in a second.
            offset: What is added to each value for that since the Unix epoch.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        clock = self._wanted.clock._replace(frequency=frequency, offset=offset)
        self._wanted = self._wanted._replace(clock=clock)
        self._ask("describe", metadata=self._metadata())

    def counts(self, *, is_read: bool) -> list[dict[str, Any]]:
        """Return what became of each channel up to now.

        Args:
            is_read: Whether buffers are read before that.
        """
        return self._totals("counts", is_read=is_read)

    def end(self) -> list[dict[str, Any]]:
        """Record nothing more, and complete the files.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        for one in self._channels:
            one.record(is_on=False)
        return self._last_totals("end", metadata=self._metadata())

    def _last_totals(self, order: str, **facts: Any) -> list[dict[str, Any]]:
        """Say what records lack, too."""
        found = self._totals(order, **facts)
        unknown = sum(one["unknown"] for one in found)
        if unknown > self._unknown:
            self._unknown = unknown
            self._problems.append(
                f"performance counters are unknown of {unknown:,} event records of the "
                f"kernel, which have {UNKNOWN}"
            )
        untold = max((one["untold"] for one in found), default=0)
        if untold > self._untold:
            self._untold = untold
            self._problems.append(
                f"the kernel had no room to tell of {untold:,} changes of what "
                "processes map: functions in some call stacks of programs may be "
                "unknown or wrong"
            )
        return found

    def _totals(self, order: str, **facts: Any) -> list[dict[str, Any]]:
        if not self._is_running and order != "copy":
            return []
        found: list[dict[str, Any]] = self._ask(order, **facts)
        for channel, one in zip(self._channels, found, strict=True):
            fill = channel.fill()
            one["buffered"], one["fullest"] = sum(fill), max(fill, default=0)
        return found

    def close(self) -> None:
        """Remove the instances."""
        if self._link is not None:
            self._link.close()
            self._link = None
        self._watched.close()
        for one in self._channels:
            one.close()
        self._channels = []
        if self._threads is not None:
            self._threads.close()
            self._threads = None
        if self._spaces is not None:
            self._spaces.close()
            self._spaces = None


def _read_maps() -> list[Any]:
    # Few traces need it.
    from .process_maps import read_processes  # noqa: PLC0415 - see above

    return read_processes()


def _as_text(record: bytes) -> str:
    return b2a_base64(record, newline=False).decode()


def _only(tracked: Mapping[str, list[int] | None]) -> dict[str, list[int]]:
    """Return the inclusion sets in which not everybody is."""
    return {kind: ids for kind, ids in tracked.items() if ids is not None}
