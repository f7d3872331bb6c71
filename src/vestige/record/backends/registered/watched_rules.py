"""The rules of triggers whose matches programs with Vestige's own tracer tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..lttng_ust.message_pack import Packed
from ..lttng_ust.notifiers import OnMatch
from ..lttng_ust.plan import NotifierPlan
from ._agreement import MOST_WATCHES
from .matches import Matches
from .watches import EncodedWatches, encode_watches

if TYPE_CHECKING:
    from .program import Program

__all__ = ["WatchedRules", "fair_choice"]


class WatchedRules:
    """Keeps the rules, and brings programs to them."""

    def __init__(self) -> None:
        self.on_match: OnMatch = _ignore
        """Called with each match."""
        self.on_full: Callable[[Program], None] = _ignore_program
        """Called with a program that has no room for all rules."""
        self._plans: tuple[NotifierPlan, ...] = ()
        self._matches: dict[Program, Matches] = {}
        self._tokens: dict[Program, tuple[int, ...]] = {}
        """What each program was told."""
        self._counters: dict[int, int] = {}
        """By token."""
        self._before: Counter[int] = Counter()
        """By token: what its counter had counted for others."""
        self._gone: Counter[int] = Counter()
        """By counter: what programs have counted that are gone."""
        self._free = [*range(MOST_WATCHES - 1, -1, -1)]

    def set(self, plans: Sequence[NotifierPlan]) -> None:
        """Have other rules.

        Args:
            plans: All of them.
        """
        self._plans = fair_choice(plans, MOST_WATCHES)
        tokens = {one.token for one in self._plans}
        for token in [one for one in self._counters if one not in tokens]:
            self._free.append(self._counters.pop(token))
            del self._before[token]
        for token in tokens - self._counters.keys():
            self._counters[token] = counter = self._free.pop()
            self._before[token] = self._sum(counter)

    def _sum(self, counter: int) -> int:
        living = sum(one.lost(counter) for one in self._matches.values())
        return self._gone[counter] + living

    def lost(self, token: int) -> int:
        """Return how many matches of a rule programs could not tell.

        Args:
            token: The rule's.
        """
        counter = self._counters.get(token)
        if counter is None:
            return 0
        return max(0, self._sum(counter) - self._before[token])

    async def bring(self, program: Program) -> None:
        """Bring a program to what the rules are now.

        Args:
            program: The program.

        Raises:
            ProgramGoneError: It does not answer.
            OSError: There is no room for its matches.
            SelectionError: The rules are too large.
        """
        plans = [one for one in self._plans if one.uid in {0, program.uid}]
        tokens = tuple(one.token for one in plans)
        if self._tokens.get(program, ()) == tokens or program.is_gone:
            return
        self._tokens[program] = tokens
        counters = [self._counters[one] for one in tokens]
        watches = encode_watches(plans, counters)
        await self._tell(program, watches)

    async def _tell(self, program: Program, watches: EncodedWatches) -> None:
        matches = self._matches.get(program)
        if matches is not None:
            if not await program.watch(watches):
                self.on_full(program)
            return

        def told(token: int, captured: Packed) -> None:
            # Of others' rules a program knows nothing.
            if token in self._tokens.get(program, ()):
                self.on_match(token, captured)

        self._matches[program] = matches = Matches(told)
        has_room = await program.watch(watches, matches.pipe, matches.memory)
        matches.given()
        if not has_room:
            self.on_full(program)

    async def bury(self, program: Program) -> None:
        """Take what a program has told that is gone.

        Args:
            program: The program.
        """
        matches = self._matches.get(program)
        if matches is not None:
            await matches.finish()
            for counter in self._counters.values():
                self._gone[counter] += matches.lost(counter)
            del self._matches[program]
            matches.close()
        self._tokens.pop(program, None)

    def close(self) -> None:
        """Let all go."""
        for one in self._matches.values():
            one.close()
        self._matches.clear()


def fair_choice(plans: Sequence[NotifierPlan], most: int) -> tuple[NotifierPlan, ...]:
    """Return so many rules that no user with many leaves others without any.

    Args:
        plans: All rules.
        most: How many there is room for.

    Returns:
        Those that there is room for, in their order.
    """
    if len(plans) <= most:
        return tuple(plans)
    turns: Counter[int] = Counter()
    order = []
    for number, plan in enumerate(plans):
        turns[plan.uid] += 1
        order.append((turns[plan.uid], number))
    return tuple(plans[number] for number in sorted(n for _, n in sorted(order)[:most]))


def _ignore_program(program: Program) -> None:
    """Do nothing: nobody wants to know."""


def _ignore(token: int, captured: Packed) -> None:
    """Do nothing: nobody wants to know."""
