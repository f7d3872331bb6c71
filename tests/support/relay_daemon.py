"""A relay daemon for a test, on ports of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from support.ports import free_ports
from support.relay_peer import ControlPeer, DataPeer
from support.waiting import wait_until

SECONDS = 60
DAEMON = (sys.executable, "-m", "vestige.cli.relayd")


class RunningRelay:
    """A relay daemon that writes below a directory; it ends with the test."""

    def __init__(
        self, folder: Path, *words: str, command: Sequence[str] = DAEMON
    ) -> None:
        self.output = folder / "relayed"
        self.peers: list[ControlPeer | DataPeer] = []
        self.control, self.data, self.live = free_ports(3)
        command = [*command, "-o", str(self.output)]
        names = {"-C": self.control, "-D": self.data, "-L": self.live}
        for option, port in names.items():
            command += [option, f"tcp://127.0.0.1:{port}"]
        self.process = subprocess.Popen([*command, *words], stderr=subprocess.PIPE)
        wait_until(self._is_ready, "the relay daemon", SECONDS)

    def _is_ready(self) -> bool:
        assert self.process.poll() is None
        try:
            socket.create_connection(("127.0.0.1", self.control), SECONDS).close()
        except ConnectionRefusedError:
            return False
        return True

    def connect(self, minor: int = 11) -> tuple[ControlPeer, DataPeer]:
        """Return connections of a peer, which end with the test."""
        peers = ControlPeer(self.control, minor), DataPeer(self.data)
        self.peers += peers
        return peers

    def disconnect(self) -> None:
        """Close all connections."""
        while self.peers:
            self.peers.pop().close()

    def files(self) -> list[str]:
        """Return the names of all files below the output."""
        return sorted(
            str(path.relative_to(self.output))
            for path in self.output.rglob("*")
            if path.is_file()
        )

    def end(self) -> tuple[int, str]:
        """End it, at most once; return its status and what it said."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            self._said = self.process.communicate(timeout=SECONDS)[1].decode()
        return self.process.returncode, self._said
