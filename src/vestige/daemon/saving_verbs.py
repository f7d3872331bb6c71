"""The verbs of configurations: save and load.

Clients read and write the files, with the rights of their users; the daemon knows the
documents alone.
"""

from __future__ import annotations

from typing import Any

from ..errors import SessionError, VestigeError
from .configuration import read_configuration, write_configuration
from .model import Session
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry, make_output
from .session_verbs import check_name

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
            of the same name), ``override_name``, ``override_output``.

    Returns:
        The names of the ``sessions``.

    Raises:
        SessionError: The document is none, or a session of a name is there.
    """
    return {"sessions": await load_text(registry, peer, request)}


async def load_text(registry: Registry, peer: Peer, request: Request) -> list[str]:
    """Do what :func:`load` does; return the names."""
    try:
        read = read_configuration(
            request.text("text"), peer.uid, peer.gid, request.optional_text("path")
        )
    except VestigeError as error:
        raise refused("LOAD_INVALID_CONFIG", str(error)) from error
    wanted = request.optional_text("session")
    chosen = [one for one in read if wanted in {None, one[0].name}]
    with registry.saved_once():
        return [
            await _load(registry, peer, request, session, is_started=is_started)
            for session, is_started in chosen
        ]


async def _load(
    registry: Registry,
    peer: Peer,
    request: Request,
    session: Session,
    *,
    is_started: bool,
) -> str:
    """Set up a session; return its name."""
    session.name = request.optional_text("override_name") or session.name
    session.output = request.optional_text("override_output") or session.output
    await _set_up(registry, peer, session, is_forced=request.flag("force"))
    if is_started and session.channels:
        make_output(session)
        session.active = session.was_active = True
        registry.save_now()
        await registry.backend.apply(session)
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
        registry.remove(old)
    session.created = registry.now()
    registry.add(session)
