"""Where sessions are sent to, as LTTng writes it.

``net://HOST[:CONTROL[:DATA]][/DIR]`` is both connections to a relay daemon,
``tcp://HOST[:PORT][/DIR]`` one of them, ``file:///DIR`` a directory here.
"""

from __future__ import annotations

import socket

from .._typing import NamedTuple

__all__ = [
    "CONTROL_PORT",
    "DATA_PORT",
    "OutputUri",
    "OutputUrlError",
    "connection_uri",
    "parse_output_url",
    "read_uri",
]

CONTROL_PORT, DATA_PORT = 5342, 5343
LARGEST_PORT = 65_535

_BOTH = {"net": "tcp4", "net4": "tcp4", "net6": "tcp6"}
_ONE = {"tcp": "tcp4", "tcp4": "tcp4", "tcp6": "tcp6"}
_FAMILIES = {"tcp4": socket.AF_INET, "tcp6": socket.AF_INET6}


class OutputUrlError(ValueError):
    """A text is no such URL."""


class OutputUri(NamedTuple):
    """A directory, or one connection to a relay daemon."""

    scheme: str
    """``file``, ``tcp4`` or ``tcp6``."""
    host: str = ""
    """The address."""
    port: int = 0
    path: str = ""
    """The directory; that of a relay daemon is below the one of this host."""

    @property
    def is_file(self) -> bool:
        """Whether it is a directory."""
        return self.scheme == "file"

    @property
    def family(self) -> socket.AddressFamily:
        """Which version of the internet protocol is used."""
        return _FAMILIES[self.scheme]

    def __str__(self) -> str:
        """Return it as LTTng writes it."""
        if self.is_file:
            return f"file://{self.path}"
        host = f"[{self.host}]" if self.scheme == "tcp6" else self.host
        return f"{self.scheme}://{host}:{self.port}/{self.path}"


def parse_output_url(text: str) -> list[OutputUri]:
    """Read a URL.

    Args:
        text: The URL, or an absolute path.

    Returns:
        One, or both connections to a relay daemon: control, data. Names of hosts are
        looked up. A port that is not given is 0 for ``tcp``, and LTTng's for ``net``.

    Raises:
        OutputUrlError: It is none; its text is LTTng's.
    """
    if text.startswith("/"):
        return [OutputUri("file", path=text)]
    scheme, separator, rest = text.partition("://")
    if separator and scheme == "file":
        if not rest.startswith("/"):
            raise OutputUrlError("Missing destination full path.")
        return [OutputUri("file", path=rest)]
    kind = _BOTH.get(scheme) or _ONE.get(scheme)
    if not separator or kind is None:
        raise OutputUrlError(f"URI parse unknown protocol {text}")
    host, ports, path = _parts(rest)
    address = _address(host, kind)
    if scheme in _ONE:
        if len(ports) > 1:
            raise OutputUrlError(f"Trailing characters not recognized: :{ports[1]}")
        return [OutputUri(kind, address, _port(ports[0]) if ports else 0, path)]
    numbers = [*map(_port, ports)]
    control = numbers[0] if numbers else CONTROL_PORT
    data = numbers[1] if len(numbers) > 1 else DATA_PORT
    return [
        OutputUri(kind, address, control, path),
        OutputUri(kind, address, data),
    ]


def connection_uri(url: str, *, is_data: bool) -> OutputUri:
    """Read the URL of one connection to a relay daemon.

    Args:
        url: The URL; of one that is for both, that part is taken.
        is_data: Whether it is that for data.

    Raises:
        OutputUrlError: It is none.
    """
    uri = parse_output_url(url)[-1 if is_data else 0]
    if uri.is_file:
        raise OutputUrlError("Cannot have a data URL when destination is file://")
    # Where the trace is, the control URL says.
    if is_data:
        return uri._replace(port=uri.port or DATA_PORT, path="")
    return uri._replace(port=uri.port or CONTROL_PORT)


def _parts(rest: str) -> tuple[str, list[str], str]:
    """Return the host, the ports and the directory."""
    place, _, path = rest.partition("/")
    if place.startswith("["):
        host, bracket, after = place[1:].partition("]")
        if not bracket:
            raise OutputUrlError(f"Broken IPv6 address {host}")
    else:
        host, colon, after = place.partition(":")
        after = colon + after
    if not host:
        raise OutputUrlError("No address or hostname detected.")
    if after and not after.startswith(":"):
        raise OutputUrlError(f"Trailing characters not recognized: {after}")
    ports = after[1:].split(":") if after else []
    if len(ports) > 2:  # noqa: PLR2004 - control and data
        raise OutputUrlError(
            f"Trailing characters not recognized: :{':'.join(ports[2:])}"
        )
    return host, ports, path.strip("/")


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 0 < number <= LARGEST_PORT:
        raise OutputUrlError(f"Invalid port number {number}")
    return number


def _address(host: str, kind: str) -> str:
    family = _FAMILIES[kind]
    if host == "localhost" and family == socket.AF_INET6:
        # Whether a machine's list of hosts has it for both versions or not.
        return "::1"
    try:
        found = socket.getaddrinfo(host, None, family, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutputUrlError(
            f"URI parse bad hostname {host} for af {family.value}"
        ) from None
    return str(found[0][4][0])


def read_uri(text: str) -> OutputUri:
    """Read what :class:`OutputUri` has written.

    Args:
        text: The text.

    Raises:
        OutputUrlError: It is none.
    """
    [uri, *more] = parse_output_url(text)
    if more or (not uri.is_file and not uri.port):
        raise OutputUrlError(f"expected tcp4://, tcp6:// or file://, not {text}")
    return uri
