"""Where a live session is: ``net://HOST[:PORT]/host/TARGET/SESSION``."""

from __future__ import annotations

import re
import socket

from .._typing import NamedTuple

__all__ = ["DEFAULT_PORT", "LiveUrl"]

DEFAULT_PORT = 5344
"""The port on which ``lttng-relayd`` waits for viewers."""

FORM = re.compile(
    r"(?P<scheme>net[46]?)://"
    r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]/:]+)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/host/(?P<target>[^/]+)/(?P<session>[^/]+))?/?"
)

LARGEST_PORT = 65_535


class LiveUrl(NamedTuple):
    """A relay daemon, and mostly one of its sessions."""

    text: str
    """The URL."""
    host: str
    """The machine of the relay daemon."""
    port: int
    """The port there."""
    family: socket.AddressFamily
    """Which version of the internet protocol is used."""
    target: str | None
    """The name of the machine that records."""
    session: str | None
    """The name of the session."""

    @classmethod
    def parse(cls, text: str) -> LiveUrl | None:
        """Read a URL.

        Args:
            text: The URL.

        Returns:
            What it says, or ``None`` if it is none.
        """
        match = FORM.fullmatch(text)
        port = DEFAULT_PORT if match is None else int(match["port"] or DEFAULT_PORT)
        if match is None or not 0 < port <= LARGEST_PORT:
            return None
        is_six = match["scheme"] == "net6" or match["host"].startswith("[")
        return cls(
            text,
            match["host"].strip("[]"),
            port,
            socket.AF_INET6 if is_six else socket.AF_INET,
            match["target"],
            match["session"],
        )

    @property
    def relay(self) -> str:
        """The URL of the relay daemon alone."""
        return self.text.partition("/host/")[0].rstrip("/")
