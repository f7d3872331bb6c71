"""The relay daemon of this machine, which live sessions are sent to by default."""

from __future__ import annotations

import os
import socket
import sys

from ..._suppress import suppress
from ...live.url import DEFAULT_PORT
from .call import FAILED, FailedError

__all__ = ["URL", "has_relay", "start_relay"]

URL = "net://127.0.0.1"
COMMAND = (sys.executable, "-m", "vestige.cli.relayd", "--daemonize")
"""It returns when viewers and session daemons can connect."""


def has_relay() -> bool:
    """Tell whether a relay daemon waits for viewers, LTTng's or ours."""
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", DEFAULT_PORT)).close()
        return True
    return False


def start_relay() -> None:
    """Start ours, which stays.

    It has none of our streams: whoever reads what we print is not to wait for its end.

    Raises:
        FailedError: It does not run.
    """
    # Takes less time to import than the subprocess module.
    sys.stdout.flush()
    null = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    actions = [null, (os.POSIX_SPAWN_DUP2, 0, 1)]
    status = 1
    with suppress(OSError):
        child = os.posix_spawn(
            COMMAND[0], [*COMMAND], dict(os.environ), file_actions=actions
        )
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise FailedError(FAILED, "No relay daemon could be started.")
