"""Triggers fire when sessions and their buffers come to meet their conditions."""

from __future__ import annotations

from typing import Any

import pytest

from vestige.daemon.model import Session
from vestige.daemon.protocol import Values
from vestige.daemon.triggers.book import TriggerBook
from vestige.daemon.triggers.sampled import Sample, SessionConditions
from vestige.daemon.triggers.trigger import read_trigger


class Fixture:
    """Conditions of a session of user 7, and what has fired."""

    def __init__(self):
        self.book = TriggerBook()
        self.fired: list[Any] = []
        self.conditions = SessionConditions(
            self.book, lambda trigger, why: self.fired.append((trigger.name, why))
        )
        self.session = Session("s", 7, 7)

    def add(self, name="t", uid=7, **condition):
        """Add a trigger."""
        values = {"session": "s", **condition}
        action = {"type": "notify"}
        trigger = {"name": name, "condition": values, "action": action}
        made = read_trigger(Values(trigger), uid)
        self.book.add(made)
        return made

    def see(self, lowest, highest, consumed=0, owner=1):
        """Have a sample; return what has fired."""
        sample = Sample("s", "c", owner, lowest, highest, 1000, consumed)
        self.conditions.sampled(self.session, sample)
        found, self.fired[:] = [*self.fired], []
        return found


@pytest.fixture
def fixture():
    """A session without triggers."""
    return Fixture()


def test_usage_that_is_high(fixture):
    """Told once, until it was lower; of each set of buffers."""
    kind = "buffer-usage-high"
    of = {"channel": "c", "domain": "UST", "type": kind}
    fixture.add(**of, threshold_ratio=0.75)
    assert fixture.see(0, 749) == []
    assert fixture.see(0, 750) == [("t", {"type": kind, "bytes": 750, "ratio": 0.75})]
    assert fixture.see(0, 900) == []
    assert len(fixture.see(0, 800, owner=2)) == 1
    assert fixture.see(0, 100) == []
    assert len(fixture.see(0, 1000)) == 1


def test_usage_that_is_low(fixture):
    """By bytes; it is so at once."""
    kind = "buffer-usage-low"
    fixture.add(channel="c", domain="UST", type=kind, threshold_bytes=10)
    assert fixture.see(10, 500) == [("t", {"type": kind, "bytes": 10, "ratio": 0.01})]
    assert fixture.see(0, 500) == []
    assert fixture.see(11, 500) == []
    assert len(fixture.see(0, 0)) == 1


def test_what_is_so_already(fixture):
    """Is known to who comes later, until the session is gone."""
    of = {"channel": "c", "domain": "UST", "type": "buffer-usage-high"}
    fixture.see(0, 800)
    late = fixture.add(**of, threshold_bytes=800)
    assert fixture.conditions.evaluation(late)["bytes"] == 800
    assert (
        fixture.conditions.evaluation(fixture.add("u", **of, threshold_bytes=801))
        is None
    )
    fixture.conditions.forget(fixture.session)
    assert fixture.conditions.evaluation(late) is None


def test_consumed_size(fixture):
    """Of all buffers together, once."""
    fixture.add(type="session-consumed-size", threshold_bytes=100)
    assert fixture.see(0, 0, 60) == []
    (fired,) = fixture.see(0, 0, 40, owner=2)
    assert fired == ("t", {"type": "session-consumed-size", "bytes": 100})
    assert fixture.see(0, 0, 90) == []


def test_others_sessions_and_channels(fixture):
    """Root's triggers look at all of them, others at those of their user."""
    of = {"domain": "UST", "type": "buffer-usage-high", "threshold_bytes": 0}
    fixture.add("other", uid=8, channel="c", **of)
    fixture.add("root", uid=0, channel="c", **of)
    fixture.add("elsewhere", channel="d", **of)
    fixture.add("kernel", channel="c", **{**of, "domain": "KERNEL"})
    assert [name for name, _ in fixture.see(0, 0)] == ["root"]


def test_rotations(fixture):
    """That one begins, and where the archive is."""
    for kind in ("ongoing", "completed"):
        fixture.add(kind, type=f"session-rotation-{kind}")
    fixture.conditions.rotation(fixture.session, "ongoing", 3)
    fixture.conditions.rotation(fixture.session, "completed", 3, "/a")
    assert fixture.fired == [
        ("ongoing", {"type": "session-rotation-ongoing", "rotation": 3}),
        (
            "completed",
            {"type": "session-rotation-completed", "rotation": 3, "location": "/a"},
        ),
    ]
