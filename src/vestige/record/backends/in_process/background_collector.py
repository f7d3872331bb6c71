"""The collector of processes that outlive the program that was recorded.

A daemon goes on when the program that started it has ended, and so must the collector
of its recording: it becomes a process of its own, without a terminal, that takes over
the memory of the recording and ends with the last recorded process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..._agreement import OFF_VARIABLE, SETTINGS_VARIABLE
from .background import (
    is_running,
    processes_in_background,
    recording_processes,
)
from .clock import Instant, RecordingClock
from .collector import RunningCollector, counter
from .losses import tell_losses_later
from .metadata_file import patch_clock
from .refusals import remove_refusals

__all__ = ["go_on_in_background", "main"]

PAUSE = 0.25
"""Seconds between two looks at whether processes go on."""
READY = b"+"
INHERITED = 3
"""The number of a descriptor in the process."""


def go_on_in_background(
    directory: str, clock: RecordingClock, inherited: int | None = None
) -> int:
    """Start the process that collects what other processes go on to record.

    Args:
        directory: The trace, whose collector has stopped.
        clock: The clock of the recording.
        inherited: The collector's end of the socket that programs have inherited.

    Returns:
        The ID of the process, once it collects; 0 when it could not begin. What
        processes record is then kept in memory, for ``vestige record --recover``.
    """
    number = None if inherited is None else INHERITED
    start = json.dumps([directory, os.getpid(), clock.is_counter, clock.begin, number])
    mine, theirs = os.pipe()
    try:
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-c", _PROGRAM, _HOME, start],
            _environment(),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, theirs, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                *([] if number is None else [(os.POSIX_SPAWN_DUP2, inherited, number)]),
            ],
            setsid=True,
        )
    except OSError:
        os.close(mine)
        return 0
    finally:
        os.close(theirs)
    with os.fdopen(mine, "rb") as answer:
        return process if answer.read(len(READY)) == READY else 0


_HOME = str(Path(__file__).parents[4])
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from vestige.record.backends.in_process.background_collector import main; "
    "main(sys.argv[2:])"
)


def _environment() -> dict[str, str]:
    """Return an environment in which nothing is traced, also where we are."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"LD_PRELOAD", "LD_AUDIT", SETTINGS_VARIABLE}
    }
    return {**kept, OFF_VARIABLE: "1"}


def main(arguments: Sequence[str]) -> None:
    """Collect until the last process of a recording has ended.

    Args:
        arguments: What :func:`go_on_in_background` hands over, as JSON.
    """
    directory, first, is_counter, begin, inherited = json.loads(arguments[0])
    os.chdir("/")
    clock = RecordingClock(counter if is_counter else None, begin=Instant(*begin))
    collector = RunningCollector.take_over(directory, inherited)
    if inherited is not None:
        os.close(inherited)
    collector.start()
    # Whoever has started us may have been killed meanwhile.
    with suppress(BrokenPipeError):
        os.write(1, READY)
    os.close(1)
    running: set[int] = set()
    while True:
        # All of /proc is looked through only when none that was found goes on.
        running = set(filter(is_running, running))
        running = (
            running
            or recording_processes(collector.processes())
            or processes_in_background(directory, first)
        )
        if not running:
            break
        time.sleep(PAUSE)
    collected = collector.close()
    # With what was told before, since nothing forgets what it has counted.
    if tell_losses_later(directory, collected.unplaced) and collected.is_drained:
        collector.remove()
    remove_refusals(directory)
    if clock.problem is None:
        patch_clock(directory, clock.rate())
