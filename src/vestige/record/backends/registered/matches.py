"""The matches that a program with the tracer tells, and those that it cannot tell."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from ..lttng_ust.message_pack import Packed, unpack
from ._agreement import LARGEST_MATCH, MATCH_HEAD_FORMAT, MOST_WATCHES

__all__ = ["Matches"]

HEAD = struct.Struct("=" + MATCH_HEAD_FORMAT)
COUNTER = struct.Struct("=Q")
MEMORY_SIZE = MOST_WATCHES * COUNTER.size
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
ROOM = 1 << 20
"""Bytes of packets that were not read, as far as the system lets us have so many."""
AT_ONCE = 64
"""Matches that are read before others have their turn."""
SO_SNDBUFFORCE = 32


class Matches:
    """A program's socket for matches, and the memory of its counters.

    Args:
        on_match: Called with the token of a rule and what was captured.

    Raises:
        OSError: There is no room for them.
    """

    def __init__(self, on_match: Callable[[int, Packed], None]) -> None:
        self._on_match = on_match
        kind = socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK
        self._reading, self._writing = socket.socketpair(socket.AF_UNIX, kind)
        self.memory = -1
        try:
            _make_room(self._writing)
            flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
            self.memory = os.memfd_create("vestige-matches", flags)
            os.ftruncate(self.memory, MEMORY_SIZE)
            fcntl.fcntl(self.memory, fcntl.F_ADD_SEALS, _SEALS)
        except BaseException:
            self.close()
            raise
        asyncio.get_running_loop().add_reader(self._reading, self._read)

    @property
    def socket(self) -> int:
        """What the program gets."""
        return self._writing.fileno()

    def given(self) -> None:
        """Note that the program has its end of the socket."""
        self._writing.close()

    def _read(self) -> bool:
        """Take matches that were told; return whether there may be more."""
        for _ in range(AT_ONCE):
            try:
                raw = self._reading.recv(LARGEST_MATCH)
            except BlockingIOError:
                return False
            except OSError:
                raw = b""
            if len(raw) < HEAD.size:
                # It is gone, or says what is no match.
                self._end()
                return False
            token, size, _ = HEAD.unpack_from(raw)
            captured = raw[HEAD.size :]
            if size == len(captured):
                with suppress(ValueError):
                    self._on_match(token, unpack(captured) if captured else None)
        return True

    def lost(self, counter: int) -> int:
        """Return a counter of matches that found no room.

        Args:
            counter: Which.
        """
        raw = os.pread(self.memory, COUNTER.size, counter * COUNTER.size)
        return int(COUNTER.unpack(raw)[0])

    def _end(self) -> None:
        if self._reading.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._reading)
            self._reading.close()

    async def finish(self) -> None:
        """Take all that a program has told that is gone."""
        self.given()
        while self._reading.fileno() >= 0 and self._read():  # noqa: ASYNC110 - as read
            await asyncio.sleep(0)
        self._end()

    def close(self) -> None:
        """Let all of it go."""
        if self._reading.fileno() >= 0:
            with suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._reading)
        self._reading.close()
        self._writing.close()
        if self.memory >= 0:
            os.close(self.memory)
            self.memory = -1


def _make_room(writing: socket.socket) -> None:
    with suppress(OSError):
        writing.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
        # More than others may have.
        writing.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
