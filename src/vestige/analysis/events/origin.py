"""Who made event records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...graph import Stream

__all__ = ["Origin", "Origins", "Who"]

Who = tuple[int, int | None, int | None, int | None, int | None]
"""Process space, process, thread, CPU, data stream, as the core has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who made event records: a thread; if that is unknown, a CPU or a data stream."""

    trace: str
    """Name of the trace."""
    process: int | None
    """Process ID, where the trace has it."""
    thread: int | None
    """Thread ID, where the trace has it."""
    cpu: int | None
    """Number of the CPU, where the thread is unknown."""
    stream: str | None
    """Name of the data stream, where neither is known."""


class Origins(dict[Who, Origin]):
    """Origins by what the core has of them, made when they are asked for.

    Args:
        streams: The data streams.
    """

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._traces = {one.process_space: one.trace.name for one in streams}
        self._names = {one.handle.origin: one.name for one in streams}

    def __missing__(self, who: Who) -> Origin:
        """Make it."""
        space, process, thread, cpu, stream = who
        found = self[who] = Origin(
            trace=self._traces.get(space, ""),
            process=process,
            thread=thread,
            cpu=cpu,
            stream=None if stream is None else self._names.get(stream),
        )
        return found
