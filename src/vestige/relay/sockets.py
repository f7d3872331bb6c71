"""Sockets of the relay: where it listens, and connections that may be dead."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from .._typing import NamedTuple
from ..errors import VestigeError

__all__ = ["Address", "KeepAlive", "listen"]

WAITING_PEERS = 128
"""Connections that the system keeps until they are accepted."""
PREFIX = "LTTNG_RELAYD_TCP_KEEP_ALIVE"
"""Of environment variables; lttng-relayd(8)."""
_OPTIONS = {
    "idle": ("IDLE_TIME", socket.TCP_KEEPIDLE),
    "probes": ("MAX_PROBE_COUNT", socket.TCP_KEEPCNT),
    "interval": ("PROBE_INTERVAL", socket.TCP_KEEPINTVL),
}


class Address(NamedTuple):
    """Where connections are waited for."""

    host: str
    port: int


class KeepAlive(NamedTuple):
    """How connections whose peer says nothing are asked whether it is there.

    What is ``None`` is as the system has it.
    """

    is_on: bool = False
    idle: int | None = None
    """Seconds of silence before it is asked."""

    probes: int | None = None
    """Questions without an answer until the connection ends."""

    interval: int | None = None
    """Seconds between questions."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> KeepAlive:
        """Return what LTTng's environment variables say.

        Raises:
            VestigeError: One makes no sense.
        """
        if not _number(environment, PREFIX, most=1):
            return cls()
        numbers = {
            member: _number(environment, f"{PREFIX}_{name}", most=32767)
            for member, (name, _) in _OPTIONS.items()
        }
        return cls(is_on=True, **numbers)

    def apply(self, connection: socket.socket) -> None:
        """Let a connection be so."""
        if not self.is_on:
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for member, (_, option) in _OPTIONS.items():
            value: int | None = getattr(self, member)
            if value is not None:
                connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _number(environment: Mapping[str, str], name: str, most: int) -> int | None:
    """Return the number in a variable; ``None`` leaves it to the system."""
    text = environment.get(name, "").strip()
    if text in {"", "-1", "0"}:
        return None
    if not text.isdecimal() or int(text) > most:
        raise VestigeError(f"{name} = {text}: expected a number from 0 to {most}")
    return int(text)


def listen(address: Address) -> socket.socket:
    """Wait for connections.

    Args:
        address: Where; port 0 is any that is free.

    Raises:
        VestigeError: It cannot.
    """
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, place = found[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(WAITING_PEERS)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        why = error.strerror or str(error)
        raise VestigeError(
            f"cannot listen on {address.host}, port {address.port}: {why}"
        ) from error
    listener.setblocking(False)  # noqa: FBT003 - it has no name
    return listener
