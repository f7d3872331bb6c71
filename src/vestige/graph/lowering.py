"""From a plan to graphs that run on batches.

What is lowered is a *pipe* for each sink: data streams that are merged, and then go
through filters, one behind the other. Ranges of time and choices of events do not stand
in the pipe: they are pushed down into the data streams behind which they stand, each
into those that pass it, so that what nobody sees is not read. A filter before a muxer
stands in the pipe, too, and sees the event records of its data streams only.

Plans of other forms are refused, with the component that is the reason.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import SelectionError
from .graph import Graph, Inputs
from .growing import Feed
from .pipe import Pipe, PipeFilter
from .plan import ComponentSpec
from .plan_check import check_plan
from .selection import Selection
from .wiring import Wire, wires_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import ExitStack
    from typing import Any

    from ..damage import Damage
    from .component_class import ComponentClass, ComponentClasses, MakeFilter
    from .interruption import Interruption
    from .message_component import MessageComponent
    from .message_lane import LaneGraph, MessageLane
    from .pipe import Selections
    from .plan import Plan
    from .protocols import PortedSource

__all__ = ["lower"]


def lower(  # noqa: PLR0913 - what a plan can be run with
    plan: Plan,
    classes: ComponentClasses,
    resources: ExitStack,
    *,
    strict: bool = False,
    overlooked: Collection[str] = (),
    literal: bool = False,
    makers: Mapping[str, Callable[..., Any]] | None = None,
    made: Mapping[str, MessageComponent] | None = None,
    interruption: Interruption | None = None,
) -> Sequence[Graph | LaneGraph]:
    """Open what a plan names, and make a graph for each of its sinks.

    Args:
        plan: The plan.
        classes: The component classes that there are.
        resources: What is closed when the graphs have run.
        strict: Whether to stop at the first damage.
        overlooked: Kinds of damage that are as good as none.
        literal: Whether to take damage as Babeltrace 2 does.
        makers: What makes components in place of their classes, by the names of
            the components; called as the classes would be, without the component.
        made: Components of messages that are made already, by their names.
        interruption: Tells when components of messages are to stop.

    Returns:
        The graphs, in the order of the sinks.

    Raises:
        GraphError: The plan cannot run, or not in this way.
    """
    check_plan(plan, classes)
    lowering = _Lowering(plan, classes, interruption)
    lowering.make_components(made or {})

    def make(spec: ComponentSpec, *arguments: Any) -> Any:
        maker = (makers or {}).get(spec.name)
        if maker is not None:
            return maker(*arguments)
        return classes.make(spec, *arguments)

    lowering.open_sources(resources, make)
    if lowering.components:
        lane = lowering.message_lane(
            make,
            strict=strict,
            overlooked=frozenset(overlooked),
            literal=literal,
        )
        for component in lowering.components.values():
            resources.callback(component.finalize)
        for found in lowering.damage:
            lane.note(found)
        return [lane.graph(spec, resources) for spec in lowering.of_kind("sink")]
    pipes = [lowering.pipe(spec) for spec in lowering.of_kind("sink")]
    graphs = []
    for number, pipe in enumerate(pipes):
        fixed, feeds = pipe.parts
        known = [stream for feed in feeds for stream in feed.streams]
        filters = [pipe.make_filter(one, make) for one in pipe.filters]
        sink = make(pipe.sink, resources, [*fixed, *known])
        # What could not be opened is told once, whoever would have got it.
        inputs = Inputs([*fixed], [] if number else lowering.damage)
        graph = Graph([inputs], sink, filters, pipe.common_selection, strict=strict)
        graph.overlooked = frozenset(overlooked)
        graph.is_literal = literal
        if len(set(pipe.selections.values())) > 1:
            graph.selection = fixed
        graph.feeds = feeds
        if plan.retry_duration is not None:
            graph.retry_duration = plan.retry_duration
        graphs.append(graph)
    return graphs


class _Output(NamedTuple):
    # What comes out of a component: data streams, behind filters.
    selections: Selections
    filters: list[PipeFilter]
    added: frozenset[str]
    """Names of the fields that these filters add."""


class _Lowering:
    # What is known of a plan while it is lowered.

    def __init__(
        self,
        plan: Plan,
        classes: ComponentClasses,
        interruption: Interruption | None,
    ) -> None:
        self._plan = plan
        self._interruption = interruption
        self._classes = classes
        self._specs = {spec.name: spec for spec in plan.components}
        self._class_of: dict[str, ComponentClass] = {}
        for spec in plan.components:
            found = classes.find(spec.class_name)
            assert found is not None  # noqa: S101 - the plan is checked
            self._class_of[spec.name] = found
        self._sources: dict[str, PortedSource] = {}
        self.components: dict[str, MessageComponent] = {}
        """The components that take or give one message at a time, by their names."""
        self._wires: dict[str, list[Wire]] = {}

    @property
    def damage(self) -> list[Damage]:
        """What could not be opened."""
        return [one for source in self._sources.values() for one in source.damage]

    def of_kind(self, kind: str) -> list[ComponentSpec]:
        """Return the components of a kind, in their order."""
        return [
            spec
            for spec in self._plan.components
            if self._class_of[spec.name].kind == kind
        ]

    @property
    def interruption(self) -> Interruption:
        """What tells components of messages when they are to stop."""
        if self._interruption is None:
            from .interruption import Interruption  # noqa: PLC0415 - few plans have them

            self._interruption = Interruption()
        return self._interruption

    def make_components(self, made: Mapping[str, MessageComponent]) -> None:
        """Make the components that take or give one message at a time."""
        for kind in ("source", "filter", "sink"):
            for spec in self.of_kind(kind):
                if self._class_of[spec.name].lane == "messages":
                    known = made.get(spec.name)
                    self.components[spec.name] = known or self._classes.make(
                        spec, self.interruption
                    )

    def message_lane(
        self,
        make: Callable[..., Any],
        *,
        strict: bool,
        overlooked: frozenset[str],
        literal: bool,
    ) -> MessageLane:
        """Return the flows between all components."""
        from .message_lane import MessageLane  # noqa: PLC0415 - few plans have one

        return MessageLane(
            wires=self._wires,
            classes=self._class_of,
            specs=self._specs,
            components=self.components,
            pipe=self._pipe_into,
            make=make,
            strict=strict,
            overlooked=overlooked,
            literal=literal,
            interruption=self.interruption,
        )

    def _pipe_into(self, name: str, wires: Sequence[Wire]) -> Pipe:
        """Return what comes in at a port, as if a sink of its own were there."""
        port = f"{name}.{wires[0].input}"
        self._wires[port] = [*wires]
        self._class_of[port] = self._class_of[name]
        return self.pipe(ComponentSpec(port, self._class_of[name].name))

    def open_sources(self, resources: ExitStack, make: Callable[..., Any]) -> None:
        """Open the sources, and connect all ports.

        Args:
            resources: What is closed when the graphs have run.
            make: Makes a source, of what is wanted and the number of traces before it.
        """
        first_index = 0
        for spec in self.of_kind("source"):
            if spec.name in self.components:
                continue
            source: PortedSource = make(spec, first_index)
            first_index += source.trace_count
            self._sources[spec.name] = source
            if isinstance(source, Feed):
                resources.callback(source.close)
                if self._plan.stream_intersection:
                    raise SelectionError(
                        "stream intersection: nobody knows yet when the data streams "
                        f"of {source.path} end"
                    )
        if self._plan.stream_intersection and not all(
            source.streams for source in self._sources.values()
        ):
            raise SelectionError(
                "stream intersection: Trace has no streams: there is no data stream"
            )
        self._wires = wires_of(
            self._plan, self._class_of, self._sources, self.components
        )

    def pipe(self, sink: ComponentSpec) -> Pipe:
        """Return what ends in a sink."""
        found: dict[str, _Output] = {}
        for name in reversed(self._filters_above(sink.name)):
            found[name] = self._through(name, self._incoming(name, found))
        last = self._incoming(sink.name, found)
        return Pipe(last.selections, last.filters, sink)

    def _through(self, name: str, incoming: _Output) -> _Output:
        """Return what comes out of a filter."""
        spec, one = self._specs[name], self._class_of[name]
        selections, filters, added = incoming
        if one.has_many_inputs:
            return incoming
        if not one.is_pushed_down:
            if one.added_field is not None:
                added |= {one.added_field(spec)}
            filters = [*filters, self._filter(spec, selections)]
            return _Output(selections, filters, added)
        if one.behind is not None and added:
            spec, maker = one.behind(spec, added, selections)
            if maker is not None:
                filters = [*filters, self._filter(spec, selections, maker)]
        return _Output(self._classes.make(spec, selections), filters, added)

    def _filter(
        self, spec: ComponentSpec, incoming: Selections, maker: MakeFilter | None = None
    ) -> PipeFilter:
        sources = self._sources_above(spec.name)
        return PipeFilter(spec, frozenset(incoming), sources, maker)

    def _incoming(self, name: str, found: Mapping[str, _Output]) -> _Output:
        """Put together what comes in, where what comes out of filters is known."""
        wanted = Selection(intersection=self._plan.stream_intersection)
        selections: Selections = {}
        filters: list[PipeFilter] = []
        added: frozenset[str] = frozenset()
        for wire in self._wires[name]:
            if wire.stream is None:
                one = found[wire.upstream]
                selections.update(one.selections)
                filters += one.filters
                added |= one.added
            else:
                selections[wire.stream] = wanted
        return _Output(selections, filters, added)

    def _filters_above(self, name: str) -> list[str]:
        """Return the filters whose output comes in, each after those below it."""
        filters: list[str] = []
        left = [name]
        while left:
            above = [
                wire.upstream for wire in self._wires[left.pop()] if wire.stream is None
            ]
            filters += above
            left += above
        return filters

    def _sources_above(self, name: str) -> list[PortedSource]:
        """Return the sources from which something comes in, in their order."""
        names = {
            wire.upstream
            for part in (name, *self._filters_above(name))
            for wire in self._wires[part]
        }
        return [one for source, one in self._sources.items() if source in names]
