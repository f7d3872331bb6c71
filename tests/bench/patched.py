"""Time what is recorded of programs without hooks, beside uftrace and our own hooks.

A program times its own calls, as in ``bench.recording``; it is compiled twice, with hooks
and without. sqlite3 is that of the distribution. What is printed is Markdown; it is also written to
``bench-out/table-patched.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lua import SourceError, build_lua
from bench.recording import MANY_TIMES, WORKLOAD
from bench.sqlite import COMMAND, SqliteError, same_functions
from bench.tracers import Run, RunError, Tracer, Uftrace, Untraced, Vestige
from bench.traces import OUTPUT
from support.compilers import run_tool
from vestige.record.backends.in_process.plan_cache import PlanCache
from vestige.record.backends.in_process.plans import plan_of

SOURCE = Path(__file__).resolve().parent / "timed_patched.c"
FLAGS = ("-O2", "-g", "-fno-builtin")
HOOKS = ("-finstrument-functions",)
PLANNED = Path("/usr/bin/python3.11")
PLAIN, HOOKED, PEER = "Vestige", "hooks", "uftrace"
COLUMNS = (HOOKED, PLAIN, PEER)
ARGUMENTS = ("-P", "sum", "-A", "sum@arg1,arg2", "--no-libcall")
RESULT = ("-R", "sum@retval")


@dataclass(frozen=True)
class Job:
    """What is called, and how it is recorded by each."""

    what: str
    words: Sequence[str]
    own: Sequence[str] = ()
    """Options of ``vestige record``."""
    peer: Sequence[str] = ()
    """Options of ``uftrace record``."""
    events: str = "*:func_*"
    each: int = 2
    has_hooks: bool = True
    """Whether the same is recorded by hooks."""

    def tracers(self) -> dict[str, Tracer]:
        """Return those that record it, by their columns."""
        found: dict[str, Tracer] = {
            PLAIN: Vestige(self.own, events=self.events, each=self.each),
            PEER: Uftrace(self.peer),
        }
        return {HOOKED: Vestige(), **found} if self.has_hooks else found


JOBS = (
    Job("a call", ["leaf"], ["--patch=leaf"], ["-P", "leaf", "--no-libcall"]),
    Job(
        "a call, entries alone",
        ["leaf"],
        ["--patch=leaf", "--entries"],
        ["-P", "leaf", "--no-libcall"],
        each=1,
    ),
    Job("a library call", ["library"], ["--library-calls=labs"], has_hooks=False),
    Job(
        "a probe of two arguments",
        ["probe"],
        ["--probe=sum(first, second)"],
        ARGUMENTS,
        "vestige_probe:*",
        1,
    ),
    Job(
        "the same with the result",
        ["probe"],
        ["--probe=sum(first, second, $return)"],
        (*ARGUMENTS, *RESULT),
        "vestige_probe:*",
    ),
)


def build(*, has_hooks: bool) -> Path:
    """Return the program that times its calls."""
    program = OUTPUT / ("hooked-calls" if has_hooks else "plain-calls")
    run_tool(["gcc", *FLAGS, *(HOOKS if has_hooks else ()), "-o", program, SOURCE])
    return program.resolve()


def least(
    commands: dict[str, tuple[Tracer, Sequence[str | Path]]],
    runs: int,
    of: Callable[[Run], float],
) -> dict[str, float]:
    """Run commands in turn; return the least number of each."""
    found: dict[str, float] = {}
    for _ in range(runs):
        for name, (tracer, command) in commands.items():
            if tracer.missing():
                continue
            with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="patched-") as folder:
                number = of(tracer.run(command, Path(folder).resolve()))
            found[name] = min(number, found.get(name, number))
    return found


def row(what: str, form: str, untraced: float, found: dict[str, float]) -> str:
    """Return a line of the table: what each tracer adds."""
    cells = [what, form.format(untraced)]
    cells += [form.format(found[name]) if name in found else "" for name in COLUMNS]
    for name in (HOOKED, PEER):
        ratio = found[name] / found[PLAIN] if name in found else 0
        many = f"{ratio:.0f}x" if ratio >= MANY_TIMES else f"{ratio:.2g}x"
        cells.append(many if ratio else "")
    return "| " + " | ".join(cells) + " |"


def call_rows(calls: int, runs: int) -> Iterator[str]:
    """Time calls that are recorded in several ways."""
    hooked, plain = build(has_hooks=True), build(has_hooks=False)
    for job in JOBS:
        words = [*job.words, str(calls)]
        commands: dict[str, tuple[Tracer, Sequence[str | Path]]] = {
            "": (Untraced(), [plain, *words])
        }
        for name, tracer in job.tracers().items():
            commands[name] = tracer, [hooked if name == HOOKED else plain, *words]
        found = least(commands, runs, lambda run: run.values["call"])
        untraced = found.pop("")
        added = {name: number - untraced for name, number in found.items()}
        yield row(job.what, "{:.1f} ns", untraced, added)


def lua_row(runs: int) -> str:
    """Time a script."""
    script: Sequence[str | Path] = [build_lua(has_hooks=False).resolve(), WORKLOAD]
    hooked: Sequence[str | Path] = [build_lua().resolve(), WORKLOAD]
    commands: dict[str, tuple[Tracer, Sequence[str | Path]]] = {
        "": (Untraced(), script),
        HOOKED: (Vestige(), hooked),
        PLAIN: (Vestige(("--patch",)), script),
        PEER: (Uftrace(("-P", ".", "--no-libcall")), script),
    }
    found = least(commands, runs, lambda run: run.values["seconds"])
    untraced = found.pop("")
    return row("Lua: a script, whole", "{:.2f} s", untraced, found)


def sqlite_row(runs: int) -> str:
    """Time a program of the distribution, from its start to its end."""
    same = same_functions()
    commands: dict[str, tuple[Tracer, Sequence[str | Path]]] = {
        "": (Untraced(), COMMAND),
        PLAIN: (Vestige(same.own), COMMAND),
        PEER: (Uftrace(same.peer), COMMAND),
    }
    found = least(commands, runs, _whole)
    untraced = found.pop("")
    added = {name: number - untraced for name, number in found.items()}
    calls = f"{same.calls / 1e6:.1f} million calls of {same.functions} functions"
    return row(f"sqlite3, whole: {calls}", "{:.2f} s", untraced, added)


def _whole(run: Run) -> float:
    if run.lost:
        raise RunError(f"{run.lost} records lost")
    return run.seconds


def planning_rows(runs: int) -> Iterator[str]:
    """Time plans of a large program, without and with the cache."""
    if not PLANNED.exists():
        return
    with tempfile.TemporaryDirectory(dir=OUTPUT) as folder:
        for what, cache in (
            (f"planning {PLANNED.name}", PlanCache(None)),
            ("the same with the cache", PlanCache(folder)),
        ):
            numbers = []
            for _ in range(runs + 1):
                start = time.perf_counter()
                plan_of(str(PLANNED), cache, only_sites=False)
                numbers.append(time.perf_counter() - start)
            yield f"| {what} | | | {min(numbers) * 1e3:.1f} ms | | | |"


def main() -> None:
    """Measure all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--only", metavar="WORD", help="for bench.recording")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    table = [
        f"Least of {options.runs} runs.",
        "",
        "| | not traced | Vestige, by hooks | Vestige | uftrace | hooks / Vestige | uftrace / Vestige |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in call_rows(500_000 if options.quick else 5_000_000, options.runs):
        table.append(line)
        print(line, file=sys.stderr)
    for what, timed in (("Lua", lua_row), ("sqlite3", sqlite_row)):
        try:
            table.append(timed(options.runs))
        except (SourceError, SqliteError, RunError) as error:
            table.append(f"| {what} | {error} | | | | | |")
        print(table[-1], file=sys.stderr)
    table += planning_rows(options.runs)
    text = "\n".join(table)
    (OUTPUT / "table-patched.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
