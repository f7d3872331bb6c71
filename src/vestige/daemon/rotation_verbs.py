"""The verbs of chunks: rotate, clear, and the schedules of rotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from ..errors import RecordError
from ..record.backends.lttng_ust.left_dumps import describe_left
from ..record.backends.lttng_ust.ring_files import LeftRings, RingOwner, left_rings
from ..record.backends.lttng_ust.trace_files import OwnerFiles
from ..record.backends.registered.trace import cut_left
from ..record.relay.chunk import Chunk
from .chunks import (
    ARCHIVES,
    DATA,
    ArchiveExistsError,
    archive_chunk,
    archive_name,
    begin_left_chunks,
    complete_archive,
    kernel_folders,
    remove_unreadable,
    remove_unused,
    take_back,
)
from .lttng_ust import plan_of
from .model import Session
from .places import described
from .protocol import Request
from .refusals import os_error_text, refused
from .registry import Peer, Registry, as_owner
from .relays import paused

__all__ = [
    "UNSENT",
    "archive_last",
    "clear",
    "complete_rotation",
    "end_output",
    "rotate",
    "rotate_session",
    "set_schedule",
    "unset_schedule",
]

MOST_NAMESAKES = 1000
UNSENT = "ROTATION_PENDING_RELAY_FAIL_CONSUMER"
"""Why a rotation is refused that is done here: it will be there later, or whoever stops
the session is told that it is not."""
SCHEDULES = {"timer": "rotation_timer", "size": "rotation_size"}
"""Kinds of schedules, and where a session has their values."""


async def rotate(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Archive the present chunk of ``session``.

    Returns:
        ``path``, the archive; ``relay``, the relay daemon that has it; ``failure``, why
        a part of the trace could not be written, if nobody was told yet.

    Raises:
        SessionError: It writes no trace, was never started, or has recorded nothing
            since it was last rotated or cleared; or the chunk cannot be moved.
    """
    session = registry.session(peer, request.text("session"))
    path = await rotate_session(registry, session)
    failure = registry.backend.take_failure(session)
    return {"path": path, "relay": session.relay, "failure": failure}


async def rotate_session(registry: Registry, session: Session) -> str:
    """Do what :func:`rotate` does.

    Args:
        registry: The sessions.
        session: The session.

    Returns:
        The archive.
    """
    _check_rotation(session)
    before = session.chunk, session.chunk_begin
    moved: list[str] = []
    sender = registry.relays.sender(session)

    def move_back() -> None:
        assert session.output is not None and session.moving_to is not None  # noqa: S101, PT018 - it was moved
        with as_owner(session):
            if not take_back(session.output, session.moving_to):
                moved.clear()

    number = session.chunk
    registry.conditions.rotation(session, "ongoing", number)
    ended: Chunk | None = None
    try:
        with paused(sender):
            await registry.backend.rotate(
                session, lambda: moved.append(_move(registry, session)), move_back
            )
            if sender is not None and moved:
                ended = sender.end_chunk(moved[0], session.chunk_begin)
    except OSError as error:
        raise refused("ROTATE_RENAME_FAIL_CONSUMER", os_error_text(error)) from error
    finally:
        session.moving_to = None
        if not moved:
            session.chunk, session.chunk_begin = before
        session.is_rotated_while_inactive |= bool(moved) and not session.active
        _save_some_time(registry, session)
    if not moved:
        failure = registry.backend.take_failure(session)
        raise refused("ROTATE_RENAME_FAIL_CONSUMER", failure)
    path = moved[0] if ended is None else await _sent(registry, session, ended)
    registry.conditions.rotation(session, "completed", number, path)
    return path


def _check_rotation(session: Session) -> None:
    """Refuse a rotation of what cannot be rotated now."""
    if not session.was_active:
        raise refused("START_SESSION_ONCE")
    if session.output is None or session.live_timer:
        raise refused("ROTATION_NOT_AVAILABLE")
    if not session.active and session.is_rotated_while_inactive:
        raise refused("ROTATION_MULTIPLE_AFTER_STOP")
    if not session.active and session.is_cleared_while_inactive:
        raise refused("ROTATION_AFTER_STOP_CLEAR")


