"""All that a trace holds as text: ``sink.text.details``."""

from __future__ import annotations

import sys

from ... import core
from ..._typing import TYPE_CHECKING, NamedTuple
from ...graph import is_absolute
from .text_colors import bright_is_bold, use_color

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...graph import Stream
    from ...graph.plan import ComponentSpec

__all__ = ["DetailsOptions", "DetailsSink", "make_text_details"]


class DetailsOptions(NamedTuple):
    """What is shown. The defaults are those of Babeltrace 2."""

    data: bool = True
    """Show messages."""
    metadata: bool = True
    """Show what the metadata declares."""
    compact: bool = False
    """Show each message in a line, without fields."""
    time: bool = True
    """Show times."""
    trace_name: bool = True
    """Show the names of traces."""
    stream_class_name: bool = True
    """Show the names of stream classes."""
    stream_name: bool = True
    """Show the names of data streams: their paths."""
    uuid: bool = True
    """Show UUIDs."""
    color: bool = False
    """Use terminal colours."""
    bright_is_bold: bool = True
    """Show bright colours as bold ones, as most terminals want it."""


SWITCHES = {
    "with-data": "data",
    "with-metadata": "metadata",
    "compact": "compact",
    "with-time": "time",
    "with-trace-name": "trace_name",
    "with-stream-class-name": "stream_class_name",
    "with-stream-name": "stream_name",
    "with-uuid": "uuid",
}
"""Parameters that are booleans, with their options."""


class DetailsSink:
    """Writes messages, and what the metadata declares, as text.

    Args:
        options: What is shown.
        streams: The data streams that come in.
        descriptor: Where the text goes: an open file descriptor.
    """

    looks_at_records = True
    """Fields are decoded when their text is written."""
    needs_boundaries = True
    """Beginnings and ends are shown."""

    def __init__(
        self,
        options: DetailsOptions | None = None,
        streams: Sequence[Stream] = (),
        *,
        descriptor: int | None = None,
    ) -> None:
        self._descriptor = sys.stdout.fileno() if descriptor is None else descriptor
        self._streams: dict[int, list[tuple[int, int]]] = {}
        for stream in streams:
            of_trace = self._streams.setdefault(stream.trace.index, [])
            of_trace.append((stream.id, stream.handle.class_id))
        shown = options or DetailsOptions()
        self._renderer = core.DetailsRenderer(shown._asdict(), self._describe)
        self.bytes_written = 0
        """Size of the text so far, bytes."""

    def _describe(self, stream: Stream) -> tuple[object, ...]:
        trace = stream.trace
        clocks = trace.parsed.describe()["clocks"]
        known = [(one.id, one.handle.class_id) for one in trace.grown]
        return (
            stream.id,
            *stream.told_names,
            stream.siblings
            or known
            or self._streams.get(trace.index)
            or [(stream.id, stream.handle.class_id)],
            [is_absolute(trace, clock) for clock in clocks],
        )

    def consume(self, merge: core.Merge) -> None:
        """Write the messages of a merge.

        Args:
            merge: The next merge.

        Raises:
            TraceFormatError: A field cannot be decoded; what is before it is written.
            OSError: The text cannot be written.
        """
        self.bytes_written += self._renderer.write(merge, self._descriptor)

    def finish(self) -> None:
        """Do nothing: all is written."""


def make_text_details(
    spec: ComponentSpec, _resources: object, streams: Sequence[Stream]
) -> DetailsSink:
    """Make a sink.

    Args:
        spec: The component.
        streams: The data streams that come in.
    """
    wanted = {
        option: spec.params[name]
        for name, option in SWITCHES.items()
        if name in spec.params
    }
    color = use_color(
        str(spec.params.get("color", "auto")),
        to_standard_output=True,
        like_babeltrace=True,
    )
    sys.stdout.flush()
    options = DetailsOptions(color=color, bright_is_bold=bright_is_bold(), **wanted)
    return DetailsSink(options, streams)
