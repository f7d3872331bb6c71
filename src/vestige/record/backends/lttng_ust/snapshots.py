"""Snapshots: what the buffers of a session hold, written beside them, not taken out.

Programs go on meanwhile. Of each ring the full sub-buffers are written, then of the
last one what is committed up to its first gap: so each packet has whole records.
"""

from __future__ import annotations

import asyncio
import time

from ...._typing import TYPE_CHECKING
from .trace_files import DataStreamFile, MetadataFile, OwnerFiles

if TYPE_CHECKING:
    from .buffers import ChannelBuffers, TraceBuffers

__all__ = ["write_snapshot"]

SETTLE_SECONDS, SETTLE_PAUSE = 0.05, 0.001
"""How long a record may take that was begun in a sub-buffer which is full otherwise,
and how often one looks."""


async def write_snapshot(
    traces: TraceBuffers, files: OwnerFiles, most: int | None
) -> None:
    """Write what the buffers of a user or a process hold now.

    Args:
        traces: The buffers.
        files: The directory of the snapshot.
        most: How many sub-buffers of each ring, the newest; ``None`` for all.

    Raises:
        OSError: It cannot be written.
    """
    folder = files.make_folder(*traces.parts)
    for channel in [*traces.channels.values()]:
        await _write_channel(channel, files, folder, most)
    traces.dumps.snapshot(files, folder)
    # Last: it has all events that there were until now.
    metadata = MetadataFile(files, folder, traces.uuid)
    try:
        metadata.copy(traces.metadata)
    finally:
        metadata.close()


async def _write_channel(
    channel: ChannelBuffers, files: OwnerFiles, folder: str, most: int | None
) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    for ring in channel.rings:
        if ring.is_unused:
            continue
        while not ring.is_settled() and time.monotonic() < deadline:  # noqa: ASYNC110 - memory tells nobody
            await asyncio.sleep(SETTLE_PAUSE)
        plan = channel.plan
        limits = (plan.tracefile_size, plan.tracefile_count)
        name = f"{plan.name}_{ring.cpu}"
        # As LTTng: the size of all files has a limit, perhaps, and each is read once.
        file = DataStreamFile(files, folder, name, limits, has_index=False)
        try:
            for packet in ring.snapshot(None if plan.tells_of_objects else most):
                file.write(packet)
                # Writers went on meanwhile, and may have come round to it.
                if not packet.is_whole():
                    file.take_back(packet)
        finally:
            file.close()
        # Others are answered between two rings.
        await asyncio.sleep(0)
