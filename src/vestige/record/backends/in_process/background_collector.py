"""The collector of processes that outlive the program that was recorded.

A daemon goes on when the program that started it has ended, and so must the collector
of its recording: it becomes a process of its own, without a terminal, that takes over
the memory of the recording and ends with the last recorded process.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..._agreement import OFF_VARIABLE, SETTINGS_VARIABLE
from ...rules.options import RecordingOptions
from ...trace_directory import kernel_beside
from .background import (
    is_running,
    processes_in_background,
    recording_processes,
)
from .clock import Instant, RecordingClock
from .collector import RunningCollector, counter
from .losses import tell_losses_later
from .metadata_file import mark_damaged, patch_clock
from .plans import Plans, remove_plans
from .refusals import remove_refusals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["go_on_in_background", "main"]

PAUSE = 0.25
"""Seconds between two looks at whether processes go on."""
READY = b"+"
INHERITED = 3
"""The number of a descriptor in the process."""


def go_on_in_background(
    directory: str,
    clock: RecordingClock,
    inherited: int | None = None,
    options: RecordingOptions | None = None,
) -> int:
    """Start the process that collects what other processes go on to record.

    Args:
        directory: The trace, whose collector has stopped.
        clock: The clock of the recording.
        inherited: The collector's end of the socket that programs have inherited.
        options: What is recorded, if programs ask for plans.

    Returns:
        The ID of the process, once it collects; 0 when it could not begin. What
        processes record is then kept in memory, for ``vestige record --recover``.
    """
    number = None if inherited is None else INHERITED
    patch = None if options is None else [options.patch, options.patch_in]
    # Of a recording in parts, it is that of the others.
    has_rate = clock.is_settled
    facts = (
        *(directory, os.getpid(), clock.is_counter, clock.begin, number, patch),
        has_rate,
    )
    start = json.dumps(facts)
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
    directory, first, is_counter, begin, inherited, patch, has_rate = json.loads(
        arguments[0]
    )
    os.chdir("/")
    clock = RecordingClock(counter if is_counter else None, begin=Instant(*begin))
    collector = RunningCollector.take_over(directory, inherited)
    if not is_counter:
        collector.set_monotonic()
    if inherited is not None:
        os.close(inherited)
    wait: Callable[[], object] = partial(time.sleep, PAUSE)
    if patch is not None and patch[0] is not None:
        wait = _Answering(collector, directory, *map(tuple, patch)).wait
    collector.let_watch()
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
            or recording_processes(collector.processes(), collector.inodes)
            or processes_in_background(directory, first)
        )
        if not running:
            break
        wait()
    collected = collector.close()
    # With what was told before, since nothing forgets what it has counted.
    if tell_losses_later(directory, collected.unplaced) and collected.is_drained:
        collector.remove()
    remove_refusals(directory)
    remove_plans(directory)
    if clock.problem is None and not has_rate:
        rate = clock.rate()
        patch_clock(directory, rate)
        if kernel := kernel_beside(directory):
            patch_clock(kernel, rate)
    if collected.is_damaged:
        mark_damaged(directory)


class _Answering:
    """Answers programs that ask for plans.

    Args:
        collector: Where they ask; it has not been started.
        directory: The trace.
        patterns: Of the functions that are recorded.
        named: Libraries in the system's directories that are planned, too.
    """

    def __init__(
        self,
        collector: RunningCollector,
        directory: str,
        patterns: tuple[str, ...],
        named: tuple[str, ...],
    ) -> None:
        self._collector = collector
        self._plans = Plans(directory, RecordingOptions(patch=patterns, patch_in=named))
        self._rings = select.poll()
        self._rings.register(collector.open_requests(), select.POLLIN)

    def wait(self) -> None:
        """Answer, and come back after a while."""
        until = time.monotonic() + PAUSE
        while (rest := until - time.monotonic()) > 0:
            if self._rings.poll(rest * 1000):
                for request in self._collector.requests():
                    self._plans.answer(request)
