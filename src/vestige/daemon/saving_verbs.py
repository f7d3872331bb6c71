"""The verbs of configurations: save and load.

Clients read and write the files, with the rights of their users; the daemon knows the
documents alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from ..errors import SessionError, VestigeError
from .channel_verbs import check_channel, check_context
from .configuration import read_configuration, write_configuration
from .domains import KERNEL, USER_SPACE, require_kernel
from .kernel_rules import check_kernel_rule
from .model import Session
from .probe_locations import check_readable
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry
from .relays import check_relay
from .rule_verbs import check_rule
from .session_verbs import (
    add_with_relay,
    check_name,
    end_session,
    read_relay,
    start_session,
)
from .snapshot_verbs import check_output
from .tracking_verbs import tracked_number

__all__ = ["load", "load_text", "save"]


async def save(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Return the documents of ``session``, or of all sessions.

    Raises:
        SessionError: There is none of this name.
    """
    name = request.optional_text("session")
    sessions = (
        registry.sessions(peer) if name is None else [registry.session(peer, name)]
    )
    return {"documents": {one.name: write_configuration(one) for one in sessions}}


async def load(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Set up the sessions of the document ``text``.

    Args:
        registry: The sessions.
        peer: Who asks, and will own them.
        request: ``text``, ``path``, ``session`` (only this), ``force`` (destroys those
            of the same name), ``override_name``, ``override_output`` or
            ``override_relay`` (the URIs of a relay daemon).

    Returns:
        The names of the ``sessions``.

    Raises:
        SessionError: The document is none, or a session of a name is there.
    """
    return {"sessions": await load_text(registry, peer, request)}


async def load_text(registry: Registry, peer: Peer, request: Request) -> list[str]:
    """Do what :func:`load` does; return the names."""
    path = request.optional_text("path")
    try:
        read = read_configuration(request.text("text"), peer.uid, peer.gid, path)
    except VestigeError as error:
        raise refused("LOAD_INVALID_CONFIG", str(error)) from error
    wanted = request.optional_text("session")
    chosen = [one for one in read if wanted in {None, one[0].name}]
    for session, _ in chosen:
        session.name = request.optional_text("override_name") or session.name
        _move(
            session,
            request.optional_text("override_output"),
            read_relay(request, "override_relay"),
        )
        if session.has_kernel():
            require_kernel(registry.backend)
        try:
            _check(session, peer)
        except (SessionError, ValueError) as error:
            found = VestigeError(f"session '{session.name}': {error}", path=path)
            raise refused("LOAD_INVALID_CONFIG", str(found)) from error
    with registry.saved_once():
        return [
            await _load(registry, peer, request, session, is_started=is_started)
            for session, is_started in chosen
        ]


def _move(session: Session, output: str | None, relay: list[str] | None) -> None:
    """Let a session write to another place, if that is asked for."""
    if relay is not None:
        place, data = relay
    elif output:
        # So LTTng shows it, and scripts compare it.
        output = f"{output.rstrip('/')}/"
        place, data = output, None
    else:
        return
    if session.is_snapshot:
        for one in session.snapshot_outputs:
            one.path, one.data = place, data
    else:
        session.relay = relay
        session.output = output if relay is None else None


def _check_outputs(session: Session) -> None:
    """Refuse places that cannot be.

    Raises:
        ValueError: One of them cannot be.
    """
    if session.is_snapshot and (session.output or session.relay) is not None:
        raise ValueError("expected no output but that of snapshots")
    if len(session.snapshot_outputs) > 1:
        raise ValueError("expected one output of snapshots")
    for one in session.snapshot_outputs:
        check_output(one)
    if session.relay is not None:
        check_relay(session.relay)
    if session.live_timer and session.relay is None:
        raise ValueError("expected a relay daemon for viewers while it is recorded")
    for folder in filter(None, (session.output, session.shm_path)):
        if not PurePosixPath(folder).is_absolute():
            raise ValueError(f"'{folder}': expected an absolute path")


def _check(session: Session, peer: Peer) -> None:
    """Refuse what no other verb would have made: anybody can write a document.

    Raises:
        SessionError: A part of it cannot be.
        ValueError: As above.
    """
    _check_outputs(session)
    for domain in (USER_SPACE, KERNEL):
        for channel in domain.channels(session).values():
            with _named(f"channel '{channel.name}'"):
                check_channel(channel.name, channel.attributes, domain)
    of_channels = [one.rules for one in session.channels.values()]
    for rule in chain(*of_channels, *session.agents.values()):
        with _named(f"event rule '{rule.name}'"):
            check_rule(rule)
    for channel in session.kernel_channels.values():
        for rule in channel.rules:
            with _named(f"event rule '{rule.name}'"):
                check_kernel_rule(rule)
                check_readable(rule.location, peer)
        for context in channel.contexts:
            with _named(f"context '{context.name}'"):
                check_context(KERNEL, context.name)
    trackers = chain(session.trackers.items(), session.kernel_trackers.items())
    for attribute, values in trackers:
        for value in values or ():
            with _named(f"{attribute} '{value}'"):
                tracked_number(attribute, value)


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Say of what an error is."""
    try:
        yield
    except SessionError as error:
        raise ValueError(f"{what}: {error.detail or error.message}") from error


async def _load(
    registry: Registry,
    peer: Peer,
    request: Request,
    session: Session,
    *,
    is_started: bool,
) -> str:
    """Set up a session that was checked; return its name."""
    await _set_up(registry, peer, session, is_forced=request.flag("force"))
    if is_started and session.all_channels():
        try:
            await start_session(registry, session)
        except SessionError:
            await end_session(registry, session)
            raise
    return session.name


async def _set_up(
    registry: Registry, peer: Peer, session: Session, *, is_forced: bool
) -> None:
    check_name(session.name)
    try:
        old = registry.session(peer, session.name)
    except SessionError:
        old = None
    if old is not None:
        if not is_forced:
            raise refused("EXIST_SESS")
        old.active = False
        await registry.backend.stop(old)
        await registry.backend.forget(old)
        await registry.relays.end(old, registry.now())
        registry.remove(old)
    session.created = registry.now()
    add_with_relay(registry, session, session.relay)
