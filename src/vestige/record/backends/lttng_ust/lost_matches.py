"""Counters of matches that programs could not tell, in memory that they share.

Programs of a user share one memory for each CPU: what one of them writes there is of
no other user.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable

from . import abi
from .application import Application
from .channel_memory import possible_cpus

__all__ = ["LostMatches", "MatchCounters"]

MOST_RULES = 4096
COUNTER = struct.Struct("=I")
MODULAR, BITS_32, ONE_DIMENSION = 0, 0, 1
BITMAPS = 2
"""A bit for each counter in each of them: whether it had no room for more, or less."""
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
MEMORY_SIZE = MOST_RULES * COUNTER.size + BITMAPS * MOST_RULES // 8


class MatchCounters:
    """Which counter each rule has, for all users.

    Tokens of rules that are gone leave their counters to others.
    """

    def __init__(self) -> None:
        self._indices: dict[int, int] = {}
        self._free = [*range(MOST_RULES - 1, -1, -1)]
        self._before: dict[int, int] = {}
        """What the counter of a token was when it was given to it."""
        self._users: dict[int, LostMatches] = {}

    def of(self, uid: int) -> LostMatches:
        """Return the counters of the programs of a user.

        Args:
            uid: The user.

        Raises:
            OSError: There is no memory.
        """
        found = self._users.get(uid)
        if found is None:
            found = self._users[uid] = LostMatches(self.index)
        return found

    def index(self, token: int) -> int:
        """Return the counter of a rule.

        Args:
            token: The rule's.
        """
        found = self._indices.get(token)
        if found is None:
            # With so many rules, the last counter is of several.
            found = self._free.pop() if len(self._free) > 1 else self._free[-1]
            self._indices[token] = found
            self._before[token] = self._sum(found)
        return found

    def _sum(self, index: int) -> int:
        return sum(one.count(index) for one in self._users.values())

    def lost(self, token: int) -> int:
        """Return how many matches of a rule nobody was told of.

        Args:
            token: The rule's.
        """
        index = self._indices.get(token)
        if index is None:
            return 0
        return (self._sum(index) - self._before[token]) % (1 << 32)

    def forget(self, tokens: set[int]) -> None:
        """Let all counters go but those of some rules.

        Args:
            tokens: The rules that are still there.
        """
        for token in [one for one in self._indices if one not in tokens]:
            index = self._indices.pop(token)
            del self._before[token]
            if index not in self._indices.values() and index not in self._free:
                self._free.append(index)

    def close(self) -> None:
        """Let all memory go."""
        for one in self._users.values():
            one.close()
        self._users.clear()


class LostMatches:
    """The counters of the programs of one user.

    Args:
        index: Returns the counter of a rule.

    Raises:
        OSError: There is no memory.
    """

    def __init__(self, index: Callable[[int], int]) -> None:
        self.index = index
        self._files: list[int] = []
        try:
            for _ in range(possible_cpus()):
                flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
                file = os.memfd_create("matches", flags)
                self._files.append(file)
                os.ftruncate(file, MEMORY_SIZE)
                # No program can take the memory of another away.
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
        except BaseException:
            self.close()
            raise

    async def give(self, application: Application, group: int) -> None:
        """Let a program count here.

        Args:
            application: The program.
            group: The handle of its notifiers.

        Raises:
            ApplicationError: The program does not do it.
        """
        sizes = abi.COUNTER_SIZES.pack(MODULAR, BITS_32, ONE_DIMENSION, MOST_RULES)
        length = abi.SIZE_BODY.pack(len(sizes))
        counter = await application.do_in_two_steps(group, abi.COUNTER, length, sizes)
        for cpu, file in enumerate(self._files):
            body = abi.COUNTER_CPU_BODY.pack(MEMORY_SIZE, cpu)
            await application.do_in_two_steps(counter, abi.COUNTER_CPU, body, [file])

    def count(self, index: int) -> int:
        """Return the sum of a counter over all CPUs.

        Args:
            index: Which.
        """
        at = index * COUNTER.size
        return sum(
            COUNTER.unpack(os.pread(one, COUNTER.size, at))[0] for one in self._files
        )

    def close(self) -> None:
        """Let the memory go."""
        for file in self._files:
            os.close(file)
        self._files.clear()
