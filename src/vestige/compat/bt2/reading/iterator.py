"""The messages of traces, whose sources and filters are made of specs."""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ....graph.interruption import Interruption
from ....graph.plan import ComponentSpec as PlannedComponent
from ....graph.plan import Connection
from ..checks import check_bool
from ..graphs.own_classes import OwnClasses
from ..logging import LETTERS
from ..plugins.component_classes import _ComponentClassConst
from ..traces.native import Objects
from ..user.lane_component import LaneComponent
from ..values.value import const_value, plain_value
from .component_specs import AutoSourceComponentSpec, ComponentSpec, discovered
from .plan_messages import SINK, failing_as_error, messages_of_plan

__all__ = ["TraceCollectionMessageIterator"]

_NANOSECONDS = 1_000_000_000


class TraceCollectionMessageIterator(Iterator[Any]):
    """The messages of traces, merged by time.

    Args:
        source_component_specs: The sources, or paths; one or several.
        filter_component_specs: Filters through which all goes.
        stream_intersection_mode: Whether only the time counts in which all streams of
            a trace are active.
        begin: The earliest time, seconds or a ``datetime``.
        end: The latest time.
        plugin_set: Of no effect: what is built in finds sources.

    Raises:
        RuntimeError: For a path there is no source.
        TypeError: Something is of another type.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - as bt2 has it
        self,
        source_component_specs: Any,
        filter_component_specs: Any = None,
        stream_intersection_mode: Any = False,
        begin: Any = None,
        end: Any = None,
        plugin_set: Any = None,  # noqa: ARG002 - as above
    ) -> None:
        check_bool(stream_intersection_mode)
        times = {"begin": _seconds(begin), "end": _seconds(end)}
        sources = _sources(source_component_specs)
        filters = _filters(filter_component_specs)
        wanted = {name: time for name, time in times.items() if time is not None}
        planned = _Planned()
        components = [
            *(planned.add(spec, f"source-{i}") for i, spec in enumerate(sources)),
            PlannedComponent("muxer", "filter.utils.muxer"),
        ]
        chain = ["muxer"]
        if wanted:
            trimmer = PlannedComponent("trimmer", "filter.utils.trimmer", wanted)
            components.append(trimmer)
            chain.append("trimmer")
        for i, spec in enumerate(filters):
            components.append(planned.add(spec, f"filter-{i}"))
            chain.append(f"filter-{i}")
        chain.append(SINK)
        connections = [Connection(f"source-{i}", "muxer") for i in range(len(sources))]
        connections += [
            Connection(upstream, downstream) for upstream, downstream in pairwise(chain)
        ]
        self._messages = messages_of_plan(
            components,
            connections,
            stream_intersection=stream_intersection_mode,
            classes=planned.classes,
            made=planned.made,
            objects=planned.objects,
        )

    def __iter__(self) -> Any:
        # What is iterated over is the core's iterator: a call less for each message.
        return self._messages

    def __next__(self) -> Any:
        return next(self._messages)


def _seconds(time: Any) -> str | None:
    """Return a time as the trimmer takes it."""
    if time is None:
        return None
    if isinstance(time, dt.datetime):
        time = time.timestamp()
    elif not isinstance(time, numbers.Real):
        raise TypeError(
            f'"{time}" is not an integral number or a datetime.datetime object'
        )
    seconds, rest = divmod(int(time * 1e9), _NANOSECONDS)
    return f"{seconds}.{rest:09d}"


def _sources(specs: Any) -> list[ComponentSpec]:
    if isinstance(specs, ComponentSpec | AutoSourceComponentSpec | str):
        specs = [specs]
    specs = [
        AutoSourceComponentSpec(spec) if isinstance(spec, str) else spec
        for spec in specs
    ]
    for spec in specs:
        if not isinstance(spec, ComponentSpec | AutoSourceComponentSpec):
            raise TypeError(
                f'"{type(spec)}" object is not a ComponentSpec or '
                "AutoSourceComponentSpec"
            )
    sources = [spec for spec in specs if isinstance(spec, ComponentSpec)]
    automatic = [spec for spec in specs if isinstance(spec, AutoSourceComponentSpec)]
    return sources + discovered(automatic)


def _filters(specs: Any) -> Sequence[ComponentSpec]:
    if isinstance(specs, ComponentSpec):
        specs = [specs]
    for spec in specs or ():
        if not isinstance(spec, ComponentSpec):
            raise TypeError(f'"{type(spec)}" object is not a ComponentSpec')
    return [*(specs or ())]


class _Planned:
    # Components of a plan: those in Python are made already.

    def __init__(self) -> None:
        self.classes = OwnClasses()
        self.made: dict[str, LaneComponent] = {}
        self.objects = Objects()

    def add(self, spec: ComponentSpec, name: str) -> PlannedComponent:
        """Return what a plan says of a component."""
        found = spec.component_class
        if not isinstance(found, _ComponentClassConst):
            return self._made(spec, name)
        params = plain_value(spec.params) or {}
        level = LETTERS[spec.logging_level]
        return PlannedComponent(name, found._full_name, params, level)

    def _made(self, spec: ComponentSpec, name: str) -> PlannedComponent:
        with failing_as_error(f"cannot create the component {name}"):
            self.made[name] = LaneComponent(
                spec.component_class,
                name,
                const_value(spec.params or {}),
                spec.obj,
                spec.logging_level,
                Interruption(),
                self.objects,
            )
        return PlannedComponent(name, self.classes.add(spec.component_class._bt_kind))
