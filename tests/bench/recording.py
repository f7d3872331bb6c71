"""Time the recorder beside LTTng-UST and uftrace: the same program, in the same run.

A program compiled with ``-finstrument-functions`` times its own calls, with the empty
hooks of the C library and under each tracer; all of them run in turn, A B C A B C ...
Costs are what a tracer adds. The machine's other work only ever makes a run longer, so a
cell is the least of the runs; of percentiles it is the median. All traces are read back, and each call must have its two events or be
counted as lost. What is printed is Markdown; it is also written to
``bench-out/table-recording.md``.
"""

from __future__ import annotations

import argparse
import operator
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lua import SourceError, build_lua
from bench.tracers import (
    Lttng,
    Run,
    RunError,
    Tracer,
    Uftrace,
    Untraced,
    Vestige,
    inert,
)
from bench.traces import OUTPUT
from support.compilers import run_tool
from support.judged_programs import build_judged
from support.lttng import LttngEnvironment, missing_requirement
from support.waiting import DeadlineExpiredError

HERE = Path(__file__).resolve().parent
WORKLOAD = HERE / "workload.lua"
COLUMNS = ("Vestige", "LTTng-UST", "uftrace")
LTTNG_CONTEXTS = ("vpid", "vtid", "ip")
NO_CONTEXTS = ("--context=none",)
STARTS = 10
"""Start-ups in a run: they are short."""
CHILDREN = 3000
MANY = 2
"""Threads whose files take no time worth speaking of."""
SETTLE = 6.0
IDLE_SECONDS = "10"
SLOW_WRITES_US = 500
MANY_TIMES = 10
"""From here on digits behind the point tell nothing."""


@dataclass(frozen=True)
class Row:
    """A number that the runs of a job tell."""

    what: str
    of: Callable[[Run], float]
    """The number of one run."""
    form: str = "{:.1f} ns"
    pick: Callable[[Iterable[float]], float] = min
    """Makes one of those of all runs."""
    beside: Callable[[float, float], float] | None = None
    """Makes the cell of it and of that without a tracer."""
    has_plain: bool = True
    """Whether the run without a tracer has a cell, too."""

    def number(self, runs: Iterable[Run], plain: Iterable[Run]) -> float:
        """Return the number in the cell of a tracer."""
        found = self.pick(map(self.of, runs))
        if self.beside is None:
            return found
        return self.beside(found, self.pick(map(self.of, plain)))


@dataclass(frozen=True)
class Job:
    """The same command under several tracers."""

    name: str
    command: Callable[[], Sequence[str | Path]]
    tracers: Sequence[Tracer]
    rows: Sequence[Row]
    repeat: int = 1
    has_memory: bool = False
    """Whether memory is looked at, also without a tracer."""
    settle: float = 0
    """Seconds between the removal of traces and the next run.

    ext4 passes over each inode that was removed in the last five seconds when it makes a
    file: where there are many threads, that would be measured.
    """


@dataclass
class Measured:
    """The runs of one tracer, or why there are none."""

    runs: list[Run] = field(default_factory=list)
    reason: str = ""


FILTERS = {
    "one comparison": "addr == 1",
    "two comparisons": "addr == 1 || call_site == 1",
    "a context": "$ctx.vtid == 1",
}
"""None is true for any call."""


def call_size(run: Run) -> float:
    """Return the bytes of a call; the metadata of the trace are spread over all."""
    return run.size / run.values["calls"]


def printed(name: str, unit: float = 1) -> Callable[[Run], float]:
    """Return what reads a number that the program printed."""
    return lambda run: run.values[name] / unit


def added_time(what: str, form: str = "{:.1f} ns") -> Row:
    """Return the row of the nanoseconds that a call takes longer."""
    return Row(what, printed("call"), form, beside=operator.sub)


def percentile(what: str, name: str, form: str, unit: float) -> Row:
    """Return the row of a percentile, of which the median run counts."""
    return Row(what, printed(name, unit), form, statistics.median)


def added_percentile(what: str) -> Row:
    """Return the row of how much later 99.99 % of all calls are over."""
    return Row(
        what,
        printed("p9999", 1e3),
        "{:.2f} µs",
        statistics.median,
        beside=operator.sub,
    )


