"""Triggers fire when sessions and their buffers come to meet their conditions."""

from __future__ import annotations

from typing import Any

import pytest

from vestige.daemon.model import Session
from vestige.daemon.protocol import Values
from vestige.daemon.triggers.book import TriggerBook
from vestige.daemon.triggers.sampled import KERNEL_TRACER, Sample, SessionConditions
from vestige.daemon.triggers.trigger import read_trigger
from vestige.record.backends.channel_counts import Usage


class Fixture:
    """Conditions of a session of user 7, and what has fired."""

    def __init__(self):
        self.book = TriggerBook()
        self.fired: list[Any] = []
        self.conditions = SessionConditions(
            self.book, lambda trigger, why: self.fired.append((trigger.name, why))
        )
        self.session = Session("s", 7, 7)
        self.usages: dict[int, Usage] = {}

    def add(self, name="t", uid=7, **condition):
        """Add a trigger."""
        values = {"session": "s", **condition}
        action = {"type": "notify"}
        trigger = {"name": name, "condition": values, "action": action}
        made = read_trigger(Values(trigger), uid)
        self.book.add(made)
        return made

    def see(self, fullest, consumed=0, owner=1):
        """Have a sample, with the last one of others; return what has fired."""
        self.usages[owner] = Usage(fullest, 1000, consumed)
        return self.look()

    def look(self, tracer="lttng-ust"):
        """Have a sample of what there is; return what has fired."""
        sample = Sample("s", "c", tracer, {**self.usages})
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
    assert fixture.see(749) == []
    assert fixture.see(750) == [("t", {"type": kind, "bytes": 750, "ratio": 0.75})]
    assert fixture.see(900) == []
    assert len(fixture.see(800, owner=2)) == 1
    assert len(fixture.look("vestige")) == 2
    assert fixture.see(100) == []
    assert len(fixture.see(1000)) == 1


def test_usage_that_is_low(fixture):
    """By bytes, of the fullest buffer; it is so at once."""
    kind = "buffer-usage-low"
    fixture.add(channel="c", domain="UST", type=kind, threshold_bytes=10)
    assert fixture.see(10) == [("t", {"type": kind, "bytes": 10, "ratio": 0.01})]
    assert fixture.see(0) == []
    assert fixture.see(11) == []
    assert len(fixture.see(0)) == 1


def test_a_part_of_a_byte_is_none(fixture):
    """Ratios are bytes, rounded down."""
    of = {"channel": "c", "domain": "UST"}
    fixture.add("l", **of, type="buffer-usage-low", threshold_ratio=0.0109)
    fixture.add("h", **of, type="buffer-usage-high", threshold_ratio=0.0109)
    assert [name for name, _ in fixture.see(9)] == ["l"]
    assert [name for name, _ in fixture.see(10)] == ["h"]
    assert fixture.see(11) == []


def test_what_is_so_already(fixture):
    """Is known to who comes later, until the session is gone."""
    of = {"channel": "c", "domain": "UST", "type": "buffer-usage-high"}
    fixture.see(800)
    late = fixture.add(**of, threshold_bytes=800)
    assert fixture.conditions.evaluation(late)["bytes"] == 800
    assert (
        fixture.conditions.evaluation(fixture.add("u", **of, threshold_bytes=801))
        is None
    )
    others = fixture.add("v", uid=8, **of, threshold_bytes=800)
    roots = fixture.add("w", uid=0, **of, threshold_bytes=800)
    assert fixture.conditions.evaluation(others) is None
    assert fixture.conditions.evaluation(roots)["bytes"] == 800
    fixture.conditions.forget(fixture.session)
    assert fixture.conditions.evaluation(late) is None


def test_consumed_size(fixture):
    """Of all buffers together, once."""
    fixture.add(type="session-consumed-size", threshold_bytes=100)
    assert fixture.see(0, 60) == []
    (fired,) = fixture.see(0, 40, owner=2)
    assert fired == ("t", {"type": "session-consumed-size", "bytes": 100})
    assert fixture.see(0, 90) == []


def test_what_was_consumed_of_buffers_that_are_gone(fixture):
    """Counts on, also if others follow with their number."""
    fixture.add(type="session-consumed-size", threshold_bytes=100)
    assert fixture.see(0, 60) == []
    fixture.usages.clear()
    assert fixture.see(0, 30, owner=2) == []
    (fired,) = fixture.see(0, 10, owner=2)
    assert fired == ("t", {"type": "session-consumed-size", "bytes": 100})


def test_others_sessions_and_channels(fixture):
    """Root's triggers look at all of them, others at those of their user."""
    of = {"domain": "UST", "type": "buffer-usage-high", "threshold_bytes": 0}
    fixture.add("other", uid=8, channel="c", **of)
    fixture.add("root", uid=0, channel="c", **of)
    fixture.add("elsewhere", channel="d", **of)
    fixture.add("kernel", channel="c", **{**of, "domain": "KERNEL"})
    assert [name for name, _ in fixture.see(0)] == ["root"]


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


def test_channels_of_the_kernel_are_others(fixture):
    """They may have the names of those of programs."""
    kind = "buffer-usage-high"
    fixture.add(channel="c", domain="KERNEL", type=kind, threshold_bytes=10)
    [trigger] = fixture.book
    assert fixture.see(10) == []
    assert fixture.conditions.evaluation(trigger) is None
    assert len(fixture.look(KERNEL_TRACER)) == 1
    assert fixture.conditions.evaluation(trigger) == {
        "type": kind,
        "bytes": 10,
        "ratio": 0.01,
    }
