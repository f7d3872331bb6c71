"""What sessions of snapshots had kept when a daemon was killed, as snapshots.

Programs of LTTng-UST record nothing more to buffers of a daemon that is gone. The next
one writes what is in them, and each session says where that is, or why it is lost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ..record.backends.lttng_ust.ring_files import Left
from ..record.backends.lttng_ust.trace_files import OwnerFiles
from .model import Session
from .refusals import os_error_text

__all__ = ["folders_of_snapshots", "tell_snapshots"]

LEFT = "left"
"""What names of such snapshots have behind that of the output."""


def folders_of_snapshots(sessions: Sequence[Session]) -> dict[str, OwnerFiles]:
    """Return where what sessions had kept is written, by their names.

    Args:
        sessions: What a daemon that was killed has left.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return {
        session.name: OwnerFiles(
            f"{output.path}/{output.name}-{LEFT}-{stamp}-{session.snapshots_taken}",
            session.uid,
            session.gid,
        )
        for session in sessions
        if session.output is None
        for output in session.snapshot_outputs[:1]
        if output.data is None
    }


def tell_snapshots(
    sessions: Sequence[Session],
    left: Sequence[Left],
    folders: Mapping[str, OwnerFiles],
    failures: Mapping[str, OSError],
) -> list[str]:
    """Note in each session what became of what it had kept.

    Args:
        sessions: What a daemon that was killed has left.
        left: What was in buffers.
        folders: Where it was written.
        failures: Why it was not, by session.

    Returns:
        What there is to say of it.
    """
    told = []
    for session in sessions:
        failure = failures.get(session.name)
        has_left = any(one.session == session.name for one in left)
        if session.output is not None or not (has_left or failure):
            continue
        folder = folders.get(session.name)
        what = "what programs of LTTng-UST had kept when the daemon was killed is"
        if failure is not None:
            said = f"{what} lost: {os_error_text(failure)}"
        elif folder is None:
            said = f"{what} lost: the session has no output"
        else:
            session.snapshots_taken += 1
            said = f"{what} in '{folder.folder}'"
        session.left.append(said)
        told.append(f"session {session.name}: {said}")
    return told
