"""Data streams and their traces, as components and users see them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from .. import core
from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from uuid import UUID

    from ..model import StreamClass, TraceClass

__all__ = ["MOST_TRACES", "Stream", "StreamFacts", "TraceInfo", "namespace_of"]


MOST_TRACES = 1 << 20
"""More than are read at once; so many process spaces has each PID namespace."""


def namespace_of(process_space: int) -> int:
    """Return the number of the PID namespace of a process space.

    Args:
        process_space: As :attr:`Stream.process_space`.
    """
    return process_space // MOST_TRACES


class TraceInfo:
    """One trace: its name and its classes.

    Args:
        index: Index among the traces that are read together.
        name: Host name and relative path; empty when neither is known.
        parsed: The parsed metadata.
        epoch_origin: Whether all its clocks count from the Unix epoch, whatever the
            metadata say.
        directories: Its directories.
    """

    def __init__(
        self,
        index: int,
        name: str,
        parsed: core.TraceClass,
        *,
        epoch_origin: bool = False,
        directories: Sequence[Path] = (),
    ) -> None:
        self.index = index
        self.name = name
        self.parsed = parsed
        self.epoch_origin = epoch_origin
        self.directories = tuple(directories)
        self.has_name = True
        """Whether it has a name, if only an empty one."""
        self.grown: list[Stream] = []
        """Its data streams so far, if it gains some while it is read."""

    def __repr__(self) -> str:
        """Show index and name."""
        return f"TraceInfo(index={self.index}, name={self.name!r})"

    def learn(self, parsed: core.TraceClass) -> None:
        """Take metadata that have become more.

        Args:
            parsed: All of them.
        """
        self.parsed = parsed
        for name in ("trace_class", "event_names"):
            self.__dict__.pop(name, None)

    @cached_property
    def trace_class(self) -> TraceClass:
        """The model of the trace class."""
        # Text needs no model: only who asks for it waits for its import.
        from ..ctf import trace_class_model  # noqa: PLC0415

        return trace_class_model(self.parsed)

    @cached_property
    def event_names(self) -> list[list[str | None]]:
        """The names of the event record classes of each stream class.

        Who chooses events needs no more, and the model takes longer than a small trace.
        """
        return [
            [event["name"] for event in stream["events"]]
            for stream in self.parsed.describe()["streams"]
        ]

    @property
    def uuid(self) -> UUID | None:
        """Identity of the trace."""
        from uuid import UUID  # noqa: PLC0415 - as above

        raw = self.parsed.uuid
        return None if raw is None else UUID(bytes=raw)


class StreamFacts(NamedTuple):
    """What tells a data stream apart, without the trace."""

    trace_name: str
    """Name of its trace."""
    class_id: int
    """ID of its stream class."""
    id: int
    """Its ID, unique among the data streams of its class."""
    name: str
    """Path of its first file below the directory of the trace."""
    path: str
    """Path of its first file, where it was read."""


class Stream:
    """A data stream: event records of one origin, such as one CPU, in time order.

    Args:
        trace: Its trace.
        class_index: Index of its stream class.
        id: Its ID, unique among the data streams of its class.
        path: Path of its first file.
        handle: The Rust core's data stream.
    """

    def __init__(
        self,
        trace: TraceInfo,
        class_index: int,
        id: int,  # noqa: A002 - the name of what it is in CTF
        path: str,
        handle: core.DataStream,
    ) -> None:
        self.trace = trace
        self.class_index = class_index
        self.id = id
        self.path = path
        self.handle = handle

    def __repr__(self) -> str:
        """Show trace, class, ID and name."""
        return (
            f"Stream(trace={self.trace!r}, class_index={self.class_index}, "
            f"id={self.id}, name={self.name!r})"
        )

    @cached_property
    def name(self) -> str:
        """Path of its first file below the directory of the trace.

        Of a trace in several directories, below the one that is above them all.
        """
        directories = self.trace.directories
        if not directories:
            return os.path.basename(self.path)  # noqa: PTH119 - the path is text
        return os.path.relpath(self.path, os.path.commonpath(directories))

    @property
    def process_space(self) -> int:
        """Where its process IDs count: a number of its trace and its PID namespace."""
        return self.handle.process_space

    @property
    def facts(self) -> StreamFacts:
        """What tells it apart, as a plain value."""
        return StreamFacts(
            self.trace.name, self.handle.class_id, self.id, self.name, self.path
        )

    @property
    def told_names(self) -> tuple[str | None, str | None]:
        """Its name and that of its trace, as a text of details tells them."""
        return self.path or None, self.trace.name if self.trace.has_name else None

    @property
    def siblings(self) -> list[tuple[int, int]]:
        """All data streams of its trace, if it is not of a file.

        Their IDs, and those of their classes; who opens files knows those of these.
        """
        return []

    @property
    def stream_class(self) -> StreamClass:
        """The model of its stream class."""
        return self.trace.trace_class.stream_classes[self.class_index]

    @property
    def event_names(self) -> list[str | None]:
        """The name of each event record class, in the order of the metadata."""
        return self.trace.event_names[self.class_index]

    def order_key(self) -> tuple[bool, bytes, str, int, int]:
        """Return what decides ties in time, as Babeltrace 2 does.

        Trace UUID, trace name, stream class ID and data stream ID, in this order. A
        trace without a UUID comes last, one without a name first.
        """
        uuid = self.trace.parsed.uuid
        identity = (uuid is None, uuid or b"", self.trace.name)
        return (*identity, self.handle.class_id, self.id)