async def _sent(registry: Registry, session: Session, chunk: Chunk) -> str:
    """Wait until a chunk is on the relay daemon; return where."""
    unsent = await registry.relays.wait_for(session, chunk)
    if unsent is not None:
        raise refused(UNSENT, unsent)
    return chunk.path


def _save_some_time(registry: Registry, session: Session) -> None:
    """Keep a session as it is, or with what is changed next: the journal is full.

    What it says until then is what a daemon puts right that finds it.
    """
    try:
        registry.save(session)
    except OSError as error:
        session.schedule_failure = os_error_text(error)


def _move(registry: Registry, session: Session, *, goes_on: bool = True) -> str:
    """Move the present chunk to the archives, and count it."""
    assert session.output is not None  # noqa: S101 - looked at before
    end = registry.now()
    for _ in range(MOST_NAMESAKES):
        name = archive_name(session.chunk_begin or session.created, end, session.chunk)
        session.moving_to = name
        registry.save(session)
        session.chunk += 1
        try:
            with as_owner(session):
                path = archive_chunk(session.output, name, goes_on=goes_on)
        except ArchiveExistsError:
            # Another session has left it there, in the same second.
            continue
        except OSError:
            session.chunk -= 1
            raise
        session.chunk_begin = end
        return path
    raise FileExistsError(17, "too many archives", session.output)


def complete_rotation(registry: Registry, session: Session, rings: str) -> None:
    """Deal with what a daemon was making when it was killed: a chunk, or a trace.

    Args:
        registry: The sessions.
        session: A session that was taken over.
        rings: The directory of all rings.
    """
    name, session.moving_to = session.moving_to, None
    if session.output is None or not session.was_active:
        return
    is_archived = name is not None
    try:
        left: list[LeftRings] = []
        if name is not None:
            left = _rings_of(session, rings)
            _cut_left(session, name, rings)
        with as_owner(session):
            if name is not None:
                recorded = {str(one.facts.get("output")) for one in left}
                is_archived = complete_archive(session.output, name, recorded)
            remove_unreadable(session.output)
        if name is not None and is_archived:
            _describe(session, name, left, rings)
    except OSError as error:
        session.schedule_failure = os_error_text(error)
    if is_archived:
        session.chunk += 1
        session.chunk_begin = registry.now()


def _cut_left(session: Session, name: str, rings: str) -> None:
    """Cut what our tracer's programs record where others had begun a chunk."""
    assert session.output is not None  # noqa: S101 - looked at before
    plan = plan_of(session, rings)
    channels = {one.name: one for one in plan.channels}
    with as_owner(session):
        left = begin_left_chunks(session.output, name)
    for trace, place in left:
        channel = channels.get(_channel_of(session, Path(trace).name))
        if channel is None:
            continue
        # What cannot be cut is taken back.
        with suppress(OSError, RecordError):
            _add_lost(session, channel.name, *cut_left(plan, channel, trace, place))


def _channel_of(session: Session, trace: str) -> str:
    """Return the name of a trace's channel: it may be the second of that name."""
    first, _, number = trace.rpartition("-")
    is_second = trace not in session.channels and number.isdecimal()
    return first if is_second else trace


def _add_lost(session: Session, channel: str, events: int, packets: int) -> None:
    """Count what a chunk has lost of which nobody else knows any more."""
    session.channels[channel].discarded_events += events
    session.channels[channel].lost_packets += packets
    before = session.own_lost.setdefault(channel, [0, 0])
    before[0] += events
    before[1] += packets


def _rings_of(session: Session, rings: str) -> list[LeftRings]:
    """Return the rings that a daemon has left."""
    root, owner = session.shm_path, RingOwner(session.uid, session.gid)
    if root is None:
        root, owner = f"{rings}/{session.name}", RingOwner(os.geteuid(), os.getegid())
    return [*left_rings(root, owner)]


