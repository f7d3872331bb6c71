"""What the parts of a writer of traces share."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from ... import core
from ...errors import WriterClosedError
from .written_metadata import WrittenMetadata

__all__ = ["WriterOwner", "WriterState"]


class WriterOwner:
    """Whom the files of a writer are open for: its end closes them.

    All parts of a writer that a program can hold refer to it.
    """


@dataclass
class WriterState:
    """What the parts of a writer share, and what its end needs.

    As a context manager it is a part of a process's own writer that is open, and no
    other thread's at the same time.
    """

    metadata: WrittenMetadata
    packet_size: int

    def __post_init__(self) -> None:
        self.streams: list[core.StreamWriter] = []
        self.stream_classes = 0
        self.is_closed = False
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        path = self.metadata.directory
        # Who held the lock when the process was copied never gives it back in the copy.
        if os.getpid() != self._process:
            raise WriterClosedError(
                "the writer belongs to the process that this is a copy of", path=path
            )
        self._lock.acquire()
        if self.is_closed:
            self._lock.release()
            raise WriterClosedError("the writer is closed", path=path)

    def __exit__(self, *exception: object) -> None:
        self._lock.release()

    def flush(self) -> None:
        """Write metadata and packets."""
        with self:
            self.metadata.publish()
            for stream in self.streams:
                stream.flush()

    def close(self) -> None:
        """Close all files; after an error, which is raised, it can be tried again."""
        if self.is_closed or os.getpid() != self._process:
            return
        with self:
            errors: list[Exception] = []
            for step in (self.metadata.publish, *(one.close for one in self.streams)):
                try:
                    step()
                except Exception as error:  # noqa: BLE001 - raised below
                    errors.append(error)
            if errors:
                raise errors[0]
            self.is_closed = True
