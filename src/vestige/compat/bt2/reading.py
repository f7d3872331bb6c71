"""Running a plan of ready components, and giving what would go to its sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ...core import Merge, MessageIterator
from ...errors import VestigeError
from ...graph import Stream
from ...graph.lowering import lower
from ...graph.plan import ComponentSpec, Connection, Plan
from .component_classes import registry
from .errors import _Error, _ErrorCause
from .messages import MessageMaker
from .native import Objects

__all__ = ["MergeSink", "failing_as_error", "messages_of_plan"]

SINK = "messages"
"""Name of the sink in plans of this module."""


class MergeSink:
    """Keeps what comes until it is taken."""

    looks_at_records = True
    needs_boundaries = True

    def __init__(self) -> None:
        self.merges: list[Merge] = []

    def consume(self, merge: Merge) -> None:
        """Keep a merge.

        Args:
            merge: The merge.
        """
        self.merges.append(merge)

    def finish(self) -> None:
        """Do nothing."""

    def take(self) -> list[Merge]:
        """Return what came since the last time."""
        taken, self.merges = self.merges, []
        return taken


class failing_as_error:  # noqa: N801 - reads as a function
    """Turns errors of Vestige into those of the bindings.

    Args:
        message: What fails.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, VestigeError | OSError):
            raise _Error(self._message, [_ErrorCause(str(error))]) from error


def messages_of_plan(
    components: Sequence[ComponentSpec],
    connections: Sequence[Connection],
    *,
    stream_intersection: bool = False,
) -> MessageIterator:
    """Return what comes out of components as messages.

    Args:
        components: The components, without a sink.
        connections: Their connections; what goes to the sink ``messages``, too.
        stream_intersection: Whether only the time counts in which all streams of a
            trace are active.

    Raises:
        _Error: They cannot run.
    """
    sink = MergeSink()
    plan = Plan(
        [*components, ComponentSpec(SINK, "sink.utils.dummy")],
        connections,
        stream_intersection=stream_intersection,
    )
    objects = Objects()

    def make(_: object, streams: Sequence[Stream]) -> MergeSink:
        objects.add(streams)
        return sink

    resources = ExitStack()
    with failing_as_error("cannot create the components"):
        makers: Mapping[str, Any] = {SINK: make}
        (graph,) = lower(plan, registry, resources, makers=makers)

    def merges() -> Iterator[Merge]:
        with resources, failing_as_error("cannot read messages"):
            for _ in graph.steps():
                yield from sink.take()
            yield from sink.take()

    return MessageIterator(merges(), objects.describe, MessageMaker(objects))
