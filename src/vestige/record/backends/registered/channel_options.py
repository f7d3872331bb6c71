"""What the attributes of a channel are for programs with Vestige's own tracer."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ..._agreement import SMALLEST_PACKET
from ...rules.options import RecordingOptions
from ..in_process.collector import Writing
from ..in_process.cpu_rings import cpu_count
from .channel_contexts import channel_contexts

if TYPE_CHECKING:
    from ..lttng_ust.plan import ChannelPlan

__all__ = ["channel_options", "channel_writing"]

MICROSECONDS = 1_000_000
NANOSECONDS = 1_000
"""Of a microsecond."""
LONGEST_PERIOD = 1 << 62
FOR_EVER = 1e6
"""Seconds."""
PACKET_SIZE = 64 * 1024
"""Of a packet at most, where the buffer has not more than 64 of them."""
MOST_PACKETS = 64
MOST_PACKETS_OF_OVERWRITING = 32
"""One more is with the collector, and all are powers of two."""
MOST_FILES = (1 << 32) - 1
LONGEST_NAME = 224
"""Bytes of the name of a channel in names of files."""
LARGEST_PACKET = 64 << 20
LEAST_MEMORY = 256 << 20
"""Of all threads; it is made as it is needed."""
RINGS = 16
"""So many threads, and all CPUs, find room for whole buffers in any case."""


def channel_options(channel: ChannelPlan) -> RecordingOptions:
    """Return what is recorded to a channel, and with which buffers.

    The buffer of a CPU, or of a thread, has as many bytes as the sub-buffers of the
    channel have together. Packets are sub-buffers, or parts of large ones: where little
    is recorded, there is no more memory than a packet.

    Args:
        channel: The channel.
    """
    packet = _packet_size(channel)
    whole = channel.subbuf_size * channel.num_subbuf
    buffer = min(max(whole, 2 * packet), _most_packets(channel) * packet)
    return RecordingOptions(
        contexts=channel_contexts(channel.contexts),
        mode="block" if channel.blocking_timeout else "discard",
        timeout=_timeout(channel),
        buffer_size=buffer,
        packet_size=packet,
        arena_size=max(LEAST_MEMORY, max(RINGS, cpu_count()) * buffer),
    )


def channel_writing(channel: ChannelPlan, live_timer: int = 0) -> Writing:
    """Return how the files of a channel are written.

    Args:
        channel: The channel.
        live_timer: Microseconds after which viewers see what was recorded; 0: there are
            none.
    """
    return Writing(
        channel.tracefile_size,
        min(channel.tracefile_count, MOST_FILES),
        min(channel.switch_timer * NANOSECONDS, LONGEST_PERIOD),
        min(channel.read_timer * NANOSECONDS, LONGEST_PERIOD),
        # With the numbers of the CPU and of the file, it must be the name of a file.
        channel.name if len(os.fsencode(channel.name)) <= LONGEST_NAME else "",
        live_ns=min(live_timer * NANOSECONDS, LONGEST_PERIOD),
    )


def _packet_size(channel: ChannelPlan) -> int:
    whole = channel.subbuf_size * channel.num_subbuf
    packet = min(channel.subbuf_size, PACKET_SIZE)
    # Powers of two, as all sizes of sub-buffers are.
    most = _most_packets(channel)
    while whole // packet > most and packet < LARGEST_PACKET:
        packet *= 2
    if whole < 2 * packet:
        packet //= 2
    return max(packet, SMALLEST_PACKET)


def _most_packets(channel: ChannelPlan) -> int:
    return MOST_PACKETS_OF_OVERWRITING if channel.is_overwriting else MOST_PACKETS


def _timeout(channel: ChannelPlan) -> float:
    """Return how long programs wait for room that may, seconds."""
    timeout = channel.blocking_timeout
    return min(timeout / MICROSECONDS, FOR_EVER) if timeout > 0 else FOR_EVER
