"""A relay daemon, LTTng's or ours, as a child of a test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .ports import free_ports
from .waiting import wait_until

SECONDS = 60.0
HOST = "127.0.0.1"
LTTNG = ("lttng-relayd",)
OURS = (sys.executable, "-m", "vestige.cli.relayd")


def missing_relay() -> str | None:
    """Say why there is none; ``None``: there is one."""
    found = shutil.which("lttng-relayd")
    return None if found else "needs lttng-relayd"


class ChildRelay:
    """A relay daemon with ports of its own.

    Args:
        folder: Where it writes; its output is in it.
        command: What begins its command line: LTTng's, or ours.
    """

    def __init__(self, folder: Path, command: Sequence[str] = LTTNG) -> None:
        self._command = command
        self.folder, self.output = folder, folder / "traces"
        self.control, self.data, self.live = free_ports(3)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process ID, if it runs."""
        return None if self._process is None else self._process.pid

    @property
    def said(self) -> str:
        """What it has said on standard error, in all of its lives."""
        return (self.folder / "said").read_text()

    @property
    def url(self) -> str:
        """Where sessions are sent to."""
        return f"net://{HOST}:{self.control}:{self.data}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.folder.mkdir(exist_ok=True)
        places = zip(
            ("control", "data", "live"),
            (self.control, self.data, self.live),
            strict=True,
        )
        with (self.folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                [
                    *self._command,
                    *(f"--{name}-port=tcp://{HOST}:{port}" for name, port in places),
                    f"--output={self.output}",
                ],
                env={
                    **os.environ,
                    "HOME": str(self.folder),
                    "LTTNG_HOME": str(self.folder),
                    "LTTNG_RELAYD_HEALTH": str(self.folder / "health"),
                },
                stdin=subprocess.DEVNULL,
                stderr=said,
            )
        wait_until(self._listens, "the relay daemon listens", SECONDS)

    def _listens(self) -> bool:
        with suppress(OSError):
            for port in (self.control, self.data, self.live):
                socket.create_connection((HOST, port)).close()
            return True
        return False

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS)
            self._process = None

    def end(self) -> None:
        """End it in order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(SECONDS)
            self._process = None

    def sessions(self, name: str) -> list[Path]:
        """Return the directories of the sessions of a name, oldest first.

        Args:
            name: The name.
        """
        return sorted(self.output.glob(f"*/{name}-*"))


@contextmanager
def child_relay(folder: Path, command: Sequence[str] = LTTNG) -> Iterator[ChildRelay]:
    """Have such a relay daemon.

    Args:
        folder: Where it writes.
        command: As of :class:`ChildRelay`.
    """
    made = ChildRelay(folder, command)
    try:
        made.start()
        yield made
    finally:
        made.end()
