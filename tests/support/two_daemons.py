"""A machine of its own for root's session daemon, and for those of other users."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .session_daemon import SECONDS, Done, SessionDaemon

__all__ = ["Machine", "UserDaemon", "machine"]

USER = 12345
"""Of nobody's, and there is no entry for it."""
# The run directory of root, and the memory where programs wait.
PRIVATE = (
    "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/lttng && "
    "mount -t tmpfs tmpfs /dev/shm && echo ready && exec sleep infinity"
)


class UserDaemon(SessionDaemon):
    """The daemon of a user on such a machine, in its usual place.

    Args:
        holder: A process that has the machine's mounts.
        home: The home of the user.
        uid: The user.
        groups: More groups of the user.
    """

    def __init__(
        self, holder: int, home: Path, uid: int, groups: Sequence[int] = ()
    ) -> None:
        super().__init__(home)
        del self.environment["VESTIGE_RUNDIR"]
        self.run_folder = home / ".lttng"
        if uid == 0:
            self.run_folder = Path(f"/proc/{holder}/root/run/lttng")
        self.prefix = ["nsenter", f"--mount=/proc/{holder}/ns/mnt", "--"]
        if uid:
            # It may look where this user's Python is, whoever that is.
            rights = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
            listed = [f"--groups={','.join(map(str, groups))}"]
            who = [f"--reuid={uid}", f"--regid={uid}"]
            self.prefix += [
                "setpriv",
                *who,
                *(listed if groups else ["--clear-groups"]),
                *rights,
            ]

    def lttng(self, *words: str) -> Done:
        """Run a session verb, as the user.

        Args:
            words: What follows ``lttng``.
        """
        command = [sys.executable, "-m", "vestige", "lttng", *words]
        done = subprocess.run(
            [*self.prefix, *command],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


class Machine:
    """Its daemons; none runs at first.

    Args:
        holder: A process that has its mounts.
        folder: A directory that all users can reach.
    """

    def __init__(self, holder: int, folder: Path) -> None:
        self._holder = holder
        self.folder = folder
        self.root = UserDaemon(holder, self._home("root", 0), 0)
        self.user = self.of_user()

    def of_user(self, *groups: int) -> UserDaemon:
        """Return the daemon of the user who is not root.

        Args:
            groups: More groups that its processes are in.
        """
        return UserDaemon(self._holder, self._home("user", USER), USER, groups)

    def _home(self, name: str, uid: int) -> Path:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        os.chown(home, uid, uid)
        return home


@contextmanager
def machine() -> Iterator[Machine]:
    """Have a machine, which only root can make; no daemon runs there at the end."""
    folder = Path(tempfile.mkdtemp(prefix="vm-"))
    folder.chmod(0o755)
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", PRIVATE]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == b"ready\n"
            made = Machine(holder.pid, folder)
            try:
                yield made
            finally:
                made.user.end()
                made.root.end()
        finally:
            holder.kill()
            shutil.rmtree(folder)
