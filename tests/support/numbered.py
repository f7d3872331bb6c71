"""Programs whose threads number their events, recorded where recording is hard.

A seed chooses where, how, and who is killed. Afterwards each thread's events that were
read, and those that the trace says were lost, must together be as many as the thread
made. How many that is, the threads tell in a file that they have mapped.
"""

from __future__ import annotations

import os
import random
import re
import struct
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import vestige
from support.compilers import PROGRAMS
from support.instrumented import Sources
from support.peers import run_peer
from support.recorded import record_command
from support.surroundings import Surroundings
from support.waiting import wait_until
from vestige.record.backends.in_process.packets import packet_heads
from vestige.record.backends.in_process.stream_files import is_stream_file

__all__ = [
    "DEATHS",
    "PLACES",
    "Case",
    "Counts",
    "Numbered",
    "build_numbered",
    "run_case",
]

SECONDS = 120.0
PLACES = ("plain", "disk", "memory", "group", "size")
"""What is short: nothing, the disk, the memory for the arena, that of a control group, the
recording."""
DEATHS = ("nobody", "program", "recorder", "both")
ACCOUNT = struct.Struct("=QQQQ")
EVENTS = 60_000
"""Most events of all threads: some megabytes."""
GONE = 1 << 40
"""For a loss of whole packets."""
_DISCARDED = re.compile(rb"Tracer discarded (\d+) event")


