"""Nothing waits for who does not read what triggers tell."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from vestige.daemon.peer import Peer
from vestige.daemon.protocol import Values
from vestige.daemon.triggers import hub as hubs
from vestige.daemon.triggers.hub import Hub
from vestige.daemon.triggers.trigger import read_trigger

CONDITION = {"type": "session-consumed-size", "session": "s", "threshold_bytes": 5}


class Writer:
    """A stream that keeps what is written until it is read."""

    def __init__(self):
        self.lines = []
        self.transport = mock.Mock()
        self.transport.is_closing.return_value = False
        self.transport.get_write_buffer_size = lambda: sum(map(len, self.lines))

    def write(self, line):
        """Keep a line."""
        self.lines.append(line)

    def read(self):
        """Return what there is."""
        found = [json.loads(one) for one in self.lines]
        self.lines.clear()
        return [
            {
                name: one
                for name, one in message.items()
                if name not in {"version", "number"}
            }
            for message in found
        ]


@pytest.fixture
def trigger():
    """A trigger of user 7."""
    values = {"name": "t", "condition": CONDITION, "action": {"type": "notify"}}
    return read_trigger(Values(values), 7)


def connected(hub, uid, number):
    """Return a connection of a user."""
    writer = Writer()
    hub.connect(Peer(1, uid, 1, number), writer)
    return Peer(1, uid, 1, number), writer


def test_who_is_told(trigger):
    """The trigger's user and root, once each, of the conditions that they named."""
    hub = Hub()
    writers = {}
    for number, uid in enumerate((7, 0, 8, 7)):
        peer, writers[number] = connected(hub, uid, number)
        if number < 3:
            hub.subscribe(peer, trigger.condition)
            hub.subscribe(peer, None)
    assert hub.has_subscribers(trigger.condition)
    hub.notify(trigger, {"type": "x"})
    counts = [len(one.read()) for one in writers.values()]
    assert counts == [1, 1, 0, 0]
    for number, uid in enumerate((7, 0, 8, 7)):
        hub.disconnect(Peer(1, uid, 1, number))
    assert not hub.has_subscribers(trigger.condition)


def test_a_reader_that_stops(trigger, monkeypatch):
    """Loses what it has no room for, and is told how much, before what comes next."""
    monkeypatch.setattr(hubs, "LARGEST_QUEUE", 1)
    hub = Hub()
    peer, writer = connected(hub, 7, 1)
    hub.subscribe(peer, None)
    waiting = []
    monkeypatch.setattr(hub, "_spawn", waiting.append)
    for number in range(4):
        hub.notify(trigger, {"type": "x", "number": number})
    (message,) = writer.read()
    assert message["notification"]["evaluation"] == {"type": "x", "number": 0}
    assert message["notification"]["trigger"]["name"] == "t"
    hub.close()
    assert writer.read() == [{"dropped": 3}, {"closed": True}]
    (task,) = waiting
    task.close()
