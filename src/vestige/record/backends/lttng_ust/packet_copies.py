"""Full sub-buffers of rings in discard mode, copied to files by native code.

A program that waits for room sleeps for 100 ms each time that it finds none. So where
programs wait, a thread is woken by them, whatever else there is to do here. What is
rare (new files, a disk that is full, packets that make no sense) it leaves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from ..._collector import FullPackets, PacketFollower
from .ring import Ring
from .trace_files import DataStreamFile

__all__ = ["PacketCopies"]


class PacketCopies:
    """Copies what it can of some rings.

    Args:
        rings: The rings, one for each CPU.
        files: The file of each.
        wakes: Both ends of the pipe where programs say that a sub-buffer is full.
        has_thread: Whether a thread does it as soon as they do.

    Raises:
        OSError: A ring cannot be mapped, or there is no thread.
    """

    def __init__(
        self,
        rings: Sequence[Ring],
        files: Sequence[DataStreamFile],
        wakes: tuple[int, int],
        *,
        has_thread: bool,
    ) -> None:
        self._rings, self._files = rings, files
        self.copied = 0
        """Bytes of all packets that were copied."""
        self._depth = 0
        layouts = [ring.layout for ring in rings]
        self._full = FullPackets(layouts)
        self._left = (-1, -1)
        self._thread: PacketFollower | None = None
        if has_thread:
            self._left = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                self._thread = PacketFollower(layouts, *wakes, self._left[1])
            except BaseException:
                self._close_pipe()
                raise
            self._thread.go_on(self._places())

    @property
    def left(self) -> int:
        """What can be read when the thread leaves something; -1 without a thread."""
        return self._left[0]

    def _places(self) -> list[tuple[int, int, int, int, int, int]]:
        pairs = zip(self._rings, self._files, strict=True)
        return [(ring.file, *file.place) for ring, file in pairs]

    def _note(self, copied: list[int]) -> None:
        for file, count in zip(self._files, copied, strict=True):
            file.add(count)
        self.copied += sum(copied)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let nobody else touch rings and files meanwhile."""
        if self._thread is None:
            yield
            return
        if not self._depth:
            self._note(self._thread.hold())
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._thread.go_on(self._places())

    def copy(self) -> None:
        """Copy what can be; the thread is held."""
        self._note(self._full.copy(self._places()))

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._note(self._thread.hold())
            self._thread.end()
            self._thread = None
        self._close_pipe()

    def _close_pipe(self) -> None:
        for end in self._left:
            with suppress(OSError):
                os.close(end)
        self._left = (-1, -1)
