"""Sessions of our daemon beside those of lttng-sessiond, with programs of LTTng-UST.

Run by ``make bench-sessions``. Both daemons get the same channel, the same programs, and
the same commands in turn; all runs alternate.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.session_events import event_rows, variants
from support.compilers import run_tool
from support.live_sessions import daemon_for_programs
from support.lttng import LttngEnvironment, missing_requirement
from support.waiting import wait_until

HERE = Path(__file__).parent
THREADS = (1, 2, 4)
CHANNEL = "--subbuf-size=1M --num-subbuf=4"
RULE = "points:*"
SECONDS = 120.0
SNAPSHOT = 64 << 20
"""Bytes of all buffers of which snapshots are taken."""
LEAST_RECORD = 24
"""Bytes of a record of the program, at least."""
LOST = re.compile(rb"(\d+) events were discarded")
LISTED = re.compile(rb"^PID:", re.MULTILINE)
VERBS = (
    "list",
    "create v",
    "enable-channel -u c",
    "enable-event -u -c c x:y",
    "start v",
)
VERBS += ("stop v", "destroy v")

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[bytes]"]


class Daemon:
    """One of the two, and how commands and programs are run with it.

    Args:
        name: Whose it is.
        run: Runs a command to its end.
        spawn: Starts one that goes on.
        lttng: The words of a session command.
        daemons: The process IDs of all that belongs to it.
    """

    def __init__(
        self,
        name: str,
        run: Run,
        spawn: Callable[[Sequence[str]], subprocess.Popen[bytes]],
        lttng: Sequence[str],
        daemons: Callable[[], list[int]],
    ) -> None:
        self.name, self.run, self.spawn = name, run, spawn
        self.lttng, self.daemons = lttng, daemons

    def do(self, command: str) -> bytes:
        """Run a session command; return all that it says."""
        done = self.run([*self.lttng, *command.split()])
        return done.stdout + done.stderr

    def timed(self, command: str) -> float:
        """Return the milliseconds of a command, as a shell in its place has them."""
        script = 'a=$EPOCHREALTIME; "$@" >&2; b=$EPOCHREALTIME; echo $a $b'
        words = ["bash", "-c", script, "bash", *self.lttng, *command.split()]
        begin, end = self.run(words).stdout.split()[-2:]
        return (float(end) - float(begin)) * 1000


def environment(extra: dict[str, str]) -> dict[str, str]:
    """Return the variables of programs."""
    return {**os.environ, "LTTNG_UST_REGISTER_TIMEOUT": "20000", **extra}


@contextmanager
def ours(folder: Path) -> Iterator[Daemon]:
    """Have our daemon, with commands as ``vestige commands install`` writes them."""
    install = [sys.executable, "-m", "vestige", "commands", "install", str(folder)]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    with daemon_for_programs() as daemon:
        variables = environment(daemon.environment)

        def run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(
                words, env=variables, capture_output=True, timeout=SECONDS, check=False
            )

        def spawn(words: Sequence[str]) -> subprocess.Popen[bytes]:
            return subprocess.Popen(words, env=variables, stdin=subprocess.PIPE)

        yield Daemon(
            "Vestige", run, spawn, [str(folder / "lttng")], lambda: [daemon.pid or 0]
        )


@contextmanager
def theirs() -> Iterator[Daemon]:
    """Have lttng-sessiond, in name spaces of its own."""
    with LttngEnvironment() as lttng:
        more = {"LTTNG_UST_REGISTER_TIMEOUT": "20000"}

        def run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
            return lttng.run(
                list(words), environment=more, seconds=SECONDS, check=False
            )

        def spawn(words: Sequence[str]) -> subprocess.Popen[bytes]:
            inside = lttng._inside([str(one) for one in words], more)
            return subprocess.Popen(
                inside, env=lttng._environment(), stdin=subprocess.PIPE
            )

        def daemons() -> list[int]:
            first = lttng._name_space_pid
            found = [int(one) for one in _below(first)] if first else []
            return [one for one in found if _name(one).startswith("lttng-")]

        yield Daemon("LTTng", run, spawn, ["lttng"], daemons)


def _below(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from _below(child)


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def events(
    daemon: Daemon, program: Path, threads: int, passes: int
) -> tuple[float, float]:
    """Return the nanoseconds of an event, and how many of a hundred are lost."""
    with tempfile.TemporaryDirectory() as output:
        for command in (
            f"create b --output={output}",
            f"enable-channel -u {CHANNEL} c",
            f"enable-event -u -c c {RULE}",
            "start b",
        ):
            daemon.do(command)
        said = daemon.run([str(program), str(threads), str(passes)]).stdout
        stopped = daemon.do("stop b")
        daemon.do("destroy b")
    call = float(said.split()[0].partition(b"=")[2])
    lost = LOST.search(stopped)
    share = 100 * int(lost[1]) / (threads * passes) if lost else 0.0
    return call, share


def snapshot(daemon: Daemon, program: Path) -> float:
    """Return the milliseconds of a snapshot of some 64 MB of buffers that are full.

    The first of a session: LTTng ends sub-buffers for each, so that others have less.
    """
    cpus = sorted(os.sched_getaffinity(0))
    # A power of two, as the daemons make it.
    size = 1 << (SNAPSHOT // (4 * (os.cpu_count() or 1))).bit_length() - 1
    with tempfile.TemporaryDirectory() as output:
        for command in (
            f"create b --snapshot --output={output}",
            f"enable-channel -u --subbuf-size={size} --num-subbuf=4 c",
            f"enable-event -u -c c {RULE}",
            "start b",
        ):
            daemon.do(command)
        passes = 4 * size // LEAST_RECORD
        for cpu in cpus:
            words = ["taskset", "-c", str(cpu), str(program), "1", str(passes)]
            daemon.run(words)
        taken = daemon.timed("snapshot record -s b")
        daemon.do("destroy b")
        written = sum(one.stat().st_size for one in Path(output).rglob("c_*"))
        if written < 3 * size * len(cpus):
            sys.exit(f"{daemon.name}: a snapshot has {written} bytes")
    return taken


def processor(pids: Sequence[int]) -> float:
    """Return the seconds that processes have had of the processor."""
    ticks = 0
    for pid in pids:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pids: Sequence[int]) -> float:
    """Return the MiB that processes have for themselves, and their part of others."""
    total = 0
    for pid in pids:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += int(re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0])
    return total / 1024


def many(daemon: Daemon, program: Path, count: int, idle: float) -> dict[str, float]:
    """Return what many registered programs cost."""
    begun = time.monotonic()
    programs = [daemon.spawn([str(program)]) for _ in range(count)]
    try:
        wait_until(
            lambda: len(LISTED.findall(daemon.do("list -u"))) == count,
            f"{count} programs are registered",
            SECONDS,
        )
        registered = time.monotonic() - begun
        listing = statistics.median(daemon.timed("list -u") for _ in range(5))
        pids = daemon.daemons()
        before = processor(pids)
        time.sleep(idle)
        used = 100 * (processor(pids) - before) / idle
        size = memory(pids)
    finally:
        for one in programs:
            if one.stdin is not None:
                one.stdin.close()
        for one in programs:
            one.wait(SECONDS)
    return {"registered": registered, "listing": listing, "idle": used, "memory": size}


def row(job: str, unit: str, pairs: Sequence[tuple[float, float]]) -> str:
    """Return a line of the table: the medians, and what one is of the other."""
    own, other = (statistics.median(one) for one in zip(*pairs, strict=True))
    share = f"{own / other:.2f}x" if other else ""
    return f"| {job} | {own:.2f} {unit} | {other:.2f} {unit} | {share} |"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args()
    missing = missing_requirement()
    if missing is not None:
        sys.exit(missing)
    rounds, passes, programs = (
        (3, 200_000, 100) if options.quick else (9, 1_000_000, 100)
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "timed_threads"
        sources = [HERE / "timed_threads.c"]
        flags = ["-O2", f"-I{HERE}", "-llttng-ust", "-ldl", "-lpthread"]
        run_tool(["gcc", "-o", program, *sources, *flags])
        print("| | Vestige | LTTng | |\n| --- | ---: | ---: | ---: |")
        with ours(folder / "bin") as own, theirs() as other:
            both = (own, other)
            for threads in THREADS:
                found = [
                    [events(one, program, threads, passes) for one in both]
                    for _ in range(rounds)
                ]
                for index, (job, unit) in enumerate(
                    [("an event", "ns"), ("lost", "%")]
                ):
                    pairs = [(one[index], two[index]) for one, two in found]
                    print(row(f"{job}, {threads} threads", unit, pairs), flush=True)
            times = [
                [[one.timed(verb) for verb in VERBS] for one in both]
                for _ in range(rounds)
            ]
            for index, verb in enumerate(VERBS):
                pairs = [(one[index], two[index]) for one, two in times]
                print(row(f"`{verb}`", "ms", pairs), flush=True)
            taken = [
                (snapshot(own, program), snapshot(other, program))
                for _ in range(rounds)
            ]
            print(row("a snapshot of 64 MB", "ms", taken), flush=True)
            compared = variants(own, other, folder)
            for job, unit, pairs in event_rows(compared, is_quick=options.quick):
                print(row(job, unit, pairs), flush=True)
            idle = [many(one, program, programs, 5.0) for one in both]
            for key, job, unit in (
                ("registered", f"{programs} programs start and register", "s"),
                ("listing", f"`list -u` of {programs} programs", "ms"),
                ("idle", f"the daemon with {programs} programs, idle", "% CPU"),
                ("memory", "its memory", "MiB"),
            ):
                print(row(job, unit, [(idle[0][key], idle[1][key])]), flush=True)


if __name__ == "__main__":
    main()
