"""Components of a graph, their ports and connections, as seen from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["component_of"]


class _ConnectionConst:
    """A connection of two ports.

    Args:
        upstream: The output port.
        downstream: The input port.
    """

    def __init__(self, upstream: _OutputPortConst, downstream: _InputPortConst) -> None:
        self._upstream = upstream
        self._downstream = downstream

    @property
    def addr(self) -> int:
        """A number of its own among the connections that live."""
        return id(self)

    @property
    def upstream_port(self) -> _OutputPortConst:
        """The output port."""
        return self._upstream

    @property
    def downstream_port(self) -> _InputPortConst:
        """The input port."""
        return self._downstream

    @property
    def is_ended(self) -> bool:
        """Whether it is no more: connections live as long as graphs."""
        return False


class _PortConst:
    """A port.

    Args:
        component: Its component.
        name: Its name.
    """

    def __init__(self, component: _ComponentConst, name: str) -> None:
        self._component = component
        self._name = name
        self._connection: _ConnectionConst | None = None

    @property
    def addr(self) -> int:
        """A number of its own among the ports that live."""
        return id(self)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def component(self) -> Any:
        """Its component."""
        return self._component

    @property
    def connection(self) -> _ConnectionConst | None:
        """Its connection, or ``None``."""
        return self._connection

    @property
    def is_connected(self) -> bool:
        """Whether it is connected."""
        return self._connection is not None


class _InputPortConst(_PortConst):
    """An input port."""


class _OutputPortConst(_PortConst):
    """An output port."""


class _Ports(Mapping[str, Any]):
    """Ports by their names.

    Args:
        ports: The ports.
    """

    def __init__(self, ports: Mapping[str, _PortConst]) -> None:
        self._ports = ports

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"'{type(name).__name__}' is not a 'str' object")
        return self._ports[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._ports])

    def __len__(self) -> int:
        return len(self._ports)


class _ComponentConst:
    """A component.

    Args:
        component_class: Its class.
        name: Its name in the graph.
        logging_level: Its log level.
    """

    def __init__(self, component_class: Any, name: str, logging_level: int) -> None:
        self._class = component_class
        self._name = name
        self._logging_level = logging_level
        self._inputs: dict[str, _PortConst] = {}
        self._outputs: dict[str, _PortConst] = {}

    @property
    def addr(self) -> int:
        """A number of its own among the components that live."""
        return id(self)

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._name

    @property
    def logging_level(self) -> int:
        """Its log level."""
        return self._logging_level

    @property
    def cls(self) -> Any:
        """Its class."""
        return self._class

    def _add_ports(self, inputs: Any, outputs: Any) -> list[_PortConst]:
        """Add the ports that are not there yet, and return them."""
        added: list[_PortConst] = []
        for names, there, kind in (
            (inputs, self._inputs, _InputPortConst),
            (outputs, self._outputs, _OutputPortConst),
        ):
            for name in names:
                if name not in there:
                    there[name] = kind(self, name)
                    added.append(there[name])
        return added


class _SourceComponentConst(_ComponentConst):
    """A source component."""

    @property
    def output_ports(self) -> Mapping[str, Any]:
        """Its output ports, by their names."""
        return _Ports(self._outputs)


class _FilterComponentConst(_SourceComponentConst):
    """A filter component."""

    @property
    def input_ports(self) -> Mapping[str, Any]:
        """Its input ports, by their names."""
        return _Ports(self._inputs)


class _SinkComponentConst(_ComponentConst):
    """A sink component."""

    @property
    def input_ports(self) -> Mapping[str, Any]:
        """Its input ports, by their names."""
        return _Ports(self._inputs)


_KINDS: dict[str, type[_ComponentConst]] = {
    "source": _SourceComponentConst,
    "filter": _FilterComponentConst,
    "sink": _SinkComponentConst,
}


def component_of(
    kind: str, component_class: Any, name: str, logging_level: int
) -> _ComponentConst:
    """Make what stands for a component.

    Args:
        kind: Its kind.
        component_class: Its class.
        name: Its name in the graph.
        logging_level: Its log level.
    """
    return _KINDS[kind](component_class, name, logging_level)
