"""The metadata file of a trace that is written: whole, and before the data."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from uuid import UUID

from ... import core
from ...errors import DeclarationError, StorageError, TraceFormatError
from ...model import ClockClass, EventRecordClass, StreamClass
from .fragments import Fragments
from .lowering import Version
from .tsdl import Tsdl

__all__ = ["WrittenMetadata"]


class WrittenMetadata:
    """The metadata of a trace, as far as it is declared.

    What is added waits until :meth:`publish`, which replaces the file as a whole: a
    reader finds the old or the new one, and never a part. Whoever writes event records
    publishes before.

    Args:
        directory: The directory of the trace.
        version: Version of the format.
        byte_order: Byte order of numbers that state none.
        uuid: UUID of the trace.
        environment: Entries of the environment.
    """

    def __init__(
        self,
        directory: Path,
        version: Version,
        byte_order: Literal["little", "big"],
        uuid: UUID,
        environment: Mapping[str, int | str],
    ) -> None:
        self.directory = directory
        """The directory of the trace."""
        self.version: Version = version
        """Version of the format."""
        self.is_pending = False
        """Whether something was declared that the file does not have yet."""
        self._format = (Tsdl if version == "1.8" else Fragments)(byte_order)
        self._head = self._format.trace(uuid, environment)
        self._clocks: dict[str, ClockClass] = {}
        self._text = [self._head]
        self._lock = threading.Lock()

    def create(self) -> None:
        """Make the directory and the file.

        Raises:
            StorageError: They cannot be written, or there is a trace already.
        """
        path = self.directory / "metadata"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            with path.open("xb"):
                pass
        except OSError as error:
            raise _storage_error(error, path) from error
        self.is_pending = True
        try:
            self.publish()
        except StorageError:
            path.unlink()
            raise

    def add_stream_class(self, stream: StreamClass) -> str:
        """Add a stream class, and its clock class if it is new.

        Args:
            stream: The stream class.

        Returns:
            The metadata of a trace that has this stream class alone.

        Raises:
            DeclarationError: The version has no such classes.
        """
        clock = stream.clock
        assert clock is not None  # noqa: S101 - the writer gives each one
        known = self._clocks.get(clock.name)
        if known is not None and known != clock:
            raise DeclarationError("another clock class has this name", name=clock.name)
        clock_text = self._format.clock(clock)
        text = self._format.stream_class(stream)
        alone = self._head + clock_text + text
        self.parse(alone)
        if known is None:
            self._clocks[clock.name] = clock
            self.accept(clock_text)
        self.accept(text)
        return alone

    def add_event_class(self, stream: StreamClass, event: EventRecordClass) -> str:
        """Return the text of an event record class, for :meth:`accept`.

        Args:
            stream: Its stream class.
            event: The event record class.

        Returns:
            The text.

        Raises:
            DeclarationError: The version has no such classes.
        """
        try:
            return self._format.event_class(stream, event)
        except DeclarationError as error:
            error.add_context(event.name or "")
            raise

    def accept(self, text: str) -> None:
        """Add a text to the metadata.

        Args:
            text: The text.
        """
        with self._lock:
            self._text.append(text)
            self.is_pending = True

    def parse(self, text: str) -> core.TraceClass:
        """Parse metadata, as whoever reads the trace will.

        Args:
            text: The metadata.

        Returns:
            The trace class.

        Raises:
            DeclarationError: They are not valid.
        """
        try:
            return core.TraceClass.parse(_encoded(text))
        except TraceFormatError as error:
            raise DeclarationError(error.message) from error

    def publish(self) -> None:
        """Replace the file by one that has all that was declared.

        Raises:
            StorageError: It cannot be written: the old one is still there.
        """
        # Another thread that writes event records waits here for the new file.
        with self._lock:
            if self.is_pending:
                self._replace()
                self.is_pending = False

    def _replace(self) -> None:
        path = self.directory / "metadata"
        fresh = self.directory / f".metadata.{os.getpid()}"
        self._text = ["".join(self._text)]
        try:
            fresh.write_bytes(_encoded(self._text[0]))
            fresh.replace(path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise _storage_error(error, path) from error


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DeclarationError(
            f"a name that UTF-8 cannot hold: {error.object[error.start : error.end]!r}"
        ) from error


def _storage_error(error: OSError, path: Path) -> StorageError:
    return StorageError(f"cannot write: {error.strerror}", path=path, errno=error.errno)