class Case(NamedTuple):
    """What a seed stands for."""

    seed: int
    place: str
    victim: str
    threads: int
    events: int
    """Of each thread."""
    after: int
    """Events of all threads, after which somebody is killed."""
    has_calls: bool
    confined: int
    """Whether threads filter system calls, and which: see the program."""
    pause: int
    """Microseconds of some pauses."""
    leave: int
    """Number of the event of each thread from which on it has no place in memory to count
    in; 0: it keeps its place."""
    daemon: int
    """Whether the program goes on in the background, and how: see there."""
    options: tuple[str, ...]
    """Of ``vestige record``."""
    size: int
    """Of the disk, or the room in a control group; KiB."""
    kills_recovery: float | None
    """Seconds after which the recovery is killed, and done again."""

    @classmethod
    def of(cls, seed: int) -> Case:
        """Return the case of a seed: all places with all deaths, the rest by chance."""
        chance = random.Random(seed)  # noqa: S311 - no secret
        place = PLACES[seed % len(PLACES)]
        victim = DEATHS[seed // len(PLACES) % len(DEATHS)]
        threads = chance.choice((1, 1, 2, 3, 8))
        # To fill memory that is emptied all the time takes many.
        least = 0.95 if place in {"memory", "group"} else 0.7
        count = int(EVENTS ** chance.uniform(least, 1) / threads)
        # With nobody to write, a thread would wait for ten seconds.
        modes = ["block=50ms", "block=200ms", "discard"]
        if place in {"plain", "size"}:
            modes.append("block")
        options = [f"--mode={chance.choice(modes)}"]
        options.append(f"--buffer-size={chance.choice(('8k', '64k', '512k', '4M'))}")
        if place == "size":
            options.append(f"--max-size={chance.choice((300, 700, 2000))}k")
        # In the background, nobody knows who the recorder is.
        is_alone = victim in {"nobody", "program"}
        return cls(
            seed,
            place,
            victim,
            threads,
            count,
            after=int(threads * count * chance.uniform(0.05, 0.9)),
            has_calls=chance.random() < 0.4,
            confined=chance.choice((0, 0, 0, 0, 1, 2)),
            pause=chance.choice((0, 50, 1000)),
            leave=chance.choice((0, 0, 0, 0, 0, count // 2)),
            daemon=chance.choice((0, 0, 0, 0, 1, 2)) if is_alone else 0,
            options=tuple(options),
            size=chance.choice((600, 1200, 3000, 6000)),
            kills_recovery=chance.choice((None, None, 0.15, 0.2, 0.3)),
        )


class Account(NamedTuple):
    """What a thread says that it has made."""

    process: int
    thread: int
    begun: int
    """Number of the last event that it began to make."""
    done: int
    """Number of the last one that is made."""


class Counts(NamedTuple):
    """What a recording holds."""

    numbers: dict[int, list[int]]
    """Of each thread, by its place among them: the numbers of its events, as read."""
    records: Counter[int]
    """Event records of each thread ID, of whatever kind."""
    lost: Counter[int]
    """What the packets of each thread ID say was lost; that of 0 are threads that had no
    place in memory to count in."""
    all_lost: int
    """All that was lost, as :func:`vestige.open` tells it."""
    damage: tuple[str, ...]


class Numbered(NamedTuple):
    """A recording of the program, and what the program says of itself."""

    case: Case
    accounts: list[Account]
    """Of the first thread, which makes one event, and of the others."""
    counts: Counts
    peer: tuple[int, int] | None
    """Events that Babeltrace 2 reads, and those that it says were lost; ``None`` if it was
    not asked."""
    output: str
    """What was printed, by everybody."""

    def problems(self, others: int) -> Iterator[str]:
        """Say what does not add up.

        A thread that was killed may have been in the middle of an event: each record of
        that may be there, or not. All others are there or counted.

        Args:
            others: Records that the first thread makes besides those of its event.

        Yields:
            Sentences.
        """
        counts = self.counts
        if counts.damage:
            yield f"damage: {counts.damage}"
        if self._should_have_ended and not self._has_ended:
            yield f"the program did not do all that it should: {self.accounts}"
        least = most = got = 0
        for place, one in enumerate(self.accounts):
            yield from _out_of_order(place, one, counts.numbers.get(place, []))
            low, high = self._made(one, others if place == 0 else 0)
            lost = counts.lost[one.thread]
            told = counts.records[one.thread] + lost
            if told > high or (told < low and not counts.lost[0]):
                yield (
                    f"thread {place} (vtid {one.thread}): made {low} to {high} records; "
                    f"{told - lost} were read, {lost} are told to be lost"
                )
            least, most, got = least + low, most + high, got + told
        if not least <= got + counts.lost[0] <= most:
            yield (
                f"all threads: made {least} to {most} records; {got} were read or are "
                f"told to be lost, and {counts.lost[0]} of threads without a place"
            )
        ours = (counts.records.total(), counts.lost.total())
        if counts.all_lost != ours[1]:
            yield f"packets say that {ours[1]} were lost, the reader {counts.all_lost}"
        if self.peer not in {None, ours}:
            yield f"read and lost: ours {ours}, of Babeltrace 2 {self.peer}"

    @property
    def _should_have_ended(self) -> bool:
        # Where memory is short, the kernel may kill whom it likes.
        return self.case.victim in {"nobody", "recorder"} and self.case.place != "group"

    @property
    def _has_ended(self) -> bool:
        return [one.done for one in self.accounts[1:]] == [
            self.case.events
        ] * self.case.threads

    def _made(self, account: Account, others: int) -> tuple[int, int]:
        each = 3 if self.case.has_calls else 1
        return each * account.done + others, each * account.begun + others


def _out_of_order(place: int, account: Account, numbers: list[int]) -> Iterator[str]:
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        yield f"thread {place}: an event is there twice, or at a wrong place"
    if numbers and numbers[-1] > account.begun:
        yield f"thread {place}: event {numbers[-1]} of {account.begun}"


def build_numbered(directory: Path) -> Path:
    """Compile the program."""
    sources = Sources(directory)
    place = PROGRAMS / "numbered"
    objects = [
        sources.compile(place / "numbered.c"),
        sources.compile(place / "called.c", "-finstrument-functions"),
    ]
    return sources.link("numbered", *objects, *sources.libraries)


def run_case(
    program: Path, case: Case, directory: Path, *, asks_peer: bool = False
) -> Numbered:
    """Record the program as a case has it, and recover what is left.

    Args:
        program: What :func:`build_numbered` has made.
        case: The case.
        directory: An empty one.
        asks_peer: Whether Babeltrace 2 reads the recording, too.

    Returns:
        The recording.

    Raises:
        UnavailableError: There is no such place on this machine.
    """
    with Surroundings(case.place, case.size, directory) as around:
        trace = around.directory / "trace"
        command: Sequence[str | Path] = [
            program,
            directory / "accounts",
            *_words(case, around),
        ]
        options = ["--context=vpid,vtid", *case.options]
        done = subprocess.run(
            around.command(record_command(trace, command, *options)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
            start_new_session=True,
        )
        around.make_room()
        if case.daemon:
            _wait_for_background(trace)
        output = done.stdout + _recover(case, around, trace)
        assert (trace / "metadata").exists(), output
        return Numbered(
            case,
            _read_accounts(directory / "accounts", case),
            _read_counts(trace),
            _read_with_peer(trace) if asks_peer else None,
            output,
        )


def _wait_for_background(trace: Path) -> None:
    """Wait until no process is left that collects for a trace."""
    path = os.fsencode(trace)

    def is_collected() -> bool:
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if path in (process / "cmdline").read_bytes():
                    return True
        return False

    wait_until(lambda: not is_collected(), "the collector ends", SECONDS)


def _words(case: Case, around: Surroundings) -> list[str]:
    """Return the arguments of the program after its file."""
    words: dict[str, object] = {
        "seed": case.seed,
        "threads": case.threads,
        "count": case.events,
        "calls": int(case.has_calls),
        "confined": case.confined,
        "pause": case.pause,
        "leave": case.leave,
        "daemon": case.daemon,
    }
    if case.victim != "nobody":
        words |= {"kill": case.victim, "after": case.after}
    if around.filler is not None:
        words["filler"] = around.filler
    return [f"{name}={value}" for name, value in words.items()]


def _recover(case: Case, around: Surroundings, trace: Path) -> str:
    """Recover what is left, if there is anything; return what was printed."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    words = [sys.executable, "-c", code, "record", "--recover", str(trace)]
    if case.kills_recovery is not None:
        with (
            suppress(subprocess.TimeoutExpired),
            subprocess.Popen(around.command(words), stderr=subprocess.DEVNULL) as first,
        ):
            try:
                first.wait(case.kills_recovery)
            finally:
                first.kill()
    printed = ""

    def is_done() -> bool:
        nonlocal printed
        done = subprocess.run(
            around.command(words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        printed = done.stdout + f"exit status {done.returncode}\n" * bool(
            done.returncode
        )
        # One that was killed has its files until all of it is gone.
        return "is still recorded" not in printed

    wait_until(is_done, "the recorder is gone", SECONDS)
    return printed


def _read_accounts(path: Path, case: Case) -> list[Account]:
    found = [Account(*one) for one in ACCOUNT.iter_unpack(path.read_bytes())]
    return [one for one in found[: case.threads + 1] if one.thread]


def _read_counts(trace: Path) -> Counts:
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    records: Counter[int] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = vestige.open(trace, debug_info=False)
        for event in opened:
            records[event["vtid"]] += 1
            if event.name == "numbered:made":
                numbers[event["place"]].append(event["number"])
    # Packets that are gone were never counted: none may be.
    lost = sum(
        one.count or 0 if one.kind == "events" else GONE for one in opened.losses
    )
    return Counts(
        numbers, records, _lost_by_thread(trace), lost, tuple(map(str, opened.damage))
    )


def _lost_by_thread(trace: Path) -> Counter[int]:
    """Read heads of packets: threads that do not overlap share a data stream."""
    packets = [
        (one.instance, one.number, one.lost, one.thread)
        for path in trace.iterdir()
        if is_stream_file(path.name)
        for one in packet_heads(path)
    ]
    found: Counter[int] = Counter()
    before: dict[int, int] = {}
    for stream, _, lost, thread in sorted(packets):
        found[thread] += lost - before.get(stream, 0)
        before[stream] = lost
    return +found


def _read_with_peer(trace: Path) -> tuple[int, int]:
    done = run_peer(["babeltrace2", "--names=none", trace])
    lost = sum(map(int, _DISCARDED.findall(done.stderr)))
    return done.stdout.count(b"\n"), lost
