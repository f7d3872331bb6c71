"""Programs with LTTng's agents of logging libraries, and an agent that a test plays."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path

from support.compilers import PROGRAMS, MissingToolError, run_tool

SECONDS = 60.0
_FOLDER = PROGRAMS / "agents"
_PYTHON = Path("/usr/bin/python3")
_AGENT = Path("/usr/lib/python3/dist-packages/lttngust")
_JARS = [
    Path("/usr/share/java", name)
    for name in (
        *("lttng-ust-agent-common.jar", "lttng-ust-agent-jul.jar"),
        *("lttng-ust-agent-log4j.jar", "log4j-1.2.jar"),
    )
]
_LIBRARIES = Path("/usr/lib/x86_64-linux-gnu/jni")
_PACKAGES = "liblttng-ust-agent-java, liblttng-ust-agent-java-jni, liblog4j1.2-java"


def python_messages() -> list[str | Path]:
    """Return the command of the Python program.

    Raises:
        MissingToolError: The agent is not installed.
    """
    if not _AGENT.is_dir() or not _PYTHON.exists():
        raise MissingToolError("Debian's python3-lttngust is not installed")
    return [_PYTHON, _FOLDER / "messages.py"]


def java_messages(name: str, classes: Path) -> list[str | Path]:
    """Return the command of a Java program, which is compiled if need be.

    Args:
        name: ``JulMessages`` or ``Log4jMessages``.
        classes: Where compiled classes are.

    Raises:
        MissingToolError: Java or the agents are not installed.
    """
    if not all(
        one.exists() for one in (*_JARS, _LIBRARIES / "liblttng-ust-jul-jni.so")
    ):
        raise MissingToolError(f"one of Debian's {_PACKAGES} is not installed")
    jars = ":".join(map(str, _JARS))
    if not (classes / f"{name}.class").exists():
        run_tool(["javac", "-cp", jars, "-d", classes, _FOLDER / f"{name}.java"])
    return [
        *("java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}:{classes}"),
        *(f"-Djava.library.path={_LIBRARIES}", name),
    ]


class PlayedAgent:
    """An agent that a test plays.

    Args:
        port: Where the daemon listens.
        domain: The number of its library.
        pid: The process ID that it claims.
    """

    def __init__(self, port: int, domain: int, pid: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self.socket.sendall(struct.pack(">4I", domain, pid, 2, 0))

    def command(self) -> tuple[int, bytes]:
        """Return the number of the next command, and what came with it."""
        size, number, _ = struct.unpack(">QII", self._receive(16))
        return number, self._receive(size)

    def answer(self, status: int = 1) -> None:
        """Answer a command."""
        self.socket.sendall(struct.pack(">I", status))

    def answer_loggers(self, names: Sequence[str]) -> None:
        """Answer the command that asks for loggers."""
        raw = b"".join(one.encode() + b"\0" for one in names)
        self.socket.sendall(struct.pack(">3I", 1, len(raw), len(names)) + raw)

    def is_let_go(self) -> bool:
        """Wait for the end of the connection; tell whether it was the next thing."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _receive(self, size: int) -> bytes:
        raw = b""
        while len(raw) < size:
            part = self.socket.recv(size - len(raw))
            assert part, "the daemon closed the connection"
            raw += part
        return raw
