"""What is done when triggers fire: their actions, in order."""

from __future__ import annotations

import asyncio
import itertools
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import SessionError
from ...live.output_url import OutputUrlError, connection_uri, parse_output_url
from ..model import Session
from ..peer import Peer
from .actions import Action, SnapshotOutput
from .captures import captured_values
from .conditions import EventRuleMatches
from .trigger import Trigger

if TYPE_CHECKING:
    from ..registry import Registry

__all__ = ["Firing"]

MOST_WAITING = 8192
"""Triggers that have fired and whose actions are still to be done."""
AT_ONCE = 256
"""Triggers whose actions are done before others have their turn."""
UNHARMED = {
    "TRACE_ALREADY_STARTED",
    "TRACE_ALREADY_STOPPED",
    "ROTATION_MULTIPLE_AFTER_STOP",
    "ROTATION_AFTER_STOP_CLEAR",
}
"""Refusals that are no failures: all is as it should be."""
VERBS = {
    "start-session": "start",
    "stop-session": "stop",
    "rotate-session": "rotate",
    "snapshot-session": "record-snapshot",
}
"""What the daemon is asked for by an action."""
Ask = Callable[["Registry", Peer, str, dict[str, Any]], Awaitable[object]]


class _Fired(NamedTuple):
    """A trigger that has fired."""

    trigger: Trigger
    evaluation: dict[str, Any]
    sessions: tuple[Session | None, ...]
    """Of each action: the session, as it was then."""


class Firing:
    """Does the actions of triggers that fire, one after the other.

    Args:
        registry: The sessions and the triggers.
        ask: Does what a verb says: it is given the registry, who asks, the verb and its
            values, and raises a :class:`SessionError` if it refuses.
    """

    def __init__(self, registry: Registry, ask: Ask) -> None:
        self._registry = registry
        self._ask = ask
        self._waiting: asyncio.Queue[_Fired] = asyncio.Queue(MOST_WAITING)
        self._task: asyncio.Task[None] | None = None
        self._fired = self._done = 0
        """Triggers, with those whose actions are done."""

    def matched(self, token: int, captured: object) -> None:
        """Have the actions of a trigger done whose event rule an event matched.

        Args:
            token: The trigger's.
            captured: What the program said of the event.
        """
        trigger = self._registry.triggers.by_token(token)
        if trigger is None or not isinstance(trigger.condition, EventRuleMatches):
            return
        count = len(trigger.condition.captures)
        values = captured_values(captured, count) if count else None
        self.fire(trigger, {"type": trigger.condition.type, "captures": values})

    def fire(self, trigger: Trigger, evaluation: dict[str, Any]) -> None:
        """Have the actions of a trigger done.

        Args:
            trigger: The trigger, whose condition is satisfied.
            evaluation: What JSON can say of why.
        """
        if self.is_idle() and all(one.type == "notify" for one in trigger.actions):
            # Who has asked for what made it fire is answered after that.
            self._notify(trigger, evaluation)
            return
        if self._task is None:
            # Most daemons have no triggers.
            self._task = asyncio.get_running_loop().create_task(self._run())
        sessions = tuple(self._session(trigger, one) for one in trigger.actions)
        try:
            self._waiting.put_nowait(_Fired(trigger, evaluation, sessions))
        except asyncio.QueueFull:
            self._lose(trigger)
        else:
            self._fired += 1

    def _notify(self, trigger: Trigger, evaluation: dict[str, Any]) -> None:
        for action in trigger.actions:
            action.requests += 1
            if action.rate_policy.is_due(action.requests):
                self._registry.hub.notify(trigger, evaluation)

    def _session(self, trigger: Trigger, action: Action) -> Session | None:
        if action.session is not None:
            with suppress(SessionError):
                return self._registry.session(_peer(trigger), action.session)
        return None

    def _lose(self, trigger: Trigger) -> None:
        """Note that the actions of a trigger are not done: too many others wait."""
        for action in trigger.actions:
            if action.type == "notify":
                self._registry.hub.drop(trigger)
            else:
                action.failures += 1

    async def _run(self) -> None:
        for number in itertools.count():
            fired = await self._waiting.get()
            if number % AT_ONCE == 0:
                # What takes no turn leaves one to all others.
                await asyncio.sleep(0)
            for action, session in zip(
                fired.trigger.actions, fired.sessions, strict=True
            ):
                try:
                    await self._execute(fired, action, session)
                except Exception:  # noqa: BLE001 - others are done
                    action.failures += 1
                    traceback.print_exc()
            self._done += 1

    async def _execute(
        self, fired: _Fired, action: Action, session: Session | None
    ) -> None:
        action.requests += 1
        if not action.rate_policy.is_due(action.requests):
            return
        if action.type == "notify":
            self._registry.hub.notify(fired.trigger, fired.evaluation)
            return
        if session is None:
            action.failures += 1
            return
        async with self._registry.turn.of(session.name):
            await self._change(fired.trigger, action, session)

    async def _change(self, trigger: Trigger, action: Action, session: Session) -> None:
        if self._session(trigger, action) is not session:
            # Another one that is named alike has nothing to do with it.
            return
        values: dict[str, Any] = {"session": session.name}
        if action.output is not None:
            values |= action.output.to_json()
            if action.output.path is None:
                # Names of hosts are looked up there.
                find = partial(_relay, action.output)
                loop = asyncio.get_running_loop()
                values["relay"] = await loop.run_in_executor(None, find)
                if values["relay"] is None:
                    action.failures += 1
                    return
        try:
            await self._ask(self._registry, _peer(trigger), VERBS[action.type], values)
        except SessionError as error:
            if error.name not in UNHARMED:
                action.failures += 1
        except OSError:
            action.failures += 1

    def is_idle(self) -> bool:
        """Tell whether all actions are done of triggers that have fired."""
        return self._done == self._fired

    async def close(self) -> None:
        """Do no more actions."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task


def _relay(output: SnapshotOutput) -> list[str] | None:
    """Return the URIs of the relay daemon that an output names, if it does."""
    try:
        if output.url is not None:
            found = parse_output_url(output.url)
            return [*map(str, found)] if len(found) > 1 else None
        if output.ctrl_url is None or output.data_url is None:
            return None
        control = connection_uri(output.ctrl_url, is_data=False)
        data = connection_uri(output.data_url, is_data=True)
    except OutputUrlError:
        return None
    return [str(control), str(data)]


def _peer(trigger: Trigger) -> Peer:
    """Return whose rights actions have: those of the trigger's user."""
    return Peer(0, trigger.uid, 0)
