"""The kernel as a part of a recording: what the recorder asks its other process for."""

from __future__ import annotations

import json
import os
import sys
from _thread import get_native_id
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...._suppress import suppress
from ..._agreement import OFF_VARIABLE, SETTINGS_VARIABLE
from ...collected import KernelCollected
from ...rules.kernel_probes import parse_kernel_probe
from .rules import KernelRule, rules_of_words
from .wanted import DEFAULT_CHANNEL, ChannelWanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...collected import Collected
    from ...rules.options import RecordingOptions
    from .metadata import ClockFacts

__all__ = ["KernelDomain"]

UNAVAILABLE = "No kernel tracer available"
"""As LTTng says it."""
_HOME = str(Path(__file__).parents[4])
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from vestige.record.backends.kernel.collector_process import main; main()"
)


class KernelDomain:
    """Records the kernel beside a program; where that cannot be, it says why.

    Args:
        directory: Where its trace is made.
        options: What is recorded.
        clock: The clock of the recording.
        uuid: The UUID of the trace.
        is_overwriting: Whether what is old makes room in a full buffer.
    """

    def __init__(
        self,
        directory: str,
        options: RecordingOptions,
        clock: ClockFacts,
        uuid: str,
        *,
        is_overwriting: bool = False,
    ) -> None:
        self._directory = directory
        self._process: int | None = None
        self._is_whole = False
        self._collected: KernelCollected | None = None
        self.problems: list[str] = []
        """What is not recorded, and why."""
        self._start_process()
        owner = os.stat(os.path.dirname(directory))
        channel = ChannelWanted(
            DEFAULT_CHANNEL,
            [*rules_of_words(options.kernel), *_probe_rules(options.kernel_probes)],
            options.buffer_size,
            is_overwriting,
        )
        wanted = Wanted(
            directory,
            os.path.basename(os.path.dirname(directory)),
            uuid,
            clock,
            owner.st_uid,
            owner.st_gid,
            [channel],
        )
        self._say(**wanted.to_json())

    def start(self) -> None:
        """Begin to record, or learn why that cannot be."""
        answer = self._hear()
        if "ready" not in answer:
            reason = answer.get("refused", "its process has ended")
            self.problems.append(f"{UNAVAILABLE}: {reason}")
            self._end_process()
            return
        self.problems += answer["ready"]
        threads = {int(one) for one in os.listdir("/proc/self/task")}
        self._say(left_out=sorted(threads - {get_native_id()}))
        self._hear()

    def leave_this_thread_out(self) -> None:
        """Record nothing more of the thread that has started the program."""
        if self._process is not None:
            self._say(left_out=[get_native_id()])

    def tell(self, collected: Collected) -> None:
        """Tell what the trace holds, and what it lacks.

        Args:
            collected: Who is told.
        """
        collected.kernel = self._collected
        collected.problems += self.problems

    def stop(self) -> None:
        """End the recording."""
        if self._process is None:
            return
        self._say(stop=True)
        answer = self._hear().get("stopped")
        self._end_process()
        if answer is None:
            self.problems.append(
                "of the kernel, events are missing: its process has ended"
            )
            return
        self._is_whole = True
        self.problems += [
            f"of the kernel, events are missing: {text}"
            for text in dict.fromkeys(one["failure"] for one in answer)
            if text is not None
        ]
        if damaged := sum(one["damaged"] for one in answer):
            self.problems.append(f"{damaged:,} records of the kernel made no sense")
        self._collected = KernelCollected(
            len(answer),
            *(
                sum(one[name] for one in answer)
                for name in ("records", "lost", "packets", "bytes")
            ),
        )

    def close(self) -> None:
        """End the process; take back a trace that was not completed."""
        self._end_process()
        if not self._is_whole and os.path.isdir(self._directory):
            # Few recordings come here.
            from shutil import rmtree  # noqa: PLC0415 - see above

            rmtree(self._directory, ignore_errors=True)

    def _start_process(self) -> None:
        to_read, says = os.pipe()
        hears, to_write = os.pipe()
        self._says, self._hears = says, os.fdopen(hears, "rb")
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"LD_PRELOAD", "LD_AUDIT", SETTINGS_VARIABLE}
        }
        try:
            self._process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-c", _PROGRAM, _HOME],
                {**kept, OFF_VARIABLE: "1"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, to_read, 0),
                    (os.POSIX_SPAWN_DUP2, to_write, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                # Signals of the terminal are for the program.
                setsid=True,
            )
        finally:
            os.close(to_read)
            os.close(to_write)

    def _say(self, **facts: Any) -> None:
        # One that has ended is noticed when it is heard.
        with suppress(BrokenPipeError):
            os.write(self._says, json.dumps(facts).encode() + b"\n")

    def _hear(self) -> dict[str, Any]:
        line = self._hears.readline()
        return json.loads(line) if line else {}

    def _end_process(self) -> None:
        if self._process is None:
            return
        os.close(self._says)
        self._hears.close()
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        self._process = None


def _probe_rules(texts: Iterable[str]) -> Iterator[KernelRule]:
    for one in map(parse_kernel_probe, texts):
        yield KernelRule(one.kind, one.name, location=one.location, word=one.text)
