"""All triggers of a daemon, by their users and names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ...errors import SessionError
from ..refusals import refused
from .conditions import Condition
from .trigger import Trigger, restored_trigger

__all__ = ["TriggerBook"]

MOST_TRIGGERS = 4096
"""Of one user."""


class TriggerBook:
    """Keeps triggers; each is of a user, and root sees all."""

    def __init__(self) -> None:
        self._triggers: dict[tuple[int, str], Trigger] = {}
        self._by_token: dict[int, Trigger] = {}
        self._tokens = itertools.count(1)
        self._next_name = 0
        """The number of an automatic name, of any user."""

    def __iter__(self) -> Iterator[Trigger]:
        """Yield all of them, by name."""
        return iter([self._triggers[key] for key in sorted(self._triggers, key=_order)])

    def of(self, uid: int) -> list[Trigger]:
        """Return the triggers that a user sees, by name.

        Args:
            uid: The user.
        """
        return [one for one in self if uid in {0, one.uid}]

    def with_condition(self, kind: type[Condition]) -> list[Trigger]:
        """Return the triggers that have a condition of a kind.

        Args:
            kind: The class of conditions.
        """
        return [one for one in self if isinstance(one.condition, kind)]

    def by_token(self, token: int) -> Trigger | None:
        """Return the trigger that has a token, if it is still there.

        Args:
            token: The token.
        """
        return self._by_token.get(token)

    def add(self, trigger: Trigger) -> None:
        """Keep a trigger; without a name, it is given one.

        Args:
            trigger: The trigger.

        Raises:
            SessionError: Its user has one of this name, or too many.
        """
        uid = trigger.uid
        if sum(one.uid == uid for one in self._by_token.values()) >= MOST_TRIGGERS:
            raise refused(
                "INVALID_TRIGGER", f"expected up to {MOST_TRIGGERS} of a user"
            )
        if not trigger.name:
            trigger.name = self._free_name(uid)
        if (uid, trigger.name) in self._triggers:
            raise refused("TRIGGER_EXISTS")
        trigger.token = next(self._tokens)
        self._triggers[uid, trigger.name] = trigger
        self._by_token[trigger.token] = trigger

    def _free_name(self, uid: int) -> str:
        while True:
            name = f"trigger{self._next_name}"
            self._next_name += 1
            if (uid, name) not in self._triggers:
                return name

    def remove(self, uid: int, name: str, *, is_anonymous: bool = False) -> Trigger:
        """Keep a trigger no longer; return it.

        Args:
            uid: Whose it is.
            name: Its name.
            is_anonymous: Whether it is one that only programs see.

        Raises:
            SessionError: There is none.
        """
        trigger = self._triggers.get((uid, name))
        if trigger is None or trigger.is_anonymous != is_anonymous:
            raise refused("TRIGGER_NOT_FOUND")
        del self._triggers[uid, name]
        del self._by_token[trigger.token]
        return trigger

    def to_store(self) -> list[str]:
        """Return what the next daemon needs: JSON of each."""
        return [one.to_store() for one in self]

    def restore(self, stored: Iterable[Any]) -> None:
        """Go on with the triggers of another daemon.

        Args:
            stored: What it has left; what makes no sense is left out.
        """
        for one in stored:
            with suppress(SessionError, KeyError, TypeError, ValueError):
                self.add(restored_trigger(one))


def _order(key: tuple[int, str]) -> tuple[str, int]:
    uid, name = key
    return name, uid
