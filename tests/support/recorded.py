"""Programs that are recorded, and what the recordings hold."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import vestige
from support.compilers import PROGRAMS, run_tool
from support.session_daemon import is_running
from support.waiting import PATIENCE, wait_until
from vestige.record import RecordingOptions
from vestige.record.backends.in_process.clock import ClockRate
from vestige.record.backends.in_process.collector import RunningCollector
from vestige.record.backends.in_process.metadata import (
    metadata_head,
    metadata_rest,
)
from vestige.record.backends.in_process.tracer import tracer_environment
from vestige.record.collected import Collected

__all__ = [
    "PreparedTrace",
    "build_program",
    "counts",
    "kill_all",
    "plain_metadata",
    "record_command",
    "run_recorded",
    "start_traced",
    "without_losses",
]

SECONDS = 60.0


def build_program(directory: Path, name: str = "recorded", *flags: str) -> Path:
    """Compile a program of tests/programs with calls of the hooks."""
    path = directory / name
    options = ["-g", "-O1", "-finstrument-functions", "-pthread", *flags]
    run_tool(["gcc", *options, "-o", path, PROGRAMS / f"{name}.c"])
    return path


def without_losses(text: str) -> str:
    """Return what a recorder said but for the line of lost events.

    Args:
        text: What it said, with ``--quiet``.
    """
    return re.sub(
        r"^vestige: warning: events were lost: .*\n", "", text, flags=re.MULTILINE
    )


def record_command(
    output: Path, program: Sequence[str | Path], *options: str
) -> list[str]:
    """Return the command line that records a program."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    words = [
        sys.executable,
        "-c",
        code,
        "record",
        "-o",
        output,
        *options,
        "--",
        *program,
    ]
    return [os.fspath(word) if isinstance(word, Path) else str(word) for word in words]


def run_recorded(
    output: Path, program: Sequence[str | Path], *options: str
) -> subprocess.CompletedProcess[str]:
    """Record a program with the command line; return what it printed.

    What it said of killed recordings of other tests is left out: /dev/shm is shared.
    """
    done = subprocess.run(
        record_command(output, program, *options),
        capture_output=True,
        text=True,
        timeout=SECONDS * PATIENCE,
        check=False,
    )
    done.stderr = "".join(
        line
        for line in done.stderr.splitlines(keepends=True)
        if not _is_of_another_test(line, output.parent)
    )
    return done


def _is_of_another_test(line: str, folder: Path) -> bool:
    if re.match(r"vestige: and [0-9,]+ more like that: ", line):
        return True
    is_of_killed = "memory" in line and "recording" in line and "was killed" in line
    return is_of_killed and str(folder) not in line


def counts(trace: Path) -> Counter[str]:
    """Return how many events of each name a trace holds, without the provider."""
    opened = vestige.open(trace, debug_info=False)
    found = Counter((event.name or "").partition(":")[2] for event in opened)
    assert not opened.damage
    return found


def plain_metadata(uuid: str, options: RecordingOptions) -> str:
    """Return the metadata of a trace whose clock counts nanoseconds from 1970 on.

    Args:
        uuid: The UUID of the trace.
        options: What it holds.
    """
    rate = ClockRate(1_000_000_000, 0)
    head = metadata_head(uuid, rate, options, "trace", is_counter=True)
    return head + metadata_rest(options, is_counter=True)


class PreparedTrace:
    """A trace, and memory to which programs can record that a test starts itself.

    Nothing is written before :meth:`close`: the collector is not started.

    Args:
        directory: The trace, which is made.
        options: What is recorded.
        rules: The rules in the form that the tracer reads; ``None`` are those of the
            options.
    """

    def __init__(
        self, directory: Path, options: RecordingOptions, rules: bytes | None = None
    ) -> None:
        directory.mkdir()
        uuid = str(uuid4())
        (directory / "metadata").write_text(
            plain_metadata(uuid, options), encoding="utf-8"
        )
        self.collector = RunningCollector(str(directory), uuid, options, rules)
        self.variables = tracer_environment(
            str(directory), options, self.collector.words, is_counter=True
        )

    def close(self) -> Collected:
        """Write what the programs have recorded."""
        collected = self.collector.close()
        self.collector.remove()
        return collected

    @contextmanager
    def locked_classes(self) -> Iterator[None]:
        """Hold the lock of the event classes, as a process does that was stopped."""
        lock = ctypes.CDLL(None, use_errno=True)
        with Path(str(self.collector.words["arena"])).open("r+b") as file:
            memory = mmap.mmap(file.fileno(), 0)
        shared = int.from_bytes(memory[40:48], sys.byteorder)
        place = ctypes.c_char.from_buffer(memory, shared + 256)
        assert lock.pthread_mutex_lock(ctypes.byref(place)) == 0
        try:
            yield
        finally:
            assert lock.pthread_mutex_unlock(ctypes.byref(place)) == 0
            del place


def start_traced(
    directory: Path,
    command: Sequence[str | Path],
    options: RecordingOptions,
    prefix: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """Start recording a program in a process group of its own, to be killed with it.

    Args:
        directory: The trace.
        command: The program and its arguments.
        options: What is recorded.
        prefix: A command that starts the recorder.

    Returns:
        The recorder, with the standard output of the program.
    """
    words = [os.fspath(word) for word in command]
    code = (
        "from vestige.record import *; "
        f"record({words!r}, {os.fspath(directory)!r}, {options!r})"
    )
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill_all(process: subprocess.Popen[str]) -> None:
    """Kill a recorder and all that it started, at once; return when all have ended."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not _runs(process.pid), "the end of the processes", SECONDS)


def _runs(group: int) -> bool:
    """Tell whether a process of a group goes on; what nobody has waited for does not."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = place.read_text(errors="replace").rpartition(")")[2].split()
            if int(words[2]) == group and is_running(int(place.parent.name)):
                return True
    return False
