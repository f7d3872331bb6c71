"""Tells whether the relay daemon does its work, to who asks at its socket.

This is what ``lttng_health_query`` of LTTng's control library asks: four bytes, of
which nothing is to be known, and eight bytes come back, a bit for each part that stands
still.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from struct import Struct

from ..errors import VestigeError

__all__ = ["listen_for_health", "remove_health_socket"]

QUESTION_BYTES = 4
WORKER = 1 << 1
"""The part that reads what peers send; the others are this thread, which answers."""
MODE = 0o660
_ANSWER = Struct("=Q")


async def listen_for_health(
    path: str, group: str, is_running: Callable[[], bool]
) -> asyncio.Server:
    """Answer at a socket, until the server that is returned is closed.

    Args:
        path: The socket, in place of one that a relay daemon has left.
        group: Who may ask, beside the user, if there is such a group.
        is_running: Tells whether what peers send is read.

    Raises:
        VestigeError: It cannot be made.
    """

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                await reader.readexactly(QUESTION_BYTES)
                writer.write(_ANSWER.pack(0 if is_running() else WORKER))
                await writer.drain()
        writer.close()

    return await asyncio.start_unix_server(answer, sock=_socket(path, group))


def _socket(path: str, group: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    place = Path(path)
    before = os.umask(0o777 & ~MODE)
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(place.lstat().st_mode):
                place.unlink()
        made.bind(path)
    except OSError as error:
        made.close()
        why = error.strerror or str(error)
        raise VestigeError(f"cannot answer at {path}: {why}") from error
    finally:
        os.umask(before)
    # Not everybody may give it to another group, and not every system has one.
    with suppress(LookupError, OSError):
        shutil.chown(path, group=group)
    return made


def remove_health_socket(path: str) -> None:
    """Remove what nobody answers at any more."""
    Path(path).unlink(missing_ok=True)
