"""What the parts of a writer of traces share."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from .. import core
from ..errors import WriterClosedError
from .written_metadata import WrittenMetadata

__all__ = ["WriterState"]


@dataclass
class WriterState:
    """What the parts of a writer share, and what its end needs."""

    metadata: WrittenMetadata
    packet_size: int

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self.streams: list[core.StreamWriter] = []
        self.stream_classes = 0
        self.is_closed = False
        self._process = os.getpid()

    def check_open(self) -> None:
        """Refuse to go on in a closed writer and in a copy of its process."""
        if self.is_closed:
            raise WriterClosedError(
                "the writer is closed", path=self.metadata.directory
            )
        if os.getpid() != self._process:
            raise WriterClosedError(
                "the writer belongs to the process that this is a copy of",
                path=self.metadata.directory,
            )

    def flush(self) -> None:
        """Write metadata and packets."""
        with self.lock:
            self.metadata.publish()
            for stream in self.streams:
                stream.flush()

    def close(self) -> None:
        """Close all files; the first error is raised at the end."""
        with self.lock:
            self.is_closed = True
            errors: list[Exception] = []
            steps = [stream.close for stream in self.streams]
            if os.getpid() == self._process:
                steps.insert(0, self.metadata.publish)
            for step in steps:
                try:
                    step()
                except Exception as error:  # noqa: BLE001 - raised below
                    errors.append(error)
            if errors:
                raise errors[0]
