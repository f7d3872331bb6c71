"""Who asks a daemon for something."""

from __future__ import annotations

from .._typing import NamedTuple

__all__ = ["Peer"]


class Peer(NamedTuple):
    """Who asks, as the kernel says."""

    pid: int
    uid: int
    gid: int
    connection: int = 0
    """The number of the connection."""
