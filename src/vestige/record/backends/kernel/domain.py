"""The kernel as a part of a recording: what the recorder asks its other process for."""

from __future__ import annotations

import os
from _thread import allocate_lock, get_native_id
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ...collected import KernelCollected
from ...rules.kernel_probes import parse_kernel_probe
from .process_link import (
    ENDED,
    NOTHING,
    READER_ENDED,
    UNAVAILABLE,
    CollectorProcess,
    KernelOrderError,
    missing_text,
)
from .rules import KernelRule, rules_of_words
from .wanted import DEFAULT_CHANNEL, ChannelWanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ...collected import Collected
    from ...rules.options import RecordingOptions
    from ...trace_directory import Places
    from .metadata import ClockFacts
    from .starter import Starter

__all__ = ["KernelDomain"]

NEXT = ".kernel"
"""The directory of the next chunk, until it takes the place of the one before."""
_NOT_ARCHIVED = "a chunk of the kernel was not archived"
_GONE = "it is gone, and with it what was recorded of the kernel"
_MOST_NAMESAKES = 1000
QUIET = 1_000_000
"""Microseconds after which what was recorded is in files, if nobody asks for less."""

_ALWAYS = (
    KernelRule("tracepoint", "lttng_statedump_*"),
    KernelRule("tracepoint", "lttng_logger"),
)
"""What is recorded in any case."""
_BORN = KernelRule("tracepoint", "sched_wakeup_new")
"""What tells whose events they are, where those of a program are all that there are."""


