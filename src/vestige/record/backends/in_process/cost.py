"""What the tracer costs: a small program is recorded as the real one was.

Durations in a trace include it, and only the machine that recorded can measure it.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

from ...._signals import signals
from ....errors import RecordError
from ...rules.options import RecordingOptions
from .collector import RunningCollector
from .launch import Handled
from .own_files import remove_directory
from .tracer import library_path, tracer_environment

__all__ = ["MEASUREMENT", "call_cost", "remove_measurement"]

PROGRAM = "call-cost"
MEASUREMENT = ".cost"
"""A directory in the trace, for a moment."""
NO_UUID = "00000000-0000-0000-0000-000000000000"
CALLS = 64 * 400
"""Calls that the program makes."""
LEAST_RECORD = 12
"""Bytes that a call takes at least, if it is recorded."""
SECONDS = 2.0
"""The program takes some milliseconds."""
LARGEST = 1_000_000
"""Nanoseconds that no call costs."""
_ENDING = (signals.SIGTERM, signals.SIGHUP, signals.SIGINT, signals.SIGQUIT)


def call_cost(
    directory: str, options: RecordingOptions, *, is_counter: bool
) -> int | None:
    """Measure what a call costs that is recorded.

    Args:
        directory: The trace; a directory in it is used for a moment.
        options: What is recorded.
        is_counter: Whether the clock is the time-stamp counter.

    Returns:
        Nanoseconds for entry and exit together; ``None`` if it cannot be measured.
    """
    program = Path(library_path()).with_name(PROGRAM)
    # Calls of Python functions cost more, as much as the interpreter adds.
    if options.python_functions is not None or not program.is_file():
        return None
    # All of its calls are wanted, whatever the program's were.
    plain = RecordingOptions(
        functions=options.functions,
        events=options.events,
        contexts=options.contexts,
        buffer_size=options.buffer_size,
        packet_size=options.packet_size,
    )
    place = Path(directory, MEASUREMENT)
    try:
        place.mkdir()
    except OSError:
        # A program of the recording may have put something there.
        return None
    try:
        text = _measured(str(place), plain, is_counter=is_counter)
        recorded = sum(path.stat().st_size for path in place.iterdir())
        cost = int(text)
    except (OSError, RecordError, subprocess.SubprocessError, ValueError):
        return None
    finally:
        remove_measurement(place)
    return cost if recorded >= CALLS * LEAST_RECORD and 0 < cost < LARGEST else None


def _measured(place: str, options: RecordingOptions, *, is_counter: bool) -> str:
    """Record the program; return what it says.

    Whoever wants this process to end ends the measurement alone: the recording is
    complete, and memory would be left behind.

    Raises:
        OSError: It cannot be started.
        RecordError: It cannot be recorded.
        subprocess.SubprocessError: It did not do as it should, or not in time.
    """
    running: list[subprocess.Popen[str]] = []
    ended_by: list[int] = []

    def end(number: int, _frame: object) -> None:
        ended_by.append(number)
        for one in running:
            one.kill()

    with Handled(_ENDING, end):
        collector = RunningCollector(place, NO_UUID, options)
        try:
            environment = tracer_environment(
                place, options, collector.words, is_counter=is_counter
            )
            collector.start()
            with subprocess.Popen(
                [Path(library_path()).with_name(PROGRAM)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as program:
                running.append(program)
                try:
                    seconds = 0 if ended_by else SECONDS
                    text, _ = program.communicate(timeout=seconds)
                finally:
                    program.kill()
        finally:
            collector.close()
            collector.remove()
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, PROGRAM)
    return text


def remove_measurement(place: Path) -> None:
    """Remove the directory of a measurement, as far as that can be done.

    Args:
        place: The directory.
    """
    with suppress(OSError):
        remove_directory(place.parent, place.name)
