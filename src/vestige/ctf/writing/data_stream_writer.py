"""Writing event records into a data stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import core
from ...errors import DeclarationError
from ...model import EventRecordClass
from .written_metadata import WrittenMetadata

if TYPE_CHECKING:
    from .stream_class_writer import StreamClassWriter

__all__ = ["DataStreamWriter", "EventClassWriter"]


class EventClassWriter:
    """An event record class of a :class:`Writer`, which makes it."""

    __slots__ = ("_declared", "layout", "stream_class")

    def __init__(
        self,
        stream_class: StreamClassWriter,
        declared: EventRecordClass,
        layout: core.EventLayout,
    ) -> None:
        self.stream_class = stream_class
        """Its stream class."""
        self.layout = layout
        """How its event records are encoded."""
        self._declared = declared

    @property
    def declared(self) -> EventRecordClass:
        """What is written in the metadata."""
        return self._declared

    @property
    def name(self) -> str:
        """Its name."""
        return self._declared.name or ""

    @property
    def id(self) -> int:
        """Its ID in its stream class."""
        return self._declared.id


class DataStreamWriter:
    """A data stream of a :class:`Writer`, which makes it.

    Event records of several threads may be written to one data stream, if their times
    do not go back.
    """

    __slots__ = ("_metadata", "_name", "_stream", "_stream_class")

    def __init__(
        self,
        stream_class: StreamClassWriter,
        metadata: WrittenMetadata,
        name: str,
        stream: core.StreamWriter,
    ) -> None:
        self._stream_class = stream_class
        self._metadata = metadata
        self._name = name
        self._stream = stream

    @property
    def name(self) -> str:
        """Name of its file."""
        return self._name

    @property
    def stream_class(self) -> StreamClassWriter:
        """Its stream class."""
        return self._stream_class

    @property
    def last_timestamp(self) -> int:
        """Time stamp of the last event record; 0 before the first."""
        return self._stream.last

    def write(
        self,
        event_class: EventClassWriter,
        timestamp: int,
        context: dict[str, Any] | None = None,
        /,
        **fields: Any,
    ) -> None:
        """Write an event record, or nothing of it.

        Args:
            event_class: Its class.
            timestamp: Clock value, cycles: not before the last one.
            context: Values of the common context and of that of the class.
            **fields: Values of the payload.

        Raises:
            FieldValueError: A value does not fit its field, or one is missing.
            UnknownFieldError: A value has no field.
            TimestampError: The time stamp is before the last one.
            StorageError: A packet is full and cannot be written.
            WriterClosedError: The data stream is closed.
        """
        if event_class.stream_class is not self._stream_class:
            self._refuse(event_class)
        if self._metadata.is_pending:
            self._metadata.publish()
        self._stream.write(event_class.layout, timestamp, context, fields)

    def write_many(
        self,
        event_class: EventClassWriter,
        timestamps: Any,
        columns: dict[str, Any] | None = None,
        /,
        *,
        context: dict[str, Any] | None = None,
    ) -> int:
        """Write many event records of one class.

        A column is a buffer (an array of NumPy or of :mod:`array`), a list, an array of
        Arrow, for texts also a tuple of Arrow's offsets and bytes, or one value for all
        event records. Buffers of two dimensions are arrays with a fixed length.

        All are written, or none, unless a file cannot be written.

        Args:
            event_class: Their class.
            timestamps: Clock values, which do not go back.
            columns: Columns of the payload.
            context: Columns of the common context and of that of the class.

        Returns:
            How many were written.

        Raises:
            FieldValueError: A value does not fit its field; it tells the row.
            UnknownFieldError: A column has no field.
            TimestampError: A time stamp is before the one in front of it.
            StorageError: A packet cannot be written; it tells how many records were.
            WriterClosedError: The data stream is closed.
        """
        if event_class.stream_class is not self._stream_class:
            self._refuse(event_class)
        if self._metadata.is_pending:
            self._metadata.publish()
        fields = columns or {}
        layout = event_class.layout
        return self._stream.write_many(layout, timestamps, context, fields)

    def discard(self, count: int = 1) -> None:
        """Count event records that could not be written.

        Readers report them at the end of the packet.

        Args:
            count: How many.
        """
        self._stream.discard(count)

    def set_packet_context(self, **values: Any) -> None:
        """End the packet; those that follow have these values in their context.

        Args:
            **values: Values of all members of the packet context.

        Raises:
            FieldValueError: A value does not fit.
            StorageError: The packet cannot be written.
        """
        self._publish()
        self._stream.set_context(values)

    def flush(self) -> None:
        """End the packet and write it.

        Raises:
            StorageError: The file cannot be written.
            WriterClosedError: The data stream is closed.
        """
        self._publish()
        self._stream.flush()

    def close(self) -> None:
        """End the packet, write it and close the file; again, do nothing."""
        self._publish()
        self._stream.close()

    def _publish(self) -> None:
        if self._metadata.is_pending:
            self._metadata.publish()

    def _refuse(self, event_class: EventClassWriter) -> None:
        raise DeclarationError(
            f"the class is not one of the stream class of '{self._name}'",
            name=event_class.name,
        )
