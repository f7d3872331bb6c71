"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from pathlib import Path

__all__ = ["free_ports"]

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
HOST = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Return ports on which nobody listens.

    They are none of those that the kernel gives to connections: one of another test
    would have the port before the server, or while that is started again, and who
    connects to such a port when nobody listens may get it itself.

    Args:
        count: How many.
    """
    first = int(RANGE.read_text().split()[0])
    chance = random.SystemRandom()
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = chance.randrange(first // 2, first)
            try:
                held.enter_context(socket.create_server((HOST, port)))
            except OSError:
                continue
            found.append(port)
    return found
