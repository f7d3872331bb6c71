"""Declaring stream classes and event record classes of a trace that is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ... import core
from ...errors import DeclarationError
from ...model import ClockClass, EventRecordClass, StreamClass, StructureFieldClass
from .data_stream_writer import DataStreamWriter, EventClassWriter
from .declarations import Declaration, structure
from .lowering import Version, lowered
from .writer_state import WriterOwner, WriterState

__all__ = ["NOTHING", "StreamClassWriter", "declared_stream_class"]

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""No members."""

_PACKET_FACTS = frozenset(
    {
        "content_size",
        "events_discarded",
        "packet_seq_num",
        "packet_size",
        "timestamp_begin",
        "timestamp_end",
    }
)
"""Members that each packet context has."""
_MAX_EVENT_CLASSES = 1 << 16
"""The event record header has 16 bits for the ID."""
_LAST_NANOSECOND = (1 << 63) - 1
_SECOND = 1_000_000_000


class StreamClassWriter:
    """A stream class of a :class:`Writer`, which makes it."""

    def __init__(
        self, state: WriterState, owner: WriterOwner, declared: StreamClass
    ) -> None:
        assert declared.clock is not None  # noqa: S101 - each has one
        self._state = state
        self._owner = owner
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

    def event_class(
        self,
        name: str,
        fields: Mapping[str, Declaration] | StructureFieldClass = NOTHING,
        *,
        context: Mapping[str, Declaration] = NOTHING,
        log_level: int | None = None,
        emf_uri: str | None = None,
    ) -> EventClassWriter:
        """Declare an event record class; this can be done at any time.

        Args:
            name: Its name, such as ``app:request``.
            fields: Its fields: see :mod:`vestige.ctf.writing.declarations`.
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
        with state:
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
        with state:
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
        return DataStreamWriter(self, state.metadata, name, opened)


def declared_stream_class(  # noqa: PLR0913 - facts of a stream class
    number: int,
    clock: ClockClass,
    version: Version,
    packet_context: Mapping[str, Declaration],
    event_context: Mapping[str, Declaration],
    *,
    name: str | None = None,
) -> StreamClass:
    """Return a stream class with all that its contexts need.

    Args:
        number: Its ID.
        clock: The clock of its time stamps.
        version: Version of the format.
        packet_context: Members of the context of packets.
        event_context: Members of the common context.
        name: Its name.

    Returns:
        The stream class.

    Raises:
        DeclarationError: The version has no such classes.
    """
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
    except RecursionError:
        raise DeclarationError("field classes are nested too deep", name=name) from None


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
