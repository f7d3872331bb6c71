"""The kernel recorded through tracefs, beside a bare instance and ``perf record``.

Run by ``make bench-kernel``, as root. A program makes system calls that do next to
nothing, of which entry and exit are recorded. What a call takes is measured in many
short runs that alternate, of which the quickest tenth counts: on a machine with other
work, that is what a quiet one would show. What the collector costs is all processor
time of the recorder's processes, without what an empty recording takes.

The instance that nobody reads overwrites what is old in buffers of the same size: it
writes each event, as a recording does. One that discards would be full at once, and
then only count.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from support.compilers import run_tool
from support.kernel_tracer import why_not
from vestige.record._collector import counter
from vestige.record.backends.in_process.clock import (
    RecordingClock,
    has_constant_counter,
)
from vestige.record.backends.in_process.kernel_beside import kernel_domain
from vestige.record.backends.kernel.state_dump import StateDump
from vestige.record.backends.kernel.tracefs import Instance, Tracefs
from vestige.record.collected import Collected
from vestige.record.rules.options import RecordingOptions
from vestige.record.trace_directory import Places

HERE = Path(__file__).parent
MEMORY = "/dev/shm"
UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f12"
WORDS = ("syscalls:getpriority",)
EVENTS = [("syscalls", f"sys_{end}_getpriority") for end in ("enter", "exit")]
BUFFER = 4 << 20
"""Bytes of the buffer of a CPU."""
TOLD = re.compile(rb"ns=([\d.]+) cpu=([\d.]+)")
SHORT, LONG = 400_000, 4_000_000
"""Calls of a run: where a call is timed, 25 MB of events; and the collector."""
PACES = (2000, 1000, 500, 0)
"""Nanoseconds from a call to the next: 1, 2 and 4 million events a second, and all."""


class Call(NamedTuple):
    """Nanoseconds of a call of the program."""

    time: float
    use: float
    """Those of processor time."""


class Recorded(NamedTuple):
    """What a recording of the program has taken, and what is in it."""

    call: Call
    processor: float
    """Seconds of processor time of all of the recorder's processes."""
    records: int
    lost: int


def timed(program: Path, *numbers: int) -> Call:
    """Run the program; return what a call takes."""
    words = [str(program), *map(str, numbers)]
    done = subprocess.run(words, capture_output=True, check=True)
    return call_of(done.stdout)


def call_of(said: bytes) -> Call:
    """Return what the program says of a call."""
    found = TOLD.search(said)
    if found is None:
        sys.exit(f"bench: {said.decode()}")
    return Call(float(found[1]), float(found[2]))


def processor() -> float:
    """Return the seconds of processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def recorded(run: Callable[[], Call], words: Sequence[str] = WORDS) -> Recorded:
    """Let the kernel be recorded meanwhile."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    options = RecordingOptions(kernel=tuple(words), buffer_size=BUFFER)
    before = processor()
    clock = RecordingClock(counter if has_constant_counter() else None)
    domain = kernel_domain(
        Places(str(folder), str(folder), str(folder / "kernel")), options, clock, UUID
    )
    try:
        domain.start()
        begin = processor()
        call = run()
        of_program = processor() - begin
        domain.stop()
    finally:
        domain.close()
        shutil.rmtree(folder)
    collected = Collected()
    domain.tell(collected)
    if collected.problems or collected.kernel is None:
        sys.exit(f"bench: {collected.problems}")
    used = processor() - before - of_program
    return Recorded(call, used, collected.kernel.records, collected.kernel.lost)


@contextmanager
def unread() -> Iterator[None]:
    """Have an instance that nobody reads; what is old makes room in it."""
    tracefs = Tracefs()
    instance = Instance(tracefs, "bench")
    try:
        clock = "x86-tsc" if has_constant_counter() else "mono"
        instance.write("trace_clock", clock)
        instance.write("options/overwrite", 1)
        instance.write("buffer_size_kb", BUFFER >> 10)
        instance.enable(EVENTS)
        instance.record(is_on=True)
        yield
        instance.record(is_on=False)
    finally:
        instance.remove()
        tracefs.close()


def bare(program: Path, *numbers: int) -> Call:
    """Run the program with an instance that nobody reads."""
    with unread():
        return timed(program, *numbers)


