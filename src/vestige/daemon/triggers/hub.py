"""Who is told when triggers fire: subscribers, by condition."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from ..peer import Peer
from ..protocol import encode_message
from ..refusals import refused
from .conditions import Condition
from .trigger import Trigger

__all__ = ["Hub"]

LARGEST_QUEUE = 1 << 20
"""Bytes that wait for a client; what comes while there are more is dropped."""
MOST_SUBSCRIPTIONS = 4096
"""Of one connection."""


class _Client:
    """A connection; nothing waits for whoever does not read from it."""

    def __init__(self, peer: Peer, writer: asyncio.StreamWriter) -> None:
        self.peer = peer
        self.writer = writer
        self.conditions: set[Condition | None] = set()
        self.dropped = 0
        """Notifications that found no room, and were not told yet."""

    def has_room(self) -> bool:
        return self.writer.transport.get_write_buffer_size() < LARGEST_QUEUE

    def send(self, line: bytes) -> None:
        if not self.writer.transport.is_closing():
            self.writer.write(line)

    def tell_dropped(self) -> None:
        """Say how many notifications are missing here."""
        if self.dropped:
            self.send(encode_message({"dropped": self.dropped}))
            self.dropped = 0


class Hub:
    """Sends notifications to all who subscribed to a condition."""

    def __init__(self) -> None:
        self._clients: dict[int, _Client] = {}
        self._subscribers: dict[Condition | None, list[_Client]] = {}
        """By condition; those of ``None`` are told of all triggers."""
        self._tasks: set[asyncio.Task[None]] = set()

    def connect(self, peer: Peer, writer: asyncio.StreamWriter) -> None:
        """Know a connection, which may subscribe.

        Args:
            peer: Whose it is.
            writer: Where to write to.
        """
        self._clients[peer.connection] = _Client(peer, writer)

    def disconnect(self, peer: Peer) -> None:
        """Forget a connection and its subscriptions.

        Args:
            peer: Whose it was.
        """
        client = self._clients.pop(peer.connection, None)
        for condition in [] if client is None else [*client.conditions]:
            self._remove(client, condition)

    def _remove(self, client: _Client | None, condition: Condition | None) -> None:
        left = [one for one in self._subscribers[condition] if one is not client]
        if left:
            self._subscribers[condition] = left
        else:
            del self._subscribers[condition]

    def subscribe(self, peer: Peer, condition: Condition | None) -> None:
        """Tell a connection of triggers that have a condition, from now on.

        Args:
            peer: Whose connection.
            condition: The condition; ``None`` for any.

        Raises:
            SessionError: It is subscribed to it, or to too many.
        """
        client = self._clients[peer.connection]
        if condition in client.conditions:
            raise refused("ALREADY_SUBSCRIBED")
        if len(client.conditions) >= MOST_SUBSCRIPTIONS:
            raise refused("INVALID", f"expected up to {MOST_SUBSCRIPTIONS} conditions")
        client.conditions.add(condition)
        self._subscribers.setdefault(condition, []).append(client)

    def unsubscribe(self, peer: Peer, condition: Condition | None) -> None:
        """Tell a connection no longer.

        Args:
            peer: Whose connection.
            condition: As it was subscribed to.

        Raises:
            SessionError: It is not subscribed to it.
        """
        client = self._clients[peer.connection]
        if condition not in client.conditions:
            raise refused("NOT_SUBSCRIBED")
        client.conditions.discard(condition)
        self._remove(client, condition)

    def has_subscribers(self, condition: Condition) -> bool:
        """Tell whether a notification would have a reader.

        Args:
            condition: The condition of its trigger.
        """
        return condition in self._subscribers or None in self._subscribers

    def _clients_of(self, trigger: Trigger) -> list[_Client]:
        """Return who is told of a trigger: its user, and root."""
        found = self._subscribers
        chosen = [*found.get(trigger.condition, []), *found.get(None, [])]
        unique = {one.peer.connection: one for one in chosen}
        return [one for one in unique.values() if one.peer.uid in {0, trigger.uid}]

    def notify(
        self, trigger: Trigger, evaluation: dict[str, Any], peer: Peer | None = None
    ) -> None:
        """Tell everybody who wants to know that a trigger has fired.

        Args:
            trigger: The trigger.
            evaluation: What JSON can say of why.
            peer: The only one who is told; ``None`` for all.
        """
        clients = self._clients_of(trigger)
        if peer is not None:
            clients = [one for one in clients if one.peer == peer]
        if not clients:
            return
        told = {
            "trigger": trigger.to_json(with_errors=False),
            "evaluation": evaluation,
        }
        line = encode_message({"notification": told})
        for client in clients:
            if client.dropped or not client.has_room():
                self._drop(client)
            else:
                client.send(line)

    def drop(self, trigger: Trigger) -> None:
        """Count a notification that nobody can be told of.

        Args:
            trigger: The trigger that has fired.
        """
        for client in self._clients_of(trigger):
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        client.dropped += 1
        if client.dropped == 1:
            self._spawn(self._tell_later(client))

    async def _tell_later(self, client: _Client) -> None:
        with suppress(OSError):
            await client.writer.drain()
            client.tell_dropped()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Tell all subscribers that there is nothing more to come."""
        for client in self._clients.values():
            if client.conditions:
                client.tell_dropped()
                client.send(encode_message({"closed": True}))
