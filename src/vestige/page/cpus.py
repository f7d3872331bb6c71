"""Names of rows without a thread: of the CPU whose event records they have."""

from __future__ import annotations

from ..analysis.intervals import Intervals, Row
from ..graph import Selection, Stream, merges
from ..plain_text import plain

__all__ = ["cpus_of"]


def cpus_of(intervals: Intervals) -> dict[int, str]:
    """Return what rows are called whose data streams are of one CPU each.

    Args:
        intervals: The rows, and their data streams.

    Returns:
        ``CPU 3``, and the channel where there are several, by the number of the row.
    """
    found: dict[int, tuple[int, str]] = {}
    streams = {(one.trace.name, one.name): one for one in intervals.streams}
    for number, row in enumerate(intervals.rows):
        stream = streams.get((row.process.trace, row.name or ""))
        if row.tid is not None or stream is None:
            continue
        cpu = _cpu_of(stream, row)
        if cpu is not None:
            found[number] = cpu, _channel(stream.name, cpu)
    channels = {channel for _, channel in found.values()}
    return {
        number: f"CPU {cpu}" if len(channels) == 1 else f"CPU {cpu}, {plain(channel)}"
        for number, (cpu, channel) in found.items()
    }


def _cpu_of(stream: Stream, row: Row) -> int | None:
    context = stream.stream_class.packet_context
    if context is None or context.member("cpu_id") is None:
        return None
    first = Selection(begin=row.begin, end=row.begin)
    for merge in merges([stream], first, tell=lambda _: None):
        for event in merge.events():
            return event.cpu
    return None


def _channel(name: str, cpu: int) -> str:
    """Return the name of a channel: LTTng names files by channel and CPU."""
    file = name.rpartition("/")[2]
    return file.removesuffix(f"_{cpu}")
