"""Connections of many peers."""

from __future__ import annotations

import pytest

from vestige.errors import VestigeError
from vestige.relay.peers import Connection, Connections, Shares


def filled(*peers, is_control=True):
    """Return connections of peers, as many as there may be, and their numbers."""
    connections = Connections(len(peers))
    for number, peer in enumerate(peers):
        connections.add(number, Connection(peer, is_control=is_control))
    return connections


def test_one_leaves_room_for_others():
    """Three quarters are for one peer."""
    connections = filled("a", "a", "b", "b")
    connections.pop(3)
    assert connections.has_room("a")
    connections.add(4, Connection("a", is_control=True))
    assert not connections.has_room("a")
    connections.pop(2)
    assert connections.has_room("b")
    assert not connections.has_room("a")


def test_who_has_most_gives_way():
    """That which has been without a session for longest, and each once."""
    connections = filled("a", "a", "b", "b", "b")
    idle = [(0, 90.0), (2, 20.0), (3, 40.0), (4, 0.1)]
    assert connections.make_room("c", idle) == 3
    connections.add(5, Connection("c", is_control=True))
    # Both have two now.
    assert connections.make_room("c", idle) == 0
    assert connections.make_room("c", idle) == 2
    assert connections.make_room("c", idle) is None
    for number in (0, 2, 3):
        connections.pop(number)
    assert connections.has_room("c")


def test_who_has_its_share_gives_way_to_itself():
    """Others do not."""
    connections = filled("a", "a", "a", "b")
    assert connections.make_room("a", [(3, 50.0)]) is None
    assert connections.make_room("a", [(3, 50.0), (1, 2.0)]) == 1


def test_packets_of_a_session_may_come_late():
    """A peer that has no more such connections than sessions keeps them."""
    connections = filled("a", "b", "b", is_control=False)
    control = Connection("a", is_control=True)
    control.has_session = True
    connections.add(3, control)
    idle = [(0, 900.0), (1, 5.0), (2, 4.0)]
    assert connections.make_room("c", idle) == 1
    assert connections.make_room("c", idle) == 2
    assert connections.make_room("c", idle) is None


def test_shares_are_counted():
    """Of each peer and of all."""
    shares = Shares(4, "directories")
    own = shares.of("a")
    for _ in range(3):
        own.take()
    with pytest.raises(VestigeError, match="as many directories as are allowed"):
        own.take()
    shares.take("b")
    with pytest.raises(VestigeError):
        shares.take("c")
    own.give(2)
    shares.take("c")
