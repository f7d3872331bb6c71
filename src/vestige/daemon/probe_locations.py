"""Where a probe is, as clients send it: in the kernel or in a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..owner_rights import owner_rights
from .peer import Peer
from .protocol import Values
from .refusals import refused

__all__ = ["LOCATIONS", "PLACES", "check_readable", "read_location"]

LONGEST_PATH = 4096
"""Bytes of a path, or of a name in an object file."""
LOCATIONS = {
    "symbol": ("name", "offset"),
    "address": ("address",),
    "function": ("path", "function"),
    "tracepoint": ("path", "provider", "probe"),
}
"""Places of probes, by type: their members."""
_IN_KERNEL = ("symbol", "address")
_IN_PROGRAMS = ("function", "tracepoint")
PLACES = {
    "PROBE": _IN_KERNEL,
    "FUNCTION": _IN_KERNEL,
    "USERSPACE_PROBE": _IN_PROGRAMS,
    "kernel-kprobe": _IN_KERNEL,
    "kernel-uprobe": _IN_PROGRAMS,
}
"""The types of places by the types of rules, those of sessions and of triggers."""
_NUMBERS = {"offset", "address"}


def read_location(values: Values | None, kind: str) -> dict[str, Any]:
    """Return a place that a client sent.

    Args:
        values: Its members.
        kind: The type of its rule: a key of :data:`PLACES`.

    Returns:
        Its ``type``, and its members in the order of :data:`LOCATIONS`.

    Raises:
        SessionError: It is none.
    """
    if values is None:
        raise refused("INVALID", "expected a 'location'")
    place = values.choice("type", PLACES[kind])
    found: dict[str, Any] = {"type": place}
    for name in LOCATIONS[place]:
        if name in _NUMBERS:
            found[name] = values.count(name, 0 if name == "offset" else None)
        else:
            found[name] = _name(values.text(name))
    return found


def check_readable(location: Mapping[str, Any] | None, peer: Peer) -> None:
    """Refuse a program that whoever asks may not read.

    The daemon may, and would tell what functions are in it.

    Args:
        location: The place of a probe, if there is one.
        peer: Who asks.

    Raises:
        SessionError: It cannot be read.
    """
    path = None if location is None else location.get("path")
    if path is None:
        return
    try:
        with owner_rights(peer.uid, peer.gid):
            os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        why = f"{path}: cannot be read: {reason}"
        raise refused("PROBE_LOCATION_INVAL", why) from error


def _name(text: str) -> str:
    if not text or "\0" in text or len(text.encode(errors="replace")) > LONGEST_PATH:
        raise refused("INVALID", f"expected a name of up to {LONGEST_PATH} bytes")
    return text
