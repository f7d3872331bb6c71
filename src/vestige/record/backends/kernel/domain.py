"""The kernel as a part of a recording: what the recorder asks its other process for."""

from __future__ import annotations

import os
from _thread import get_native_id
from typing import TYPE_CHECKING, Any

from ...collected import KernelCollected
from ...rules.kernel_probes import parse_kernel_probe
from .process_link import ENDED, UNAVAILABLE, CollectorProcess, KernelOrderError
from .rules import KernelRule, rules_of_words
from .wanted import DEFAULT_CHANNEL, ChannelWanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...collected import Collected
    from ...rules.options import RecordingOptions
    from .metadata import ClockFacts

__all__ = ["KernelDomain"]

_ALWAYS = (
    KernelRule("tracepoint", "lttng_statedump_*"),
    KernelRule("tracepoint", "lttng_logger"),
)
"""What is recorded in any case."""


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
        self._is_whole = False
        self._collected: KernelCollected | None = None
        self.problems: list[str] = []
        """What is not recorded, and why."""
        owner = os.stat(os.path.dirname(directory))
        asked = [
            *rules_of_words(options.kernel),
            *_probe_rules(options.kernel_probes),
        ]
        channel = ChannelWanted(
            DEFAULT_CHANNEL,
            [
                *(one._replace(filter=options.kernel_filter) for one in asked),
                *_ALWAYS,
            ],
            options.buffer_size,
            is_overwriting,
            contexts=list(options.kernel_contexts),
        )
        wanted = Wanted(
            directory,
            os.path.basename(os.path.dirname(directory)),
            uuid,
            clock,
            owner.st_uid,
            owner.st_gid,
            [channel],
            logger=options.kernel_logger,
        )
        self._process = CollectorProcess(wanted)

    def start(self) -> None:
        """Begin to record, or learn why that cannot be."""
        try:
            self._process.wait_until_ready()
            threads = {int(one) for one in os.listdir("/proc/self/task")}
            self._process.ask("start", left_out=sorted(threads - {get_native_id()}))
        except KernelOrderError as error:
            self.problems.append(f"{UNAVAILABLE}: {error}")
            self._process.end()
        self.problems += self._process.problems

    def leave_this_thread_out(self) -> None:
        """Record nothing more of the thread that has started the program."""
        if self._process.is_there:
            # One that has ended is told of when it is stopped.
            try:
                self._process.ask("leave_out", threads=[get_native_id()])
            except KernelOrderError:
                return

    def tell(self, collected: Collected) -> None:
        """Tell what the trace holds, and what it lacks.

        Args:
            collected: Who is told.
        """
        collected.kernel = self._collected
        collected.problems += self.problems

    def stop(self) -> None:
        """End the recording."""
        if not self._process.is_there:
            return
        try:
            found: list[dict[str, Any]] = self._process.ask("end")
            said = self._process.problems
            self.problems += [one for one in said if one not in self.problems]
        except KernelOrderError:
            self.problems.append(f"of the kernel, events are missing: {ENDED}")
            self._process.end()
            return
        self._process.end()
        self._is_whole = True
        self.problems += [
            f"of the kernel, events are missing: {text}"
            for text in dict.fromkeys(one["failure"] for one in found)
            if text is not None
        ]
        if damaged := sum(one["damaged"] for one in found):
            self.problems.append(f"{damaged:,} records of the kernel made no sense")
        self._collected = KernelCollected(
            *(
                sum(one[name] for one in found)
                for name in ("cpus", "records", "lost", "packets", "bytes")
            )
        )

    def close(self) -> None:
        """End the process; take back a trace that was not completed."""
        self._process.end()
        if not self._is_whole and os.path.isdir(self._directory):
            # Few recordings come here.
            from shutil import rmtree  # noqa: PLC0415 - see above

            rmtree(self._directory, ignore_errors=True)


def _probe_rules(texts: Iterable[str]) -> Iterator[KernelRule]:
    for one in map(parse_kernel_probe, texts):
        yield KernelRule(one.kind, one.name, location=one.location, word=one.text)
