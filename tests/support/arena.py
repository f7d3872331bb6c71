"""Programs that record to the arena of a small collector: what the tracer does, alone."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import plain_metadata
from vestige.record import RecordingOptions
from vestige.record._agreement import AGREEMENT
from vestige.record.backends.in_process.tracer import library_path

__all__ = [
    "HEAD",
    "UUID_OF_TESTS",
    "WORDS",
    "Collected",
    "build_collector",
    "collect",
    "read_counts",
    "write_metadata",
]

SECONDS = 120.0
TRACER = Path(__file__).parents[2] / "tracer"
HEAD = f"2 agreement={AGREEMENT} clock=counter"
WORDS = f"{HEAD} contexts=ip,vpid entries=fast exits=fast"
UUID_OF_TESTS = str(UUID(bytes=b"vestige-test-run"))


@dataclass(frozen=True)
class Collected:
    """What a program did, and what the collector got of it."""

    status: int
    """The exit status as a shell has it."""

    output: str
    facts: Mapping[str, int]
    """What the collector counted."""

    events: Counter[str]
    """Events of each name, without the provider."""

    lost: int
    """Events that the trace tells were lost."""

    damage: tuple[str, ...]

    @property
    def calls(self) -> int:
        """Entries and exits of functions."""
        return self.events["func_entry"] + self.events["func_exit"]

    @property
    def counted(self) -> int:
        """Entries and exits, and all that was lost."""
        return self.calls + self.lost + self.facts["shared_lost"]


def build_collector(directory: Path) -> Path:
    """Compile the collector of tests/programs/arena."""
    path = directory / "collector"
    source = PROGRAMS / "arena" / "collector.c"
    options = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    run_tool(["gcc", *options, f"-I{TRACER / 'arena'}", "-o", path, source])
    return path


def collect(
    collector: Path,
    trace: Path,
    program: Sequence[str | Path],
    *options: str,
    words: str = WORDS,
    environment: Mapping[str, str] | None = None,
) -> Collected:
    """Run a program with the tracer, drain its arena into a trace, and read that.

    Args:
        collector: The collector.
        trace: The directory to be made.
        program: The program and its arguments.
        options: Of the collector, ``name=value``.
        words: What the tracer is told, without the arena.
        environment: More variables.
    """
    trace.mkdir()
    done = subprocess.run(
        [os.fspath(one) for one in (collector, trace, *options, "--", *program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
        env={
            **os.environ,
            "VESTIGE_TRACER": words,
            "TRACER_LIBRARY": library_path(),
            **(environment or {}),
        },
    )
    assert done.returncode == 0, done.stdout
    lines = (trace / ".facts").read_text(encoding="utf-8").splitlines()
    numbers = {name: int(value) for name, value in map(str.split, lines)}
    write_metadata(trace, words)
    events, lost, damage = read_counts(trace)
    return Collected(numbers.pop("status"), done.stdout, numbers, events, lost, damage)


def write_metadata(trace: Path, words: str) -> None:
    """Write the metadata of a trace, with the classes that programs have added."""
    contexts = [one for one in words.split() if one.startswith("contexts=")]
    names = contexts[0].removeprefix("contexts=").split(",") if contexts else []
    options = RecordingOptions(contexts=tuple(names))
    text = plain_metadata(UUID_OF_TESTS, options)
    classes = (trace / ".classes").read_text(encoding="utf-8")
    (trace / "metadata").write_text(text + classes, encoding="utf-8")


def read_counts(trace: Path) -> tuple[Counter[str], int, tuple[str, ...]]:
    """Return the events of each name, how many were lost, and what is damaged."""
    if not any(one.name[0].isdigit() for one in trace.iterdir()):
        return Counter(), 0, ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = vestige.open(trace, debug_info=False)
        events = Counter((event.name or "").partition(":")[2] for event in opened)
    return (
        events,
        sum(loss.count or 0 for loss in opened.losses),
        tuple(str(damage) for damage in opened.damage),
    )
