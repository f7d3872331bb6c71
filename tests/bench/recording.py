"""Time the recorder beside LTTng-UST and uftrace: the same program, in the same run.

A program compiled with ``-finstrument-functions`` times its own calls, with the empty
hooks of the C library and under each tracer; all of them run in turn, A B C A B C ...
Costs are what a tracer adds. A cell is the median of the runs, a ratio the median of
the ratios. All traces are read back, and each call must have its two events or be
counted as lost. What is printed is Markdown; it is also written to
``bench-out/table-recording.md``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from support.lttng import LttngEnvironment, missing_requirement
from support.waiting import DeadlineExpiredError

HERE = Path(__file__).resolve().parent
WORKLOAD = HERE / "workload.lua"
COLUMNS = ("Vestige", "LTTng-UST", "uftrace")
LTTNG_CONTEXTS = ("vpid", "vtid", "ip")
NO_CONTEXTS = ("--context=none",)
STARTS = 10
"""Start-ups in a run: they are short."""


@dataclass(frozen=True)
class Row:
    """A number that the runs of a job tell."""

    what: str
    value: Callable[[Run, Run], float]
    """From a run, and from the run without a tracer that belongs to it."""
    form: str = "{:.1f} ns"
    plain: Callable[[Run], float] | None = None
    """The same of a run without a tracer, where that tells anything."""


@dataclass(frozen=True)
class Job:
    """The same command under several tracers."""

    name: str
    command: Callable[[], Sequence[str | Path]]
    tracers: Sequence[Tracer]
    rows: Sequence[Row]
    repeat: int = 1


@dataclass
class Measured:
    """The runs of one tracer, or why there are none."""

    runs: list[Run] = field(default_factory=list)
    reason: str = ""


def added_time(run: Run, plain: Run) -> float:
    """Return the nanoseconds that a call takes longer."""
    return run.values["call"] - plain.values["call"]


def call_size(run: Run, _plain: Run) -> float:
    """Return the bytes of a call; the metadata of the trace are spread over all."""
    return run.size / run.values["calls"]


def call_time(run: Run) -> float:
    """Return the nanoseconds of a call."""
    return run.values["call"]


def printed(what: str, name: str, form: str, unit: float = 1) -> Row:
    """Return the row of a number that the program prints."""

    def plain(run: Run) -> float:
        return run.values[name] / unit

    return Row(what, lambda run, _plain: plain(run), form, plain)


def jobs(lttng: LttngEnvironment | str, program: Path, calls: int) -> Iterator[Job]:
    """Return all that is measured."""
    uftrace = Uftrace()
    full: Sequence[Tracer] = (Vestige(), Lttng(lttng, LTTNG_CONTEXTS), uftrace)
    least: Sequence[Tracer] = (Vestige(NO_CONTEXTS), Lttng(lttng), uftrace)
    many = [str(calls)]

    def timed(*words: str) -> Callable[[], Sequence[str | Path]]:
        return lambda: [program, *words]

    def cost(name: str) -> tuple[Row, Row]:
        time = Row(f"a call, {name}", added_time, plain=call_time)
        return time, Row(f"its bytes, {name}", call_size, "{:.1f}")

    yield Job("calls", timed("calls", "1", *many), full, cost("with contexts"))
    yield Job("bare calls", timed("calls", "1", *many), least, cost("without contexts"))
    yield Job(
        "inert",
        timed("calls", "1", str(4 * calls)),
        (inert(), Lttng(lttng, has_session=False)),
        [Row("a call, not recording", added_time, "{:.2f} ns", call_time)],
    )
    yield Job(
        "latency",
        timed("latency", str(2 * calls)),
        full,
        [
            printed(f"median of {2 * calls:,} calls", "p50", "{:.0f} ns"),
            printed("99.99 % of them are below", "p9999", "{:.2f} µs", 1e3),
            printed("the slowest", "max", "{:.2f} ms", 1e6),
        ],
    )
    for threads in (1, 2, 8, 64):
        name = f"{threads} thread{'s' if threads > 1 else ''}"
        command = timed("calls", str(threads), str(calls // threads))
        row = Row(f"a call, {name}", added_time, plain=call_time)
        yield Job(f"threads {threads}", command, full, [row])
    yield _start_up(lttng)
    yield _lua(full)


def _start_up(lttng: LttngEnvironment | str) -> Job:
    row = Row(
        "start-up, added to /bin/true",
        lambda run, plain: (run.seconds - plain.seconds) * 1e3,
        "{:.1f} ms",
        lambda run: run.seconds * 1e3,
    )
    # Large buffers take time to make: these are those that LTTng has by default.
    peer = Lttng(lttng, LTTNG_CONTEXTS, sub_buffer_size="512K")
    tracers = (Vestige(), peer, Uftrace())
    return Job("start-up", lambda: ["/bin/true"], tracers, [row], repeat=STARTS)


def _lua(tracers: Sequence[Tracer]) -> Job:
    rows = [
        printed("Lua: a script", "seconds", "{:.2f} s"),
        Row(
            "Lua: slow-down",
            lambda run, plain: run.values["seconds"] / plain.values["seconds"],
            "{:.1f}x",
        ),
        Row("Lua: trace", lambda run, _plain: run.size / 1e6, "{:.0f} MB"),
        Row(
            "Lua: events in it", lambda run, _plain: run.events / 1e6, "{:.1f} million"
        ),
    ]
    return Job("Lua", lambda: [build_lua().resolve(), WORKLOAD], tracers, rows)


def measure(job: Job, runs: int) -> tuple[list[Run], list[Measured]]:
    """Run the command without and with each tracer, in turn."""
    command = job.command()
    plain: list[Run] = []
    found = [Measured(reason=tracer.missing() or "") for tracer in job.tracers]
    for _ in range(runs * job.repeat):
        plain.append(_once(Untraced(), command))
        for tracer, measured in zip(job.tracers, found, strict=True):
            if measured.reason:
                continue
            try:
                measured.runs.append(_once(tracer, command))
            except RunError as error:
                measured.reason = f"fails: {error}"
    return plain, found


def _once(tracer: Tracer, command: Sequence[str | Path]) -> Run:
    with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="recording-") as name:
        return tracer.run(command, Path(name).resolve())


def lines(job: Job, runs: int) -> Iterator[str]:
    """Measure a job and return its lines of the table."""
    plain, found = measure(job, runs)
    by_name = {
        tracer.name: measured
        for tracer, measured in zip(job.tracers, found, strict=True)
    }
    for row in job.rows:
        values = {
            name: [row.value(*pair) for pair in zip(measured.runs, plain, strict=False)]
            for name, measured in by_name.items()
            if not measured.reason
        }
        cells = [row.what, _baseline(row, plain)]
        cells += [_cell(row, name, by_name, values) for name in COLUMNS]
        cells += [_ratio(values, name) for name in COLUMNS[1:]]
        yield "| " + " | ".join(cells) + " |"
    for name, measured in by_name.items():
        if measured.reason:
            yield f"| {job.name}: {name} | {measured.reason} | | | | | |"
        elif lost := max(run.lost for run in measured.runs):
            yield f"| {job.name}: {name} lost up to | {lost:,} events | | | | | |"


def _baseline(row: Row, plain: Sequence[Run]) -> str:
    if row.plain is None:
        return ""
    return row.form.format(statistics.median(map(row.plain, plain)))


def _cell(
    row: Row,
    name: str,
    found: Mapping[str, Measured],
    values: Mapping[str, Sequence[float]],
) -> str:
    if name in values:
        return row.form.format(statistics.median(values[name]))
    return "" if name not in found else "-"


def _ratio(values: Mapping[str, Sequence[float]], peer: str) -> str:
    own = values.get(COLUMNS[0], ())
    if peer not in values or not own or min(own) <= 0:
        return ""
    ratios = [theirs / ours for ours, theirs in zip(own, values[peer], strict=True)]
    return f"{statistics.median(ratios):.2g}x"


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
        f"Median of {options.runs} runs.",
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
