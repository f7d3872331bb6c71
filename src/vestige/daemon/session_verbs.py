"""The verbs of whole sessions: create, list, start, stop, destroy, regenerate."""

from __future__ import annotations

import time
from pathlib import PurePosixPath
from typing import Any

from ..errors import SessionError
from ..record.backends.lttng_ust.clock import Clock
from ..record.relay.folder import make_spool
from .domains import require_kernel
from .model import AGENT_DOMAINS, Session
from .names import LONGEST_NAME, fits
from .places import described
from .protocol import Request
from .refusals import os_error_text, refused
from .registry import Peer, Registry, home_of, make_output
from .relays import check_relay
from .rotation_verbs import end_output

__all__ = [
    "add_with_relay",
    "create",
    "describe",
    "destroy",
    "end_session",
    "kernel_points",
    "list_sessions",
    "loggers",
    "programs",
    "read_relay",
    "regenerate",
    "set_active",
    "set_shm_path",
    "start",
    "start_session",
    "stop",
]

LONGEST_LIVE_TIMER = (1 << 32) - 1
"""Microseconds."""


async def create(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Create a session.

    Args:
        registry: The sessions.
        peer: Who asks, and will own it.
        request: ``name``, ``output`` (a directory), ``no_output``, ``shm_path``,
            ``home``, ``temporary`` (it ends with the connection), ``pids`` (the only
            processes that record), ``snapshot`` (it is one of snapshots), ``relay``
            (the URIs of a relay daemon that it is sent to), ``live_timer``
            (microseconds after which that has what was recorded).

    Returns:
        The session as :func:`describe` has it.

    Raises:
        SessionError: The name is taken or cannot be one, or there is no output.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(registry.now()))
    name = request.optional_text("name")
    label = f"auto-{stamp}" if name is None else f"{name}-{stamp}"
    name = name if name is not None else f"auto-{stamp}"
    check_name(name)
    output = request.optional_text("output")
    relay = read_relay(request)
    if request.flag("no_output"):
        output = relay = None
    elif output is None and relay is None:
        home = request.optional_text("home") or home_of(peer.uid)
        if home is None:
            raise refused("SET_URL", "no home")
        output = f"{home}/lttng-traces/{label}"
    shm_path = request.optional_text("shm_path")
    for folder in filter(None, (output, shm_path)):
        if not PurePosixPath(folder).is_absolute():
            raise refused("SET_URL", f"'{folder}': expected an absolute path")
    session = Session(
        name,
        peer.uid,
        peer.gid,
        output,
        shm_path=f"{shm_path}/{label}" if shm_path else None,
        created=registry.now(),
        pids=request.numbers("pids"),
        live_timer=_live_timer(request, relay),
    )
    if request.flag("snapshot"):
        session.is_snapshot, session.output = True, None
        if relay is not None:
            session.add_output(None, relay[0], 0, relay[1])
        elif output is not None:
            session.add_output(None, output, 0)
        relay = None
    add_with_relay(registry, session, relay)
    if request.flag("temporary"):
        registry.bind(session, peer)
    return described(session)


def _live_timer(request: Request, relay: list[str] | None) -> int:
    timer = request.number("live_timer")
    if timer and (relay is None or request.flag("snapshot")):
        raise refused("SET_URL", "viewers read a live session of a relay daemon")
    if not 0 <= timer <= LONGEST_LIVE_TIMER:
        raise refused("INVALID", f"a live timer of {timer} us")
    return timer


def add_with_relay(
    registry: Registry, session: Session, relay: list[str] | None
) -> None:
    """Keep a new session, which may be sent to a relay daemon.

    Args:
        registry: The sessions.
        session: The session.
        relay: The URIs of the relay daemon, if it is.

    Raises:
        SessionError: Somebody has one of this name, or there is no memory.
    """
    session.relay = relay
    if relay is not None:
        try:
            session.output = make_spool(session.uid, session.gid)
        except OSError as error:
            raise refused("SET_URL", os_error_text(error)) from error
    try:
        registry.add(session)
    except BaseException:
        registry.relays.remove_spool(session)
        raise


def read_relay(request: Request, name: str = "relay") -> list[str] | None:
    """Return the URIs of a relay daemon that a request has.

    Args:
        request: The request.
        name: The member that has them.

    Raises:
        SessionError: They are none.
    """
    uris = request.texts(name)
    if not uris:
        return None
    try:
        check_relay(uris)
    except ValueError as error:
        raise refused("INVALID", str(error)) from error
    return uris


