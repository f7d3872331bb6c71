"""Where a daemon's sockets, lock and state are; which daemon a client asks.

The places are LTTng's, as lttng-sessiond(8) names them, so that programs find the
application socket and both daemons see each other's lock. ``VESTIGE_RUNDIR`` moves
them, for tests and for a second daemon.
"""

from __future__ import annotations

import os

from .._typing import NamedTuple
from ..errors import VestigeError

__all__ = [
    "RUN_FOLDER",
    "RunPaths",
    "client_sockets",
    "daemon_folder",
    "home_folder",
    "run_paths",
]

RUN_FOLDER = "/var/run/lttng"
"""Root's."""
WAIT_PAGE = "/dev/shm/lttng-ust-wait-8"  # noqa: S108 - LTTng's name
"""Root's; those of users have their number after it."""
CLIENT_SOCKET = "client-vestige-sessiond"
TRACING_GROUP = "tracing"
AGENT_PORTS = tuple(range(5345, 5355))
"""LTTng's."""
LONGEST_SOCKET_PATH = 107
"""Bytes in ``sun_path``, without its zero."""


class RunPaths(NamedTuple):
    """The places of one daemon."""

    folder: str
    """The directory of all others."""

    client_socket: str
    """Where clients connect."""

    lttng_socket: str
    """Where clients of LTTng connect to LTTng's daemon."""

    application_socket: str
    """Where programs of LTTng-UST connect; the number is their oldest ABI."""

    wait_page: str | None
    """Where programs of LTTng-UST wait for a daemon; ``None`` in a place of its own,
    which they do not know."""

    rings: str
    """The directory of ring buffers, in memory."""

    lock: str
    """Locked by the daemon that runs, LTTng's or ours."""

    pid: str
    """Has the number of that daemon."""

    state: str
    """What a daemon that was killed leaves to the next one."""

    agent_port: str
    """Has the port where agents of logging libraries connect."""

    agent_ports: tuple[int, ...] = AGENT_PORTS
    """Of these, the first that is free is that port."""


def home_folder() -> str | None:
    """Return ``$LTTNG_HOME``, else ``$HOME``; ``None`` if neither is there."""
    return os.environ.get("LTTNG_HOME") or os.environ.get("HOME")


def run_paths(*, is_root: bool, folder: str | None = None) -> RunPaths:
    """Return the places of the daemon of this user.

    Args:
        is_root: Whether the daemon is root's.
        folder: The run directory, where it is not that by default.

    Returns:
        The places; nothing is made.

    Raises:
        VestigeError: There is no home, or its path is too long for a socket.
    """
    # Clients, which need a socket only, do not wait for it.
    from zlib import crc32  # noqa: PLC0415 - see above

    wait_page = None
    folder = folder or os.environ.get("VESTIGE_RUNDIR")
    if not folder:
        whose = "" if is_root else f"-{os.getuid()}"
        wait_page = f"{WAIT_PAGE}{whose}"
        folder = _usual_folder(is_root=is_root)
    return RunPaths(
        folder,
        _client_socket(folder),
        f"{folder}/client-lttng-sessiond",
        f"{folder}/lttng-ust-sock-8",
        wait_page,
        f"/dev/shm/vestige-rings-{os.getuid()}-{crc32(os.fsencode(folder)):08x}",  # noqa: S108 - memory
        f"{folder}/lttng-sessiond.lck",
        f"{folder}/lttng-sessiond.pid",
        f"{folder}/vestige-sessions.json",
        f"{folder}/agent.port",
    )


def _usual_folder(*, is_root: bool) -> str:
    """Return where a daemon has its sockets if nobody says where."""
    if is_root:
        return RUN_FOLDER
    home = home_folder()
    if home is None:
        raise VestigeError("neither LTTNG_HOME nor HOME is set: expected a home")
    return f"{home}/.lttng"


def _client_socket(folder: str) -> str:
    """Return where clients connect; a path that is too long is none."""
    path = f"{folder}/{CLIENT_SOCKET}"
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise VestigeError(
            f"{folder}: too long for a socket: expected up to "
            f"{LONGEST_SOCKET_PATH - len(CLIENT_SOCKET) - 1} bytes"
        )
    return path


def daemon_folder() -> str:
    """Return the run directory of this user's daemon."""
    return run_paths(is_root=os.geteuid() == 0).folder


def client_sockets(group: str = TRACING_GROUP, folder: str | None = None) -> list[str]:
    """Return the sockets to try, the first that answers being the right one.

    Args:
        group: Whose members may control root's daemon.
        folder: The run directory of the only daemon that is meant.
    """
    is_root = os.getuid() == 0
    chosen = folder or os.environ.get("VESTIGE_RUNDIR")
    own = _client_socket(chosen or _usual_folder(is_root=is_root))
    if is_root or chosen or not _is_member(group):
        return [own]
    return [f"{RUN_FOLDER}/{CLIENT_SOCKET}", own]


def is_kept_from_root() -> bool:
    """Tell whether there is root's daemon, and this user may not control it.

    Where :func:`client_sockets` has found no daemon.
    """
    is_meant = os.getuid() != 0 and not os.environ.get("VESTIGE_RUNDIR")
    return is_meant and os.path.exists(f"{RUN_FOLDER}/{CLIENT_SOCKET}")  # noqa: PTH110 - as below


def _is_member(group: str) -> bool:
    # Reading the groups takes a while, and is of use only where there is root's socket.
    if not os.path.exists(f"{RUN_FOLDER}/{CLIENT_SOCKET}"):  # noqa: PTH110 - pathlib takes long to import
        return False
    import grp  # noqa: PLC0415 - see above

    try:
        number = grp.getgrnam(group).gr_gid
    except KeyError:
        return False
    return number in (os.getgid(), *os.getgroups())
