"""Which port goes where: the connections of a plan, put into practice.

As with Babeltrace 2, each output port takes the first connection whose patterns fit its
component and its name, and there the first input port that is free.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError
from .growing import Feed
from .port_patterns import ANY_PORT, matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .component_class import ComponentClass
    from .message_component import MessageComponent
    from .plan import Connection, Plan
    from .protocols import PortedSource
    from .stream import Stream

__all__ = ["Wire", "wires_of"]


class Wire(NamedTuple):
    """What comes in at an input port."""

    upstream: str
    """Name of the component from which it comes."""
    stream: Stream | Feed | None = None
    """The data stream, if that component is a source; or all those that it has and
    will have."""
    output: str = "out"
    """Name of the output port there, if it is a component of messages."""
    input: str = "in"
    """Name of the input port."""


def wires_of(
    plan: Plan,
    classes: Mapping[str, ComponentClass],
    sources: Mapping[str, PortedSource],
    components: Mapping[str, MessageComponent] | None = None,
) -> dict[str, list[Wire]]:
    """Connect all ports.

    Args:
        plan: The plan.
        classes: The class of each component, by its name.
        sources: The opened sources, by their names.
        components: The components of messages, by their names: they have the ports
            that they want, and are told of connections.

    Returns:
        What comes in at each filter and sink, in the order of its ports.

    Raises:
        GraphError: A port fits no connection, or finds no free port.
    """
    if components:
        wiring = _Wiring(plan, classes, components)
        wiring.connect_all(sources)
        return wiring.wires
    try:
        return _wires_of(plan, classes, sources, made_up=True)
    except GraphError:
        # The error tells the names of ports.
        return _wires_of(plan, classes, sources, made_up=False)


def _wires_of(
    plan: Plan,
    classes: Mapping[str, ComponentClass],
    sources: Mapping[str, PortedSource],
    *,
    made_up: bool,
) -> dict[str, list[Wire]]:
    wires: dict[str, list[Wire]] = {
        name: [] for name, one in classes.items() if one.kind != "source"
    }
    for name, source in sources.items():
        ports = _ports(plan, name, source, made_up=made_up)
        streams = _outputs(source)
        for stream, port in zip(streams, ports, strict=True):
            connection = _connection(plan, name, port)
            _connect(wires, classes, connection, port, Wire(name, stream))
    for name, one in classes.items():
        if one.kind == "filter":
            connection = _connection(plan, name, "out")
            _connect(wires, classes, connection, "out", Wire(name))
    if all(_outputs(source) for source in sources.values()):
        # A trace without data streams has no ports.
        _refuse_open_ends(wires)
    return wires


def _ports(
    plan: Plan, name: str, source: PortedSource, *, made_up: bool
) -> Sequence[str]:
    """Return the names of output ports; any if that makes no difference."""
    patterns = [one.upstream_port for one in plan.connections if one.upstream == name]
    if made_up and patterns[0] == ANY_PORT:
        return ["out"] * len(_outputs(source))
    return source.port_names


def _outputs(source: PortedSource) -> Sequence[Stream | Feed]:
    """Return what comes out of each output port."""
    return [source] if isinstance(source, Feed) else source.streams


def _connection(plan: Plan, name: str, port: str) -> Connection:
    for connection in plan.connections:
        if connection.upstream == name and matches(connection.upstream_port, port):
            return connection
    raise GraphError(
        f"component '{name}': no connection takes its output port '{port}'"
    )


def _connect(
    wires: Mapping[str, list[Wire]],
    classes: Mapping[str, ComponentClass],
    connection: Connection,
    port: str,
    wire: Wire,
) -> None:
    there = wires[connection.downstream]
    has_many = classes[connection.downstream].has_many_inputs
    free = f"in{len(there)}" if has_many else "in"
    if (there and not has_many) or not matches(connection.downstream_port, free):
        raise GraphError(
            f"connection '{connection}': the output port '{port}' of "
            f"'{wire.upstream}' finds no free input port of '{connection.downstream}'"
        )
    there.append(wire)


class _Wiring:
    # The connections of a plan in which some components choose their own ports.

    def __init__(
        self,
        plan: Plan,
        classes: Mapping[str, ComponentClass],
        components: Mapping[str, MessageComponent],
    ) -> None:
        self._plan = plan
        self._classes = classes
        self._components = components
        self.wires: dict[str, list[Wire]] = {
            name: [] for name, one in classes.items() if one.kind != "source"
        }

    def connect_all(self, sources: Mapping[str, PortedSource]) -> None:
        """Connect all output ports, those of sources first."""
        for name in sorted(self._classes, key=self._rank):
            if name in self._components:
                self._connect_component(name)
            elif name in sources:
                source = sources[name]
                outputs = _outputs(source)
                for stream, port in zip(outputs, source.port_names, strict=True):
                    self._connect(name, port, stream)
            elif self._classes[name].kind == "filter":
                self._connect(name, "out")
        if all(_outputs(source) for source in sources.values()):
            _refuse_open_ends(self.wires)

    def _rank(self, name: str) -> int:
        return ("source", "filter", "sink").index(self._classes[name].kind)

    def _connect_component(self, name: str) -> None:
        done: set[str] = set()
        # A connection may make its component add ports.
        while left := [
            port for port in self._components[name].output_ports if port not in done
        ]:
            done.add(left[0])
            self._connect(name, left[0])

    def _connect(
        self, name: str, port: str, stream: Stream | Feed | None = None
    ) -> None:
        connection = _connection(self._plan, name, port)
        below = connection.downstream
        free = self._free_port(below, connection.downstream_port)
        if free is None:
            raise GraphError(
                f"connection '{connection}': the output port '{port}' of '{name}' "
                f"finds no free input port of '{below}'"
            )
        self.wires[below].append(Wire(name, stream, port, free))
        if below in self._components:
            self._components[below].port_connected(free, port)
        if name in self._components:
            self._components[name].port_connected(port, free)

    def _free_port(self, name: str, pattern: str) -> str | None:
        taken = {wire.input for wire in self.wires[name]}
        if name in self._components:
            ports = [*self._components[name].input_ports]
        elif self._classes[name].has_many_inputs:
            ports = [f"in{len(taken)}"]
        else:
            ports = ["in"]
        fit = (one for one in ports if one not in taken and matches(pattern, one))
        return next(fit, None)


def _refuse_open_ends(wires: Mapping[str, Sequence[Wire]]) -> None:
    for name, there in wires.items():
        if not there:
            raise GraphError(
                f"component '{name}': its input port is connected to nothing"
            )
