"""Starting a program with the tracer in it, and closing its trace."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from uuid import uuid4

from ..errors import RecordError
from .clock import ClockRate, RecordingClock, has_constant_counter
from .collect import Collected, collect
from .metadata import metadata_text
from .options import RecordingOptions
from .tracer import clock_reader, tracer_environment

__all__ = ["Recording", "record"]

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True)
class Recording:
    """A recording that has ended."""

    directory: Path
    """The trace."""

    status: int
    """The program's exit status; 128 and the number of the signal that ended it."""

    seconds: float
    """How long the program ran."""

    collected: Collected
    """What the trace holds."""


def record(
    command: Sequence[str], directory: Path, options: RecordingOptions | None = None
) -> Recording:
    """Run a program and record it.

    Args:
        command: The program and its arguments.
        directory: The trace: a directory that is new or empty.
        options: What is recorded.

    Returns:
        The recording.

    Raises:
        RecordError: The program or the tracer cannot be started, or the directory
            cannot hold a trace.
    """
    options = options or RecordingOptions()
    directory = _make_directory(directory)
    is_counter = has_constant_counter()
    read = clock_reader() if is_counter else None
    uuid = uuid4()

    def write_metadata(rate: ClockRate) -> None:
        text = metadata_text(uuid, rate, options, directory.name, is_counter=is_counter)
        partial = directory / ".metadata"
        partial.write_text(text, encoding="utf-8")
        partial.replace(directory / "metadata")

    clock = RecordingClock(read)
    write_metadata(clock.first_rate())
    environment = tracer_environment(directory, uuid, options, is_counter=is_counter)
    started = time.monotonic()
    with clock.measured_again(write_metadata):
        status = _run(command, environment)
    seconds = time.monotonic() - started
    collected = collect(directory)
    write_metadata(clock.rate())
    return Recording(directory, status, seconds, collected)


def _make_directory(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        directory = directory.resolve()
        if any(directory.iterdir()):
            raise RecordError("expected a new or an empty directory", path=directory)
    except OSError as error:
        raise RecordError(
            f"cannot hold a trace: {error.strerror}", path=directory
        ) from error
    return directory


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise RecordError(
            f"cannot be started: {error.strerror}", path=command[0]
        ) from error
    with _signals_passed_on(process):
        status = process.wait()
    return status if status >= 0 else 128 - status


@contextmanager
def _signals_passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave the terminal's signals to the program, and pass on what comes to us."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        os.kill(process.pid, number)

    before = {
        **{
            number: signal.signal(number, signal.SIG_IGN) for number in _OF_THE_TERMINAL
        },
        **{number: signal.signal(number, pass_on) for number in _PASSED_ON},
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
