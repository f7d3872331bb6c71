"""Whose turn it is, and who leaves it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from vestige.daemon.turn import Turn


class Told:
    """Tasks that have the turn, and what they did in order."""

    def __init__(self) -> None:
        self.turn = Turn()
        self.done: list[str] = []

    async def act(self, what: str, *sessions: str) -> None:
        """Do something in a turn."""
        async with self.turn.of(*sessions):
            self.done.append(what)

    async def wait(self, session: str, event: asyncio.Event) -> None:
        """Have the turn for a session, and leave it until something is so."""
        async with self.turn.of(session):
            self.done.append("begins")
            async with self.turn.left(session):
                await event.wait()
            self.done.append("ends")


def test_who_leaves_it_lets_all_others_have_it():
    """But those that do something with the same session, or with any one."""

    async def run() -> list[str]:
        told, event = Told(), asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(told.wait("a", event))
            tasks.create_task(told.act("same", "a"))
            tasks.create_task(told.act("any"))
            other = tasks.create_task(told.act("other", "b"))
            await other
            event.set()
        return told.done

    done = asyncio.run(run())
    assert done[:3] == ["begins", "other", "ends"]
    assert {*done[3:]} == {"same", "any"}


def test_who_is_cancelled_leaves_it_to_others():
    """Whether it waits for its turn, or for something else."""

    async def run() -> list[str]:
        told, event = Told(), asyncio.Event()
        first = asyncio.create_task(told.wait("a", event))
        await asyncio.sleep(0)
        async with told.turn.of("b"):
            first.cancel()
            # It takes the turn again, for which it waits now.
            await asyncio.sleep(0)
            first.cancel()
            with suppress(asyncio.CancelledError):
                await first
        await told.act("after", "a")
        return told.done

    assert asyncio.run(run()) == ["begins", "after"]


def test_who_has_no_turn_leaves_none():
    """As a daemon that ends, or one that does not serve yet."""

    async def run() -> list[str]:
        told = Told()
        async with told.turn.left("a"):
            await told.act("other", "a")
        return told.done

    assert asyncio.run(run()) == ["other"]
