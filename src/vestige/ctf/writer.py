"""Writing traces: :class:`Writer`, its stream classes, event classes and data streams."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Literal, Self
from uuid import UUID, uuid4

from .. import core
from ..errors import DeclarationError, WriterClosedError
from ..model import ClockClass, EventRecordClass, StreamClass, StructureFieldClass
from ..model.clock_class import UNIX_EPOCH
from .declarations import Declaration, structure
from .lowering import Version, lowered
from .written_metadata import WrittenMetadata

__all__ = [
    "DataStreamWriter",
    "EventClassWriter",
    "StreamClassWriter",
    "Writer",
]

PACKET_SIZE = 256 * 1024
"""Most bytes of a packet, unless something else is asked for."""
MAX_PACKET_SIZE = 64 * 1024 * 1024
"""Most bytes of a packet that may be asked for: it is held in memory."""

WALL_CLOCK = ClockClass(
    "realtime", 1_000_000_000, 0, 0, absolute=True, origin=UNIX_EPOCH
)
"""The clock of a trace that asks for no other: that of :func:`time.time_ns`."""

_PACKET_FACTS = frozenset(
    "packet_size content_size timestamp_begin timestamp_end events_discarded "
    "packet_seq_num".split()
)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_MAX_EVENT_CLASSES = 1 << 16
_LAST_NANOSECOND = (1 << 63) - 1
_SECOND = 1_000_000_000


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
        environment: What is told about the machine and the program.
        uuid: UUID of the trace; a random one by default.
        packet_size: Most bytes of a packet. One event record that is longer has a
            packet of its own.
        packet_context: Members of the context that packets have beside their sizes,
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
        environment: Mapping[str, int | str] = _NOTHING,
        uuid: UUID | None = None,
        packet_size: int = PACKET_SIZE,
        packet_context: Mapping[str, Declaration] = _NOTHING,
        event_context: Mapping[str, Declaration] = _NOTHING,
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
        self._state = _State(metadata, packet_size)
        self._default = StreamClassWriter(
            self._state,
            _stream_class(0, clock, version, packet_context, event_context),
        )
        metadata.create()
        self._finalizer = weakref.finalize(self, self._state.close)

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
        return not self._finalizer.alive

    def stream_class(
        self,
        *,
        clock: ClockClass | None = None,
        packet_context: Mapping[str, Declaration] = _NOTHING,
        event_context: Mapping[str, Declaration] = _NOTHING,
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
        with state.lock:
            state.check_open()
            declared = _stream_class(
                state.stream_classes,
                clock or self._default.clock,
                state.metadata.version,
                packet_context,
                event_context,
                name=name,
            )
            return StreamClassWriter(state, declared)

    def event_class(  # noqa: PLR0913 - parameters go by keyword
        self,
        name: str,
        fields: Mapping[str, Declaration] | StructureFieldClass = _NOTHING,
        *,
        context: Mapping[str, Declaration] = _NOTHING,
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
        self._state.check_open()
        self._state.flush()

    def close(self) -> None:
        """End all packets, write them and close all files; again, do nothing.

        Raises:
            StorageError: A file cannot be written. The others are closed all the same.
        """
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class StreamClassWriter:
    """A stream class of a :class:`Writer`, which makes it."""

    def __init__(self, state: _State, declared: StreamClass) -> None:
        assert declared.clock is not None  # noqa: S101 - each has one
        self._state = state
        self._declared = declared
        self._latest = _latest_value(declared.clock)
        self._head = state.metadata.add_stream_class(declared)
        self._event_classes = 0
        state.stream_classes += 1

    @property
    def id(self) -> int:
        """Its ID."""
        return self._declared.id

    @property
    def clock(self) -> ClockClass:
        """The clock of its time stamps."""
        assert self._declared.clock is not None  # noqa: S101 - each has one
        return self._declared.clock

    def event_class(  # noqa: PLR0913 - parameters go by keyword
        self,
        name: str,
        fields: Mapping[str, Declaration] | StructureFieldClass = _NOTHING,
        *,
        context: Mapping[str, Declaration] = _NOTHING,
        log_level: int | None = None,
        emf_uri: str | None = None,
    ) -> EventClassWriter:
        """Declare an event record class; this can be done at any time.

        Args:
            name: Its name, such as ``app:request``.
            fields: Its fields: see :mod:`vestige.ctf.declarations`.
            context: Members of its own context.
            log_level: Severity, 0 (emergency) to 14 (debug).
            emf_uri: URI of an Eclipse Modeling Framework model.

        Returns:
            The event record class.

        Raises:
            DeclarationError: The version has no such classes.
            WriterClosedError: The writer is closed.
        """
        state = self._state
        version = state.metadata.version
        with state.lock:
            state.check_open()
            if self._event_classes == _MAX_EVENT_CLASSES:
                raise DeclarationError(
                    f"a stream class has at most {_MAX_EVENT_CLASSES} event classes",
                    name=name,
                )
            event = EventRecordClass(
                self._event_classes,
                name,
                log_level,
                emf_uri,
                _scope(context, version, name),
                _scope(fields, version, name),
            )
            _check_contexts(self._declared, event)
            text = state.metadata.add_event_class(self._declared, event)
            layout = core.EventLayout(state.metadata.parse(self._head + text), 0, name)
            state.metadata.accept(text)
            self._event_classes += 1
        return EventClassWriter(self, event, layout)

    def stream(self, name: str, /, **packet_context: Any) -> DataStreamWriter:
        """Begin a data stream.

        Args:
            name: Name of its file.
            **packet_context: Values of the members of the packet context.

        Returns:
            The data stream.

        Raises:
            DeclarationError: The name cannot be that of a data stream file.
            FieldValueError: A value of the packet context does not fit.
            StorageError: The file cannot be created.
            WriterClosedError: The writer is closed.
        """
        state = self._state
        if not name or name.startswith(".") or "/" in name or "\0" in name:
            raise DeclarationError("no name of a data stream file", name=name)
        if name == "metadata":
            raise DeclarationError("the name of another file of traces", name=name)
        with state.lock:
            state.check_open()
            path = state.metadata.directory / name
            opened = core.StreamWriter(
                state.metadata.parse(self._head),
                0,
                os.fspath(path),
                len(state.streams),
                state.packet_size,
                self._latest,
            )
            try:
                opened.set_context(packet_context)
            except BaseException:
                opened.close()
                path.unlink()
                raise
            state.streams.append(opened)
        return DataStreamWriter(self, name, opened)


class EventClassWriter:
    """An event record class of a :class:`Writer`, which makes it."""

    __slots__ = ("_declared", "_layout", "_stream_class")

    def __init__(
        self,
        stream_class: StreamClassWriter,
        declared: EventRecordClass,
        layout: core.EventLayout,
    ) -> None:
        self._stream_class = stream_class
        self._declared = declared
        self._layout = layout

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
        self, stream_class: StreamClassWriter, name: str, stream: core.StreamWriter
    ) -> None:
        self._stream_class = stream_class
        self._metadata = stream_class._state.metadata  # noqa: SLF001 - of this module
        self._name = name
        self._stream = stream

    @property
    def name(self) -> str:
        """Name of its file."""
        return self._name

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
        if event_class._stream_class is not self._stream_class:  # noqa: SLF001
            self._refuse(event_class)
        if self._metadata.is_pending:
            self._metadata.publish()
        layout = event_class._layout  # noqa: SLF001 - of this module
        self._stream.write(layout, timestamp, context, fields)

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
        if event_class._stream_class is not self._stream_class:  # noqa: SLF001
            self._refuse(event_class)
        if self._metadata.is_pending:
            self._metadata.publish()
        layout = event_class._layout  # noqa: SLF001 - of this module
        return self._stream.write_many(layout, timestamps, context, columns or {})

    def discard(self, count: int = 1) -> None:
        """Count event records that could not be written.

        Readers tell of them at the end of the packet.

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


