"""The verbs of snapshots: take one, and say where they are written."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from ..record.backends.lttng_ust.channel_memory import possible_cpus
from ..record.relay.folder import make_spool
from .model import Session, SnapshotOutput
from .names import fits
from .protocol import Request
from .refusals import os_error_text, refused
from .registry import Peer, Registry, as_owner
from .relays import check_relay

__all__ = [
    "add_snapshot_output",
    "check_output",
    "list_snapshot_outputs",
    "packets_of_size",
    "record_snapshot",
    "remove_snapshot_output",
    "remove_unfinished",
]

NO_LIMIT = (1 << 64) - 1
LONGEST_NAME = 200
"""Bytes; with the time and a number, it is the name of a directory."""
MOST_NAMESAKES = 1000
UNNAMED = "snapshot-0"
"""What LTTng calls snapshots that are written to no output of the session."""


def _session(registry: Registry, peer: Peer, request: Request) -> Session:
    """Return the session that a request is for, if there are snapshots of it."""
    session = registry.session(peer, request.text("session"))
    # LTTng takes them of each session that has no output of its own.
    if session.output is not None:
        raise refused("NOT_SNAPSHOT_SESSION")
    return session


def _output(
    request: Request, name: str | None, path: str, data: str | None = None
) -> SnapshotOutput:
    """Return the output that a request describes, without its number."""
    size = request.number("max_size")
    output = SnapshotOutput(0, name or UNNAMED, path, size, data)
    try:
        check_output(output)
    except ValueError as error:
        raise refused("INVALID", str(error)) from error
    return output


def check_output(output: SnapshotOutput) -> None:
    """Refuse where no snapshots can be written.

    Args:
        output: What somebody has asked for.

    Raises:
        ValueError: Its path is not absolute, its URIs are none, or its limit.
    """
    if output.data is not None:
        check_relay([output.path, output.data])
    elif not PurePosixPath(output.path).is_absolute():
        raise ValueError(f"'{output.path}': expected an absolute path")
    if not 0 <= output.max_size <= NO_LIMIT:
        raise ValueError(f"{output.max_size}: expected a number of bytes")


async def add_snapshot_output(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Let the snapshots of ``session`` be written to ``path``.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: Also ``name`` and ``max_size``; ``relay``, the URIs of a relay daemon,
            in place of ``path``.

    Returns:
        The output.

    Raises:
        SessionError: There is one, or the path is none.
    """
    session = _session(registry, peer, request)
    if session.snapshot_outputs:
        raise refused("SNAPSHOT_OUTPUT_EXIST")
    name = request.optional_text("name")
    path, data = _place(request)
    if path is None:
        raise refused("INVALID", "expected a 'path' or a 'relay'")
    found = _output(request, name, path, data)
    added = session.add_output(name, found.path, found.max_size, found.data)
    registry.save(session)
    return asdict(added)


