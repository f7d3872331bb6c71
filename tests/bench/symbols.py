"""Time symbol look-ups beside their peers, on the same addresses, in the same run.

20,000 random addresses of Python, whose debug file is in Debian's ``python3.11-dbg``, go
through ``vestige symbolize`` and the tools that do the same; then a trace whose events
come from 100,000 places in 50 objects is read with and without debug info. *Cold* is
without an index, *warm* with one. The commands of a job run in turn, A B C A B C ...
What is printed is Markdown; it is also written to ``bench-out/table-symbols.md``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.many_places import text_of, write_many_places
from bench.measure import Measure, measure
from bench.traces import OUTPUT
from vestige.debuginfo import find

VESTIGE = str(Path(sys.executable).parent / "vestige")
PYTHON = Path("/usr/bin/python3.11")
ADDRESSES = 20_000
MANY_ADDRESSES = 100_000
WITHOUT_DWARF = Path("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1")
"""A large library of Debian's, of which only the dynamic symbols are there."""
PLACES_EVENTS = 3_000_000
BIG_COPIES = 100
"""So many units, each of some 10 MB of debug information, make a file of 1 GB."""

COLD: Mapping[str, str] = {"VESTIGE_CACHE_SIZE": "0"}
WARM: Mapping[str, str] = {"VESTIGE_CACHE_DIR": str(OUTPUT / "symbol-cache")}


@dataclass(frozen=True)
class Contender:
    """A command that does the job."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    """Variables beside those of this process."""

    @property
    def is_there(self) -> bool:
        """Whether the program is installed."""
        return shutil.which(self.command[0]) is not None


@dataclass(frozen=True)
class Job:
    """What several commands do, with the same input."""

    name: str
    contenders: Sequence[Contender]
    input: Path | None = None


def jobs(*, big: bool) -> Iterator[Job]:
    """Return what is compared; ``big`` adds a debug file of 1 GB, made once."""
    debug = _debug_file()
    if debug is None:
        print(f"bench: no debug file of {PYTHON}: install python3.11-dbg")
    else:
        yield _addresses_job(f"{ADDRESSES} addresses of Python", debug)
    if WITHOUT_DWARF.exists():
        yield from _symbols_jobs(WITHOUT_DWARF)
    else:
        print(f"bench: no {WITHOUT_DWARF}: install llvm")
    yield _trace_job()
    if big:
        path = _big_file()
        size = path.stat().st_size / 1e9
        yield _addresses_job(f"100 addresses of a file of {size:.1f} GB", path, 100)


def _addresses_job(name: str, path: Path, count: int = ADDRESSES) -> Job:
    # The section headers of a debug file have the addresses of the object's.
    code = PYTHON if path == _debug_file() else path
    addresses = _random_addresses(path, code, count)
    own = [VESTIGE, "symbolize", "-f", "-i", "-C", "-e", str(path)]
    peer = ["-f", "-i", "-C", "-e", str(path)]
    contenders = [
        Contender("Vestige, cold", own, COLD),
        Contender("Vestige, warm", own, WARM),
        Contender("llvm-symbolizer", ["llvm-symbolizer", f"--obj={path}"], {}),
        Contender("addr2line", ["addr2line", *peer], {}),
        Contender("eu-addr2line", ["eu-addr2line", *peer], {}),
    ]
    return Job(name, contenders, addresses)


def _random_addresses(path: Path, code: Path, count: int) -> Path:
    """Write addresses in the text of an object to a file."""
    chance = random.Random(1)  # noqa: S311 - no secret
    start, end = text_of(code)
    addresses = OUTPUT / f"{path.stem}.addresses"
    lines = (f"{chance.randrange(start, end):#x}\n" for _ in range(count))
    addresses.write_text("".join(lines))
    return addresses


def _symbols_jobs(path: Path) -> Iterator[Job]:
    """Look up addresses of an object whose symbols are all there is."""
    addresses = _random_addresses(path, path, MANY_ADDRESSES)
    for what, option in (("", []), (", no demangling", ["--no-demangle"])):
        own = [VESTIGE, "symbolize", *option, "-e", str(path)]
        peer = ["llvm-symbolizer", *option, f"--obj={path}"]
        contenders = [
            Contender("Vestige", own, COLD),
            Contender("llvm-symbolizer", peer, {}),
        ]
        name = f"{MANY_ADDRESSES} addresses without DWARF{what}"
        yield Job(name, contenders, addresses)


def _trace_job() -> Job:
    trace = OUTPUT / "places"
    if not trace.exists():
        write_many_places(trace, PLACES_EVENTS)
    own = [VESTIGE, "convert", str(trace)]
    contenders = [
        Contender("without debug info", own, {}),
        Contender("Vestige, cold", [*own, "--debug-info"], COLD),
        Contender("Vestige, warm", [*own, "--debug-info"], WARM),
    ]
    return Job("text of 3 million events from 100,000 places", contenders)


def _debug_file() -> Path | None:
    found = find(PYTHON).debug if PYTHON.exists() else None
    path = getattr(found, "path", None)
    return None if path in (None, str(PYTHON)) else Path(path)


def _big_file() -> Path:
    """Return an executable with 1 GB of debug information."""
    path = OUTPUT / "big"
    if path.exists():
        return path
    work = OUTPUT / "work-big"
    work.mkdir(parents=True, exist_ok=True)
    unit, start = work / "unit.c", work / "main.c"
    unit.write_text("".join(_big_function(number) for number in range(9000)))
    start.write_text("int main(void) { return 0; }\n")
    command = ["gcc", "-g", "-O2", "-c", "-o", f"{work}/unit.o", str(unit)]
    subprocess.run(command, check=True)
    # All functions are static, so one unit can be linked many times.
    units = [f"{work}/unit.o"] * BIG_COPIES
    command = ["gcc", "-g", "-no-pie", "-o", str(path), str(start), *units]
    subprocess.run(command, check=True)
    return path


def _big_function(n: int) -> str:
    return f"""
