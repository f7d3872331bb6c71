"""Writing traces: :class:`Writer`."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from uuid import UUID, uuid4

from ...errors import DeclarationError
from ...model import ClockClass, StructureFieldClass
from ...model.clock_class import UNIX_EPOCH
from .data_stream_writer import DataStreamWriter, EventClassWriter
from .declarations import Declaration
from .lowering import Version
from .stream_class_writer import NOTHING, StreamClassWriter, declared_stream_class
from .writer_state import WriterOwner, WriterState
from .written_metadata import WrittenMetadata

__all__ = ["Writer"]

PACKET_SIZE = 256 * 1024
"""Most bytes of a packet, unless something else is asked for."""
MAX_PACKET_SIZE = 64 * 1024 * 1024
"""Most bytes of a packet that may be asked for: it is held in memory."""

WALL_CLOCK = ClockClass(
    "realtime", 1_000_000_000, 0, 0, absolute=True, origin=UNIX_EPOCH
)
"""The clock of a trace that asks for no other: that of :func:`time.time_ns`."""


class Writer:
    """Writes a trace of the Common Trace Format.

    The metadata is written first. What was flushed can be read at any time, also when
    the process is killed; a packet is flushed when it is full, and by :meth:`flush`,
    :meth:`close` and the end of the process.

    A writer has one stream class at once, of which :meth:`stream` and
    :meth:`event_class` make data streams and event record classes; :meth:`stream_class`
    declares more.

    Args:
        path: The directory of the trace. It is made; one that holds a trace is refused.
        version: Version of the format, ``"1.8"`` or ``"2"``.
        clock: The clock of time stamps: by default that of :func:`time.time_ns`.
        environment: Facts about the machine and the program.
        uuid: UUID of the trace; a random one by default.
        packet_size: Most bytes of a packet. One event record that is longer has a
            packet of its own.
        packet_context: Members of the context that packets have besides their sizes,
            times, counter of discarded event records and sequence number.
        event_context: Members of the context that all event records have.
        byte_order: Byte order of numbers that state none.

    Raises:
        DeclarationError: The version has no such classes.
        StorageError: The directory or the metadata cannot be written.

    Example:
        >>> with Writer("out") as writer:
        ...     cpu = writer.stream("cpu0")
        ...     request = writer.event_class(
        ...         "app:request", {"path": str, "status": "u16"}
        ...     )
        ...     cpu.write(request, time.time_ns(), path="/", status=200)
    """

    def __init__(  # noqa: PLR0913 - parameters go by keyword
        self,
        path: str | os.PathLike[str],
        *,
        version: Version = "1.8",
        clock: ClockClass = WALL_CLOCK,
        environment: Mapping[str, int | str] = NOTHING,
        uuid: UUID | None = None,
        packet_size: int = PACKET_SIZE,
        packet_context: Mapping[str, Declaration] = NOTHING,
        event_context: Mapping[str, Declaration] = NOTHING,
        byte_order: Literal["little", "big"] = sys.byteorder,
    ) -> None:
        if version not in {"1.8", "2"}:
            raise DeclarationError(f"expected the version '1.8' or '2': {version!r}")
        if not 1 <= packet_size <= MAX_PACKET_SIZE:
            raise DeclarationError(
                f"expected a packet size of 1 to {MAX_PACKET_SIZE} bytes: {packet_size}"
            )
        self._path = Path(path)
        self._uuid = uuid or uuid4()
        metadata = WrittenMetadata(
            self._path, version, byte_order, self._uuid, environment
        )
        self._state = WriterState(metadata, packet_size)
        self._owner = WriterOwner()
        self._default = StreamClassWriter(
            self._state,
            self._owner,
            declared_stream_class(0, clock, version, packet_context, event_context),
        )
        metadata.create()
        self._finalizer = weakref.finalize(self._owner, self._state.close)

    @property
    def path(self) -> Path:
        """The directory of the trace."""
        return self._path

    @property
    def uuid(self) -> UUID:
        """The UUID of the trace."""
        return self._uuid

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._state.is_closed

    def stream_class(
        self,
        *,
        clock: ClockClass | None = None,
        packet_context: Mapping[str, Declaration] = NOTHING,
        event_context: Mapping[str, Declaration] = NOTHING,
        name: str | None = None,
    ) -> StreamClassWriter:
        """Declare one more stream class.

        Args:
            clock: The clock of its time stamps: by default that of the writer. Another
                one must have a name of its own.
            packet_context: Members of the context that its packets have.
            event_context: Members of the context that its event records have.
            name: Its name, which CTF 2 keeps.

        Returns:
            The stream class.

        Raises:
            DeclarationError: The version has no such classes.
            WriterClosedError: The writer is closed.
        """
        state = self._state
        with state:
            declared = declared_stream_class(
                state.stream_classes,
                clock or self._default.clock,
                state.metadata.version,
                packet_context,
                event_context,
                name=name,
            )
            return StreamClassWriter(state, self._owner, declared)

    def event_class(
        self,
        name: str,
        fields: Mapping[str, Declaration] | StructureFieldClass = NOTHING,
        *,
        context: Mapping[str, Declaration] = NOTHING,
        log_level: int | None = None,
        emf_uri: str | None = None,
    ) -> EventClassWriter:
        """Declare an event record class of the first stream class.

        See :meth:`StreamClassWriter.event_class`.
        """
        return self._default.event_class(
            name, fields, context=context, log_level=log_level, emf_uri=emf_uri
        )

    def stream(self, name: str, /, **packet_context: Any) -> DataStreamWriter:
        """Begin a data stream of the first stream class.

        See :meth:`StreamClassWriter.stream`.
        """
        return self._default.stream(name, **packet_context)

    def flush(self) -> None:
        """End the packets of all data streams and write them.

        Raises:
            StorageError: A file cannot be written.
            WriterClosedError: The writer is closed.
        """
        self._state.flush()

    def close(self) -> None:
        """End all packets, write them and close all files; again, do nothing.

        Raises:
            StorageError: A file cannot be written. The others are closed all the same,
                and this one can be closed again.
        """
        self._state.close()
        self._finalizer.detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
