"""Senders to relay daemons for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.relay_receiver import RelayReceiver
from support.waiting import wait_until
from vestige.record.relay.connection import RelayAddress
from vestige.record.relay.messages import SessionFacts
from vestige.record.relay.plan import SenderPlan
from vestige.record.relay.sender import RelaySender

SECONDS = 60.0
"""How long anything may take."""


def plan(relay: RelayReceiver, spool: Path, **changes: object) -> SenderPlan:
    """Return what is sent, and where to."""
    session = SessionFacts("s", "machine", "", bytes(range(16)), 1, 1000)
    address = RelayAddress("127.0.0.1", relay.control_port, relay.data_port)
    made = SenderPlan(address, session, str(spool), os.getuid(), os.getgid(), 1 << 20)
    return made._replace(**changes)  # type: ignore[arg-type]


@contextmanager
def sending(
    relay: RelayReceiver, spool: Path, **changes: object
) -> Iterator[RelaySender]:
    """Have a sender that runs."""
    callbacks = {
        one: changes.pop(one)
        for one in ("on_full", "on_again", "is_resumed")
        if one in changes
    }
    sender = RelaySender(plan(relay, spool, **changes), **callbacks)  # type: ignore[arg-type]
    if "is_resumed" not in callbacks:
        sender.connect()
    sender.start(0, 1000.0)
    try:
        yield sender
    finally:
        relay.close()
        sender.end(0.0, end=2000.0)


def kept_files(relay: RelayReceiver) -> dict[str, bytes]:
    """Return what a relay daemon has: what it is sent again is written anew."""
    there: dict[str, bytes] = {}
    for session in relay.sessions:
        there |= session.files()
    return there


def wait_for_break(relay: RelayReceiver) -> None:
    """Break a connection, and wait for the next one."""
    count = len(relay.sessions)
    relay.break_off()
    wait_until(lambda: len(relay.sessions) > count, "it is back", SECONDS)
