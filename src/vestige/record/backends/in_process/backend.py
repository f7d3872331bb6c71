"""Recording one program and what it starts, by this process alone."""

from __future__ import annotations

import os
import time

from ...._signals import signals
from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ....errors import ProgramError, RecordError
from ....inspect.sites import has_sites
from ...collected import Collected
from ...rules.options import RecordingOptions
from ...trace_directory import Places
from .clock import LATER_SPANS, RecordingClock, has_constant_counter
from .collector import Rings, RunningCollector, Writing, counter
from .launch import run
from .metadata_file import MetadataFile, patch_clock, settle_clock
from .program_environment import fit_environment
from .refusals import (
    make_refusals,
    read_refusals,
    read_skipped,
    read_unpatched,
    refusal_lines,
    remove_refusals,
)
from .tracer import tracer_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..kernel.domain import KernelDomain
    from .chunks import Chunks
    from .clock import ClockRate
    from .crashes import CrashedProcesses
    from .plans import Plans
    from .snapshots import Snapshots
    from .unreached import UnreachedProcesses

__all__ = ["InProcess"]

FIRST_LOOKS = (0.2, 1.0, 5.0)
"""Seconds after which processes are looked for that are not recorded."""
LATER_LOOKS = 30.0
"""And from then on."""
AGAIN = 0.3
"""And again after a look that has left a doubt: some more than the tracer's grace."""
MOST_AGAIN = 3
"""How often; a program that executes itself for ever leaves one at each look."""
BRIEF = 0.1
"""Seconds in which nobody starts as many processes as there are IDs, see proc(5)."""
CPU_RINGS = "VESTIGE_CPU_RINGS"
"""The variable that is 1 where CPUs have rings, see :mod:`.cpu_rings`."""
LONG_ENOUGH = 0.9
"""Seconds after which the rate of the clock is known well enough for all parts of a
recording: some parts in a thousand million."""
WORTH_MEASURING = 64 * 1024
"""Bytes of a trace, some thousand calls: who records fewer is in a hurry."""


