"""Data streams and their traces, as components and users see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .. import core

if TYPE_CHECKING:
    from uuid import UUID

    from ..model import StreamClass, TraceClass

__all__ = ["Stream", "TraceInfo"]


@dataclass(frozen=True, eq=False)
class TraceInfo:
    """One trace: its name and its classes."""

    index: int
    """Index among the traces that are read together."""
    name: str
    """Host name and relative path; empty when neither is known."""
    parsed: core.TraceClass = field(repr=False)
    """The parsed metadata."""
    epoch_origin: bool = False
    """Whether all its clocks count from the Unix epoch, whatever the metadata say."""

    @cached_property
    def trace_class(self) -> TraceClass:
        """The model of the trace class."""
        # Text needs no model: only who asks for it waits for its import.
        from ..ctf.metadata import trace_class_model  # noqa: PLC0415

        return trace_class_model(self.parsed)

    @property
    def uuid(self) -> UUID | None:
        """Identity of the trace."""
        from uuid import UUID  # noqa: PLC0415 - as above

        raw = self.parsed.uuid
        return None if raw is None else UUID(bytes=raw)


@dataclass(frozen=True, eq=False)
class Stream:
    """A data stream: event records of one origin, such as one CPU, in time order."""

    trace: TraceInfo
    """Its trace."""
    class_index: int
    """Index of its stream class."""
    id: int
    """Its ID, unique among the data streams of its class."""
    name: str
    """Path of its first file."""
    handle: core.DataStream = field(repr=False)
    """The Rust core's data stream."""

    @property
    def stream_class(self) -> StreamClass:
        """The model of its stream class."""
        return self.trace.trace_class.stream_classes[self.class_index]

    def order_key(self) -> tuple[bytes, str, int, int]:
        """Return what decides ties in time, as Babeltrace 2 does.

        Trace UUID, trace name, stream class ID and data stream ID, in this order; what
        is missing comes first.
        """
        uuid = self.trace.parsed.uuid or b""
        return (uuid, self.trace.name, self.handle.class_id, self.id)
