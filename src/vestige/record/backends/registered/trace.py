"""The trace of a channel's programs: a collector that runs as long as the session."""

from __future__ import annotations

import os
import time
import uuid as uuids
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ....errors import RecordError
from ....expressions.code import Instruction
from ....owner_rights import groups_of, owner_rights
from ..._agreement import ARENAS_FILE
from ...collected import Collected
from ...rules.choices import FunctionTracing
from ...rules.encoding import encode_rules
from ...rules.event_rules import HIGHEST, LOWEST, CompiledRule
from ..channel_counts import ChannelCounts, Usage
from ..in_process.abandoned_arenas import ACCOUNTS, FOLDER
from ..in_process.clock import Instant, RecordingClock, has_constant_counter
from ..in_process.collector import Owner, Rings, RunningCollector, counter
from ..in_process.cpu_rings import cpu_count, with_contexts_of_threads
from ..in_process.losses import tell_losses
from ..in_process.metadata_file import MetadataFile
from ..in_process.tracer import recording_words
from ..lttng_ust.plan import ChannelPlan, RulePlan, SessionPlan
from ..lttng_ust.trace_files import INDEX_FOLDER, OwnerFiles, TraceFolder
from .channel_options import channel_options, channel_writing
from .loaded_state import LoadedObjects, LoadedState, ToldProgram, told_processes
from .unregistered import mapping_programs, unregistered

if TYPE_CHECKING:
    from ...rules.options import RecordingOptions
    from ..lttng_ust.trace_files import Older

__all__ = [
    "Losses",
    "ProgramTrace",
    "clear_older",
    "compiled_rule",
    "compiled_rules",
    "cut_left",
    "left_traces",
]

VERBOSE_FUNCTIONS = "lttng_ust_cyg_profile:"
"""Of rules that want the addresses of calls, too."""


class Losses(NamedTuple):
    """What a channel has lost."""

    events: int = 0
    packets: int = 0
    """Those that made room for newer ones."""

    def plus(self, other: Losses) -> Losses:
        """Return both together.

        Args:
            other: More.
        """
        return Losses(self.events + other.events, self.packets + other.packets)


