"""Actions of triggers are done in order, as often as they should be."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest import mock

import pytest

from vestige.daemon.model import Session
from vestige.daemon.protocol import Values
from vestige.daemon.refusals import refused
from vestige.daemon.registry import Registry
from vestige.daemon.triggers.firing import MOST_WAITING, Firing
from vestige.daemon.triggers.trigger import Trigger, read_trigger

CONDITION = {"type": "session-consumed-size", "session": "s", "threshold_bytes": 5}


def trigger(*actions: dict[str, Any], uid: int = 7) -> Trigger:
    """Return a trigger."""
    action = {"type": "list", "actions": [*actions]}
    values = {"name": "t", "condition": CONDITION, "action": action}
    return read_trigger(Values(values), uid)


class Fixture:
    """A registry with a session, and what was asked for."""

    def __init__(self):
        self.registry = Registry(mock.Mock(), mock.Mock())
        self.registry.add(Session("s", 7, 7))
        self.asked = []
        self.refusal = None
        self.registry.hub = mock.Mock()

    async def ask(self, _registry, peer, verb, values):
        """Note a request, or refuse it."""
        if self.refusal:
            raise refused(self.refusal)
        self.asked.append((peer.uid, verb, values))

    def fire(self, *triggers):
        """Let triggers fire, and have their actions done."""

        async def run():
            firing = Firing(self.registry, self.ask)
            for one in triggers:
                firing.fire(one, {"type": "x"})
            while not firing.is_idle():  # noqa: ASYNC110 - others run
                await asyncio.sleep(0)
            await firing.close()

        asyncio.run(run())


@pytest.fixture
def fixture():
    """A registry with a session of user 7."""
    return Fixture()


def test_what_is_asked_for(fixture):
    """Each action is a verb, with the rights of the trigger's user."""
    output = {"path": "/a", "max_size": 5, "name": "n"}
    actions = [{"type": f"{one}-session"} for one in ("start", "stop", "rotate")]
    actions.append({"type": "snapshot-session", "output": output})
    fixture.fire(trigger(*({**one, "session": "s"} for one in actions)))
    verbs = [(uid, verb) for uid, verb, _ in fixture.asked]
    names = ("start", "stop", "rotate", "record-snapshot")
    assert verbs == [(7, one) for one in names]
    assert fixture.asked[3][2] == {"session": "s", **output}


@pytest.mark.parametrize(
    ("policy", "times"),
    [
        ({"type": "every-n", "count": 3}, [3, 6]),
        ({"type": "once-after-n", "count": 4}, [4]),
        (None, [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_rate_policies(fixture, policy, times):
    """Count how often the trigger fired."""
    one = trigger({"type": "notify", "rate_policy": policy})
    done = []
    fixture.registry.hub.notify = lambda *_: done.append(one.actions[0].requests)
    fixture.fire(*[one] * 7)
    assert done == times


def test_failures(fixture):
    """What is refused is counted; what is as it should be already is not."""
    missing = {"type": "start-session", "session": "nosuch"}
    there = {"type": "start-session", "session": "s"}
    for name, count in (("UST_CHAN_FAIL", 1), ("TRACE_ALREADY_STARTED", 0)):
        fixture.refusal = name
        one = trigger(missing, there)
        fixture.fire(one)
        assert [action.failures for action in one.actions] == [1, count]


def test_sessions_of_others(fixture):
    """Nobody's trigger reaches them, but root's."""
    action = {"type": "stop-session", "session": "s"}
    other = trigger(action, uid=8)
    fixture.fire(other, trigger(action, uid=0))
    assert [uid for uid, *_ in fixture.asked] == [0]
    assert other.actions[0].failures == 1


def test_what_is_too_much(fixture):
    """Subscribers are told that it was dropped, other actions have failed."""
    one = trigger({"type": "notify"}, {"type": "stop-session", "session": "s"})
    fixture.fire(*[one] * (MOST_WAITING + 3))
    assert fixture.registry.hub.drop.call_count == 3
    assert fixture.registry.hub.notify.call_count == MOST_WAITING
    assert one.actions[1].failures == 3