@dataclass
class _State:
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
            raise WriterClosedError("the writer is closed", path=self.metadata.directory)
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


def _stream_class(  # noqa: PLR0913 - facts of a stream class
    number: int,
    clock: ClockClass,
    version: Version,
    packet_context: Mapping[str, Declaration],
    event_context: Mapping[str, Declaration],
    *,
    name: str | None = None,
) -> StreamClass:
    taken = next((name for name in packet_context if name in _PACKET_FACTS), None)
    if taken is not None:
        raise DeclarationError("each packet context has such a member", name=taken)
    return StreamClass(
        number,
        clock,
        _scope(packet_context, version, "packet context"),
        _scope(event_context, version, "event context"),
        (),
        name=name,
    )


def _scope(
    members: Mapping[str, Declaration] | StructureFieldClass,
    version: Version,
    name: str,
) -> StructureFieldClass | None:
    """Return the structure of a scope; the error tells its name."""
    try:
        if not isinstance(members, StructureFieldClass):
            if not members:
                return None
            members = structure(members)
        return lowered(members, version)
    except DeclarationError as error:
        error.add_context(name)
        raise


def _check_contexts(stream: StreamClass, event: EventRecordClass) -> None:
    """Refuse names of two contexts: both are given in one dictionary."""
    if stream.event_context is None or event.context is None:
        return
    for member in event.context.members:
        if stream.event_context.member(member.name) is not None:
            raise DeclarationError(
                "the common context has a member of this name", name=member.name
            )


def _latest_value(clock: ClockClass) -> int:
    """Return the greatest value of a clock whose nanoseconds readers can hold."""
    if clock.frequency < 1:
        raise DeclarationError("expected a frequency above 0", name=clock.name)
    base = clock.offset_seconds * _SECOND
    base += clock.offset_cycles * _SECOND // clock.frequency
    cycles = (_LAST_NANOSECOND - base) * clock.frequency // _SECOND
    if not -_LAST_NANOSECOND <= base <= _LAST_NANOSECOND:
        raise DeclarationError(
            "the offset leaves the 64 bits of nanoseconds", name=clock.name
        )
    return min(cycles, (1 << 64) - 1)