def check_name(name: str) -> None:
    """Refuse what cannot be a session's name.

    Args:
        name: The name.

    Raises:
        SessionError: It is empty, too long, has a slash or an end of a line, or would
            be a directory outside of that of all buffers.
    """
    # A file has the name of the current session in a line.
    if name in {"", ".", ".."} or any(one in name for one in "/\n\r"):
        raise refused("SESSION_INVALID_CHAR")
    if not fits(name):
        raise refused("INVALID", f"expected up to {LONGEST_NAME} bytes")


async def set_shm_path(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Put the ring buffers of ``session`` below ``shm_path``.

    Clients of the control library say so after they have created it.

    Raises:
        SessionError: It has been active, or the path is none.
    """
    session = registry.session(peer, request.text("session"))
    folder = request.text("shm_path")
    if session.was_active:
        raise refused("TRACE_ALREADY_STARTED")
    if not PurePosixPath(folder).is_absolute():
        raise refused("INVALID", f"'{folder}': expected an absolute path")
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(session.created))
    is_named = session.name != f"auto-{stamp}"
    label = f"{session.name}-{stamp}" if is_named else session.name
    session.shm_path = f"{folder}/{label}"
    registry.save()
    return {}


async def list_sessions(
    registry: Registry,
    peer: Peer,
    request: Request,  # noqa: ARG001 - of all verbs
) -> dict[str, Any]:
    """Return all sessions that the peer sees."""
    return {"sessions": [described(one) for one in registry.sessions(peer)]}


async def describe(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Return a session with all that is in it; ``session`` is its name."""
    session = registry.session(peer, request.text("session"))
    lost = await registry.backend.kernel_losses(session)
    facts = described(session)
    for name, count in lost.items():
        facts["kernel_channels"][name]["discarded_events"] = count
    return facts


async def start(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Start a session; ``session`` is its name.

    Raises:
        SessionError: It is active, has no channel, or there is no room for its output
            or its buffers. It is as it was then.
    """
    session = registry.session(peer, request.text("session"))
    if session.active:
        raise refused("TRACE_ALREADY_STARTED")
    if not session.all_channels():
        raise refused("NO_CHANNEL")
    await start_session(registry, session)
    return described(session)


async def start_session(registry: Registry, session: Session) -> None:
    """Start a session that is inactive and has a channel.

    Args:
        registry: The sessions.
        session: The session.

    Raises:
        SessionError: As of :func:`start`.
    """
    await registry.relays.connect(session)
    make_output(session)
    was_active = session.was_active
    if session.kernel_channels and session.clock_offset is None:
        # All traces of the session say so, whenever they begin.
        session.clock_offset = Clock().offset()
    set_active(registry, session)
    # Also where more is changed at once: from here on, there are rings.
    registry.save_now(session)
    try:
        await registry.backend.apply(session)
    except OSError as error:
        await _take_back(registry, session, was_active=was_active)
        raise refused("UST_CHAN_FAIL", os_error_text(error)) from error
    except SessionError:
        await _take_back(registry, session, was_active=was_active)
        raise
    registry.relays.begin(session)


def set_active(registry: Registry, session: Session) -> None:
    """Note that a session is active from now on.

    Args:
        registry: The sessions.
        session: The session.
    """
    session.active = session.was_active = True
    if not session.chunk_begin or session.is_rotated_while_inactive:
        session.chunk_begin = registry.now()
    session.is_rotated_while_inactive = session.is_cleared_while_inactive = False


async def _take_back(registry: Registry, session: Session, *, was_active: bool) -> None:
    """Let a session be as it was before a start that failed."""
    session.active = False
    if was_active:
        await registry.backend.stop(session)
    else:
        # Its channels may be changed, so none of their buffers can stay.
        await registry.backend.forget(session)
        session.was_active = False
    registry.save(session)


async def stop(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Stop a session; ``session`` is its name.

    Returns:
        ``discarded_events`` and ``lost_packets`` since it was started; ``failure``,
        why a part of the trace could not be written, if nobody was told yet; ``gaps``,
        when programs of LTTng-UST recorded nothing, for lack of a daemon; ``silent``,
        programs that have not answered.

    Raises:
        SessionError: It is not active.
    """
    session = registry.session(peer, request.text("session"))
    if not session.active:
        raise refused("TRACE_ALREADY_STOPPED")
    return await _stop(registry, session)


async def _stop(registry: Registry, session: Session) -> dict[str, Any]:
    before = _losses(session)
    session.active = False
    silent = await registry.backend.stop(session)
    unsent = await registry.relays.flush(session)
    after = _losses(session)
    gaps, session.gaps = session.gaps, []
    failure = registry.backend.take_failure(session) or session.schedule_failure
    failure = failure or unsent
    session.schedule_failure = None
    registry.save(session)
    return {
        "gaps": gaps,
        "discarded_events": after[0] - before[0],
        "lost_packets": after[1] - before[1],
        "failure": failure,
        "silent": silent,
    }


def _losses(session: Session) -> tuple[int, int]:
    channels = session.all_channels()
    return (
        sum(one.discarded_events for one in channels),
        sum(one.lost_packets for one in channels),
    )


async def destroy(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Destroy a session; ``session`` is its name. The trace files stay.

    Returns:
        What :func:`stop` returns, whether it was active, and the ``archive`` of what
        was recorded since the last rotation, if there was one. ``failure`` also if
        somebody was told before, unless there is room by now for what was kept.
    """
    return await end_session(registry, registry.session(peer, request.text("session")))


async def end_session(registry: Registry, session: Session) -> dict[str, Any]:
    """Do what :func:`destroy` does.

    Args:
        registry: The sessions.
        session: The session.
    """
    was_active = session.active
    lost: dict[str, Any] = {}
    if was_active:
        lost = await _stop(registry, session)
    failure = await registry.backend.forget(session)
    lost["failure"] = lost.get("failure") or failure
    archive = None
    try:
        archive = await end_output(registry, session)
    except OSError as error:
        lost["failure"] = lost["failure"] or os_error_text(error)
    except SessionError as error:
        lost["failure"] = error.detail or error.message
    registry.remove(session)
    ended = {"was_active": was_active, "archive": archive}
    return {**described(session), **lost, **ended}


async def regenerate(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Write ``what``, ``metadata`` or ``statedump``, of ``session`` once more.

    Returns:
        ``silent``: programs that do so when they answer again.

    Raises:
        SessionError: The session is not active, or is live and it is the metadata.
    """
    session = registry.session(peer, request.text("session"))
    if not session.active:
        raise refused("SESSION_NOT_STARTED")
    if request.text("what") == "metadata":
        if session.live_timer:
            # Viewers have read them.
            raise refused("LIVE_SESSION")
        await registry.backend.write_metadata(session)
        return {"silent": []}
    return {"silent": await registry.backend.dump_state(session)}


async def loggers(
    registry: Registry,
    peer: Peer,  # noqa: ARG001 - of all verbs
    request: Request,
) -> dict[str, Any]:
    """Return the programs that have an agent of ``domain``, with their loggers.

    Raises:
        SessionError: There are no loggers in it.
    """
    domain = request.text("domain")
    if domain not in AGENT_DOMAINS:
        raise refused("UNSUPPORTED_DOMAIN")
    return {"programs": await registry.backend.loggers(domain)}


async def kernel_points(
    registry: Registry,
    peer: Peer,  # noqa: ARG001 - of all verbs
    request: Request,
) -> dict[str, Any]:
    """Return the ``names`` of what the kernel can record.

    They are those of tracepoints; with ``calls``, of system calls.

    Raises:
        SessionError: It cannot be recorded.
    """
    require_kernel(registry.backend)
    try:
        names = await registry.backend.kernel_points(calls=request.flag("calls"))
    except OSError as error:
        raise refused("KERN_LIST_FAIL", os_error_text(error)) from error
    return {"names": names}


async def programs(
    registry: Registry,
    peer: Peer,  # noqa: ARG001 - of all verbs
    request: Request,
) -> dict[str, Any]:
    """Return the programs that are registered, with their tracepoints.

    With ``fields``, also those of the tracepoints. Those that have not answered are
    ``silent``.
    """
    with_fields = request.flag("fields")
    found, silent = await registry.backend.programs(with_fields=with_fields)
    return {"programs": found, "silent": silent}