def perf(program: Path, *numbers: int) -> Call:
    """Run the program below ``perf record`` with the same events."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    events = ",".join(":".join(one) for one in EVENTS)
    words = ["perf", "record", "-q", "-m", "4M", "-o", str(folder / "data")]
    words += ["-e", events, str(program), *map(str, numbers)]
    done = subprocess.run(words, capture_output=True, check=False)
    shutil.rmtree(folder)
    return call_of(done.stdout + done.stderr)


def row(what: str, *cells: str) -> None:
    """Print a line of the table."""
    print("|", " | ".join([what, *cells]), "|", flush=True)


def low(values: Sequence[float]) -> float:
    """Return what a tenth of some values is below."""
    return sorted(values)[len(values) // 10]


def costs(program: Path, turns: int, rounds: int) -> None:
    """Print what a call takes the program, and an event the collector."""
    runs: list[tuple[float, float, float, float]] = []
    has_perf = shutil.which("perf") is not None
    for _ in range(turns):
        plain = timed(program, SHORT, 0, 1)
        unseen = bare(program, SHORT, 0, 1)
        ours = recorded(lambda: timed(program, SHORT, 0, 1))
        by_perf = perf(program, SHORT, 0, 1).use if has_perf else float("nan")
        runs.append((plain.use, unseen.use, ours.call.use, by_perf))
    plain_call, unread_call, our_call, perf_call = map(low, zip(*runs, strict=True))
    pairs = statistics.median(ours / unseen for _, unseen, ours, _ in runs)
    row("a call, not recorded", f"{plain_call:.0f} ns", "")
    row("in an instance that nobody reads", f"{unread_call:.0f} ns", "")
    told = f"{our_call / unread_call:.2f}x of that, {pairs:.2f}x at the median of turns"
    row("recorded", f"{our_call:.0f} ns", told)
    told = f"ours has {our_call / perf_call:.2f}x of that"
    row("by perf record", f"{perf_call:.0f} ns", told)
    # What recording adds to a call that is not recorded; it is two events.
    least, mine, his = (
        (one - plain_call) / 2 for one in (unread_call, our_call, perf_call)
    )
    told = f"{mine / his:.2f}x of the {his:.0f} ns of perf record"
    row("an event, recorded", f"{mine:.0f} ns", told)
    told = f"{least / his:.2f}x of the same"
    row("an event, in an instance that nobody reads", f"{least:.0f} ns", told)
    collecting(program, rounds)


def collecting(program: Path, rounds: int) -> None:
    """Print what an event takes the collector."""
    nothing = Call(0.0, 0.0)
    empty = statistics.median(
        recorded(lambda: nothing).processor for _ in range(rounds)
    )
    found = [recorded(lambda: timed(program, LONG, 0, 1)) for _ in range(rounds)]
    each = [(one.processor - empty) / one.records * 1e9 for one in found]
    lost = sum(one.lost for one in found)
    row("collector, an event", f"{statistics.median(each):.0f} ns", f"{lost:,} lost")


def losses(program: Path, seconds: float) -> None:
    """Print what is lost at some rates, on one CPU and on all."""
    for cpus in dict.fromkeys((1, os.cpu_count() or 1)):
        for pace in PACES:
            count = int(seconds * 1e9 / (pace or 200))
            found = recorded(lambda n=(count, pace, cpus): timed(program, *n))  # type: ignore[misc]
            rate = 2e3 / found.call.time
            row(
                f"{rate:.1f} million events a second, CPUs: {cpus}",
                f"{found.lost:,} lost",
                f"{found.lost / (found.lost + found.records):.2%}",
            )


def beginnings(rounds: int) -> None:
    """Print how long it takes to begin."""
    found = []
    for _ in range(rounds):
        tracefs = Tracefs()
        instance = Instance(tracefs, "bench")
        try:
            lines = tracefs.read("available_events").split()
            named = [one.partition(":")[::2] for one in lines]
            calls = [one for one in named if one[0] == "syscalls"]
            begin = time.perf_counter()
            instance.enable(calls)
            found.append(time.perf_counter() - begin)
        finally:
            instance.remove()
            tracefs.close()
    row(f"{len(calls)} events of system calls on", f"{statistics.median(found):.3f} s")
    dumps = []
    processes = sum(one.name.isdigit() for one in Path("/proc").iterdir())
    for _ in range(rounds):
        dump = StateDump(time.monotonic_ns, 0)
        begin = time.process_time()
        dump.read()
        dumps.append((time.process_time() - begin) / processes)
    cell = f"{statistics.median(dumps) * 1e3:.2f} ms"
    row(f"state dump, processor time of one of {processes} processes", cell)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs of less")
    parser.add_argument("--only", choices=["costs", "losses", "beginnings"])
    options = parser.parse_args()
    if (reason := why_not()) is not None:
        # `make bench` goes on without it.
        print(f"no kernel tracer: {reason}")
        return
    turns, rounds, seconds = (15, 3, 2.0) if options.quick else (60, 9, 5)
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "timed_system_calls"
        source = HERE / "timed_system_calls.c"
        run_tool(["gcc", "-O2", "-pthread", "-o", program, source])
        print("| | | |\n| --- | ---: | --- |")
        if options.only in {None, "costs"}:
            costs(program, turns, rounds)
        if options.only in {None, "losses"}:
            losses(program, seconds)
        if options.only in {None, "beginnings"}:
            beginnings(rounds)


if __name__ == "__main__":
    main()
