"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from pathlib import Path

__all__ = ["free_ports", "has_ipv6"]

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
HOST = "127.0.0.1"
LEAST = 10_000
"""Ports below have names, or need rights."""


def free_ports(count: int) -> list[int]:
    """Return ports on which nobody listens.

    They are none of those that the kernel gives to connections: one of another test
    would have the port before the server, or while that is started again, and who
    connects to such a port when nobody listens may get it itself.

    Args:
        count: How many.
    """
    first, last = map(int, RANGE.read_text().split())
    outside = [*range(LEAST, first), *range(last + 1, 1 << 16)]
    # Some machines give all of them to connections.
    ports = outside or range(LEAST, 1 << 16)
    chance = random.SystemRandom()
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = chance.choice(ports)
            try:
                held.enter_context(socket.create_server((HOST, port)))
            except OSError:
                continue
            found.append(port)
    return found


def has_ipv6() -> bool:
    """Tell whether this machine can be reached by ``::1``: some have no IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
