"""Recordings without a daemon: what their collectors tell those who watch.

Each collector has a socket in the abstract namespace, where programs get their memory.
Who records, and root, can also ask there how far the recording is, see
``docs/formats/arena.md``.
"""

from __future__ import annotations

import os
import re
import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Recorded", "RecordedProcess", "Recordings"]

QUESTION = b"vestige-progress"
"""As ``watch.rs`` of the collector has it."""
SOCKETS = Path("/proc/net/unix")
_NAME = re.compile(r" @(vestige-[0-9a-f]{32})$", re.MULTILINE)
CREDENTIALS = struct.Struct("3i")
"""What ``SO_PEERCRED`` tells: process, user, group; see unix(7)."""
PATIENCE = 0.5
"""Seconds for all answers: that of a collector takes less than a millisecond."""
LARGEST_ANSWER = 1 << 20
LARGEST_NUMBER = 1 << 64
_NUMBERS = (
    *("bytes", "lost", "lost_packets"),
    *("unwritten", "fullest", "ring", "rings"),
)
_PART = 1 << 16


class RecordedProcess(NamedTuple):
    """A process that is recorded."""

    pid: int
    """Its ID here; 0 if it has none, in another PID namespace."""

    name: str
    """The name of its main thread."""


class Recorded(NamedTuple):
    """How far a recording is."""

    directory: str
    """Its directory; that of the whole recording where it is rotated."""

    pid: int
    """The process that records; 0 if it has none here."""

    uid: int
    """Whose it is."""

    bytes: int
    """Bytes of packets that were written to files."""

    lost: int
    """Event records that found no room."""

    lost_packets: int
    """Packets that rings gave up for newer ones."""

    unwritten: int
    """Bytes of records in memory that are in no file yet."""

    fullest: int
    """Of these, the ones of the fullest ring."""

    ring: int
    """Most bytes of a ring."""

    rings: int
    """Rings: those of threads that record now."""

    processes: tuple[RecordedProcess, ...]

    is_answering: bool = True
    """Whether these are the numbers of now: a process that was stopped answers none."""


class Recordings:
    """Finds the recordings of this user; of all users, for root."""

    def __init__(self) -> None:
        self._others: set[str] = set()
        """Sockets where nobody is to be asked."""
        self._known: dict[str, Recorded] = {}

    def look(self) -> list[Recorded]:
        """Return the recordings that go on now."""
        names = _socket_names()
        self._others &= names
        answers = _answers(names - self._others)
        self._others |= {name for name, one in answers.items() if one is None}
        before = self._known
        self._known = {}
        for name in names - self._others:
            found = answers.get(name)
            if found is None and name in before:
                found = before[name]._replace(is_answering=False)
            if found is not None:
                self._known[name] = found
        return sorted(self._known.values(), key=lambda one: (one.directory, one.pid))


def _socket_names() -> set[str]:
    """Return the names of sockets that may be those of collectors, see proc(5)."""
    try:
        return set(_NAME.findall(SOCKETS.read_text("ascii", "replace")))
    except OSError:
        return set()


def _answers(names: set[str]) -> dict[str, Recorded | None]:
    """Ask all collectors at a time.

    Returns:
        What they say; ``None`` of those that are not to be asked again. Those that say
        nothing in time are missing.
    """
    answers: dict[str, Recorded | None] = {}
    asked: dict[int, _Asked] = {}
    waiting = select.poll()
    try:
        for name in names:
            with suppress(BlockingIOError, FileNotFoundError, ConnectionError):
                one = _Asked(name)
                asked[one.fileno()] = one
                if one.is_to_be_asked():
                    waiting.register(one.fileno(), select.POLLIN)
                else:
                    answers[name] = None
        until = time.monotonic() + PATIENCE
        left = len(asked) - len(answers)
        while left and (rest := until - time.monotonic()) > 0:
            for descriptor, _ in waiting.poll(rest * 1000):
                one = asked[descriptor]
                if one.has_ended():
                    waiting.unregister(descriptor)
                    answers[one.name] = one.answer()
                    left -= 1
    finally:
        for one in asked.values():
            one.close()
    return answers


class _Asked:
    """A connection to a collector.

    Args:
        name: That of its socket.

    Raises:
        OSError: Nobody is there, or too many wait for an answer.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._received = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(0)
        self._pid, self._uid = 0, -1
        try:
            self._socket.connect(f"\0{name}")
            raw = self._socket.getsockopt(
                socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size
            )
            self._pid, self._uid, _ = CREDENTIALS.unpack(raw)
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._socket.fileno()

    def is_to_be_asked(self) -> bool:
        """Ask; others than this user are believed by root only, who asks everybody."""
        if os.geteuid() not in {0, self._uid}:
            return False
        with suppress(OSError):
            self._socket.send(QUESTION)
        return True

    def has_ended(self) -> bool:
        """Receive what is there, and tell whether it is all."""
        try:
            part = self._socket.recv(_PART)
        except BlockingIOError:
            return False
        except OSError:
            part = b""
        self._received += part
        return not part or len(self._received) > LARGEST_ANSWER

    def answer(self) -> Recorded | None:
        """Return what was said; ``None`` if nothing that makes sense."""
        try:
            found = _recorded(bytes(self._received), self._pid, self._uid)
        except (ValueError, KeyError):
            return None
        return found if self._may_name(found.directory) else None

    def _may_name(self, directory: str) -> bool:
        """Tell whether it may be that: root looks into no other user's directory."""
        if self._uid == os.geteuid():
            return True
        try:
            return Path(directory).stat().st_uid == self._uid
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Let it go."""
        self._socket.close()


def _recorded(answer: bytes, pid: int, uid: int) -> Recorded:
    """Read an answer.

    Raises:
        ValueError: It makes no sense.
        KeyError: Something is missing.
    """
    words = [one.partition(b"=")[::2] for one in answer.split(b"\0")[:-1]]
    texts = dict(words)
    directory = os.fsdecode(texts[b"directory"])
    if not directory.startswith("/"):
        raise ValueError(directory)
    if _number(texts[b"rotated"]):
        directory = str(Path(directory).parent)
    numbers = {name: _number(texts[name.encode()]) for name in _NUMBERS}
    processes = tuple(_processes(text for key, text in words if key == b"process"))
    return Recorded(
        directory, pid, uid, **numbers, processes=processes, is_answering=True
    )


def _number(text: bytes) -> int:
    number = int(text)
    if not 0 <= number < LARGEST_NUMBER:
        raise ValueError(text)
    return number


def _processes(texts: Iterator[bytes]) -> Iterator[RecordedProcess]:
    own = _own_namespace()
    for text in texts:
        pid, namespace, name = text.split(b",", 2)
        is_here = _number(namespace) in {own, 0}
        yield RecordedProcess(
            _number(pid) if is_here else 0, name.decode("utf-8", "replace")
        )


def _own_namespace() -> int:
    """Return the inode of the PID namespace of this process."""
    with suppress(OSError):
        return Path("/proc/self/ns/pid").stat().st_ino
    return 0