async def list_snapshot_outputs(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Return where the snapshots of ``session`` are written.

    Returns:
        ``outputs``, and ``left``: what became of what was kept when a daemon was
        killed.
    """
    session = _session(registry, peer, request)
    outputs = [asdict(one) for one in session.snapshot_outputs]
    return {"outputs": outputs, "left": session.left}


async def remove_snapshot_output(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Let no snapshots of ``session`` be written to ``output``, a number or a name.

    Raises:
        SessionError: There is no such output.
    """
    session = _session(registry, peer, request)
    wanted = request.text("output")
    for one in session.snapshot_outputs:
        if wanted in {str(one.number), one.name}:
            session.snapshot_outputs.remove(one)
            registry.save(session)
            return asdict(one)
    raise refused("INVALID", f"'{wanted}': expected an output of the session")


async def record_snapshot(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Take a snapshot of ``session``.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: ``path`` or ``relay``, where it is written to if not to the output of
            the session, ``name`` and ``max_size``.

    Returns:
        Its ``path``, and ``left`` as :func:`list_snapshot_outputs` has it: what is told
        here is told once.

    Raises:
        SessionError: The session has never been active, there is no output, or the
            snapshot cannot be written.
    """
    session = _session(registry, peer, request)
    if not session.was_active:
        raise refused("START_SESSION_ONCE")
    output = _chosen_output(session, request)
    most = packets_of_size(session, output.max_size, possible_cpus())
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(registry.now()))
    if output.data is not None:
        path = await _send_snapshot(registry, session, output, stamp, most)
        return _noted(registry, session, path)
    name = _make_folder(session, output, stamp)
    hidden, path = f"{output.path}/.{name}", f"{output.path}/{name}"
    session.snapshot_at = hidden
    try:
        registry.save(session)
        await registry.backend.snapshot(session, hidden, most)
        # From here on it is there, and whole.
        with as_owner(session):
            os.rename(hidden, path)  # noqa: PTH104 - a moment, as all of this is
    except BaseException as error:
        remove_unfinished(session)
        if isinstance(error, OSError):
            raise refused("SNAPSHOT_FAIL", os_error_text(error)) from error
        raise
    session.snapshot_at = None
    return _noted(registry, session, path)


def _noted(registry: Registry, session: Session, path: str) -> dict[str, Any]:
    """Note that a snapshot was taken; return what is answered."""
    session.snapshots_taken += 1
    left, session.left = session.left, []
    registry.save(session)
    return {"path": path, "left": left}


async def _send_snapshot(
    registry: Registry,
    session: Session,
    output: SnapshotOutput,
    stamp: str,
    most: int | None,
) -> str:
    """Write a snapshot to memory and send it; return where it is on the relay."""
    _check_folder(output)
    name = f"{output.name}-{stamp}-{session.snapshots_taken}"
    try:
        session.snapshot_at = spool = make_spool(session.uid, session.gid)
        registry.save(session)
        with as_owner(session):
            if session.channels:
                os.mkdir(f"{spool}/ust", 0o770)  # noqa: PTH102 - in memory
        await registry.backend.snapshot(session, spool, most)
        return await registry.relays.send_snapshot(session, output, spool, name)
    except OSError as error:
        raise refused("SNAPSHOT_FAIL", os_error_text(error)) from error
    finally:
        remove_unfinished(session)


def remove_unfinished(session: Session) -> None:
    """Remove what there is of a snapshot that was not completed.

    Args:
        session: The session; a daemon before this one may have been killed.
    """
    hidden, session.snapshot_at = session.snapshot_at, None
    if hidden is not None:
        with as_owner(session), suppress(OSError):
            shutil.rmtree(hidden)


def _chosen_output(session: Session, request: Request) -> SnapshotOutput:
    name = request.optional_text("name")
    path, data = _place(request)
    if path:
        return _output(request, name, path, data)
    if not session.snapshot_outputs:
        raise refused("SNAPSHOT_FAIL", "expected an output of the session, or a path")
    own = session.snapshot_outputs[0]
    chosen = _output(request, name or own.name, own.path, own.data)
    chosen.max_size = chosen.max_size or own.max_size
    return chosen


def _place(request: Request) -> tuple[str | None, str | None]:
    """Return the directory that a request has, or both URIs of a relay daemon."""
    relay = request.texts("relay")
    if not relay:
        return request.optional_text("path"), None
    try:
        check_relay(relay)
    except ValueError as error:
        raise refused("INVALID", str(error)) from error
    return relay[0], relay[1]


def _check_folder(output: SnapshotOutput) -> None:
    if "/" in output.name or not fits(output.name, LONGEST_NAME):
        raise refused("CREATE_DIR_FAIL", f"'{output.name}': expected a file's name")


def _make_folder(session: Session, output: SnapshotOutput, stamp: str) -> str:
    """Make the directory of a snapshot, hidden, and return its name."""
    _check_folder(output)
    try:
        with as_owner(session):
            Path(output.path).mkdir(mode=0o770, parents=True, exist_ok=True)
            for _ in range(MOST_NAMESAKES):
                name = f"{output.name}-{stamp}-{session.snapshots_taken}"
                folder = Path(output.path, f".{name}")
                # Another session may have left one there, in the same second.
                with suppress(FileExistsError):
                    if not os.path.lexists(f"{output.path}/{name}"):
                        folder.mkdir(mode=0o770)
                        if session.channels:
                            Path(folder, "ust").mkdir(mode=0o770)
                        return name
                session.snapshots_taken += 1
    except OSError as error:
        raise refused("CREATE_DIR_FAIL", os_error_text(error)) from error
    raise refused("CREATE_DIR_FAIL", f"{output.path}: too many snapshots")


def packets_of_size(session: Session, max_size: int, cpus: int) -> int | None:
    """Return how many sub-buffers of each ring have room in a snapshot.

    As in LTTng, each ring has as many, and a ring that has fewer leaves its room to the
    others.

    Args:
        session: The session.
        max_size: Bytes; 0 without a limit.
        cpus: How many rings each channel has.

    Returns:
        The number; ``None`` for all.

    Raises:
        SessionError: There is no room for one of each.
    """
    if max_size in {0, NO_LIMIT}:
        return None
    channels = [one.attributes for one in session.all_channels()]
    left, packets = max_size, 0
    while True:
        step = sum(one.subbuf_size for one in channels if packets < one.num_subbuf)
        if step == 0:
            return None
        left -= step * cpus
        if left < 0:
            break
        packets += 1
    if packets == 0:
        raise refused("MAX_SIZE_INVALID")
    return packets