def _describe(
    session: Session, name: str, left: Sequence[LeftRings], rings: str
) -> None:
    """Tell the present chunk what programs of LTTng-UST have loaded."""
    assert session.output is not None  # noqa: S101 - looked at before
    wanted = plan_of(session, rings).state_events()
    files = OwnerFiles("", session.uid, session.gid)
    present = Path(session.output, DATA)
    for one in left:
        place = Path(os.path.normpath(str(one.facts.get("output"))))
        if not wanted or not place.is_relative_to(present):
            continue
        before = Path(session.output, ARCHIVES, name, DATA, place.relative_to(present))
        # What a user has written beside the rings may be anything.
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            describe_left(one, before, files, wanted)


def archive_last(registry: Registry, session: Session) -> str | None:
    """Archive the last chunk of a session that ends, if others were.

    Args:
        registry: The sessions.
        session: The session; nothing writes its files any more.

    Returns:
        The archive; ``None`` if there is none.
    """
    if session.output is None or not session.chunk:
        return None
    if session.is_rotated_while_inactive or session.is_cleared_while_inactive:
        # Nothing was recorded since.
        with as_owner(session):
            for name in (DATA, *kernel_folders(session.output)):
                rmtree(Path(session.output, name), ignore_errors=True)
        return None
    return _move(registry, session, goes_on=False)


async def end_output(registry: Registry, session: Session) -> str | None:
    """Do what :func:`archive_last` does, also of a session that is sent.

    Args:
        registry: The sessions.
        session: The session; nothing writes its files any more.

    Returns:
        The archive; ``None`` if there is none.

    Raises:
        SessionError: The relay daemon has not got all of it.
    """
    if session.relay is None:
        return archive_last(registry, session)
    path, unsent = await registry.relays.end(session, registry.now())
    if unsent is not None:
        raise refused("UNKNOWN", unsent)
    is_empty = session.is_rotated_while_inactive or session.is_cleared_while_inactive
    return path if session.chunk and not is_empty else None


async def clear(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Throw away what ``session`` has recorded; its archives stay.

    Returns:
        The session, and ``failure`` as :func:`rotate` has it.

    Raises:
        SessionError: Something cannot be removed.
    """
    session = registry.session(peer, request.text("session"))
    sender = registry.relays.sender(session)
    if sender is not None and not sender.may_clear:
        raise refused("CLEAR_RELAY_DISALLOWED")
    ended: Chunk | None = None
    with paused(sender):
        await registry.backend.clear(session)
        if session.output is not None:
            try:
                with as_owner(session):
                    remove_unused(session.output, registry.backend.folders(session))
            except OSError as error:
                raise refused("CLEAR_FAIL_CONSUMER", os_error_text(error)) from error
        if sender is not None and session.was_active:
            ended = sender.end_chunk(None, registry.now(), is_removed=True)
    if ended is not None:
        unsent = await registry.relays.wait_for(session, ended)
        if unsent is not None:
            raise refused("CLEAR_FAIL_CONSUMER", unsent)
    session.is_cleared_while_inactive = session.was_active and not session.active
    registry.save(session)
    failure = registry.backend.take_failure(session)
    return {**described(session), "failure": failure}


async def set_schedule(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Rotate ``session`` by ``kind``, ``timer`` or ``size``, from now on.

    ``value`` is in microseconds or bytes.

    Raises:
        SessionError: It has a schedule of this kind, or cannot be rotated.
    """
    session = registry.session(peer, request.text("session"))
    name = _schedule(request)
    value = request.number("value")
    if value < 1:
        raise refused("INVALID")
    if session.output is None or session.live_timer:
        raise refused("ROTATION_NOT_AVAILABLE")
    if getattr(session, name):
        raise refused("ROTATION_SCHEDULE_SET")
    setattr(session, name, value)
    registry.save(session)
    return {}


async def unset_schedule(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Rotate ``session`` by ``kind`` no more.

    Returns:
        ``value``, what it was.

    Raises:
        SessionError: It has no schedule of this kind.
    """
    session = registry.session(peer, request.text("session"))
    name = _schedule(request)
    value = getattr(session, name)
    if not value:
        raise refused("ROTATION_SCHEDULE_NOT_SET")
    setattr(session, name, 0)
    registry.save(session)
    return {"value": value}


def _schedule(request: Request) -> str:
    name = SCHEDULES.get(request.text("kind"))
    if name is None:
        raise refused("INVALID")
    return name
