"""The verbs of inclusion sets: track and untrack."""

from __future__ import annotations

import grp
import pwd
from typing import Any

from .domains import KERNEL, domain_of
from .model import KERNEL_TRACKERS, TRACKERS, Session
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry

__all__ = ["track", "tracked_number", "untrack"]

LARGEST_ID = (1 << 32) - 1
USERS = {"uid", "vuid"}
GROUPS = {"gid", "vgid"}


async def track(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Add ``value`` to the set ``attribute``; all without one.

    A full set is emptied first, as the document of LTTng has it.

    Raises:
        SessionError: It is in the set, or nobody has this name.
    """
    session, trackers, attribute = _chosen(registry, peer, request)
    value = request.optional_text("value")
    values = trackers[attribute]
    if value is None:
        trackers[attribute] = None
    else:
        tracked_number(attribute, value)
        if values is not None and value in values:
            raise refused("PROCESS_ATTR_EXISTS")
        trackers[attribute] = [*(values or []), value]
    await _tell(registry, session)
    return {}


async def untrack(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Remove ``value`` from the set ``attribute``; all without one.

    Raises:
        SessionError: It is not in the set, or the set is full.
    """
    session, trackers, attribute = _chosen(registry, peer, request)
    value = request.optional_text("value")
    values = trackers[attribute]
    if value is None:
        trackers[attribute] = []
    elif values is None:
        raise refused("TRACKING_POLICY")
    elif value not in values:
        raise refused("PROCESS_ATTR_MISSING")
    else:
        values.remove(value)
    await _tell(registry, session)
    return {}


def tracked_number(attribute: str, value: str) -> int:
    """Return the number that a value of an inclusion set stands for.

    Args:
        attribute: Which set.
        value: A number or, of users and groups, a name.

    Raises:
        SessionError: Nobody has this name, or it is no number.
    """
    if value.isdecimal() and value.isascii() and int(value) <= LARGEST_ID:
        return int(value)
    try:
        if attribute in USERS:
            return pwd.getpwnam(value).pw_uid
        if attribute in GROUPS:
            return grp.getgrnam(value).gr_gid
    except KeyError:
        name = "USER_NOT_FOUND" if attribute in USERS else "GROUP_NOT_FOUND"
        raise refused(name) from None
    raise refused("INVALID", "expected a number of up to 32 bits")


def _chosen(
    registry: Registry, peer: Peer, request: Request
) -> tuple[Session, dict[str, list[str] | None], str]:
    """Return the session that is meant, its inclusion sets and which of them."""
    is_kernel = domain_of(registry.backend, request) is KERNEL
    session = registry.session(peer, request.text("session"))
    attribute = request.text("attribute")
    if attribute not in (KERNEL_TRACKERS if is_kernel else TRACKERS):
        raise refused("UNSUPPORTED_DOMAIN")
    trackers = session.kernel_trackers if is_kernel else session.trackers
    return session, trackers, attribute


async def _tell(registry: Registry, session: Session) -> None:
    registry.save(session)
    if session.active:
        await registry.backend.apply(session)
