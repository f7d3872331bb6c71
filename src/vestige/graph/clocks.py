"""Whether the times of data streams can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .._typing import TYPE_CHECKING
from ..errors import GraphError
from .stream import Stream, TraceInfo

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Correlation", "check_correlation", "is_absolute"]

UNIX_EPOCH = "unix-epoch"
"""How the core names that origin."""
LTTNG_CLOCK = "monotonic"
"""A clock that LTTng always starts at the epoch, though old versions do not say so."""


def check_correlation(streams: Iterable[Stream]) -> None:
    """Refuse data streams whose order in time nobody can tell.

    All clocks must start at the Unix epoch, or be one clock by its UUID, or all have
    neither; a data stream without a clock stands alone. These are the rules of the
    muxer of Babeltrace 2.

    Args:
        streams: The data streams that are to be merged.

    Raises:
        GraphError: Two of them have clocks that do not correlate.
    """
    classes: dict[tuple[int, int], Stream] = {}
    for stream in streams:
        classes.setdefault((stream.trace.index, stream.class_index), stream)
    representatives = list(classes.values())
    for stream in representatives[1:]:
        _compare(representatives[0], stream)


class Correlation:
    """What :func:`check_correlation` checks, for data streams that appear one by one.

    Args:
        who: The component that merges them, for errors.
    """

    def __init__(self, who: str) -> None:
        self._who = who
        self._known: dict[int, Stream] = {}
        # By their identities: each merge has all of them.

    def check(self, streams: Sequence[Stream], port: str) -> None:
        """Take data streams that come in; those that were there before stay.

        Args:
            streams: The data streams.
            port: The input port through which they come.

        Raises:
            GraphError: One of them has a clock that does not correlate.
        """
        for stream in streams:
            if id(stream) in self._known:
                continue
            if self._known:
                first = next(iter(self._known.values()))
                _compare(first, stream, f"{self._who}: input port '{port}': ")
            self._known[id(stream)] = stream


def _compare(first: Stream, stream: Stream, where: str = "") -> None:
    if clock_identity(first) != clock_identity(stream):
        raise GraphError(
            f"{where}cannot merge by time: "
            f"{_described(stream)}, but {_described(first)} in {first.name}; "
            "if all clocks count from the Unix epoch, force their correlation",
            path=stream.path,
        )


def clock_identity(stream: Stream) -> object:
    """Return what must be equal for two data streams to be merged."""
    clock = stream.handle.clock
    if clock is None:
        return "no clock"
    if is_absolute(stream.trace, clock):
        return "epoch"
    return clock["uuid"] or clock["origin"] or "unknown"


def is_absolute(trace: TraceInfo, clock: Mapping[str, Any]) -> bool:
    """Return whether a clock of a trace counts from the Unix epoch.

    Args:
        trace: The trace.
        clock: The clock, as the core describes it.
    """
    if clock["absolute"] or clock["origin"] == UNIX_EPOCH or trace.epoch_origin:
        return True
    tracer = trace.parsed.environment.get("tracer_name")
    return clock["name"] == LTTNG_CLOCK and str(tracer).startswith("lttng")


def _described(stream: Stream) -> str:
    clock = stream.handle.clock
    if clock is None:
        return "the data stream has no clock"
    name = clock["name"]
    if is_absolute(stream.trace, clock):
        return f"the clock '{name}' counts from the Unix epoch"
    if clock["uuid"] is not None:
        from uuid import UUID  # noqa: PLC0415 - for this message only

        uuid = UUID(bytes=clock["uuid"])
        return f"the clock '{name}' has an origin of its own ({uuid})"
    if clock["origin"] is not None:
        return f"the clock '{name}' has an origin of its own ({clock['origin']})"
    return f"the clock '{name}' has an unknown origin"