struct node_{n} {{ int key_{n}; long sum_{n}; struct node_{n} *next_{n}; }};
static inline int step_{n}(struct node_{n} *node, int x) {{
    int y = node->key_{n} ^ x;
    for (int k = 0; k < y; k++) node->sum_{n} += k * x;
    return y + (int)node->sum_{n};
}}
__attribute__((used)) static int function_{n}(struct node_{n} *node, int a, int b) {{
    int c = step_{n}(node, a);
    if (c > b) c += step_{n}(node, b);
    while (node->next_{n}) {{ node = node->next_{n}; c += step_{n}(node, c); }}
    return c;
}}
"""


def run(job: Job, runs: int) -> Iterator[str]:
    """Run all commands of a job in turn and return the lines of the table."""
    there = [one for one in job.contenders if one.is_there]
    found: dict[str, list[Measure]] = {one.name: [] for one in job.contenders}
    for one in there:
        if one.environment is WARM:
            _measure(one, job.input)
    for _ in range(runs):
        for one in there:
            found[one.name].append(_measure(one, job.input))
    for name, measures in found.items():
        if not measures:
            yield f"| {job.name} | {name} | is missing | |"
            continue
        seconds = statistics.median(one.seconds for one in measures)
        peak = max(one.peak_kib for one in measures) // 1024
        yield f"| {job.name} | {name} | {seconds:.3f} s | {peak} MiB |"


def _measure(contender: Contender, source: Path | None) -> Measure:
    # Both are read by `measure` from this process.
    os.environ.update(contender.environment)
    standard_input = os.open(source or os.devnull, os.O_RDONLY)
    before = os.dup(0)
    try:
        os.dup2(standard_input, 0)
        return measure(contender.command)
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(standard_input)
        for name in contender.environment:
            del os.environ[name]


def main() -> None:
    """Run all jobs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--big", action="store_true", help="also a debug file of 1 GB")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    lines = [
        f"Median of {options.runs} runs.",
        "",
        "| job | tool | time | peak |",
        "| --- | --- | --- | --- |",
    ]
    for job in jobs(big=options.big):
        for line in run(job, options.runs):
            lines.append(line)
            print(line, file=sys.stderr)
    table = "\n".join(lines)
    (OUTPUT / "table-symbols.md").write_text(table + "\n", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
