"""Plans with components that take or give one message at a time.

What stands above such a component is read as everything is: data streams are merged,
and go through filters. What comes out of it is merges again. So each port has a *flow*
of merges, whoever made them, and native filters and sinks stand behind any.
"""

from __future__ import annotations

import time
from functools import cache

from .. import core
from .._typing import TYPE_CHECKING
from ..errors import TraceFormatError
from .clocks import Correlation, check_correlation
from .mux import merges
from .notice import DamageNotice, Notice, damage_of_packets
from .selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import ExitStack
    from typing import Any

    from ..damage import Damage
    from .component_class import ComponentClass
    from .growing import Feed
    from .interruption import Interruption
    from .message_component import Flow, MessageComponent, Pulled
    from .pipe import Pipe
    from .plan import ComponentSpec
    from .protocols import Filter, Sink
    from .stream import Stream
    from .wiring import Wire

__all__ = ["LaneGraph", "MessageLane"]

RETRY_SECONDS = 0.1
"""How long to wait for a component that has nothing yet."""


class LaneGraph:
    """A sink, and what it takes to run it: a graph as others are.

    Args:
        step: Does a part of what there is to do; tells whether there may be more.
        finish: Ends the output.
        damage: What is met on the way.
        interruption: Tells when to stop.
    """

    streams: Sequence[Stream] = ()
    """The data streams that are known before it runs: none."""
    feeds: Mapping[Feed, Selection] = {}
    """Sources that gain data streams: none that is known."""

    def __init__(
        self,
        step: Callable[[], bool | None],
        finish: Callable[[], object],
        damage: list[Damage],
        interruption: Interruption,
    ) -> None:
        self._step = step
        self._finish = finish
        self.damage = damage
        self._interruption = interruption

    def run(self) -> list[Damage]:
        """Do all there is to do.

        Returns:
            The damage that was met on the way.
        """
        for _ in self.steps():
            pass
        return self.damage

    def steps(self) -> Iterator[None]:
        """Do what :meth:`run` does, a part at a time.

        Yields:
            Nothing, after each part.
        """
        while (more := self._step()) is not False:
            self._interruption.check()
            if more is None:
                time.sleep(RETRY_SECONDS)
                self._interruption.check()
            yield
        self._finish()