class KernelDomain:
    """Records the kernel beside a program; where that cannot be, it says why.

    Args:
        places: Where its trace is made, and the recording.
        options: What is recorded.
        clock: The clock of the recording.
        uuid: The UUID of the trace.
        is_overwriting: Whether what is old makes room in a full buffer. In overwrite
            mode it does, and all stays in memory until a snapshot is taken, or the end.
    """

    def __init__(
        self,
        places: Places,
        options: RecordingOptions,
        clock: ClockFacts,
        uuid: str,
        *,
        is_overwriting: bool = False,
    ) -> None:
        assert places.kernel is not None  # noqa: S101 - for the types
        directory = self._directory = places.kernel
        # Who sends files takes their directories away.
        self._is_sent = bool(places.name)
        is_kept = self._is_kept = options.mode == "overwrite"
        self._is_prepared = self._has_begun = self._has_stopped = False
        self._bytes = self._bytes_before = 0
        # Who sends what is recorded lets it be held from another thread.
        self._lock = allocate_lock()
        self._collected: KernelCollected | None = None
        self.problems: list[str] = []
        """What is not recorded, and why."""
        owner = os.stat(os.path.dirname(directory))
        asked = [
            *rules_of_words(options.kernel),
            *_probe_rules(options.kernel_probes),
        ]
        channel = ChannelWanted(
            DEFAULT_CHANNEL,
            [
                *(one._replace(filter=options.kernel_filter) for one in asked),
                *_ALWAYS,
                *([_BORN] if options.kernel_of == "program" else []),
            ],
            options.buffer_size,
            is_overwriting or is_kept,
            contexts=list(options.kernel_contexts),
            is_kept=is_kept,
        )
        wanted = Wanted(
            directory,
            places.name or os.path.basename(places.whole),
            uuid,
            clock,
            owner.st_uid,
            owner.st_gid,
            [channel],
            live=0 if is_kept else options.live_ns // 1000 or QUIET,
            logger=options.kernel_logger,
            is_followed=options.kernel_of == "program",
        )
        self._is_followed = wanted.is_followed
        self._starter: Starter | None = None
        self._process = CollectorProcess(wanted)

    def prepare(self) -> None:
        """Wait until its trace is there, or learn why there will be none."""
        self._is_prepared = True
        try:
            self._process.wait_until_ready()
        except KernelOrderError as error:
            self._give_up(error)
        self._note_said()

    def start(self, *, is_whole: bool = False) -> None:
        """Begin to record, or learn why that cannot be.

        Args:
            is_whole: Whether all of the state is read before, so that orders that come
                then do not wait for it.
        """
        if not self._is_prepared:
            self.prepare()
        if not self._process.is_there:
            return
        try:
            threads = {int(one) for one in os.listdir("/proc/self/task")}
            left_out = sorted(threads - {get_native_id()})
            self._ask("start", left_out=left_out, is_whole=is_whole)
            self._has_begun = True
        except KernelOrderError as error:
            self._give_up(error)
        self._note_said()

    def _give_up(self, error: KernelOrderError) -> None:
        what = NOTHING if self._process.has_tracer else UNAVAILABLE
        self._note_problem(f"{what}: {error}")
        self._process.end()

    def _note_said(self) -> None:
        for said in self._process.problems:
            self._note_problem(said)

    @property
    def has_begun(self) -> bool:
        """Whether anything is recorded."""
        return self._has_begun

    @property
    def starter(self) -> Callable[[Callable[[], int]], int] | None:
        """What starts the program, if it alone is recorded: see :class:`.Starter`."""
        if not self._is_followed or not self._process.is_there:
            return None
        # Few recordings need a thread for it.
        from .starter import Starter  # noqa: PLC0415 - see above

        self._starter = Starter(self._follow)
        return self._starter.start

    def _follow(self, thread: int) -> None:
        """Record what a thread starts from here on."""
        try:
            self._ask("follow", thread=thread)
        except KernelOrderError as error:
            self._note_problem(missing_text(str(error)))

    def leave_this_thread_out(self) -> None:
        """Record nothing more of the thread that has started the program."""
        self._tell("leave_out", threads=[get_native_id()])

    def _ask(self, order: str, **facts: Any) -> Any:
        with self._lock:
            return self._process.ask(order, **facts)

    def _tell(self, order: str, **facts: Any) -> None:
        """Give an order to a process; that it has ended is told when it is stopped."""
        if self._process.is_there:
            with suppress(KernelOrderError):
                self._ask(order, **facts)

    def hold(self, *, is_held: bool) -> None:
        """Read nothing for the moment, or go on; from any thread.

        Args:
            is_held: Whether nothing is read; buffers may run full meanwhile.
        """
        self._tell("hold", is_held=is_held)

    def tell_rate(self, rate: tuple[int, int]) -> None:
        """Tell the rate of the clock, for metadata that are written later.

        Args:
            rate: Values in a second, and what is added to each for that since the Unix
                epoch, as the trace of programs has it.
        """
        self._tell("rate", frequency=rate[0], offset=rate[1])

    @property
    def is_kept(self) -> bool:
        """Whether there are no files before the end."""
        return self._is_kept

    @property
    def chunk_size(self) -> int:
        """How many bytes were written since a chunk was ended."""
        if self._process.is_there:
            # What was counted before stays.
            try:
                self._note(self._ask("counts", is_read=True))
            except KernelOrderError:
                return 0
        return self._bytes - self._bytes_before

    def _note(self, found: list[dict[str, Any]]) -> None:
        if found:
            self._bytes = sum(one["bytes"] for one in found)

    def rotate(self, directory: str, rate: tuple[int, int]) -> None:
        """Move what was recorded up to now elsewhere, and go on where it was.

        Where that cannot be done, all goes on as before, and a line says so.

        Args:
            directory: Where to; it is not there.
            rate: The rate of the clock.
        """
        if not self._has_begun:
            return
        following = os.path.join(os.path.dirname(self._directory), NEXT)
        if self._process.is_there:
            self.tell_rate(rate)
            try:
                # Each chunk says which processes there are.
                found = self._ask("rotate", directory=following, with_state=True)
            except KernelOrderError as error:
                if not self._give_up_if_over(error):
                    self._note_problem(f"{_NOT_ARCHIVED}: {error}")
                    return
            else:
                self._note(found)
                self._bytes_before = self._bytes
        try:
            self._move(directory, following)
        except OSError as error:
            self._note_problem(f"{_NOT_ARCHIVED}: {error}")

    def _move(self, archive: str, following: str) -> None:
        """Let the next chunk take the place of the one that has ended.

        Raises:
            OSError: It cannot; it is beside the one before, then.
        """
        try:
            if os.path.exists(self._directory):
                os.rename(self._directory, archive)
            if os.path.exists(following):
                os.rename(following, self._directory)
        except OSError:
            for number in range(2, _MOST_NAMESAKES):
                beside = f"{self._directory}-{number}"
                if not os.path.exists(beside):
                    os.rename(following, beside)
                    self._directory = beside
                    break
            raise

    def snapshot(self, directory: str, rate: tuple[int, int]) -> None:
        """Write what is kept; nothing, where the kernel cannot be recorded.

        Args:
            directory: Where to; it is not there.
            rate: The rate of the clock.

        Raises:
            OSError: It cannot be written.
        """
        if not self._has_begun or not self._process.is_there:
            return
        self.tell_rate(rate)
        try:
            self._ask("snapshot", directory=directory, most=[None])
        except KernelOrderError as error:
            # Else what programs have recorded is there all the same.
            if not self._give_up_if_over(error):
                raise OSError(f"of the kernel: {error}") from error

    def _give_up_if_over(self, error: KernelOrderError) -> bool:
        """End the process if one of the two has been killed; whether that is so."""
        if str(error) not in {ENDED, READER_ENDED}:
            return False
        self._note_problem(missing_text(str(error)))
        self._process.end()
        return True

    def _note_problem(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def tell(self, collected: Collected) -> None:
        """Tell what the trace holds, and what it lacks.

        Args:
            collected: Who is told.
        """
        collected.kernel = self._collected
        collected.problems += self.problems

    def stop(self) -> None:
        """End the recording."""
        self._has_stopped = True
        if not self._process.is_there:
            return
        try:
            found: list[dict[str, Any]] = self._ask("end")
            self._note_said()
        except KernelOrderError as error:
            self._note_problem(missing_text(str(error)))
            self._process.end()
            return
        # It tidies up while other things are done: see :meth:`close`.
        self._process.leave()
        if not self._is_sent and not os.path.isdir(self._directory):
            self._note_problem(f"{self._directory}: {_GONE}")
        for one in found:
            if one["failure"] is not None:
                self._note_problem(missing_text(one["failure"]))
        if damaged := sum(one["damaged"] for one in found):
            self.problems.append(f"{damaged:,} records of the kernel made no sense")
        self._collected = KernelCollected(
            *(sum(one[name] for one in found) for name in KernelCollected._fields)
        )

    def close(self) -> None:
        """End the process; take back a trace that has not begun, or was given up."""
        if self._starter is not None:
            self._starter.end()
        self._process.end()
        if not (self._has_begun and self._has_stopped) and os.path.isdir(
            self._directory
        ):
            # Few recordings come here.
            from shutil import rmtree  # noqa: PLC0415 - see above

            rmtree(self._directory, ignore_errors=True)


def _probe_rules(texts: Iterable[str]) -> Iterator[KernelRule]:
    for one in map(parse_kernel_probe, texts):
        yield KernelRule(one.kind, one.name, location=one.location, word=one.text)
