"""What whoever runs the relay wants of it."""

from __future__ import annotations

from .._typing import NamedTuple
from .sockets import Address, KeepAlive

__all__ = ["Limits", "RelayOptions"]

CONTROL_PORT, DATA_PORT, LIVE_PORT = 5342, 5343, 5344
"""LTTng's."""


class Limits(NamedTuple):
    """What peers may have, so that none takes all of the machine."""

    connections: int = 4096
    """At once, of all peers: one has three quarters of them at most, as of the
    directories and of the memory."""

    viewers: int = 256
    """At once."""

    directories: int = 4096
    """Of sessions and trace chunks, that are open at once."""

    memory: int = 512 << 20
    """Bytes for what peers send before it is in files, and for what is known of it."""

    viewed_streams: int = 1 << 18
    """That all viewers together read at once."""

    sessions: int = 4096
    """At once."""

    streams: int = 1 << 16
    """Of one session, at once."""

    chunks: int = 64
    """Of one session, at once."""

    metadata_bytes: int = 256 << 20
    """Of one trace."""


class RelayOptions(NamedTuple):
    """How a relay runs."""

    output: str
    """The directory below which all is written."""

    control: Address = Address("localhost", CONTROL_PORT)
    data: Address = Address("localhost", DATA_PORT)
    live: Address = Address("localhost", LIVE_PORT)
    groups_by_session: bool = False
    """Whether directories are those of sessions, then of hosts."""

    allows_clear: bool = True
    threads: int = 2
    """That read connections."""

    most_files: int = 512
    """That are open at once."""

    limits: Limits = Limits()
    keep_alive: KeepAlive = KeepAlive()
    health: str | None = None
    """Where it is told that all goes on, if anywhere."""

    group: str = "tracing"
    """Who may ask that."""

    is_verbose: bool = False
    """Whether sessions that begin and end are told, too."""
