"""The matches that a program with the tracer tells, and those that it cannot tell."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
from collections.abc import Callable
from contextlib import suppress

from ..lttng_ust.message_pack import Packed, unpack
from ._agreement import LARGEST_MATCH, MATCH_HEAD_FORMAT, MOST_WATCHES

__all__ = ["Matches"]

HEAD = struct.Struct("=" + MATCH_HEAD_FORMAT)
COUNTER = struct.Struct("=Q")
MEMORY_SIZE = MOST_WATCHES * COUNTER.size
BOTH = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
AT_ONCE = LARGEST_MATCH
"""Bytes that are read before others have their turn."""


class Matches:
    """A program's pipe for matches, and the memory of its counters.

    Args:
        on_match: Called with the token of a rule and what was captured.

    Raises:
        OSError: There is no room for them.
    """

    def __init__(self, on_match: Callable[[int, Packed], None]) -> None:
        self._on_match = on_match
        self._rest = b""
        """The beginning of a match that was not read whole."""
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.memory = -1
        try:
            # One that its writers could read, too, sends them no signal.
            both = os.open(f"/proc/self/fd/{self._writing}", BOTH)
            self.given()
            self._writing = both
            flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
            self.memory = os.memfd_create("vestige-matches", flags)
            os.ftruncate(self.memory, MEMORY_SIZE)
            fcntl.fcntl(self.memory, fcntl.F_ADD_SEALS, _SEALS)
        except BaseException:
            self.close()
            raise
        asyncio.get_running_loop().add_reader(self._reading, self._read)

    @property
    def pipe(self) -> int:
        """What the program gets."""
        return self._writing

    def given(self) -> None:
        """Note that the program has its end of the pipe."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def _read(self) -> bool:
        """Take matches that were told; return whether there may be more."""
        try:
            raw = os.read(self._reading, AT_ONCE)
        except BlockingIOError:
            return False
        except OSError:
            raw = b""
        if not raw or not self._take(self._rest + raw):
            # It is gone, or says what is no match.
            self._end()
        return self._reading >= 0

    def _take(self, raw: bytes) -> bool:
        """Take matches; return whether what follows them may be the begin of one."""
        place = 0
        while len(raw) - place >= HEAD.size:
            token, size, _ = HEAD.unpack_from(raw, place)
            end = place + HEAD.size + size
            if end - place > LARGEST_MATCH:
                return False
            if end > len(raw):
                break
            captured = raw[place + HEAD.size : end]
            with suppress(ValueError):
                self._on_match(token, unpack(captured) if captured else None)
            place = end
        self._rest = raw[place:]
        return True

    def lost(self, counter: int) -> int:
        """Return a counter of matches that found no room.

        Args:
            counter: Which.
        """
        raw = os.pread(self.memory, COUNTER.size, counter * COUNTER.size)
        return int(COUNTER.unpack(raw)[0])

    def _end(self) -> None:
        if self._reading >= 0:
            with suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._reading)
            os.close(self._reading)
            self._reading = -1

    async def finish(self) -> None:
        """Take all that a program has told that is gone."""
        self.given()
        while self._read():  # noqa: ASYNC110 - as read
            await asyncio.sleep(0)
        self._end()

    def close(self) -> None:
        """Let all of it go."""
        self._end()
        self.given()
        if self.memory >= 0:
            os.close(self.memory)
            self.memory = -1
