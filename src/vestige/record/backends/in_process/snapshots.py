"""Snapshots of a recording that goes on: it keeps the newest, they what that is now.

Who wants one sends the recorder SIGUSR2, or asks at a socket in the directory of the
trace, as ``vestige snapshot`` does: a line of JSON each way.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ...._signals import signals
from ....errors import RecordError
from ...own_directories import OwnDirectory, known_directory, make_directories
from .crashes import CRASH_SIGNALS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Snapshots", "ask_for_snapshot"]

SOCKET = ".recorder"
"""Hidden, so that readers of the trace leave it alone."""
CREDENTIALS = struct.Struct("3i")
"""Process, user and group: ``struct ucred`` of unix(7)."""
LARGEST = 1 << 14
"""Bytes of a request, and of an answer."""
PATIENCE = 1.0
"""Seconds for a request: the recorder does nothing else meanwhile."""
LONGEST = 600.0
"""Seconds for a snapshot, for who has asked."""
MOST_NAMESAKES = 10_000
CRASHES = frozenset(128 + number for number in (*CRASH_SIGNALS, signals.SIGKILL))
"""Exit statuses of programs that have crashed; a shell has the same for its own."""


class Snapshots:
    """Takes snapshots of one recording, when somebody asks.

    Args:
        directory: The trace, absolute.
        copy: Copies what is recorded so far to an empty directory.
    """

    def __init__(self, directory: str, copy: Callable[[str], None]) -> None:
        self._directory = directory
        self._copy = copy
        self.taken: list[str] = []
        """The directories of those that were taken."""
        self.own: list[OwnDirectory] = []
        """These, and what was made for them."""
        self.problems: list[str] = []
        """Why others were not."""
        self._wanted, self._bell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._listener: socket.socket | None = None
        try:
            self._listener = _listen(directory)
        except OSError as error:
            why = error.strerror
            self.problems.append(f"'vestige snapshot' finds no recorder: {why}")

    @property
    def bells(self) -> list[tuple[int, Callable[[], None]]]:
        """Descriptors, and what is to be done when they are readable."""
        bells: list[tuple[int, Callable[[], None]]] = [(self._wanted, self._take_one)]
        if self._listener is not None:
            bells.append((self._listener.fileno(), self._answer))
        return bells

    def ring(self, _number: int, _frame: object) -> None:
        """Note that a snapshot is wanted: a handler of signals."""
        # Of those that come meanwhile, one is enough.
        with suppress(BlockingIOError):
            os.write(self._bell, b".")

    def _take_one(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wanted, LARGEST)
        self.try_to_take("snapshot")

    def take_after(self, status: int) -> None:
        """Take a snapshot if the program has crashed.

        Args:
            status: Its exit status.
        """
        if status in CRASHES:
            self.take_of_crash()

    def take_of_crash(self) -> None:
        """Take a snapshot of a process that has crashed, or note why there is none."""
        self.try_to_take("crash")

    def try_to_take(self, name: str) -> None:
        """Take a snapshot, or note why there is none.

        Args:
            name: What follows the name of the trace in that of the snapshot.
        """
        try:
            self.take(name)
        except OSError as error:
            self.problems.append(f"a snapshot was not taken: {_text(error)}")

    def take(self, name: str, output: str | None = None) -> str:
        """Take a snapshot.

        Args:
            name: What follows the name of the trace, if there is no ``output``.
            output: Its directory, which is new or empty; by default, one beside that
                of the trace.

        Returns:
            Its directory.

        Raises:
            OSError: It cannot be written. Nothing of it is there.
        """
        place, own = _new_folder(f"{self._directory}-{name}", output)
        try:
            self._copy(place)
        except OSError:
            _remove(place)
            raise
        self.taken.append(place)
        self.own.append(own)
        return place

    def _answer(self) -> None:
        """Answer one who asks."""
        assert self._listener is not None  # noqa: S101 - it rings
        try:
            asking, _ = self._listener.accept()
        except OSError:
            return
        # JSON that is nested too deep is a RecursionError.
        with asking, suppress(OSError, ValueError, RecursionError):
            asking.settimeout(PATIENCE)
            raw = asking.getsockopt(
                socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size
            )
            _, user, _ = CREDENTIALS.unpack(raw)
            if user in {0, os.geteuid()}:
                asking.sendall(self._answer_to(_line(asking, PATIENCE)))

    def _answer_to(self, request: object) -> bytes:
        if not isinstance(request, dict):
            # Somebody has only looked whether anybody listens.
            return _encoded({"error": "expected a request"})
        output = request.get("output")
        if output is not None and not (isinstance(output, str) and output[:1] == "/"):
            return _encoded({"error": "expected an absolute path"})
        try:
            return _encoded({"path": self.take("snapshot", output)})
        except (OSError, ValueError) as error:
            return _encoded({"error": _text(error)})

    def close(self) -> None:
        """Take no more of them."""
        os.close(self._wanted)
        os.close(self._bell)
        if self._listener is not None:
            self._listener.close()
            with suppress(OSError):
                os.unlink(f"{self._directory}/{SOCKET}")


def _listen(directory: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        with _OpenFolder(directory) as folder:
            listener.bind(f"{folder}/{SOCKET}")
        os.chmod(f"{directory}/{SOCKET}", 0o600)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


class _OpenFolder:
    """A directory by a path that has room in the address of a socket."""

    def __init__(self, directory: str) -> None:
        flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        self._file = os.open(directory, flags)

    def __enter__(self) -> str:
        return f"/proc/self/fd/{self._file}"

    def __exit__(self, *_error: object) -> None:
        os.close(self._file)


def _new_folder(start: str, output: str | None) -> tuple[str, OwnDirectory]:
    """Make the directory of a snapshot; return its path, and what was made."""
    if output is not None:
        # Else what is above it could count as made.
        output = os.path.abspath(output)
        made = make_directories(output)
        if os.listdir(output):
            raise FileExistsError(17, "expected a new or an empty directory", output)
        return output, OwnDirectory(known_directory(os.path.realpath(output)), made)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(MOST_NAMESAKES):
        place = f"{start}-{stamp}-{number}"
        with suppress(FileExistsError):
            os.mkdir(place)
            known = known_directory(place)
            return place, OwnDirectory(known, (known,))
    raise FileExistsError(17, "too many snapshots", start)


def _remove(place: str) -> None:
    # Few snapshots fail.
    from shutil import rmtree  # noqa: PLC0415 - see above

    rmtree(place, ignore_errors=True)


def _line(connection: socket.socket, patience: float) -> object:
    """Read a line of JSON, for so many seconds; ``None`` if there is none."""
    raw = b""
    until = time.monotonic() + patience
    while not raw.endswith(b"\n") and len(raw) < LARGEST:
        connection.settimeout(max(until - time.monotonic(), 1e-6))
        part = connection.recv(LARGEST)
        if not part:
            return None
        raw += part
    return json.loads(raw)


def _encoded(message: dict[str, str]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return str(error)


def ask_for_snapshot(directory: str, output: str | None) -> str:
    """Ask the recorder of a trace for a snapshot.

    Args:
        directory: The trace.
        output: The directory of the snapshot, absolute; ``None`` for one beside it.

    Returns:
        That directory.

    Raises:
        RecordError: Nobody records there in overwrite mode, or it cannot be written.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(LONGEST)
    with connection:
        try:
            with _OpenFolder(directory) as folder:
                connection.connect(f"{folder}/{SOCKET}")
            connection.sendall(_encoded({} if output is None else {"output": output}))
            answer = _line(connection, LONGEST)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            raise RecordError(
                "no recording with --mode=overwrite goes on here", path=directory
            ) from None
        except (OSError, ValueError) as error:
            raise RecordError(_text(error), path=directory) from error
    found = answer if isinstance(answer, dict) else {}
    if isinstance(found.get("path"), str):
        return str(found["path"])
    raise RecordError(str(found.get("error", "the recorder has ended")), path=directory)
