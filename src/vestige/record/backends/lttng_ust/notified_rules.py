"""The rules whose matches all programs tell at once."""

from __future__ import annotations

from collections.abc import Sequence

from .application import Application, ApplicationError
from .lost_matches import MatchCounters
from .message_pack import Packed
from .notifiers import Notifiers, OnMatch
from .plan import NotifierPlan

__all__ = ["NotifiedRules"]


class NotifiedRules:
    """Keeps the rules, and brings programs to them."""

    def __init__(self) -> None:
        self.on_match: OnMatch = _ignore
        """Called with each match."""
        self._plans: tuple[NotifierPlan, ...] = ()
        self._notifiers: dict[Application, Notifiers] = {}
        self._counters = MatchCounters()

    def set(self, plans: Sequence[NotifierPlan]) -> None:
        """Have other rules.

        Args:
            plans: All of them.
        """
        self._plans = tuple(plans)
        self._counters.forget({one.token for one in plans})

    def lost(self, token: int) -> int:
        """Return how many matches of a rule programs could not tell.

        Args:
            token: The rule's.
        """
        return self._counters.lost(token)

    async def bring(self, application: Application) -> None:
        """Bring a program to what the rules are now; let it go if it does not do so.

        Args:
            application: The program.
        """
        try:
            async with application.turn():
                # Since it waited for its turn, all may be different.
                await self._apply(application)
        except (ApplicationError, OSError):
            application.close()

    async def _apply(self, application: Application) -> None:
        plans = [one for one in self._plans if one.uid in {0, application.uid}]
        found = self._notifiers.get(application)
        if found is None:
            if not plans or application.is_gone:
                return
            lost = self._counters.of(application.uid)
            found = Notifiers(application, lost, self._tell)
            self._notifiers[application] = found
        await found.apply(plans)

    def _tell(self, token: int, captured: Packed) -> None:
        self.on_match(token, captured)

    async def bury(self, application: Application) -> None:
        """Take what a program has told that is gone.

        Args:
            application: The program.
        """
        found = self._notifiers.pop(application, None)
        if found is not None:
            await found.finish()

    def close(self) -> None:
        """Let all go."""
        for one in self._notifiers.values():
            one.close()
        self._notifiers.clear()
        self._counters.close()


def _ignore(token: int, captured: Packed) -> None:
    """Do nothing: nobody wants to know."""