class MessageLane:
    """The flows of a plan.

    Args:
        wires: What comes in at each component.
        classes: The class of each component, by its name.
        specs: What is wanted of each component, by its name.
        components: The components of messages, by their names.
        pipe: Finds what is read for an input port without any of these above it.
        make: Makes a native component.
        strict: Whether to stop at the first damage.
        overlooked: Kinds of damage that are as good as none.
        literal: Whether to take damage as Babeltrace 2 does.
        interruption: Tells when to stop.
    """

    def __init__(  # noqa: PLR0913 - what is known of a plan
        self,
        *,
        wires: Mapping[str, Sequence[Wire]],
        classes: Mapping[str, ComponentClass],
        specs: Mapping[str, ComponentSpec],
        components: Mapping[str, MessageComponent],
        pipe: Callable[[str, Sequence[Wire]], Pipe],
        make: Callable[..., Any],
        strict: bool,
        overlooked: frozenset[str],
        literal: bool,
        interruption: Interruption,
    ) -> None:
        self._wires = wires
        self._classes = classes
        self._specs = specs
        self._components = components
        self._pipe = pipe
        self._make = make
        self._strict = strict
        self._overlooked = overlooked
        self._literal = literal
        self.damage: list[Damage] = []
        """What was met so far."""
        self.interruption = interruption
        """Tells when to stop."""
        for name, component in components.items():
            for wire in wires.get(name, ()):
                component.set_flow(wire.input, self._flow(name, [wire]))

    def note(self, found: Damage) -> None:
        """Take notice of damage.

        Args:
            found: It.

        Raises:
            TraceFormatError: It is to be strict.
        """
        if found.kind in self._overlooked:
            return
        if self._strict:
            raise TraceFormatError.of_damage(found)
        self.damage.append(found)

    def graph(self, spec: ComponentSpec, resources: ExitStack) -> LaneGraph:
        """Make the graph of a sink.

        Args:
            spec: The sink.
            resources: What is closed when all graphs have run.

        Raises:
            GraphError: It cannot run.
        """
        component = self._components.get(spec.name)
        if component is not None:
            component.configure()
            return LaneGraph(
                component.consume, _nothing, self.damage, self.interruption
            )
        sink: Sink = self._make(spec, resources, [])
        step = _Feeding(self._flow(spec.name, self._wires[spec.name]), sink)
        return LaneGraph(step, sink.finish, self.damage, self.interruption)

    def _flow(self, name: str, wires: Sequence[Wire]) -> Flow:
        """Return what comes in at a component through some wires."""
        if not any(self._has_messages(wire) for wire in wires):
            return self._region(self._pipe(name, wires))
        if len(wires) == 1:
            (wire,) = wires
            if wire.upstream in self._components:
                component = self._components[wire.upstream]
                return lambda: component.open(wire.output)
            return self._through(wire.upstream)
        parts = self._parts(wires)
        flows = [self._flow(name, part) for part in parts]
        return lambda: _merged([flow() for flow in flows])

    def _parts(self, wires: Sequence[Wire]) -> list[list[Wire]]:
        """Return wires in parts, each with a flow of its own."""
        native = [wire for wire in wires if not self._has_messages(wire)]
        parts = [[wire] for wire in wires if self._has_messages(wire)]
        return [*parts, native] if native else parts

    def _merged(self, name: str, known: ComponentClass) -> Flow:
        """Return what comes out of a muxer with components of messages above it."""
        parts = self._parts(self._wires[name])
        flows = [(part[0].input, self._flow(name, part)) for part in parts]
        who = f"component '{name}' ({known.name})"

        def open_flow() -> Iterator[Pulled]:
            clocks = Correlation(who)
            checked = [_checked(flow(), clocks, port) for port, flow in flows]
            return checked[0] if len(checked) == 1 else _merged(checked)

        return open_flow

    def _has_messages(self, wire: Wire) -> bool:
        """Tell whether a component of messages is above a wire."""
        if wire.upstream in self._components:
            return True
        above = self._wires.get(wire.upstream, ())
        return any(self._has_messages(one) for one in above)

    def _through(self, name: str) -> Flow:
        """Return what comes out of a native filter, behind a component of messages."""
        known = self._classes[name]
        if known.has_many_inputs:
            return self._merged(name, known)
        flow = self._flow(name, self._wires[name])
        if known.on_flow is not None:
            return known.on_flow(self._specs[name], flow)
        spec = self._specs[name]

        def process(incoming: Iterator[Pulled]) -> Iterator[Pulled]:
            component: Filter = self._make(spec, [], Selection())
            for merge in incoming:
                if merge is not None:
                    component.process(merge)
                    yield merge.shown()
                else:
                    yield None

        return lambda: process(flow())

    def _region(self, pipe: Pipe) -> Flow:
        """Return what is read of data streams."""

        def open_flow() -> Iterator[Pulled]:
            filters = [pipe.make_filter(one, self._make) for one in pipe.filters]
            fixed, feeds = pipe.parts
            check_correlation(fixed)
            if self._literal:
                for stream in fixed:
                    for found in damage_of_packets(stream):
                        self.note(found)
            for merge in merges(
                [*fixed],
                fixed,
                filters,
                boundaries=True,
                doubtful=self._literal,
                feeds=feeds,
                retry_duration=None,
                tell=self._tell,
                tell_damage=self.note,
            ):
                is_waiting = feeds and not len(merge) and not merge.notices
                if is_waiting:
                    yield None
                    continue
                if self._strict:
                    merge = merge.until_damage([*self._overlooked])  # noqa: PLW2901
                yield merge.shown()

        return open_flow

    def _tell(self, notice: Notice) -> None:
        if isinstance(notice, DamageNotice):
            self.note(notice.damage)


class _Feeding:
    # Gives a flow to a sink, a merge at a time.

    def __init__(self, flow: Flow, sink: Sink) -> None:
        self._sink = sink
        # Whoever gives it finds out now what is missing.
        self._merges = flow()

    def __call__(self) -> bool | None:
        try:
            merge = next(self._merges)
        except StopIteration:
            return False
        if merge is None:
            return None
        self._sink.consume(merge)
        return True


def _checked(
    flow: Iterator[Pulled], clocks: Correlation, port: str
) -> Iterator[Pulled]:
    """Refuse data streams of a flow whose times cannot be compared with others'."""
    for merge in flow:
        if merge is not None:
            clocks.check(merge.owners, port)
        yield merge


def _merged(flows: Sequence[Iterator[Pulled]]) -> Iterator[Pulled]:
    """Merge flows by time."""
    muxer = core.MergeMuxer(len(flows))
    more = True
    while more:
        waits = False
        for index in muxer.needed:
            try:
                merge = next(flows[index])
            except StopIteration:
                muxer.end(index)
                continue
            if merge is None:
                waits = True
            else:
                muxer.put(index, merge, [tie_keys(one) for one in merge.owners])
        found = muxer.merge()
        if len(found) or found.notices:
            yield found
        elif waits:
            yield None
        else:
            more = not muxer.has_ended


@cache
def tie_keys(stream: Stream) -> tuple[bytes, bytes]:
    """Return what decides about messages at the same time, as Babeltrace 2 does.

    Args:
        stream: Their stream.
    """
    uuid = stream.trace.parsed.uuid
    name = stream.trace.name.encode("utf-8", "surrogateescape")
    identity = (b"\1" if uuid is None else b"\0" + uuid) + name + b"\0"
    numbers = (stream.handle.class_id, stream.id)
    identity += b"".join(number.to_bytes(8, "big") for number in numbers)
    described = stream.trace.parsed.describe()["streams"][stream.class_index]
    class_name = described.get("name") or ""
    clock = (stream.handle.clock or {}).get("name") or ""
    names = (stream.path, class_name, clock)
    return identity, b"\0".join(one.encode("utf-8", "surrogateescape") for one in names)


def _nothing() -> None:
    """Do nothing."""
