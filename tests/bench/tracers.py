"""The tracers that record the same program beside each other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple, Protocol, Self

import vestige
from bench.measure import environment
from support.lttng import (
    CYG_PROFILE_FAST_HELPER,
    Channel,
    LttngEnvironment,
    LttngError,
    Program,
)
from vestige.record.backends.in_process.tracer import library_path

SECONDS = 300.0
"""For one run; it takes a few."""
LOOK = 0.01
"""Seconds between two looks at the memory of a command."""
VESTIGE = [
    sys.executable,
    "-c",
    "from vestige.cli.start import entry_point; entry_point()",
]
UFTRACE_RECORD = 16
"""Bytes of an entry or an exit in the file of a thread."""
FAST_EVENTS = ("lttng_ust_cyg_profile_fast:*",)


class RunError(Exception):
    """A run that cannot be counted: the tracer failed, or the program under it."""


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    values: Mapping[str, float]
    """What the program printed of itself, as ``NAME=VALUE``."""

    seconds: float
    """The whole command, from its start to its end."""

    size: int = 0
    """Bytes of the trace."""

    events: int = 0
    """Entries and exits of functions in the trace."""

    lost: int = 0
    """Event records that the tracer counted as lost, or that are not there."""

    processor: float = 0
    """Seconds of all cores, of the command and what it waited for."""

    peak: int = 0
    """Bytes that the command and its children had in memory at once, nearly: their own,
    and the files of shared memory that they have mapped, each once."""


class Tracer(Protocol):
    """Runs a program, and records it or not."""

    @property
    def name(self) -> str:
        """What the tracer is called in the table."""
        ...

    def missing(self) -> str | None:
        """Return why it cannot be used here, or None when it can."""
        ...

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run a program once; traces go into a directory that is removed after."""
        ...


