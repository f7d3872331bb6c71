"""State dumps of chunks that a daemon which was killed had not come to describe.

Programs of LTTng-UST leave their rings when their daemon is gone. What is still there
is written to the chunk that has begun, and needs what those have loaded who recorded
it.
"""

from __future__ import annotations

import os
import re
import uuid as uuids
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from ....owner_rights import owner_rights
from ..._collector import LoadedObjects
from ..in_process.background import inner_id, other_processes, process_name
from .packet_begin import waiting_since
from .ring import HEADER, HEADER_SIZE, PACKET_MAGIC
from .ring_files import STATE_FILE, LeftRings
from .state_dump import ProgramState, StatePacket, read_states, state_packet
from .trace_files import OwnerFiles, write_all

__all__ = ["describe_left"]

_LIBRARY = re.compile(rb"/liblttng-ust[^/\n]*\.so")
_UUID = re.compile(r'^trace \{.*?\buuid = "([0-9a-f-]{36})"', re.DOTALL | re.MULTILINE)
_BEGIN = 4
"""The place of the time in the header of a packet."""


def describe_left(
    left: LeftRings, before: Path, files: OwnerFiles, wanted: AbstractSet[str]
) -> bool:
    """Write what programs have loaded to the chunk of rings, unless that is there.

    Its time is before all that is in the chunk, and after what the chunk before says: a
    packet to which nothing was recorded before may be older than that. Of programs that
    have ended meanwhile, it is what the chunk before says.

    Args:
        left: The rings, to be saved after this.
        before: The directory of the trace in the chunk before.
        files: Whose the trace is.
        wanted: The names of the events that the session records, without provider.

    Returns:
        Whether it was written.

    Raises:
        OSError: It cannot be written.
        ValueError: There are no such rings, or the chunk before makes no sense.
    """
    folder = left.facts["output"]
    with owner_rights(files.uid, files.gid):
        needed = [Path(folder, "metadata"), before / STATE_FILE]
        if Path(folder, STATE_FILE).exists() or not all(map(Path.is_file, needed)):
            return False
        metadata = needed[0].read_text(errors="replace")
        last = read_states(needed[1].read_bytes())
        times = [*_packet_times(Path(folder))]
    uuid = _UUID.search(metadata)
    if uuid is None:
        return False
    times += _waiting_times(left)
    states = last.programs | _present(last.programs)
    if not times or not states:
        return False
    time = max(min(times) - 1, last.time + 1)
    facts = StatePacket(uuids.UUID(uuid[1]).bytes, time, last.following)
    file = files.open(f"{folder}/{STATE_FILE}")
    try:
        write_all(file, state_packet(facts, states.values(), wanted).data)
    finally:
        os.close(file)
    return True


def _packet_times(folder: Path) -> Iterator[int]:
    """Yield when the data stream files of a chunk begin."""
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                raw = file.read(HEADER_SIZE)
            if len(raw) == HEADER_SIZE and HEADER.unpack(raw)[0] == PACKET_MAGIC:
                yield HEADER.unpack(raw)[_BEGIN]


def _waiting_times(left: LeftRings) -> Iterator[int]:
    """Yield when the oldest packets began that were not taken from rings."""
    for _, ring, _ in left.rings():
        try:
            time = waiting_since(ring)
        finally:
            ring.close()
        if time:
            yield time


def _present(known: Mapping[int, ProgramState]) -> dict[int, ProgramState]:
    """Return what those of some programs have loaded who are still there."""
    processes = {}
    for one in other_processes():
        vpid = inner_id(one)
        # Elsewhere, others have the same number.
        if vpid in known and process_name(one) == known[vpid].name and _is_program(one):
            processes[one] = vpid
    loaded = LoadedObjects().read([*processes])
    return {
        processes[one]: known[processes[one]]._replace(
            objects=tuple(loaded.objects(one))
        )
        for one in loaded.processes
    }


def _is_program(process: int) -> bool:
    with suppress(OSError):
        return _LIBRARY.search(Path(f"/proc/{process}/maps").read_bytes()) is not None
    return False