class InProcess:
    """Records one program: a tracer in it, and a collector in this process.

    Args:
        places: Where the trace of programs is, an empty directory, and the recording.
        options: What is recorded.
        meanwhile: Called once, while the program runs.
        is_sent: Whether the files are sent while they are written: then they have
            indexes, and nothing comes after the end of the program.
    """

    def __init__(
        self,
        places: Places,
        options: RecordingOptions,
        meanwhile: Callable[[], object] | None = None,
        *,
        is_sent: bool = False,
    ) -> None:
        self._is_sent = is_sent
        self._places = places
        self._directory = places.programs
        self._kernel_options = options
        if options.is_kernel_recorded and options.mode == "overwrite":
            # Few recordings do it.
            from .kernel_beside import share_size  # noqa: PLC0415 - see above

            options, self._kernel_options = share_size(options)
        self._cpu_rings = 0
        if os.environ.get(CPU_RINGS) == "1":
            # Tests and measurements have them, and nobody else.
            from .cpu_rings import cpu_rings, with_contexts_of_threads  # noqa: PLC0415

            self._cpu_rings = cpu_rings(options)
            if self._cpu_rings:
                options = with_contexts_of_threads(options)
        self._options = options
        self._uuid = _new_uuid()
        self._is_counter = has_constant_counter()
        self._to_close: list[Callable[[], None]] = []
        self._has_stopped = False
        self._has_no_program = False
        self._process: int | None = None
        self._meanwhile = meanwhile
        self._unreached: UnreachedProcesses | None = None
        self._bell: int | None = None
        self._snapshots: Snapshots | None = None
        self._crashes: CrashedProcesses | None = None
        self._chunks: Chunks | None = None
        self._kernel: KernelDomain | None = None
        self.plans: Plans | None = None
        """What was planned of functions without hooks, if anything was."""
        self.seconds = 0.0
        """How long the program ran."""

    def prepare(self) -> None:
        """Write the metadata, and make the memory that programs write to.

        Raises:
            RecordError: The tracer is not there, or there is no memory.
            OSError: The directory cannot hold a trace.
        """
        is_counter = self._is_counter
        self._clock = RecordingClock(counter if is_counter else None)
        self._metadata = MetadataFile(
            self._directory,
            self._uuid,
            self._options,
            self._clock,
            is_counter=is_counter,
            has_cpu_rings=self._cpu_rings > 0,
            kernel=self._places.kernel if self._options.is_kernel_recorded else None,
        )
        self._to_close.append(self._metadata.close)
        self._begin_kernel()
        self._place = _identity(self._directory)
        make_refusals(self._directory)
        if self._is_sent:
            # Where there is such a directory, the collector writes indexes.
            os.mkdir(os.path.join(self._directory, "index"))
        self._collector = RunningCollector(
            self._directory,
            self._uuid,
            self._options,
            rings=Rings(of_cpus=self._cpu_rings),
            writing=Writing(live_ns=self._options.live_ns),
        )
        if not is_counter:
            self._collector.set_monotonic()
        self._to_close.append(self._abandon)
        rate = self._prepare_kernel()
        # From here on the trace is readable, whoever is killed. Who finds it finds the
        # collector's register as well, without which a recording has ended, and the
        # trace of the kernel, if there will be one.
        self._metadata.write(rate=rate)

    def _begin_kernel(self) -> None:
        """Start the process that records the kernel, which takes its time."""
        if self._options.is_kernel_recorded:
            # Few recordings have it.
            from .kernel_beside import kernel_domain  # noqa: PLC0415 - see above

            self._kernel = kernel_domain(
                self._places, self._kernel_options, self._clock, _new_uuid()
            )
            self._to_close.append(self._kernel.close)

    def _prepare_kernel(self) -> ClockRate | None:
        """Wait for the trace of the kernel; return the rate that it has by then."""
        if self._kernel is None:
            return None
        self._kernel.prepare()
        rate = self._clock.rate()
        if self._places.kernel is not None:
            # In overwrite mode, or without rights, there is none.
            with suppress(OSError):
                patch_clock(self._places.kernel, rate)
        return rate

    def start(self) -> None:
        """Begin to collect.

        Raises:
            RecordError: No thread can be started.
        """
        if self._options.patch is not None or self._options.probes:
            self._bell = self._collector.open_requests()
        if self._options.is_rotated:
            # Few recordings are.
            from .chunks import Chunks  # noqa: PLC0415 - see above

            self._chunks = Chunks(
                self._places.whole,
                self._archive,
                self._chunk_size,
                self._options.rotate_seconds,
                self._options.rotate_size,
                self._options.keep_archives,
            )
        self._collector.let_watch()
        self._collector.start()
        if self._kernel is not None:
            # Programs that ask for plans wait for 0.2 s: nothing may put that off.
            self._kernel.start(is_whole=self._bell is not None)
        if self._options.mode == "overwrite":
            # Others have all of it in their trace.
            from .snapshots import Snapshots  # noqa: PLC0415 - see above

            self._snapshots = Snapshots(self._places.whole, self._copy)
            self._to_close.append(self._snapshots.close)
        if self._snapshots is not None and self._options.snapshot_on_crash:
            from .crashes import CrashedProcesses  # noqa: PLC0415 - see above

            self._crashes = CrashedProcesses(
                self._collector.processes,
                lambda: self._collector.inodes,
                self._snapshots.take_of_crash,
            )
            self._to_close.append(self._crashes.close)

    @property
    def known_problems(self) -> list[str]:
        """What will be missing, as far as that is known before the program starts."""
        return [] if self._kernel is None else [*self._kernel.problems]

    def hold(self, is_held: bool) -> None:  # noqa: FBT001 - it is called so
        """Write nothing for the moment, or go on; from any thread.

        Args:
            is_held: Whether nothing is written.
        """
        self._collector.hold(is_held=is_held)
        if self._kernel is not None:
            self._kernel.hold(is_held=is_held)

    def _chunk_size(self) -> int:
        of_kernel = 0 if self._kernel is None else self._kernel.chunk_size
        return self._collector.chunk_size + of_kernel

    def _archive(self, directory: str) -> None:
        if self._clock.age >= LONG_ENOUGH:
            self._settle_clock()
        rate = self._clock.rate()
        self._metadata.refine(rate=rate)
        if self._kernel is None:
            self._collector.archive(directory)
            return
        # As where it was made.
        from .kernel_beside import archive_both  # noqa: PLC0415 - see above

        archive_both(self._collector, self._kernel, directory, rate)

    def _settle_clock(self) -> None:
        """Let all parts have one clock, also those that have ended: readers join them.

        Else what is at the end of one would come after the beginning of the next.
        """
        if self._chunks is not None and not self._clock.is_settled:
            settle_clock(self._clock, self._chunks.archives)

    def _copy(self, directory: str) -> None:
        rate = self._clock.rate()
        self._metadata.refine(rate=rate)
        if self._kernel is None:
            self._collector.copy(directory)
            return
        # As above.
        from .kernel_beside import copy_both  # noqa: PLC0415 - see above

        copy_both(self._collector, self._kernel, directory, rate)

    def run(self, program: Sequence[str]) -> int:
        """Run a program, and wait for its end.

        Args:
            program: Its name and its arguments.

        Returns:
            Its exit status; 128 and the number of the signal that ended it.

        Raises:
            ProgramError: It cannot be started.
        """
        if not program:
            return self._wait_for_nobody()
        self.plans = self._planned(program[0])
        rate = self._clock.rate()
        environment = tracer_environment(
            self._directory,
            self._options,
            self._collector.words,
            is_counter=self._is_counter,
            frequency=rate.frequency,
            has_plans=self.plans is not None,
            plan_wait=self._plan_wait(),
        )
        fit_environment(environment, program[0])
        bells = [] if self._bell is None else [(self._bell, self._answer)]
        if self._snapshots is not None:
            bells += self._snapshots.bells
        if self._crashes is not None:
            bells.append(self._crashes.bell)
        started = time.monotonic()
        try:
            status = run(
                program,
                environment,
                begun=lambda process: self._begun(process, rate),
                schedule=self._schedule(),
                bells=bells,
                inherited=self._collector.to_inherit,
                own=None if self._snapshots is None else self._snapshots.ring,
                started=None if self._kernel is None else self._kernel.starter,
            )
        except OSError as error:
            raise ProgramError(program[0], error) from error
        finally:
            self.seconds = time.monotonic() - started
        if self._snapshots is not None and self._crashes is not None:
            self._crashes.collect()
            if not self._crashes.has_told(status):
                self._snapshots.take_after(status)
        return status

    def require_kernel(self) -> None:
        """Refuse to go on where nothing of the kernel is recorded.

        Raises:
            RecordError: It is not, and why.
        """
        if self._kernel is None or not self._kernel.has_begun:
            raise RecordError("; ".join(self.known_problems))

    def _wait_for_nobody(self) -> int:
        """Record the kernel alone, until a signal comes or the time is over."""
        # Few recordings are without a program.
        from .no_program import standing_in  # noqa: PLC0415 - see above

        self._has_no_program = True
        started = time.monotonic()
        rate = self._clock.rate()
        with standing_in() as (command, its_input):
            try:
                status = run(
                    command,
                    dict(os.environ),
                    begun=lambda process: self._begun(process, rate),
                    schedule=self._schedule(),
                    bells=[] if self._snapshots is None else self._snapshots.bells,
                    inherited=its_input,
                    own=None if self._snapshots is None else self._snapshots.ring,
                    is_ours=True,
                )
            except OSError as error:
                raise ProgramError(command[0], error) from error
        self.seconds = time.monotonic() - started
        return status

    def stop(self) -> Collected:
        """Write what is still in memory, and close the trace.

        If processes go on, another process collects what they record.

        Returns:
            What the trace holds.
        """
        self._end_kernel()
        self._settle_clock()
        self._answer()
        refusals = read_refusals(self._directory)
        skipped = read_skipped(self._directory)
        unpatched = read_unpatched(self._directory)
        background = self._background({one.process for one in refusals})
        self._look_at_last()
        self._has_stopped = True
        if background:
            collected = self._hand_over()
        else:
            collected = self._collector.close()
            remove_refusals(self._directory)
        are_told = self._tell_losses(collected.unplaced)
        if not background:
            self._give_back(collected, are_told=are_told)
        collected.running = frozenset(background)
        collected.problems += refusal_lines(refusals)
        if unpatched:
            # Few recordings have any; library calls need no plans.
            from .plans import unpatched_lines  # noqa: PLC0415 - see above

            collected.problems += unpatched_lines(unpatched)
        if self.plans is not None:
            from .plans import remove_plans  # noqa: PLC0415 - as above

            if not background:
                remove_plans(self._directory)
            # Those of whom a process has told as well are told of once.
            told = dict.fromkeys(self.plans.problems)
            collected.problems += [one for one in told if one not in collected.problems]
            collected.patched = self.plans.functions
            collected.unpatched = self.plans.left
        if skipped:
            # Few recordings have any.
            from .skipped_events import skipped_lines  # noqa: PLC0415 - see above

            collected.problems += skipped_lines(skipped)
        if self._unreached is not None:
            known = {one.process for one in collected.unreached}
            collected.unreached += [
                one for one in self._unreached.found if one.process not in known
            ]
            collected.more_unreached += self._unreached.more
        self._metadata.is_damaged = collected.is_damaged
        self._metadata.refine()
        self._tell_of_another_place(collected)
        self._tell_of_others(collected)
        if self._clock.problem is not None:
            collected.problems.append(self._clock.problem)
        # What found no room in the trace's file system leaves none for a measurement.
        has_room = bool(background) or collected.is_drained
        if has_room and _is_larger(self._directory, WORTH_MEASURING):
            self._tell_cost()
        return collected

    def _end_kernel(self) -> None:
        if self._kernel is not None:
            self._kernel.stop()

    def _tell_of_others(self, collected: Collected) -> None:
        """Tell of what is beside the trace: the kernel's, archives, snapshots."""
        if self._kernel is not None:
            self._kernel.tell(collected)
        if self._chunks is not None:
            collected.archives = tuple(self._chunks.archives)
            collected.problems += self._chunks.problems
        if self._snapshots is not None:
            collected.snapshots = tuple(self._snapshots.taken)
            collected.own_snapshots = tuple(self._snapshots.own)
            collected.problems += self._snapshots.problems
        if self._crashes is not None:
            collected.problems += self._crashes.problems

    def _tell_of_another_place(self, collected: Collected) -> None:
        place = _identity(self._directory)
        if place is not None and place != self._place:
            collected.is_elsewhere = True
            collected.problems.append(
                f"{self._directory}: another directory has taken the place of the "
                "trace's, and the recording is where that one was moved to"
            )

    def close(self) -> None:
        """Give back what is open; nobody has written to memory that is left then."""
        while self._to_close:
            self._to_close.pop()()

    def _abandon(self) -> None:
        if not self._has_stopped:
            self._collector.abandon()

    def _background(self, refused: set[int]) -> set[int]:
        """Find the processes that go on recording."""
        if self._is_sent or not self._options.follow_fork or self._is_alone():
            return set()
        # Short programs start no other, as a rule.
        from .background import (  # noqa: PLC0415 - see above
            inner_id,
            processes_in_background,
            recording_processes,
        )

        found = processes_in_background(self._directory)
        found |= recording_processes(
            self._collector.processes(), self._collector.inodes
        )
        return {one for one in found if inner_id(one) not in refused}

    def _is_alone(self) -> bool:
        """Tell whether nobody has started a process or a thread since the program.

        To look at all processes takes longer than many programs run.
        """
        if self.seconds >= BRIEF:
            # By then all IDs may have been used, and begun again.
            return False
        with suppress(OSError, ValueError), open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1]) == self._process
        return False

    def _planned(self, program: str) -> Plans | None:
        """Plan functions without hooks, where that is wanted."""
        if (
            self._options.patch is None
            and not self._options.probes
            and not has_sites(program)
        ):
            return None
        # Few programs have any plans.
        from .plans import write_plans  # noqa: PLC0415 - see above

        return write_plans(self._directory, self._options, program)

    def _plan_wait(self) -> float:
        """Return for how many seconds programs wait for plans that are not there."""
        if self._bell is None or self.plans is None or not self.plans.is_asked:
            return 0.0
        return self._options.patch_wait

    def _answer(self) -> None:
        """Answer programs that ask for plans."""
        if self._bell is None or self.plans is None:
            return
        for request in self._collector.requests():
            self.plans.answer(request)

    def _begun(self, process: int, rate: ClockRate) -> None:
        """Keep which process the program is, and do what can be done as it runs."""
        self._process = process
        if self._kernel is not None:
            # What it does from here on is no part of the program's start.
            self._kernel.leave_this_thread_out()
        if self._is_counter:
            # Until now it was that of some 50 microseconds, which is wrong by 0.01 %.
            self._metadata.refine(rate=rate)
        if self._meanwhile is not None:
            self._meanwhile()

    def _hand_over(self) -> Collected:
        """Let another process collect what is to come."""
        # Few recordings have any.
        from .background_collector import go_on_in_background  # noqa: PLC0415

        collected = self._collector.hand_over()
        inherited = self._collector.inherited
        options = None if self.plans is None else self._options
        if not go_on_in_background(self._directory, self._clock, inherited, options):
            collected.problems.append(
                "no process could be started to collect what goes on: it stays in "
                "memory, for --recover"
            )
        return collected

    def _give_back(self, collected: Collected, *, are_told: bool) -> None:
        """Give the memory back if the trace has all that is in it."""
        collected.is_drained &= are_told
        if collected.is_drained:
            self._collector.remove()

    def _tell_losses(self, count: int) -> bool:
        """Write into the trace what was lost by threads without a place in memory."""
        if count:
            from .losses import tell_losses  # noqa: PLC0415 - few lose anything

            begin, now = self._clock.begin.value, self._clock.now()
            return tell_losses(self._directory, self._uuid, begin, now, count)
        return True

    def _tell_cost(self) -> None:
        """Write into the metadata what a recorded call costs."""
        from .cost import call_cost  # noqa: PLC0415 - short recordings need it not

        cost = call_cost(self._directory, self._options, is_counter=self._is_counter)
        self._metadata.refine(cost)

    def _schedule(self) -> Iterator[tuple[float, Callable[[int], object]]]:
        """Return what is to be done while the program runs."""
        more = self._chunks or self._crashes
        end = self._options.duration
        if more is None and not end:
            return self._own_schedule()
        # Few recordings need it.
        from heapq import merge  # noqa: PLC0415 - see above

        ticks = () if more is None else more.ticks()
        ends = [(end, _ask_to_end)] if end else []
        return merge(self._own_schedule(), ticks, ends, key=lambda one: one[0])

    def _own_schedule(self) -> Iterator[tuple[float, Callable[[int], object]]]:
        looks = self._looks()
        next_look = next(looks)
        for span in LATER_SPANS if self._is_counter else ():
            while next_look <= span:
                yield next_look, self._look
                next_look = next(looks)
            yield span, self._refine
        yield next_look, self._look
        for span in looks:
            yield span, self._look

    def _refine(self, _process: int) -> None:
        rate = self._clock.rate()
        self._metadata.refine(rate=rate)
        if self._kernel is not None and self._kernel.is_kept:
            # There is no file in which it could be written.
            self._kernel.tell_rate(rate)

    def _look(self, process: int) -> None:
        """Look for processes that are not recorded."""
        if self._unreached is None:
            if not self._options.follow_fork or self._has_no_program:
                return
            # Most programs have ended by now.
            from .unreached import UnreachedProcesses  # noqa: PLC0415 - see above

            self._unreached = UnreachedProcesses(
                process, lambda: self._collector.inodes, self._collector.has
            )
        with suppress(OSError):
            self._unreached.look()

    def _looks(self) -> Iterator[float]:
        """Return after how many seconds processes are looked for, without an end."""
        moments = iter(FIRST_LOOKS)
        moment = 0.0
        while True:
            moment = next(moments, moment + LATER_LOOKS)
            yield moment
            for _ in range(MOST_AGAIN):
                if self._unreached is None or not self._unreached.is_in_doubt:
                    break
                moment += AGAIN
                yield moment

    def _look_at_last(self) -> None:
        """Look for processes that go on, and are not recorded."""
        if self._unreached is None:
            return
        with suppress(OSError):
            self._unreached.look()
            if self._unreached.is_in_doubt:
                time.sleep(AGAIN)
                self._unreached.look()


def _ask_to_end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signals.SIGTERM)


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells a directory from others; ``None`` if nothing is there."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def _is_larger(directory: str, least: int) -> bool:
    """Tell whether files have so many bytes; of thousands, few are looked at."""
    size = 0
    with suppress(OSError), os.scandir(directory) as files:
        for one in files:
            # A process that goes on recording may take it away.
            with suppress(FileNotFoundError):
                size += one.stat().st_size
            if size >= least:
                return True
    return False


def _new_uuid() -> str:
    """Return a random UUID (RFC 9562, version 4).

    Importing the module ``uuid`` takes longer than the program may run.
    """
    number = int.from_bytes(os.urandom(16), "big")
    number = number & ~(0xF << 76) | 4 << 76
    digits = f"{number & ~(3 << 62) | 2 << 62:032x}"
    parts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    return "-".join(digits[start:end] for start, end in parts)
