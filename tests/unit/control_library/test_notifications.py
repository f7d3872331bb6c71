"""Notification channels of the control library."""

from __future__ import annotations

import json
import subprocess

import pytest

from support.strange_daemon import strange_daemon

OK, DROPPED, CLOSED, ERROR = 0, 1, -2, -1
RULE = {"type": "user-tracepoint", "name": "*"}


def message(**members: object) -> bytes:
    """Return a line of a daemon."""
    return json.dumps({"version": 1, "number": None, **members}).encode() + b"\n"


def notification(condition: dict[str, object], **found: object) -> bytes:
    """Return what a daemon says when a condition is true."""
    trigger = {
        "name": "t",
        "owner_uid": 0,
        "condition": condition,
        "action": {"type": "notify"},
    }
    evaluation = {"type": condition["type"], **found}
    return message(notification={"trigger": trigger, "evaluation": evaluation})


ANSWER = b'{"version": 1, "number": 1, "answer": {}}\n'
SIZE = {"type": "session-consumed-size", "session": "s", "threshold_bytes": 5}
USAGE = {
    "type": "buffer-usage-high",
    "session": "s",
    "channel": "c",
    "domain": "UST",
    "threshold_ratio": 0.75,
}
ONGOING = {"type": "session-rotation-ongoing", "session": "s"}
COMPLETED = {"type": "session-rotation-completed", "session": "s"}
MATCHES = {"type": "event-rule-matches", "rule": RULE, "captures": []}
CAPTURES = [
    None,
    {"type": "unsigned", "value": (1 << 64) - 1},
    {"type": "signed", "value": -(1 << 63)},
    {"type": "real", "value": 2.5},
    {"type": "real", "value": "-inf"},
    {"type": "unsigned-enum", "value": 3, "labels": ["a"]},
    {"type": "signed-enum", "value": -3, "labels": []},
    {"type": "string", "value": "\u00e9\udcff\n"},
    {"type": "array", "value": [{"type": "signed", "value": 1}, None]},
]
"""Of all types."""


@pytest.fixture
def told(build_with_sanitizers, short_folder):
    """Run the program that reads notifications; return what it says that it was told."""

    def run(said: bytes) -> list[str]:
        with strange_daemon(short_folder, lambda _: said) as environment:
            done = subprocess.run(
                [build_with_sanitizers("notified")],
                env=environment,
                capture_output=True,
                timeout=60,
                check=False,
            )
        assert (done.stderr, done.returncode) == (b"", 0)
        return done.stdout.decode(errors="surrogateescape").splitlines()

    return run


def test_evaluations_of_all_conditions(told) -> None:
    """Each has what was found."""
    said = (
        notification(USAGE, bytes=4096, ratio=0.8145)
        + notification(SIZE, bytes=1 << 40)
        + notification(ONGOING, rotation=3)
        + notification(COMPLETED, rotation=3, location="/archives/3")
        + notification(MATCHES, captures=None)
        + message(closed=True)
    )

    assert told(ANSWER + said) == [
        "subscribe 0",
        "101: ratio 0.8145 bytes 4096",
        "100: consumed 1099511627776",
        "103: rotation 3",
        "104: rotation 3 at /archives/3",
        "105:",
        f"status {CLOSED}",
    ]


def test_captured_values_of_all_types(told) -> None:
    """Those that could not be captured leave their place."""
    said = ANSWER + notification(MATCHES, captures=CAPTURES) + message(closed=True)

    told_lines = "\n".join(told(said))

    assert (
        "105: captured [- 18446744073709551615 -9223372036854775808 2.5 -inf 3 -3 "
        "'\u00e9\udcff\n' [1 -]]"
    ) in told_lines


def test_what_comes_before_the_answer_is_kept(told) -> None:
    """In its order, and that some were dropped is told in its place."""
    early = notification(SIZE, bytes=7) + message(dropped=5) + message(dropped=1)

    assert told(
        early + notification(SIZE, bytes=8) + ANSWER + message(closed=True)
    ) == [
        "subscribe 0",
        "100: consumed 7",
        f"status {DROPPED}",
        "100: consumed 8",
        f"status {CLOSED}",
    ]


def test_more_than_is_kept(told) -> None:
    """The rest is dropped, and told once."""
    early = b"".join(notification(SIZE, bytes=one) for one in range(5000))

    lines = told(early + ANSWER + message(closed=True))

    assert len(lines) == 1 + 4096 + 2
    assert lines[-3:] == ["100: consumed 4095", f"status {DROPPED}", f"status {CLOSED}"]


def test_notifications_that_are_none(told) -> None:
    """They are as if they were dropped."""
    strange = message(notification={"trigger": {}, "evaluation": {"type": "x"}})

    assert told(ANSWER + strange + message(closed=True)) == [
        "subscribe 0",
        f"status {DROPPED}",
        f"status {CLOSED}",
    ]


@pytest.mark.parametrize("said", [b"nonsense\n", b"", b"{}"])
def test_daemons_that_do_not_answer(told, said: bytes) -> None:
    """The channel is closed then."""
    lines = told(said)

    assert lines[0] == f"subscribe {CLOSED}"
    assert lines[-1] == f"status {CLOSED}"


def test_a_subscription_that_is_refused(told) -> None:
    """With the status for it."""
    refusal = b'{"version": 1, "number": 1, "refusal": "ALREADY_SUBSCRIBED"}\n'

    assert told(refusal + message(closed=True))[0] == "subscribe -3"
