"""Being told when triggers fire: :func:`notifications`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ..daemon.subscriber import Subscriber
from ..daemon.triggers.capture_text import capture_text
from ..errors import VestigeError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Notification", "Notifications", "notifications"]

Value = int | float | str | list["Value"] | None
"""A captured value; ``None`` where there was none."""


class Notification(NamedTuple):
    """A trigger has fired."""

    trigger: str
    """The name of the trigger."""

    uid: int
    """Whose it is."""

    condition: str
    """What is satisfied, such as ``event-rule-matches``."""

    captures: Mapping[str, Value]
    """What was captured of the event, by what was asked for."""

    facts: Mapping[str, Any]
    """What else is known: of other conditions, such as ``bytes`` and ``ratio``."""

    dropped: int = 0
    """How many are missing before this one: they were not read in time."""


def notifications(*triggers: str, group: str = "tracing") -> Notifications:
    """Return what tells of triggers that fire from now on.

    A trigger tells if it has the action ``notify``. Iterating waits for each, and ends
    when the session daemon does; ``async for`` lets others run meanwhile.

    Args:
        triggers: The names of those that are wanted; all without one.
        group: Whose members may use root's daemon.

    Returns:
        An iterator and an asynchronous iterator of :class:`Notification`; use it with
        ``with``, or call :meth:`Notifications.close`.

    Raises:
        SessionError: No daemon is there.

    Example:
        >>> with vestige.notifications("slow-query") as fired:
        ...     for one in fired:
        ...         print(one.trigger, one.captures["seconds"])
    """
    return Notifications(Subscriber.connect(group), triggers)


class Notifications:
    """Notifications as they come; see :func:`notifications`.

    Args:
        subscriber: A connection to a daemon.
        triggers: The names of triggers that are wanted; all without one.
    """

    def __init__(self, subscriber: Subscriber, triggers: tuple[str, ...] = ()) -> None:
        self._subscriber = subscriber
        self._triggers = frozenset(triggers)
        self._missing = 0
        self.dropped = 0
        """How many notifications found no room so far, of all triggers: whoever reads
        too slowly loses some."""

        self.is_closed = False
        """Whether the daemon has ended, or :meth:`close` was called."""

        try:
            subscriber.subscribe()
        except BaseException:
            subscriber.close()
            raise

    def __iter__(self) -> Self:
        """Return this."""
        return self

    def __next__(self) -> Notification:
        """Wait for the next notification.

        Raises:
            StopIteration: The daemon has ended.
            VestigeError: The daemon was killed.
        """
        found = self.wait()
        if found is None:
            raise StopIteration
        return found

    def wait(self, timeout: float | None = None) -> Notification | None:
        """Wait for the next notification, but not for ever.

        Args:
            timeout: Seconds; ``None`` for ever.

        Returns:
            It; ``None`` if there was none in time, or the daemon has ended.

        Raises:
            VestigeError: The daemon was killed.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self.is_closed:
            # Those of other triggers take of the time.
            left = None if end is None else max(0.0, end - time.monotonic())
            message = self._subscriber.wait(left)
            if message is None:
                return None
            found = self._take(message)
            if found is not None:
                return found
        return None

    def __aiter__(self) -> Self:
        """Return this."""
        return self

    async def __anext__(self) -> Notification:
        """Wait for the next notification, and let others run.

        Raises:
            StopAsyncIteration: The daemon has ended.
            VestigeError: The daemon was killed.
        """
        while not self.is_closed:
            found = self._take(await self._subscriber.wait_async())
            if found is not None:
                return found
        raise StopAsyncIteration

    def _take(self, message: dict[str, Any]) -> Notification | None:
        """Return the notification that a message is, if it is a wanted one."""
        if "closed" in message:
            self.close()
        elif "dropped" in message:
            self.dropped += message["dropped"]
            self._missing += message["dropped"]
        else:
            found = _notification(message["notification"], self._missing)
            if not self._triggers or found.trigger in self._triggers:
                self._missing = 0
                return found
        return None

    def fileno(self) -> int:
        """Return a descriptor that can be read when there is something new."""
        return self._subscriber.fileno()

    def close(self) -> None:
        """Be told no more; iterating ends, also in another thread or task."""
        self.is_closed = True
        self._subscriber.close()

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Be told no more."""
        self.close()


def _notification(told: dict[str, Any], missing: int) -> Notification:
    try:
        trigger, evaluation = told["trigger"], dict(told["evaluation"])
        condition = trigger["condition"]
        names = [capture_text(one) for one in condition.get("captures", ())]
        values = evaluation.pop("captures", None) or [None] * len(names)
        captures = dict(zip(names, map(_value, values), strict=True))
        kind = evaluation.pop("type")
        return Notification(
            trigger["name"], trigger["owner_uid"], kind, captures, evaluation, missing
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise VestigeError("the session daemon sent no notification") from None


def _value(told: dict[str, Any] | None) -> Value:
    if told is None:
        return None
    value = told["value"]
    if told["type"] == "array":
        return [_value(one) for one in value]
    found: Value = float(value) if told["type"] == "real" else value
    return found
