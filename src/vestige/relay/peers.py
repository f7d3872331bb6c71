"""Connections of all peers: how many there may be, and which of them give way.

A peer is an address. One that has its share leaves room for others, and connections
that have nothing to do with a session give way when there is no room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..errors import VestigeError

__all__ = ["Connection", "Connections", "Share", "Shares", "share_of_one"]

SHORTEST_IDLE = 1.0
"""Seconds in which a connection may begin a session before it gives way."""


def share_of_one(most: int) -> int:
    """Return how many of all one peer may have."""
    return max(most - most // 4, 1)


class Shares:
    """Counts what peers have of something.

    Args:
        most: How much there is.
        what: What it is, in the plural.
    """

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._used: Counter[str] = Counter()

    def take(self, peer: str) -> None:
        """Take one more.

        Raises:
            VestigeError: The peer has its share, or there are no more.
        """
        is_too_many = self._used[peer] >= share_of_one(self._most)
        if is_too_many or self._used.total() >= self._most:
            raise VestigeError(f"there are as many {self._what} as are allowed")
        self._used[peer] += 1

    def give(self, peer: str, count: int = 1) -> None:
        """Give some back."""
        self._used[peer] -= count
        if self._used[peer] <= 0:
            del self._used[peer]

    def of(self, peer: str) -> Share:
        """Return the share of a peer."""
        return Share(self, peer)


class Share:
    """What a peer may have of something.

    Args:
        shares: Those of all.
        peer: The address of the peer.
    """

    def __init__(self, shares: Shares, peer: str) -> None:
        self._shares = shares
        self._peer = peer

    def take(self) -> None:
        """Take one more.

        Raises:
            VestigeError: The peer has its share, or there are no more.
        """
        self._shares.take(self._peer)

    def give(self, count: int = 1) -> None:
        """Give some back."""
        self._shares.give(self._peer, count)


class Connection:
    """A connection.

    Args:
        peer: The address of who has connected.
        is_control: Whether commands come there.
    """

    def __init__(self, peer: str, *, is_control: bool) -> None:
        self.peer = peer
        self.is_control = is_control
        self.has_session = False
        self.is_leaving = False
        """Whether another one has got its place."""


class Connections:
    """Connections by their numbers.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: dict[int, Connection] = {}
        self._here: Counter[str] = Counter()
        """Those of each peer that stay."""

    def __contains__(self, number: object) -> bool:
        return number in self._all

    def __getitem__(self, number: int) -> Connection:
        return self._all[number]

    def add(self, number: int, connection: Connection) -> None:
        """Add one."""
        self._all[number] = connection
        self._here[connection.peer] += 1

    def pop(self, number: int) -> Connection | None:
        """Forget one that has ended."""
        found = self._all.pop(number, None)
        if found is not None and not found.is_leaving:
            self._forget(found.peer)
        return found

    def _forget(self, peer: str) -> None:
        self._here[peer] -= 1
        if self._here[peer] <= 0:
            del self._here[peer]

    def has_room(self, peer: str) -> bool:
        """Tell whether a peer may have one more."""
        return self._has_share(peer) and self._here.total() < self._most

    def _has_share(self, peer: str) -> bool:
        return self._here[peer] < share_of_one(self._most)

    def make_room(self, peer: str, idle: Iterable[tuple[int, float]]) -> int | None:
        """Let one give way to a peer; return its number, or ``None`` if none can.

        Whoever has most connections has one less: that which has been there for longest
        without a session.

        Args:
            peer: Who has none left.
            idle: The connections without a session, and for how long, seconds.
        """
        spare = self._spare_data()
        found = [
            (self._here[one.peer], seconds, number)
            for number, seconds in idle
            if (one := self._all.get(number)) is not None
            and not one.is_leaving
            and seconds >= SHORTEST_IDLE
            and (one.is_control or spare[one.peer] > 0)
            and (self._has_share(peer) or one.peer == peer)
        ]
        if not found:
            return None
        *_, number = max(found)
        leaving = self._all[number]
        leaving.is_leaving = True
        self._forget(leaving.peer)
        return number

    def _spare_data(self) -> Counter[str]:
        """Return how many connections for packets each peer has beyond its sessions.

        One of a session may wait long for its first packet.
        """
        spare: Counter[str] = Counter()
        for one in self._all.values():
            if not one.is_control:
                spare[one.peer] += 1
            elif one.has_session:
                spare[one.peer] -= 1
        return spare