def an_event(nanoseconds: Callable[[Run], float]) -> Callable[[Run], float]:
    """Return what shares a time among the entries and exits of all calls."""
    return lambda run: nanoseconds(run) / (2 * run.values["calls"])


def jobs(lttng: LttngEnvironment | str, program: Path, calls: int) -> Iterator[Job]:
    """Return all that is measured."""
    uftrace = Uftrace()
    full: Sequence[Tracer] = (Vestige(), Lttng(lttng, LTTNG_CONTEXTS), uftrace)
    least: Sequence[Tracer] = (Vestige(NO_CONTEXTS), Lttng(lttng), uftrace)
    many = [str(calls)]

    def timed(*words: str) -> Callable[[], Sequence[str | Path]]:
        return lambda: [program, *words]

    def cost(name: str) -> tuple[Row, Row]:
        size = Row(f"its bytes, {name}", call_size, "{:.1f}", has_plain=False)
        return added_time(f"a call, {name}"), size

    yield Job("calls", timed("calls", "1", *many), full, cost("with contexts"))
    yield Job("bare calls", timed("calls", "1", *many), least, cost("without contexts"))
    yield Job(
        "inert",
        timed("calls", "1", str(4 * calls)),
        (inert(), Lttng(lttng, has_session=False)),
        [added_time("a call, not recording", "{:.2f} ns")],
    )
    for name, expression in FILTERS.items():
        options = ("-e", "lttng_ust_cyg_profile:*", "--filter", expression)
        yield Job(
            f"filtered {name}",
            timed("calls", "1", *many),
            (Vestige(options, takes_none=True),),
            [added_time(f"a call that a filter leaves out, {name}")],
        )
    yield Job(
        "latency",
        timed("latency", "1", str(2 * calls)),
        full,
        [
            percentile(f"median of {2 * calls:,} calls", "p50", "{:.0f} ns", 1),
            percentile("99.99 % of them are below", "p9999", "{:.2f} µs", 1e3),
            percentile("the slowest", "max", "{:.2f} ms", 1e6),
            added_percentile("99.99 %, added"),
        ],
    )
    yield Job(
        "latency, 8 threads",
        timed("latency", "8", str(2 * calls // 8)),
        full,
        [added_percentile("99.99 %, added, 8 threads")],
        settle=SETTLE,
    )
    for threads in (1, 2, 64):
        yield _processor(
            threads, timed("calls", str(threads), str(4 * calls // threads))
        )
    for threads in (1, 2, 8, 64):
        name = f"{threads} thread{'s' if threads > 1 else ''}"
        command = timed("calls", str(threads), str(calls // threads))
        row = added_time(f"a call, {name}")
        settle = SETTLE if threads > MANY else 0
        yield Job(f"threads {threads}", command, full, [row], settle=settle)
    yield from _start_up(lttng)
    yield _children()
    yield from _memory(timed("calls", "64", str(calls // 64)))
    yield _idle()
    yield _slow_disk(timed("calls", "4", str(calls // 4)))
    yield from _helpers(lttng, calls)
    yield _lua(full)


def _processor(threads: int, command: Callable[[], Sequence[str | Path]]) -> Job:
    """Of Vestige alone: that of LTTng's daemon is nowhere in a run."""
    name = f"{threads} thread{'s' if threads > 1 else ''}"
    rows = [
        Row(
            f"processor time an event, {name}",
            an_event(lambda run: run.processor * 1e9),
        ),
        Row(
            f"the program's part of it, {name}",
            lambda run: run.values["processor"] / 2,
        ),
    ]
    if threads == MANY:
        elapsed = an_event(lambda run: run.seconds * 1e9)
        rows.append(Row(f"elapsed an event, {name}", elapsed))
    settle = SETTLE if threads > MANY else 0
    return Job(f"processor, {name}", command, (Vestige(),), rows, settle=settle)


def _start_up(lttng: LttngEnvironment | str) -> Iterator[Job]:
    row = Row(
        "start-up, added to /bin/true",
        lambda run: run.seconds * 1e3,
        "{:.1f} ms",
        beside=operator.sub,
    )
    # Large buffers take time to make: these are those that LTTng has by default.
    peer = Lttng(lttng, LTTNG_CONTEXTS, sub_buffer_size="512K")
    tracers = (Vestige(), peer, Uftrace())
    yield Job("start-up", lambda: ["/bin/true"], tracers, [row], repeat=STARTS)
    # As people start it; LTTng's work at the end is its daemon's.
    whole = Row(
        "start-up and summary, processor time",
        lambda run: run.processor * 1e3,
        "{:.1f} ms",
        beside=operator.sub,
    )
    shown = (Vestige(has_summary=True), Uftrace())
    yield Job("start-up, whole", lambda: ["/bin/true"], shown, [whole], repeat=STARTS)


def _children() -> Job:
    row = Row(f"{CHILDREN:,} short children", lambda run: run.seconds, "{:.2f} s")
    command: list[str | Path] = [
        build_judged(OUTPUT.resolve(), "children"),
        str(CHILDREN),
    ]
    tracers = (Vestige(), Uftrace())
    return Job("children", lambda: command, tracers, [row], settle=SETTLE)


def _memory(busy: Callable[[], Sequence[str | Path]]) -> Iterator[Job]:
    """Of the command and the program, with what they share; LTTng's is its daemon's."""
    tracers = (Vestige(has_memory=True), Uftrace(has_memory=True))
    commands = {"a quiet thread": lambda: ["sleep", "0.5"], "64 threads": busy}
    for name, command in commands.items():
        row = Row(f"memory, {name}", lambda run: run.peak / 1e6, "{:.0f} MB", max)
        yield Job(f"memory, {name}", command, tracers, [row], has_memory=True)


def _idle() -> Job:
    """What a recorder does while its program does nothing."""
    program = OUTPUT / "timed-parent"
    run_tool(["gcc", "-O2", "-g", "-o", program, HERE / "timed_parent.c"])
    row = Row(
        "processor time while the program sleeps",
        printed("idle", 1e4),
        "{:.3f} %",
        has_plain=False,
    )
    command = partial(tuple[str | Path, ...], (program.resolve(), IDLE_SECONDS))
    return Job("idle", command, (Vestige(), Uftrace()), [row])


def _slow_disk(command: Callable[[], Sequence[str | Path]]) -> Job:
    """Whoever writes the trace waits for some time with each write."""
    library = OUTPUT / "slow-writes.so"
    flags = ["-O2", "-g", "-shared", "-fPIC"]
    run_tool(["gcc", *flags, "-o", library, HERE / "slow_writes.c"])
    variables = {
        "LD_PRELOAD": os.fspath(library.resolve()),
        "SLOW_WRITES_US": str(SLOW_WRITES_US),
    }
    tracers = (Vestige(variables=variables), Uftrace(variables=variables))
    row = Row(
        f"4 threads, a disk that takes {SLOW_WRITES_US} µs for 64 KiB",
        an_event(lambda run: run.seconds * 1e9),
        "{:.1f} ns an event",
    )
    return Job("slow disk", command, tracers, [row], settle=SETTLE)


def _helpers(lttng: LttngEnvironment | str, calls: int) -> Iterator[Job]:
    program = OUTPUT / "timed-helpers"
    flags = ["-O2", "-g", "-fno-builtin", "-pthread"]
    run_tool(["gcc", *flags, "-o", program, HERE / "timed_helpers.c"])
    path = program.resolve()
    for word, name, what in (
        ("memory", "libc", "malloc() and free()"),
        ("mutex", "pthread", "lock and unlock of a mutex"),
    ):
        peer = Lttng(
            lttng,
            LTTNG_CONTEXTS,
            helper=f"liblttng-ust-{name}-wrapper.so",
            events=(f"lttng_ust_{name}:*",),
        )
        command = partial(tuple[str | Path, ...], (path, word, str(calls)))
        tracers = (Vestige((f"--{name}",)), peer)
        yield Job(f"helper {word}", command, tracers, [added_time(what)])


def _lua(tracers: Sequence[Tracer]) -> Job:
    seconds = printed("seconds")
    rows = [
        Row("Lua: a script", seconds, "{:.2f} s"),
        Row(
            "Lua: slow-down",
            seconds,
            "{:.1f}x",
            beside=operator.truediv,
            has_plain=False,
        ),
        Row("Lua: trace", lambda run: run.size / 1e6, "{:.0f} MB", has_plain=False),
        Row(
            "Lua: events in it",
            lambda run: run.events / 1e6,
            "{:.1f} million",
            has_plain=False,
        ),
    ]
    return Job("Lua", lambda: [build_lua().resolve(), WORKLOAD], tracers, rows)


def measure(job: Job, runs: int) -> tuple[list[Run], list[Measured]]:
    """Run the command without and with each tracer, in turn."""
    command = job.command()
    plain: list[Run] = []
    found = [Measured(reason=tracer.missing() or "") for tracer in job.tracers]
    for _ in range(runs * job.repeat):
        with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="recording-") as name:
            directory = Path(name).resolve()
            plain.append(Untraced(has_memory=job.has_memory).run(command, directory))
            for tracer, measured in zip(job.tracers, found, strict=True):
                if measured.reason:
                    continue
                try:
                    measured.runs.append(tracer.run(command, directory))
                except RunError as error:
                    measured.reason = f"fails: {error}"
        time.sleep(job.settle)
    return plain, found


def lines(job: Job, runs: int) -> Iterator[str]:
    """Measure a job and return its lines of the table."""
    plain, found = measure(job, runs)
    by_name = {
        tracer.name: measured
        for tracer, measured in zip(job.tracers, found, strict=True)
    }
    for row in job.rows:
        numbers = {
            name: row.number(measured.runs, plain)
            for name, measured in by_name.items()
            if not measured.reason
        }
        cells = [row.what]
        cells.append(
            row.form.format(row.pick(map(row.of, plain))) if row.has_plain else ""
        )
        cells += [_cell(row, name, by_name, numbers) for name in COLUMNS]
        cells += [_ratio(numbers, name) for name in COLUMNS[1:]]
        yield "| " + " | ".join(cells) + " |"
    for name, measured in by_name.items():
        if measured.reason:
            yield f"| {job.name}: {name} | {measured.reason} | | | | | |"
        elif lost := max(run.lost for run in measured.runs):
            yield f"| {job.name}: {name} lost up to | {lost:,} events | | | | | |"


def _cell(
    row: Row, name: str, found: Mapping[str, Measured], numbers: Mapping[str, float]
) -> str:
    if name in numbers:
        return row.form.format(numbers[name])
    return "-" if name in found else ""


def _ratio(numbers: Mapping[str, float], peer: str) -> str:
    own = numbers.get(COLUMNS[0], 0)
    if peer not in numbers or own <= 0:
        return ""
    ratio = numbers[peer] / own
    return f"{ratio:.0f}x" if ratio >= MANY_TIMES else f"{ratio:.2g}x"


def build_program() -> Path:
    """Return the program that times its calls."""
    source, program = HERE / "timed_calls.c", OUTPUT / "timed-calls"
    flags = ["-O2", "-g", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", program, source])
    return program.resolve()


def start_lttng(stack: ExitStack) -> LttngEnvironment | str:
    """Start a session daemon that ends with the stack; or return why not."""
    if reason := missing_requirement():
        return reason
    try:
        return stack.enter_context(LttngEnvironment())
    except (DeadlineExpiredError, OSError, subprocess.SubprocessError) as error:
        return f"the session daemon does not start: {error}"


def main() -> None:
    """Run all jobs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--only", metavar="WORD", help="jobs whose name has this word")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    headings = [
        "",
        "not traced",
        *COLUMNS,
        *(f"{peer} / Vestige" for peer in COLUMNS[1:]),
    ]
    table = [
        f"Least or median of {options.runs} runs.",
        "",
        "| " + " | ".join(headings) + " |",
        "| " + " | ".join("---" for _ in headings) + " |",
    ]
    with ExitStack() as stack:
        lttng = start_lttng(stack)
        program = build_program()
        for job in jobs(lttng, program, 500_000 if options.quick else 5_000_000):
            if options.only is not None and options.only not in job.name:
                continue
            try:
                for line in lines(job, options.runs):
                    table.append(line)
                    print(line, file=sys.stderr)
            except SourceError as error:
                table.append(f"| {job.name} | {error} | | | | | |")
    text = "\n".join(table)
    (OUTPUT / "table-recording.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
