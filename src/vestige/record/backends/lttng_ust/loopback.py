"""Whose a TCP connection within this machine is, as the kernel says."""

from __future__ import annotations

from pathlib import Path

__all__ = ["connection_owner", "process_users"]

TABLES = {
    "/proc/net/tcp": b"0100007F",
    "/proc/net/tcp6": b"0000000000000000FFFF00000100007F",
}
"""Where connections are, and how 127.0.0.1 is written there; proc_net_tcp."""
ROW = b" %b:%04X %b:%04X 01 "
"""Both ends of an established connection."""
_UID = 3
"""Words after that, before the user."""


def connection_owner(port: int, peer_port: int) -> int | None:
    """Return the user who has made a connection over the loopback interface.

    Args:
        port: The port of the end that is asked for.
        peer_port: The port of the other end.

    Returns:
        The user; ``None`` if the connection is not there any longer.
    """
    for table, address in TABLES.items():
        try:
            rows = Path(table).read_bytes()
        except OSError:
            continue
        _, found, rest = rows.partition(ROW % (address, port, address, peer_port))
        if found:
            return int(rest.split(maxsplit=_UID + 1)[_UID])
    return None


def process_users(pid: int) -> frozenset[int]:
    """Return the users as whom a process acts.

    Args:
        pid: Its ID.

    Returns:
        Its real, effective, saved and file system user; nobody if it is not there.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return frozenset()
    for line in status.splitlines():
        if line.startswith("Uid:"):
            return frozenset(map(int, line.split()[1:]))
    return frozenset()
