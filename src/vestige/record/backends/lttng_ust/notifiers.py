"""Rules whose matches a program tells at once: its notifiers, and the pipe from it.

A program writes each match to a pipe that it never waits for; what finds no room there
it counts in memory that is shared with the daemon.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from . import abi
from .application import Application
from .conditions import encoded_name, set_conditions
from .filter_code import capture_code
from .lost_matches import LostMatches
from .message_pack import Packed, unpack
from .plan import NotifierPlan

__all__ = ["Notifiers", "OnMatch"]

OnMatch = Callable[[int, "Packed"], None]
"""Called with the token of a rule that an event matched, and what was captured."""
PIPE_SIZE = 1 << 18
"""Bytes; as many as users may have, or fewer."""
AT_ONCE = 1 << 14
"""Bytes that are read before others have their turn."""
LARGEST_MATCH = 1 << 12
"""Bytes: programs write a match as a whole."""


class Notifiers:
    """The notifiers of one program.

    Args:
        application: The program.
        lost: Where it counts what it could not tell.
        on_match: Called with each match.
    """

    def __init__(
        self, application: Application, lost: LostMatches, on_match: OnMatch
    ) -> None:
        self._application = application
        self._lost = lost
        self._on_match = on_match
        self._two_steps = application.do_in_two_steps
        self._group = -1
        self._pipe = -1
        self._handles: dict[int, int] = {}
        """By token."""
        self._left = b""

    async def apply(self, plans: Sequence[NotifierPlan]) -> None:
        """Bring the program to what the rules are now.

        Args:
            plans: All rules that it may match.

        Raises:
            ApplicationError: The program does not do it.
            OSError: There is no room for a pipe, or the like.
        """
        wanted = {one.token: one for one in plans}
        for token in [one for one in self._handles if one not in wanted]:
            handle = self._handles.pop(token)
            await self._application.do(handle, abi.DISABLE)
            await self._application.do(handle, abi.RELEASE)
        missing = [one for one in plans if one.token not in self._handles]
        if missing and self._group < 0:
            await self._make_group()
        for plan in missing:
            self._handles[plan.token] = await self._make(plan)

    async def _make_group(self) -> None:
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            with suppress(OSError):
                fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
            self._group = await self._two_steps(
                0, abi.EVENT_NOTIFIER_GROUP, b"", [writing]
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self._pipe = reading
        asyncio.get_running_loop().add_reader(reading, self._read)
        await self._lost.give(self._application, self._group)

    async def _make(self, plan: NotifierPlan) -> int:
        rule = plan.rule
        notifier = abi.NOTIFIER_BODY.pack(
            0,
            encoded_name(rule.name),
            abi.LEVEL_TYPES[rule.level_type],
            rule.level,
            plan.token,
            self._lost.index(plan.token),
        )
        size = abi.SIZE_BODY.pack(len(notifier))
        handle = await self._two_steps(self._group, abi.EVENT_NOTIFIER, size, notifier)
        await set_conditions(self._application, handle, rule)
        for number, capture in enumerate(plan.captures):
            code, names_at = capture_code(*capture)
            head = abi.CAPTURE_BODY.pack(len(code), names_at, number)
            await self._two_steps(handle, abi.CAPTURE, head, code)
        await self._application.do(handle, abi.ENABLE)
        return handle

    def _read(self) -> bool:
        """Take matches that were told; return whether there may be more."""
        try:
            raw = os.read(self._pipe, AT_ONCE)
        except BlockingIOError:
            return False
        except OSError:
            raw = b""
        if not raw:
            self.close()
            return False
        raw = self._left + raw
        at = 0
        while len(raw) - at >= abi.NOTIFICATION.size:
            token, size = abi.NOTIFICATION.unpack_from(raw, at)
            end = at + abi.NOTIFICATION.size + size
            if size > LARGEST_MATCH:
                # It writes what is no match: all that follows would be none.
                self.close()
                return False
            if end > len(raw):
                break
            self._tell(token, raw[end - size : end])
            at = end
        self._left = raw[at:]
        return True

    def _tell(self, token: int, raw: bytes) -> None:
        # A rule that is gone, or one that is of others.
        if token in self._handles:
            with suppress(ValueError):
                self._on_match(token, unpack(raw) if raw else None)

    async def finish(self) -> None:
        """Take all that a program has told that is gone, and let it go."""
        while self._pipe >= 0 and self._read():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0)
        self.close()

    def close(self) -> None:
        """Read no more."""
        if self._pipe >= 0:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1
