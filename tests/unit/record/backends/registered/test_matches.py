"""What programs say of matches, whole or not, and what becomes of those that say more."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
from collections.abc import Awaitable, Callable

import pytest

from vestige.record.backends.registered._agreement import LARGEST_MATCH
from vestige.record.backends.registered.matches import HEAD, Matches


def match(token: int, captured: bytes = b"") -> bytes:
    """Return what a program writes."""
    return HEAD.pack(token, len(captured), 0) + captured


def read_with(do: Callable[[Matches], Awaitable[None]]) -> list[tuple[int, object]]:
    """Do something with matches; return what was told."""
    found: list[tuple[int, object]] = []

    async def run() -> None:
        matches = Matches(lambda *one: found.append(one))
        try:
            await do(matches)
            await matches.finish()
        finally:
            matches.close()

    asyncio.run(run())
    return found


@pytest.mark.parametrize("size", [1, 7, 16, 50, 5000])
def test_they_are_read_whatever_the_parts(size: int) -> None:
    """A read may end within a match."""
    raw = b"".join(match(one, b"\x07" * (one % 2)) for one in range(300))

    async def write(matches: Matches) -> None:
        for place in range(0, len(raw), size):
            os.write(matches.pipe, raw[place : place + size])
            await asyncio.sleep(0)

    assert read_with(write) == [(one, 7 if one % 2 else None) for one in range(300)]


def test_what_is_no_match_ends_them() -> None:
    """Those before it count."""

    async def write(matches: Matches) -> None:
        os.write(matches.pipe, match(3) + HEAD.pack(4, LARGEST_MATCH, 0) + match(5))

    assert read_with(write) == [(3, None)]


def test_a_match_that_was_begun_is_none() -> None:
    """Its program was killed."""

    async def write(matches: Matches) -> None:
        os.write(matches.pipe, match(3) + match(4, b"\x07")[:-1])

    assert read_with(write) == [(3, None)]


def test_nobody_is_ended_by_a_signal() -> None:
    """A program that goes on without the daemon has a pipe that is full then."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:

        async def write(matches: Matches) -> None:
            pipe = os.dup(matches.pipe)
            matches.close()
            room = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
            for _ in range(room // HEAD.size):
                os.write(pipe, match(3))
            with pytest.raises(BlockingIOError):
                os.write(pipe, match(3))
            os.close(pipe)

        assert read_with(write) == []
    finally:
        signal.signal(signal.SIGPIPE, before)
