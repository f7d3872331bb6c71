"""Starting a session daemon: one that stays, or one that ends with who started it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from .._typing import TYPE_CHECKING
from ..errors import DaemonRunsError, SessionError, VestigeError
from .client import Client
from .refusals import refused
from .run_paths import TRACING_GROUP, run_paths

if TYPE_CHECKING:
    from subprocess import Popen

__all__ = ["AttachedDaemon", "connect"]

LONGEST_END = 30.0
"""Seconds for a daemon to complete its sessions."""
_OURS = (sys.executable, "-m", "vestige.cli.sessiond")


def connect(
    group: str = TRACING_GROUP,
    *,
    daemon: str | None = None,
    say: Callable[[str], None] | None = None,
) -> Client:
    """Connect to the daemon; start one that stays if none runs.

    Args:
        group: Whose members may control root's daemon.
        daemon: The program that is started; by default ``LTTNG_SESSIOND_PATH``, else
            ours.
        say: Called with a sentence for people before it is started.

    Returns:
        The connection.

    Raises:
        SessionError: None runs, and none can be started.
    """
    try:
        return Client.connect(group)
    except SessionError:
        if say is not None:
            say("Spawning a session daemon")
    chosen = daemon or os.environ.get("LTTNG_SESSIOND_PATH")
    command = [chosen] if chosen else _OURS
    if not _start([*command, "--daemonize"]):
        raise refused("NO_SESSIOND") from None
    return Client.connect(group)


def _start(command: Sequence[str]) -> bool:
    """Start a daemon that goes to the background; tell whether it says that it runs."""
    # Takes less time to import than the subprocess module.
    sys.stdout.flush()
    try:
        child = os.posix_spawn(command[0], [*command], dict(os.environ))
    except OSError:
        return False
    with suppress(ChildProcessError):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return False


class AttachedDaemon:
    """A daemon that ends when this process closes it, or ends itself.

    Sessions of others that it has then keep it running until they are destroyed.

    Args:
        folder: Its run directory, where it is not that by default.

    Raises:
        DaemonRunsError: Another daemon, LTTng's or ours, has the run directory.
        VestigeError: It cannot run.
    """

    def __init__(self, folder: str | None = None) -> None:
        # Most clients start none.
        import subprocess  # noqa: PLC0415 - see above

        self.folder = folder
        environment = dict(os.environ)
        if folder is not None:
            environment["VESTIGE_RUNDIR"] = folder
        try:
            # In a session of its own: Ctrl-C is not for it.
            self._process: Popen[bytes] = subprocess.Popen(
                [*_OURS, "--attached"],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise VestigeError(f"cannot start a session daemon: {error}") from error
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        if not self._process.stdout.readline():
            self._fail()

    def _fail(self) -> None:
        _, said = self._process.communicate()
        paths = run_paths(is_root=os.geteuid() == 0, folder=self.folder)
        # Not every client needs it.
        from .lock import check_sockets, lock_owner  # noqa: PLC0415 - see above

        owner = lock_owner(paths.lock)
        if owner:
            raise DaemonRunsError(paths.lock, owner)
        check_sockets(paths.lock, (paths.lttng_socket, paths.application_socket))
        lines = said.decode(errors="replace").strip().splitlines()
        why = lines[-1].removeprefix("Error: ") if lines else "it said nothing"
        raise VestigeError(f"cannot start a session daemon: {why}")

    def close(self) -> None:
        """Let it end, and wait for that; more than once does no harm."""
        # Not at the top, as above.
        import subprocess  # noqa: PLC0415 - see above

        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        # Sessions of others are none of our business.
        with suppress(subprocess.TimeoutExpired):
            process.wait(LONGEST_END if self.folder else 1.0)