@dataclass(frozen=True)
class Untraced:
    """Runs the program with the empty hooks of the C library, or with inert ones."""

    name: str = "not traced"
    variables: Mapping[str, str] = field(default_factory=dict)
    has_memory: bool = False
    """Whether memory is looked at, which takes time from the program."""

    def missing(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run the program."""
        del directory
        return _run(program, self.variables, has_memory=self.has_memory).run


def inert() -> Untraced:
    """Return the tracer that is loaded and switched off."""
    variables = {"LD_PRELOAD": library_path(), "VESTIGE_TRACER_OFF": "1"}
    return Untraced("Vestige", variables)


@dataclass(frozen=True)
class Vestige:
    """Runs the program under ``vestige record``."""

    options: Sequence[str] = ()
    name: str = "Vestige"
    takes_none: bool = False
    """Whether the options leave all calls out."""
    events: str = "*:func_*"
    """Which events are counted."""
    each: int = 2
    """How many of them a call has."""
    has_summary: bool = False
    """Whether it prints what it recorded, as it does for people."""
    has_memory: bool = False
    """Whether memory is looked at, which takes time from the program."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of the environment, of the recorder and the program."""

    def missing(self) -> str | None:
        """Return None: it is what is measured."""
        return None

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run the program."""
        trace = directory / "vestige"
        options = self.options if self.has_summary else ("-q", *self.options)
        command = [*VESTIGE, "record", "-o", trace, *options, "--", *program]
        run = _run(command, self.variables, has_memory=self.has_memory).run
        if self.takes_none:
            return run
        return _recorded(run, trace, self.events, self.each)


@dataclass(frozen=True)
class Lttng:
    """Runs the program with LTTng-UST's helper, while a session of its own records."""

    lttng: LttngEnvironment | str
    """The running session daemon, or why there is none."""

    contexts: Sequence[str] = ()
    name: str = "LTTng-UST"
    has_session: bool = True
    sub_buffer_size: str = "32M"
    """Of eight: so large that nothing is lost, for that would be cheaper."""
    events: Sequence[str] = FAST_EVENTS
    helper: str = CYG_PROFILE_FAST_HELPER
    """What is preloaded, if anything."""

    def missing(self) -> str | None:
        """Return why the session daemon is not there."""
        if isinstance(self.lttng, str):
            return self.lttng
        tool = ["sh", "-c", f"LD_PRELOAD={self.helper} true"]
        if b"cannot be preloaded" in self.lttng.run(tool, check=False).stderr:
            return f"{self.helper} is not installed"
        return None

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run the program; ``seconds`` leaves out what enters the name spaces."""
        assert isinstance(self.lttng, LttngEnvironment)
        trace = directory / "lttng"
        preload = [self.helper] if self.helper else []
        helper = Program(program, preload=preload, seconds=SECONDS)
        if not self.has_session:
            return self._timed(helper)
        channel = Channel(
            contexts=self.contexts,
            events=self.events,
            sub_buffer_size=self.sub_buffer_size,
            sub_buffer_count=8,
        )
        with self.lttng.session(trace, [channel]):
            run = self._timed(helper)
        return _recorded(run, trace)

    def _timed(self, program: Program) -> Run:
        assert isinstance(self.lttng, LttngEnvironment)
        start = time.perf_counter()
        self.lttng.run(["env", "true"])
        entered = time.perf_counter()
        subprocess.run(["true"], check=True)
        begin = time.perf_counter()
        try:
            text = self.lttng.run_program(program).decode()
        except LttngError as error:
            raise RunError(str(error)) from error
        seconds = time.perf_counter() - begin
        entering = (entered - start) - (begin - entered)
        return Run(_values(text), seconds - entering)


@dataclass(frozen=True)
class Uftrace:
    """Runs the program under ``uftrace record``; library calls are not recorded."""

    options: Sequence[str] = ("--no-libcall",)
    name: str = "uftrace"
    has_memory: bool = False
    """Whether memory is looked at, which takes time from the program."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of the environment, of the command and the program."""

    def missing(self) -> str | None:
        """Return why it is not there."""
        if shutil.which("uftrace") is None:
            return "uftrace is not installed"
        return None

    def run(self, program: Sequence[str | Path], directory: Path) -> Run:
        """Run the program."""
        trace = directory / "uftrace"
        # A program that is not instrumented is run by force.
        options = ["--force", *self.options, "-d", str(trace)]
        command = ["uftrace", "record", *options, "--", *program]
        done = _run(command, self.variables, has_memory=self.has_memory)
        counted = sum(map(int, re.findall(r"LOST (\d+) records", done.errors)))
        files = [path for path in trace.glob("*.dat") if path.stem.isdigit()]
        kept = sum(path.stat().st_size for path in files) // UFTRACE_RECORD
        missing = max(2 * int(done.run.values.get("calls", 0)) - kept, 0)
        lost = max(counted, missing)
        return replace(done.run, size=_size(trace), events=kept, lost=lost)


class _Watch:
    """Looks at a process from time to time, and ends it if it takes too long."""

    def __init__(
        self, process: subprocess.Popen[bytes], *, has_memory: bool = False
    ) -> None:
        self.peak = 0
        self._has_memory = has_memory
        self._process = process
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        deadline = time.monotonic() + SECONDS
        while not self._ended.wait(LOOK):
            if time.monotonic() > deadline:
                self._process.kill()
            if self._has_memory:
                self.peak = max(self.peak, memory_of(self._process.pid))


def memory_of(process: int) -> int:
    """Return the bytes of memory of a process and its descendants, as they are now.

    Shared memory counts once, whether it is mapped or not; of other pages that several
    processes share, each has its part (proc(5), ``smaps_rollup``).
    """
    own, shared = 0, dict[str, int]()
    for one in _family(process):
        with suppress(OSError):
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
            parts = {
                words[0]: 1024 * int(words[1])
                for words in map(str.split, rollup.splitlines()[1:])
            }
            own += parts["Pss:"] - parts.get("Pss_Shmem:", 0)
            maps = Path(f"/proc/{one}/maps").read_text(errors="replace")
            for path in {*re.findall(r" (/dev/shm/\S+)$", maps, re.MULTILINE)}:
                shared[path] = Path(path).stat().st_blocks * 512
    return own + sum(shared.values())


def _family(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


class _Done(NamedTuple):
    run: Run
    errors: str


def _run(
    command: Sequence[str | Path],
    variables: Mapping[str, str] | None = None,
    *,
    has_memory: bool = False,
) -> _Done:
    """Run a command; measure it, and keep what it printed."""
    words = [os.fspath(word) for word in command]
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            words,
            env={**environment(), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        with _Watch(process, has_memory=has_memory) as watch:
            _, status, used = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text, complaints = output.read(), errors.read()
    if process.returncode != 0:
        last = (complaints.strip().splitlines() or [""])[-1].strip()
        raise RunError(f"exit status {process.returncode}: {last}")
    run = Run(
        _values(text),
        seconds,
        processor=used.ru_utime + used.ru_stime,
        peak=watch.peak,
    )
    return _Done(run, complaints)


def _values(text: str) -> Mapping[str, float]:
    return {name: float(value) for name, value in re.findall(r"(\w+)=(\d[\d.]*)", text)}


def _size(trace: Path) -> int:
    return sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())


def _recorded(run: Run, trace: Path, events: str = "*:func_*", each: int = 2) -> Run:
    """Add what a trace holds: an entry and an exit of each call, or each tracepoint."""
    opened = vestige.open(trace, debug_info=False)
    has_points = "records" in run.values
    pattern = "points:*" if has_points else events
    kept = opened.events(pattern).to_arrow(["event"]).drain()
    lost = sum(loss.count or 0 for loss in opened.losses)
    wanted = int(
        run.values["records"] if has_points else each * run.values.get("calls", 0)
    )
    if wanted and kept + lost != wanted:
        raise RunError(f"{kept} events kept and {lost} lost, of {wanted}")
    return replace(run, size=_size(trace), events=kept, lost=lost)
