"""What a sender needs to go on where another one was killed: a file in the spool."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..._typing import NamedTuple
from .chunk import Chunk
from .messages import SessionFacts
from .segments import Files, Place

__all__ = ["Left", "read_left", "remove_left", "write_left"]

NAME = ".sent"
MOST_BYTES = 1 << 24


class Left(NamedTuple):
    """What an earlier sender has left."""

    session: SessionFacts
    chunk: int
    """The chunk that the relay daemon has."""
    follows_archives: bool
    """See :attr:`.Chunk.follows_archives`."""
    files: Mapping[str, Mapping[str, Files]]
    """By the path of the trace and the name of the stream."""


def write_left(spool: str, session: SessionFacts, chunk: Chunk) -> None:
    """Note how far a chunk was sent.

    Args:
        spool: The directory in memory.
        session: What the relay daemon was told of the session.
        chunk: The chunk.

    Raises:
        OSError: There is no memory.
    """
    facts = session._replace(uuid=b"")
    kept = {
        "session": [*facts[:3], session.uuid.hex(), *facts[4:]],
        "chunk": chunk.number,
        "follows_archives": chunk.follows_archives,
        "files": {
            path: {
                name: one.files for name, one in trace.streams.items() if one.has_begun
            }
            for path, trace in chunk.traces.items()
        },
    }
    path = f"{spool}/{NAME}"
    Path(f"{path}.new").write_text(json.dumps(kept))
    os.replace(f"{path}.new", path)


def remove_left(spool: str) -> None:
    """Note that nobody can go on there.

    Args:
        spool: The directory in memory.
    """
    Path(f"{spool}/{NAME}").unlink(missing_ok=True)


def read_left(spool: str) -> Left | None:
    """Return what an earlier sender has left, if it can be read.

    Args:
        spool: The directory in memory.
    """
    with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
        with open(f"{spool}/{NAME}", "rb") as file:
            kept = json.loads(file.read(MOST_BYTES))
        facts = kept["session"]
        facts[3] = bytes.fromhex(facts[3])
        files = {
            path: {
                name: (int(number), [Place(int(a), int(b)) for a, b in places])
                for name, (number, places) in streams.items()
            }
            for path, streams in kept["files"].items()
        }
        follows = bool(kept["follows_archives"])
        return Left(SessionFacts(*facts), int(kept["chunk"]), follows, files)
    return None
