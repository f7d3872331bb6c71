"""A range of time: ``filter.utils.trimmer``.

It is pushed down: what is outside of the range is not even read. So nothing passes
through such a component; it changes what is wanted of the data streams before it. Only
behind components in Python it cuts what they give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import core
from ..._typing import TYPE_CHECKING
from ...errors import GraphError, SelectionError
from ...graph import Selection, Stream
from .time_bound import TimeBound

if TYPE_CHECKING:
    from ...graph.growing import Feed
    from ...graph.message_component import Flow, Pulled
    from ...graph.plan import ComponentSpec

__all__ = [
    "TimeBound",
    "check_times",
    "time_range",
    "trim",
    "trim_flow",
]


def check_times(spec: ComponentSpec) -> None:
    """Refuse a component whose parameters are no times.

    Args:
        spec: The component.

    Raises:
        GraphError: One is none.
    """
    try:
        _bounds(spec)
    except SelectionError as error:
        raise GraphError(
            f"component '{spec.name}' ({spec.class_name}): {error}"
        ) from None


def trim(
    spec: ComponentSpec, selections: dict[Stream | Feed, Selection]
) -> dict[Stream | Feed, Selection]:
    """Narrow what is wanted of data streams to a range of time.

    Args:
        spec: The component.
        selections: What is wanted of each data stream without it.

    Returns:
        What is wanted of each.

    Raises:
        SelectionError: The range begins after its end, or a data stream has no time.
    """
    begin, end = time_range(
        selections,
        *_bounds(spec),
        least=min(
            (one.begin for one in selections.values() if one.begin is not None),
            default=None,
        ),
    )
    return {
        stream: wanted.narrowed((), begin, end) for stream, wanted in selections.items()
    }


def _bounds(spec: ComponentSpec) -> tuple[TimeBound | None, TimeBound | None]:
    gmt = bool(spec.params.get("gmt", False))
    begin, end = (
        None if value is None else TimeBound.parse(str(value), gmt=gmt)
        for value in (spec.params.get(name) for name in ("begin", "end"))
    )
    return begin, end


def trim_flow(spec: ComponentSpec, flow: Flow) -> Flow:
    """Cut merges whose data streams nobody knows before to a range of time.

    Args:
        spec: The component.
        flow: The merges that come in.
    """
    begin, end = _bounds(spec)

    def trimmed(incoming: Iterator[Pulled]) -> Iterator[Pulled]:
        trimmer: core.Trimmer | None = None
        for merge in incoming:
            if merge is None:
                yield None
                continue
            if trimmer is None:
                span = merge.time_span
                first = None if span is None else span[0]
                trimmer = core.Trimmer(
                    None if begin is None else begin.resolved(first),
                    None if end is None else end.resolved(first),
                )
            yield merge.within(trimmer)
            if trimmer.has_ended:
                return

    return lambda: trimmed(flow())


def time_range(
    streams: Iterable[Stream | Feed],
    begin: TimeBound | None,
    end: TimeBound | None,
    *,
    least: int | None = None,
) -> tuple[int | None, int | None]:
    """Return a range of time in nanoseconds from the origin.

    Args:
        streams: The data streams that it is for.
        begin: Earliest time; ``None`` for no limit.
        end: Latest time, included; ``None`` for no limit.
        least: Earliest time that is left of the data streams, if not all of them is.

    Raises:
        SelectionError: It begins after its end, or a data stream has no time.
    """
    if begin is None and end is None:
        return None, None
    streams = [*streams]
    beginnings = []
    for stream in streams:
        if not stream.handle.has_clock:
            raise SelectionError(
                "no range of time can be taken: the data stream has no clock",
                path=stream.path,
            )
        if stream.handle.beginning is not None:
            beginnings.append(stream.handle.beginning)
    first = min(beginnings, default=None)
    if any(one is not None and one.since_first for one in (begin, end)):
        # Packets may begin long before it.
        from ...graph import first_event_time  # noqa: PLC0415 - few ask for it

        known = first_event_time(streams)
        first = first if known is None else known
    if first is not None and least is not None:
        first = max(first, least)
    earliest = None if begin is None else begin.resolved(first)
    latest = None if end is None else end.resolved(first)
    if earliest is not None and latest is not None and earliest > latest:
        raise SelectionError(
            f"the range of time begins after its end: begin {earliest} ns, "
            f"end {latest} ns"
        )
    return earliest, latest
