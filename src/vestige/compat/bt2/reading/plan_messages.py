"""Running a plan of ready components, and giving what would go to its sink."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ....core import Merge, MessageIterator
from ....errors import VestigeError
from ....graph import Graph, Stream
from ....graph.lowering import lower
from ....graph.plan import ComponentSpec, Connection, Plan
from ..damage import DAMAGE_IS_AN_ERROR
from ..errors import TryAgain, _Error, _ErrorCause
from ..graphs.own_classes import OwnClasses
from ..messages.message import MessageMaker
from ..traces.native import Objects

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
            # A component in Python has a cause of its own.
            text = "".join(traceback.format_exception(error.__cause__ or error))
            cause = _ErrorCause(text if error.__cause__ else str(error))
            raise _Error(self._message, [cause]) from error


def messages_of_plan(  # noqa: PLR0913 - what a plan is run with
    components: Sequence[ComponentSpec],
    connections: Sequence[Connection],
    *,
    stream_intersection: bool,
    classes: OwnClasses,
    made: Mapping[str, Any],
    objects: Objects,
) -> MessageIterator:
    """Return what comes out of components as messages.

    Args:
        components: The components, without a sink.
        connections: Their connections; what goes to the sink ``messages``, too.
        stream_intersection: Whether only the time counts in which all streams of a
            trace are active.
        classes: The classes of the components.
        made: Components that are made already, by their names.
        objects: Makes the objects of streams.

    Returns:
        The messages; where data streams grow, ``TryAgain`` is raised while there is
        nothing.

    Raises:
        _Error: They cannot run.
    """
    sink = MergeSink()
    plan = Plan(
        [*components, ComponentSpec(SINK, "sink.utils.dummy")],
        connections,
        stream_intersection=stream_intersection,
    )

    def make(_: object, streams: Sequence[Stream]) -> MergeSink:
        objects.add(streams)
        return sink

    resources = ExitStack()
    with failing_as_error("cannot create the components"):
        makers: Mapping[str, Any] = {SINK: make}
        (graph,) = lower(
            plan, classes, resources, **DAMAGE_IS_AN_ERROR, makers=makers, made=made
        )

    if isinstance(graph, Graph):
        # Who iterates decides how long to wait.
        graph.retry_duration = None
    merges = _Merges(graph, sink, resources)
    return MessageIterator(merges, objects.describe, MessageMaker(objects))


class _Merges(Iterator[Merge]):
    # What comes to the sink of a graph.

    def __init__(self, graph: Any, sink: MergeSink, resources: ExitStack) -> None:
        self._steps = graph.steps()
        self._can_wait = bool(getattr(graph, "feeds", ()))
        self._sink = sink
        self._resources = resources
        self._ready: deque[Merge] = deque()

    def __next__(self) -> Merge:
        while not self._ready:
            with failing_as_error("cannot read messages"):
                has_ended = next(self._steps, self) is self
            self._ready.extend(
                one for one in self._sink.take() if len(one) or one.notices
            )
            if has_ended:
                self._resources.close()
                if not self._ready:
                    raise StopIteration
            elif self._can_wait and not self._ready:
                raise TryAgain
        return self._ready.popleft()
