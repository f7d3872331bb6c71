"""From a plan to graphs that run on batches.

What is lowered is a *pipe* for each sink: data streams that are merged, and then go
through filters, one behind the other. Ranges of time and choices of events do not stand
in the pipe: they are pushed down into the data streams behind which they stand, each
into those that pass it, so that what nobody sees is not read. A filter before a muxer
stands in the pipe, too, and sees the event records of its data streams only.

Plans of other forms are refused, with the component that is the reason.
"""

from __future__ import annotations

from functools import partial

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError, SelectionError
from .graph import Graph, Inputs
from .growing import Feed
from .part_filter import PartFilter, SourcePart
from .plan_check import check_plan
from .selection import Selection
from .wiring import Wire, wires_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import ExitStack
    from typing import Any

    from ..damage import Damage
    from .component_class import ComponentClass, ComponentClasses, MakeFilter
    from .plan import ComponentSpec, Plan
    from .protocols import Filter, PortedSource
    from .stream import Stream

__all__ = ["Selections", "lower"]

Selections = dict["Stream | Feed", Selection]
"""What is wanted of each data stream, or of all those that a source gains."""


def lower(
    plan: Plan,
    classes: ComponentClasses,
    resources: ExitStack,
    *,
    strict: bool = False,
    makers: Mapping[str, Callable[..., Any]] | None = None,
) -> list[Graph]:
    """Open what a plan names, and make a graph for each of its sinks.

    Args:
        plan: The plan.
        classes: The component classes that there are.
        resources: What is closed when the graphs have run.
        strict: Whether to stop at the first damage.
        makers: What makes components in place of their classes, by the names of
            the components; called as the classes would be, without the component.

    Returns:
        The graphs, in the order of the sinks.

    Raises:
        GraphError: The plan cannot run, or not in this way.
    """
    check_plan(plan, classes)
    lowering = _Lowering(plan, classes)
    lowering.refuse_message_lane()

    def make(spec: ComponentSpec, *arguments: Any) -> Any:
        maker = (makers or {}).get(spec.name)
        if maker is not None:
            return maker(*arguments)
        return classes.make(spec, *arguments)

    lowering.open_sources(resources, make)
    pipes = [lowering.pipe(spec) for spec in lowering.of_kind("sink")]

    graphs = []
    for number, pipe in enumerate(pipes):
        feeds = {
            one: wanted
            for one, wanted in pipe.selections.items()
            if isinstance(one, Feed)
        }
        fixed = {
            one: wanted
            for one, wanted in pipe.selections.items()
            if not isinstance(one, Feed)
        }
        known = [stream for feed in feeds for stream in feed.streams]
        filters = [pipe.make_filter(one, make) for one in pipe.filters]
        sink = make(pipe.sink, resources, [*fixed, *known])
        # What could not be opened is told once, whoever would have got it.
        inputs = Inputs([*fixed], [] if number else lowering.damage)
        graph = Graph([inputs], sink, filters, pipe.common_selection, strict=strict)
        if len(set(pipe.selections.values())) > 1:
            graph.selection = fixed
        graph.feeds = feeds
        if plan.retry_duration is not None:
            graph.retry_duration = plan.retry_duration
        graphs.append(graph)
    return graphs


class PipeFilter(NamedTuple):
    """A filter of a pipe."""

    spec: ComponentSpec
    """The component."""
    streams: frozenset[Stream | Feed]
    """The data streams that come in."""
    sources: Sequence[PortedSource]
    """Where they come from."""
    maker: MakeFilter | None = None
    """What makes it, if not its class."""


class Pipe(NamedTuple):
    """Data streams that are merged, filters, and a sink."""

    selections: Selections
    """The data streams, and what is wanted of each."""
    filters: Sequence[PipeFilter]
    """The filters, each behind those whose output it gets."""
    sink: ComponentSpec
    """The sink."""

    @property
    def common_selection(self) -> Selection:
        """What is wanted of all data streams, as far as it is the same."""
        return _common(self.selections.values())

    def make_filter(self, one: PipeFilter, make: Callable[..., Any]) -> Filter:
        """Make a filter of the pipe.

        Args:
            one: It.
            make: What makes components as their classes do.
        """
        maker = one.maker or partial(make, one.spec)
        if one.streams == self.selections.keys():
            made: Filter = maker(one.sources, self.common_selection)
            return made
        if any(isinstance(stream, Feed) for stream in self.selections):
            raise GraphError(
                f"component '{one.spec.name}': a filter cannot get a part of what is "
                "merged with data streams that grow; connect the muxer before it"
            )
        wanted = [self.selections[stream] for stream in one.streams]
        sources = [SourcePart(source, one.streams) for source in one.sources]
        return PartFilter(maker(sources, _common(wanted)), one.streams)


def _common(selections: Iterable[Selection]) -> Selection:
    found = set(selections)
    if len(found) == 1:
        return found.pop()
    intersection = any(one.intersection for one in found)
    return Selection(intersection=intersection)


class _Output(NamedTuple):
    # What comes out of a component: data streams, behind filters.
    selections: Selections
    filters: list[PipeFilter]
    added: frozenset[str]
    """Names of the fields that these filters add."""


class _Lowering:
    # What is known of a plan while it is lowered.

    def __init__(self, plan: Plan, classes: ComponentClasses) -> None:
        self._plan = plan
        self._classes = classes
        self._specs = {spec.name: spec for spec in plan.components}
        self._class_of: dict[str, ComponentClass] = {}
        for spec in plan.components:
            found = classes.find(spec.class_name)
            assert found is not None  # noqa: S101 - the plan is checked
            self._class_of[spec.name] = found
        self._sources: dict[str, PortedSource] = {}
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

    def refuse_message_lane(self) -> None:
        """Refuse components that take or give one message at a time."""
        for name, one in self._class_of.items():
            if one.lane != "batches":
                raise GraphError(f"component '{name}': {one.name} cannot be run yet")

    def open_sources(self, resources: ExitStack, make: Callable[..., Any]) -> None:
        """Open the sources, and connect all ports.

        Args:
            resources: What is closed when the graphs have run.
            make: Makes a source, of what is wanted and the number of traces before it.
        """
        first_index = 0
        for spec in self.of_kind("source"):
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
        self._wires = wires_of(self._plan, self._class_of, self._sources)

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