class ProgramTrace:
    """What the programs of one user, or one program, record for a channel.

    Args:
        plan: The session.
        channel: The channel.
        folder: The directory of the trace, below that of the session.
        user: Whose programs these are; ``None`` where that is known from before.
        is_left: Whether a daemon that was killed has left it, and it goes on.

    Raises:
        RecordError: There is no memory, or no place for the trace.
        OSError: As above.
    """

    def __init__(
        self,
        plan: SessionPlan,
        channel: ChannelPlan,
        folder: tuple[str, ...],
        user: int | None = None,
        *,
        is_left: bool = False,
    ) -> None:
        self.parts = folder
        self.is_left = is_left
        """Whether programs may have told their state before this daemon came."""
        self._files = files = trace_root(plan)
        older: Older = "replaced"
        # That of a program has the same name if it began anew within a second.
        if plan.is_taken_over or plan.is_per_process:
            older = "kept"
        self._place = TraceFolder(files, folder, "continued" if is_left else older)
        self._folder = self._place.path
        self._rights = (files.uid, files.gid)
        self._owner = _owner(*self._rights)
        # What another user's programs record into would else be the second memory of
        # the trace: with event classes from far above, and empty ones in between.
        is_chosen = self._owner is None and os.geteuid() == 0
        self._user = user if is_chosen else None
        self._is_kept = plan.output is None
        self._options = _options(channel)
        self._rings = Rings(
            # Those that overwrite are of threads.
            of_cpus=0 if channel.is_overwriting else cpu_count(),
            overwrite=channel.is_overwriting,
        )
        self._writing = channel_writing(channel, plan.live_timer)
        self._subbuf_size = channel.subbuf_size
        offset = plan.clock_offset
        # The kernel is recorded with the clock that all programs can read.
        self._is_counter = offset is None and has_constant_counter()
        begin = None if offset is None else _instant_of(offset)
        self._clock = RecordingClock(counter if self._is_counter else None, begin)
        self._lost = Losses()
        """What collectors have told that were handed over."""
        self._untold = 0
        """Of these, the event records that the collector of now counts again."""
        self._written = 0
        """Bytes of packets that these have written."""
        self._programs = 0
        self.failure: OSError | RecordError | None = None
        """What nobody was told yet."""
        self.breakage: RecordError | None = None
        """Why nothing more is collected: a program has spoiled the memory for all."""
        self._is_ended = False
        """Whether nothing is collected any more."""
        self._is_held = False
        self._uuid = str(uuids.uuid4())
        self._metadata: MetadataFile | None = None
        try:
            if self._place.has_trace:
                self._take_over()
            else:
                self._begin()
            self._collector.start()
        except BaseException:
            self._place.release()
            raise

    def _begin(self) -> None:
        with owner_rights(*self._rights):
            # Where there is such a directory, the collector writes indexes.
            Path(self._folder, INDEX_FOLDER).mkdir(mode=0o770, exist_ok=True)
            self._metadata = MetadataFile(
                self._folder,
                self._uuid,
                self._options,
                self._clock,
                is_counter=self._is_counter,
                has_cpu_rings=self._rings.of_cpus > 0,
            )
            self._metadata.write()
        # Programs get their rules otherwise, since these change.
        self._collector = RunningCollector(
            self._folder,
            self._uuid,
            self._options,
            encode_rules(()),
            self._rings,
            writing=self._writing._replace(keep=self._is_kept),
            owner=self._owner,
            user=self._user,
        )
        self._set_clock()

    def _take_over(self) -> None:
        self._collector = RunningCollector.take_over(self._folder, owner=self._owner)
        self._set_clock()
        if self._is_held:
            self._collector.hold(is_held=True)

    def hold(self, *, is_held: bool) -> None:
        """Write nothing for the moment, or go on.

        Args:
            is_held: Whether nothing is written.
        """
        self._is_held = is_held
        if not self._is_ended:
            self._collector.hold(is_held=is_held)

    def _set_clock(self) -> None:
        if not self._is_counter:
            self._collector.set_monotonic()

    @property
    def chunk_size(self) -> int:
        """How many bytes were written since a chunk was ended."""
        return 0 if self.breakage else self._collector.chunk_size

    @property
    def untold(self) -> int:
        """Lost events that were counted and that no packet has told yet."""
        return 0 if self._is_ended else self._untold

    @property
    def folder(self) -> str:
        """The directory that is written to now."""
        return self._folder

    @property
    def arena(self) -> int:
        """The inode of the memory that programs write to."""
        return self._collector.arena

    def words(self, channel: ChannelPlan) -> str:
        """Return what programs are told.

        Args:
            channel: The channel as it is now.
        """
        return recording_words(
            self._folder,
            self._options._replace(functions=_functions(channel)),
            self._collector.words,
            is_counter=self._is_counter,
        )

    def expect(self, programs: int) -> None:
        """Have memory for the first records of programs before they are told to record.

        Args:
            programs: How many record, with those that are about to be told.
        """
        self._programs = programs
        self._collector.expect(programs)

    def take_failure(self) -> OSError | RecordError | None:
        """Return why a part of the trace could not be written, each time once."""
        failure, self.failure = self.failure, None
        return failure

    def complete(self) -> Losses:
        """Write all that is there; programs may go on.

        Returns:
            What was lost so far.
        """
        if self.breakage is None and not self._is_kept:
            self._note(self._collector.hand_over())
            self._refine()
            self._go_on()
        return self._lost

    def snapshot(self, files: OwnerFiles, most: int | None) -> None:
        """Write what the rings hold now, which stays there.

        Args:
            files: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """
        folder = files.make_folder(*self.parts)
        files.make_folder(folder, INDEX_FOLDER)
        packets = None
        if most is not None:
            # Threads have rings, more or fewer than there are CPUs.
            size = most * self._subbuf_size * cpu_count()
            packets = max(1, size // self._options.chunk_size)
        owner = _owner(files.uid, files.gid)
        self._collector.snapshot(folder, packets, owner)
        self._refine()
        # Last: it has all event classes of the records.
        metadata = Path(self._folder, "metadata").read_bytes()
        file = files.open(f"{folder}/metadata")
        with os.fdopen(file, "wb") as stream:
            stream.write(metadata)

    def _go_on(self) -> None:
        """Collect what is to come, in the same memory."""
        try:
            self._take_over()
            self._collector.start()
            self._collector.expect(self._programs)
        except RecordError as error:
            self.failure = self.failure or error
            self.breakage = error
            self._is_ended = True
            _remove_memory(self._collector.memory)

    def cut(self, programs: Sequence[ToldProgram], loaded: LoadedState) -> bool:
        """Let what comes from now on be a chunk of its own.

        The directory was moved away with what is in it; there will be one with the same
        name. If that cannot be, all goes on where it is, and the failure is told.

        Args:
            programs: Those whose state the chunk begins with.
            loaded: What they have loaded.

        Returns:
            Whether it is so.
        """
        if self.breakage is not None:
            return True
        self._refine()
        try:
            self._files.make_folder(self._folder, INDEX_FOLDER)
            with owner_rights(*self._rights):
                is_gone = self._metadata is not None and not self._metadata.is_there()
            if is_gone:
                self._move_metadata(writes=True)
            told = told_processes(programs, self._options.contexts)
            self._collector.cut(self._folder, told, loaded)
            if not is_gone:
                self._move_metadata()
        except (OSError, RecordError) as error:
            self.failure = error
            return False
        return True

    def unregistered(
        self, registered: Collection[tuple[int, int]]
    ) -> list[ToldProgram]:
        """Return the processes that record here, and have not registered.

        Args:
            registered: Those that have: their IDs in their own PID namespaces, and the
                inodes of these.
        """
        if self.breakage is not None:
            return []
        return unregistered(self._collector.names(), registered, self.arena)

    def now(self) -> int:
        """Return the time now, as records have it."""
        return 0 if self.breakage else self._collector.now()

    def write_state(
        self,
        programs: Sequence[ToldProgram],
        loaded: LoadedState,
        time: int | None = None,
    ) -> bool:
        """Tell what programs have loaded.

        Args:
            programs: The programs.
            loaded: What they have loaded.
            time: When that was; ``None`` is when the chunk began.

        Returns:
            Whether it could be written.
        """
        if self.breakage is None and programs:
            try:
                told = told_processes(programs, self._options.contexts)
                self._collector.write_state(told, loaded, time)
            except OSError as error:
                self.failure = self.failure or error
                return False
        return True

    def _move_metadata(self, *, writes: bool = False) -> None:
        if self._metadata is not None:
            with owner_rights(*self._rights):
                self._metadata.move(self._folder)
                if writes:
                    self._metadata.write()

    def clear(self) -> None:
        """Throw away what was recorded up to now."""
        if self.breakage is None:
            try:
                self._collector.clear()
            except RecordError as error:
                self.failure = error

    def counts(self) -> ChannelCounts:
        """Return what was recorded so far; nothing is waited for."""
        if self._is_ended:
            return ChannelCounts(self._written, *self._lost)
        now = self._collector.progress()
        size = self._options.buffer_size
        rings = self._rings.of_cpus or now.live
        return ChannelCounts(
            self._written + now.bytes,
            self._lost.events - self._untold + now.lost,
            self._lost.packets + now.lost_packets,
            now.unwritten,
            size * rings,
            min(now.fullest / size, 1.0),
        )

    def usage(self) -> Usage:
        """Look how full the rings are."""
        size = self._options.buffer_size
        if self._is_ended:
            return Usage(0, size, self._written)
        now = self._collector.progress()
        return Usage(min(now.fullest, size), size, self._written + now.bytes)

    def write_metadata(self) -> None:
        """Write what begins the metadata once more."""
        self._refine()

    def close(self) -> Losses:
        """End the trace.

        Returns:
            What was lost.
        """
        if self.breakage is None:
            self._end()
        elif self._metadata is not None:
            self._metadata.close()
        self._place.release()
        return self._lost

    def _end(self) -> None:
        found = self._collector.close()
        self._is_ended = True
        self._note(found)
        are_told = True
        if found.unplaced and self._metadata is not None:
            begin, now = self._clock.begin.value, self._clock.now()
            with owner_rights(*self._rights):
                are_told = tell_losses(
                    self._folder, self._uuid, begin, now, found.unplaced
                )
        if are_told and found.is_drained:
            # The memory alone knew of them.
            self._collector.remove()
        self._refine()
        if self._metadata is not None:
            self._metadata.close()

    def _refine(self) -> None:
        if self._metadata is not None:
            with owner_rights(*self._rights):
                self._metadata.refine()

    def _note(self, found: Collected) -> None:
        self._written += found.written
        lost = found.lost - self._untold
        self._lost = self._lost.plus(Losses(lost, found.lost_packets))
        self._untold = found.untold
        if found.failure is not None and self.failure is None:
            self.failure = RecordError(found.failure[1])


def trace_root(plan: SessionPlan) -> OwnerFiles:
    """Return the directory of the traces of a session, and whose it is.

    What is kept for snapshots alone is the daemon's, in a directory of its own.

    Args:
        plan: The session.
    """
    if plan.output is not None:
        return OwnerFiles(plan.output, plan.uid, plan.gid)
    return OwnerFiles(plan.kept, os.geteuid(), os.getegid())


def _owner(uid: int, gid: int) -> Owner | None:
    """Return whose a trace is, if that is not the user of this process."""
    return None if uid == os.geteuid() else Owner(uid, gid, groups_of(uid, gid))


def _options(channel: ChannelPlan) -> RecordingOptions:
    """Return what is recorded to a channel, with what the rings of CPUs need."""
    options = channel_options(channel)
    return options if channel.is_overwriting else with_contexts_of_threads(options)


def _functions(channel: ChannelPlan) -> FunctionTracing:
    """Return the events that entries and exits of functions make, if rules want any."""
    is_verbose = any(
        is_enabled and rule.name.startswith(VERBOSE_FUNCTIONS)
        for rule, is_enabled in channel.rules
    )
    return "verbose" if is_verbose else "fast"


def clear_older(plan: SessionPlan, folder: tuple[str, ...]) -> None:
    """Remove the traces of channels that another session has left in its directory.

    Args:
        plan: The session that has the directory now.
        folder: The directory of the traces, below that of the session.
    """
    files = trace_root(plan)
    path = Path(files.folder, *folder)
    if plan.is_taken_over or not path.is_dir():
        return
    for one in [*path.iterdir()]:
        if not (one / "metadata").exists():
            continue
        place = TraceFolder(files, (*folder, one.name), "replaced")
        # One that is in use stays: then there is another, which is empty.
        with owner_rights(files.uid, files.gid), suppress(OSError):
            Path(place.path, INDEX_FOLDER).rmdir()
            Path(place.path).rmdir()
        place.release()


def _remove_memory(path: str) -> None:
    """Remove memory that nobody can collect any more, and what was noted of it."""
    folder, name = os.path.split(path)
    if folder == FOLDER:
        noted = f"vestige-{os.geteuid()}-{name.rpartition('-')[2]}{ACCOUNTS}"
        for one in (name, noted):
            Path(folder, one).unlink(missing_ok=True)


def cut_left(plan: SessionPlan, channel: ChannelPlan, trace: str, place: str) -> Losses:
    """End a chunk that a daemon which was killed has left, and let the next one begin.

    That begins with what those have loaded who go on in the memory: they have told it
    to a chunk before, and do so never again.

    Args:
        plan: The session.
        channel: The channel.
        trace: The directory that the daemon wrote to.
        place: That of the next chunk.

    Returns:
        What was lost in the chunk.

    Raises:
        RecordError: The memory is gone, or the next chunk cannot begin.
    """
    owner = _owner(plan.uid, plan.gid)
    collector = RunningCollector.take_over(trace, owner=owner)
    if not has_constant_counter():
        collector.set_monotonic()
    try:
        programs = mapping_programs(collector.arena)
        loaded = LoadedObjects().read([one.pid for one in programs])
        told = told_processes(programs, _options(channel).contexts)
        collector.cut(place, told, loaded)
    finally:
        found = collector.hand_over()
    return Losses(found.lost - found.untold, found.lost_packets)


def left_traces(
    plan: SessionPlan, folder: str
) -> list[tuple[ChannelPlan, int, tuple[str, ...]]]:
    """Return the traces that a daemon which was killed has left.

    Args:
        plan: The session.
        folder: The name of a user's directory of traces.

    Returns:
        Of each the channel, the user, or a negative number if it is of one program
        alone or has a namesake, and the directory below that of the session.
    """
    files = trace_root(plan)
    kind, inner = ("pid", ()) if plan.is_per_process else ("uid", (folder,))
    found: list[tuple[ChannelPlan, int, tuple[str, ...]]] = []
    with owner_rights(files.uid, files.gid), suppress(OSError):
        for whose in Path(files.folder, "ust", kind).iterdir():
            for channel, name in _traces_in(whose.joinpath(*inner), plan.channels):
                key = -1 - len(found)
                is_first = name == channel.name and not plan.is_per_process
                if is_first and whose.name.isdecimal():
                    key = int(whose.name)
                found.append((channel, key, ("ust", kind, whose.name, *inner, name)))
    return found


def _traces_in(
    folder: Path, channels: Sequence[ChannelPlan]
) -> list[tuple[ChannelPlan, str]]:
    """Return the traces with memory in a directory, by their channels and names.

    Where there is one already, the next is called ``CHANNEL-2`` and so on.
    """
    found = []
    by_name = {one.name: one for one in channels}
    for arenas in folder.glob(f"*/{ARENAS_FILE}"):
        if arenas.is_file() and not arenas.stat().st_size:
            # The daemon was killed while it wrote it: no program was told yet.
            arenas.unlink()
            continue
        name = arenas.parent.name
        first, _, number = name.rpartition("-")
        channel = by_name.get(name) or (
            by_name.get(first) if number.isdecimal() else None
        )
        if channel is not None and arenas.is_file():
            found.append((channel, name))
    return found


def compiled_rules(channel: ChannelPlan) -> tuple[CompiledRule, ...]:
    """Return the rules of a channel that are in force, as the tracer takes them.

    Args:
        channel: The channel.
    """
    if not channel.is_enabled:
        return ()
    return tuple(
        compiled_rule(rule) for rule, is_enabled in channel.rules if is_enabled
    )


def compiled_rule(rule: RulePlan) -> CompiledRule:
    """Return a rule as the tracer takes it.

    Args:
        rule: The rule.
    """
    levels = (LOWEST, HIGHEST)
    if rule.level_type == "RANGE":
        levels = (LOWEST, rule.level)
    elif rule.level_type == "SINGLE":
        levels = (rule.level, rule.level)
    code: tuple[Instruction, ...] = ()
    if rule.filter is not None:
        # Few rules have one.
        from ....expressions import compile_filter  # noqa: PLC0415 - see above

        code = tuple(compile_filter(rule.filter))
    exclude = tuple(map(_glob, rule.exclusions))
    return CompiledRule(rule.name, _glob(rule.name), exclude, levels, code)


def _glob(pattern: str) -> str:
    """Write a pattern whose only wildcard is a star as fnmatch(3) takes it."""
    glob = ""
    characters = iter(pattern)
    for character in characters:
        one = next(characters, "") if character == "\\" else character
        is_plain = character == "\\" or one != "*"
        glob += f"[{one}]" if is_plain and one in {"*", "?", "["} else one
    return glob


def _instant_of(offset: int) -> Instant:
    """Return the present moment by a monotonic clock that was 0 then."""
    value = time.monotonic_ns()
    return Instant(value, value, value + offset)
