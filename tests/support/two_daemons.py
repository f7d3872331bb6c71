"""A machine of its own for root's session daemon, and for those of other users."""

from __future__ import annotations

import grp
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .session_daemon import Done, SessionDaemon

__all__ = ["USER", "Machine", "UserDaemon", "machine"]

USER = 12345
"""Of nobody's, and there is no entry for it."""
OTHER = 12346
"""As above."""
GROUP = grp.getgrgid(1)
"""Whose members may control root's daemon."""
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
        is_member: Whether the user may control root's daemon.
    """

    def __init__(
        self, holder: int, home: Path, uid: int, *, is_member: bool = False
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
            groups = f"--groups={GROUP.gr_gid}" if is_member else "--clear-groups"
            who = [f"--reuid={uid}", f"--regid={uid}"]
            self.prefix += ["setpriv", *who, groups, *rights]

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Start a daemon, and wait until it is ready or has failed.

        Args:
            words: More of its command line.
        """
        return super().start(f"--group={GROUP.gr_name}", *words)

    def lttng(self, *words: str) -> Done:
        """Run a session verb, as the user.

        Args:
            words: What follows ``lttng``.
        """
        group = f"--group={GROUP.gr_name}"
        done = self.run_module("vestige", "lttng", group, *words)
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
        self.user = UserDaemon(holder, self._home("user", USER), USER)
        member = self._home("user", USER)
        self.member = UserDaemon(holder, member, USER, is_member=True)
        """The same user, who asks root's daemon where that runs."""
        other = self._home("other", OTHER)
        self.other_member = UserDaemon(holder, other, OTHER, is_member=True)
        """Another user, who asks root's daemon, too."""

    def memory_owners(self) -> set[int]:
        """Return whose the memories are that programs record into."""
        folder = Path(f"/proc/{self._holder}/root/dev/shm")
        names = folder.glob("vestige-*-" + "[0-9a-f]" * 16)
        return {path.stat().st_uid for path in names}

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
