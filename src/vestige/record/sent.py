"""Recording a program to a relay daemon, without a session daemon."""

from __future__ import annotations

import os
import re
import time
import uuid

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import RecordError
from ..live.output_url import read_uri
from .recorder import Recording, SentFiles, run_and_record
from .relay.connection import RelayAddress, RelayRefusedError
from .relay.folder import held_spool
from .relay.messages import SessionFacts
from .relay.plan import SenderPlan
from .relay.sender import RelaySender
from .trace_directory import KERNEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .rules.options import RecordingOptions

__all__ = ["Sent", "record_and_send"]

ROOM = 64 << 20
"""Bytes in memory that were not confirmed, after which nothing more is collected."""
PATIENCE = 10.0
"""Seconds for which a relay daemon may take nothing at the end."""
FIRST_LETTERS = re.compile(r"^\.+|/")
"""What a relay daemon takes in no name."""


class Sent(NamedTuple):
    """A recording that was sent."""

    recording: Recording
    """Its directory is gone."""

    place: str | None
    """Where it is below the output of the relay daemon; ``None``: not all of it is."""

    failure: str | None
    """Why not."""

    lost_packets: int
    lost_bytes: int
    """Of packets that were given up."""


def record_and_send(
    program: tuple[str, ...],
    relay: Sequence[str],
    options: RecordingOptions,
    meanwhile: Callable[[], object] | None = None,
    *,
    doubted: Callable[[str], object] | None = None,
) -> Sent:
    """Run a program and send what it records.

    The program never waits for the network: where its buffers are full, it loses
    events, which are counted. Processes that go on when it has ended are not recorded
    any more.

    Args:
        program: Its name and its arguments; empty: as of :func:`.run_and_record`.
        relay: The URIs of a relay daemon, for control and for data.
        options: What is recorded.
        meanwhile: Called once, while the program runs.
        doubted: Called before the program starts with each thing that will be missing.

    Returns:
        What was sent.

    Raises:
        ProgramError: The program cannot be started.
        RecordError: The relay daemon cannot be reached, or there is no memory.
    """
    with held_spool() as spool:
        control, data = map(read_uri, relay)
        name = os.path.basename(program[0]) if program else KERNEL
        facts = SessionFacts(
            FIRST_LETTERS.sub("", name) or "program",
            os.uname().nodename,
            control.path,
            uuid.uuid4().bytes,
            1,
            int(time.time()),
            live_timer=options.live_ns // 1000,
        )
        address = RelayAddress(control.host, control.port, data.port, control.family)
        uid, gid = os.geteuid(), os.getegid()
        plan = SenderPlan(address, facts, spool, uid, gid, ROOM)
        return _record(program, plan, options, meanwhile, doubted)


def _record(
    program: tuple[str, ...],
    plan: SenderPlan,
    options: RecordingOptions,
    meanwhile: Callable[[], object] | None,
    doubted: Callable[[str], object] | None,
) -> Sent:
    kernel = os.path.join(plan.spool, KERNEL)
    files = SentFiles(plan.spool, kernel, plan.session.name)

    def on_full(is_full: bool) -> None:  # noqa: FBT001 - it is called so
        if files.hold is not None:
            files.hold(is_full)

    sender = RelaySender(plan, on_full)
    try:
        sender.connect()
    except (OSError, RelayRefusedError) as error:
        why = getattr(error, "strerror", None) or error
        raise RecordError(f"the relay daemon cannot be reached: {why}") from error
    folder = f"{plan.spool}/ust/uid/{plan.uid}/64-bit"
    os.makedirs(folder)
    sender.start(0, time.time())
    place = None
    try:
        recording = run_and_record(
            program, folder, options, meanwhile, sent=files, doubted=doubted
        )
    finally:
        # What there is of one that failed is sent as well.
        place = sender.end(PATIENCE, end=time.time())
    failure = None
    if place is None:
        why = sender.failure or "nothing moves"
        failure = str(getattr(why, "strerror", None) or why)
    return Sent(recording, place, failure, sender.lost_packets, sender.lost_bytes)
