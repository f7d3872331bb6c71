"""Time tracepoints beside LTTng-UST: one source, compiled with the headers of each.

A program passes a tracepoint with an int and a string, and times it. What is printed is
Markdown; it is also written to ``bench-out/table-points.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.recording import COLUMNS, LTTNG_CONTEXTS, Job, Row, lines, start_lttng
from bench.tracers import Lttng, Run, Tracer, Untraced, Vestige
from bench.traces import OUTPUT
from support.compilers import run_tool
from support.lttng import LttngEnvironment
from vestige.record.development import compile_flags, link_flags

HERE = Path(__file__).resolve().parent
CONTEXTS = ("--context=vpid,vtid,ip",)
EVENTS = ("points:*",)


@dataclass(frozen=True)
class Compiled:
    """Runs a tracer's own build of the program.

    Args:
        tracer: The tracer.
        program: What is run in place of the job's program.
    """

    tracer: Tracer
    program: Path

    @property
    def name(self) -> str:
        """The tracer's column."""
        return self.tracer.name

    def missing(self) -> str | None:
        """Return why the tracer cannot be used here."""
        return self.tracer.missing()

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run the build once."""
        return self.tracer.run([self.program, *program[1:]], directory)


def added(run: Run) -> float:
    """Return the nanoseconds of a tracepoint, without the loop around it."""
    return max(run.values["call"] - run.values["bare"], 0.0)


def jobs(lttng: LttngEnvironment | str, passes: int) -> Iterator[Job]:
    """Return all that is measured."""
    own = _build("points-vestige", [*compile_flags()], link_flags())
    tracers: list[Tracer] = [Compiled(Vestige(CONTEXTS), own)]
    idle: list[Tracer] = [Compiled(Untraced("Vestige"), own)]
    usual: list[Tracer] = [Compiled(Vestige(), own)]
    unchanged: list[Tracer] = []
    if not isinstance(lttng, str):
        theirs = _build("points-lttng", [], ["-llttng-ust", "-ldl"])
        peer = Lttng(lttng, LTTNG_CONTEXTS, events=EVENTS, helper="")
        tracers.append(Compiled(peer, theirs))
        idle.append(Compiled(Untraced("LTTng-UST"), theirs))
        short = Lttng(lttng, ("vpid", "ip"), events=EVENTS, helper="")
        usual.append(Compiled(short, theirs))
        unchanged += [Compiled(Vestige(), theirs), usual[-1]]

    def command(count: int) -> Sequence[str | Path]:
        return [own, str(count)]

    yield Job(
        "points",
        lambda: command(passes),
        tracers,
        [
            Row("a tracepoint with vpid, vtid, ip", added, has_plain=False),
            Row(
                "its bytes",
                lambda run: run.size / run.values["records"],
                "{:.1f}",
                has_plain=False,
            ),
        ],
    )
    yield Job(
        "usual points",
        lambda: command(passes),
        usual,
        [Row("a tracepoint with vpid, ip", added, has_plain=False)],
    )
    if unchanged:
        yield Job(
            "points of LTTng",
            lambda: command(passes),
            unchanged,
            [Row("one compiled with LTTng-UST's headers", added, has_plain=False)],
        )
    yield Job(
        "idle points",
        lambda: command(20 * passes),
        idle,
        [Row("a tracepoint, not recording", added, "{:.2f} ns", has_plain=False)],
    )


def _build(name: str, flags: Sequence[str], libraries: Sequence[str]) -> Path:
    program = (OUTPUT / name).resolve()
    source = HERE / "timed_points.c"
    run_tool(
        ["gcc", "-O2", "-g", *flags, f"-I{HERE}", "-o", program, source, *libraries]
    )
    return program


def main() -> None:
    """Run all jobs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the passes")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program")
    parser.add_argument("--only", metavar="WORD", help="jobs whose name has this word")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    own, peer = COLUMNS[:2]
    headings = ["", "not traced", *COLUMNS, f"{peer} / {own}", ""]
    table = [
        f"The least of {options.runs} runs.",
        "",
        "| " + " | ".join(headings) + " |",
        "| " + " | ".join("---" for _ in headings) + " |",
    ]
    with ExitStack() as stack:
        lttng = start_lttng(stack)
        for job in jobs(lttng, 300_000 if options.quick else 3_000_000):
            if options.only is not None and options.only not in job.name:
                continue
            for line in lines(job, options.runs):
                table.append(line)
                print(line, file=sys.stderr)
    text = "\n".join(table)
    (OUTPUT / "table-points.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
