"""The daemon of a session: that of the user, or one for this session alone."""

from __future__ import annotations

import shutil
import tempfile

from ..daemon.client import Client
from ..daemon.starting import AttachedDaemon, connect
from ..errors import DaemonRunsError, SessionError

__all__ = ["Link"]


class Link:
    """A connection to a daemon, with the daemon if it ends with the connection.

    Args:
        client: The connection.
        daemon: The daemon, if it was started for this.
        home: What programs take for their home to find it, if it is private.
    """

    def __init__(
        self,
        client: Client,
        daemon: AttachedDaemon | None = None,
        home: str | None = None,
    ) -> None:
        self.client = client
        self._daemon = daemon
        self._home = home
        self.environment: dict[str, str] = {}
        """What programs need in their environment to find the daemon."""
        if home is not None:
            folder = f"{home}/.lttng"
            self.environment = {"LTTNG_HOME": home, "VESTIGE_RUNDIR": folder}

    @classmethod
    def to_daemon(cls, group: str) -> Link:
        """Connect to the daemon; start one that stays if none runs.

        Args:
            group: Whose members may use root's daemon.
        """
        return cls(connect(group))

    @classmethod
    def to_passing_daemon(cls, group: str) -> Link:
        """Connect to the daemon; start one that ends with the link if none runs.

        Args:
            group: Whose members may use root's daemon.
        """
        try:
            return cls(Client.connect(group))
        except SessionError:
            pass
        try:
            daemon = AttachedDaemon()
        except DaemonRunsError:
            # Somebody else was faster, or it is LTTng's.
            try:
                return cls(Client.connect(group))
            except SessionError:
                pass
            raise
        return cls(Client.connect(group), daemon)

    @classmethod
    def to_private_daemon(cls) -> Link:
        """Start a daemon that ends with the link, and that nobody else finds."""
        # Sockets have few bytes for their path.
        home = tempfile.mkdtemp(prefix="vestige-")
        folder = f"{home}/.lttng"
        try:
            daemon = AttachedDaemon(folder)
            return cls(Client.connect(folder=folder), daemon, home)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise

    def close(self) -> None:
        """End the connection, and the daemon with it."""
        self.client.close()
        if self._daemon is not None:
            self._daemon.close()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
