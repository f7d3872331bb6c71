"""Graphs that a script puts together itself."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from ....errors import ComponentError, VestigeError
from ....graph.interruption import GraphInterruption, Interruption
from ....graph.lowering import lower
from ....graph.message_lane import LaneGraph
from ....graph.plan import ComponentSpec, Connection, Plan
from ....graph.plan_check import check_component
from ..checks import check_str, check_type, check_uint64
from ..damage import DAMAGE_IS_AN_ERROR
from ..errors import (
    KIND_NUMBERS,
    Stop,
    TryAgain,
    _ComponentErrorCause,
    _Error,
    _ErrorCause,
)
from ..interrupter import Interrupter
from ..logging import LETTERS, LoggingLevel, check_log_level
from ..plugins.component_classes import is_user_class, kind_of, registry
from ..traces.native import Objects
from ..user.lane_component import LaneComponent
from ..values.value import MapValue, const_value, create_value, plain_value
from .mip import get_maximal_mip_version
from .own_classes import OwnClasses
from .ports import (
    _ComponentConst,
    _ConnectionConst,
    _InputPortConst,
    _OutputPortConst,
    component_of,
)

__all__ = ["Graph"]

_UNCONNECTED = re.compile(r"its input port is connected to nothing$")


class _Interruption(Interruption):
    # Stops a graph when one of its interrupters wants it.

    def __init__(self, interrupters: list[Interrupter]) -> None:
        self._interrupters = interrupters
        super().__init__()

    @property
    def is_set(self) -> bool:
        """Whether one of them does."""
        return any(one.is_set for one in self._interrupters)

    @is_set.setter
    def is_set(self, value: bool) -> None:
        if value:
            self._interrupters[0].set()


class _ConnectedComponent:
    # A component whose ports are connected already: it is not told of it again.

    def __init__(self, component: LaneComponent, ports: _ComponentConst) -> None:
        self._component = component
        self._ports = ports

    @property
    def input_ports(self) -> list[str]:
        return [name for name, port in self._ports._inputs.items() if port.is_connected]

    @property
    def output_ports(self) -> list[str]:
        return [
            name for name, port in self._ports._outputs.items() if port.is_connected
        ]

    def port_connected(self, port: str, other: str) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._component, name)


class Graph:
    """Components and their connections.

    Args:
        mip_version: Version of the protocol of messages.

    Raises:
        ValueError: There is no such version.
    """

    def __init__(self, mip_version: int = 0) -> None:
        check_uint64(mip_version)
        if mip_version > get_maximal_mip_version():
            raise ValueError(f"unknown MIP version {mip_version}")
        self._default_interrupter = Interrupter()
        self._interrupters = [self._default_interrupter]
        self._interruption = _Interruption(self._interrupters)
        self._listeners: list[Callable[[Any, Any], object]] = []
        self._specs: list[ComponentSpec] = []
        self._connections: list[Connection] = []
        self._components: dict[str, _ComponentConst] = {}
        self._made: dict[str, LaneComponent] = {}
        self._classes = OwnClasses()
        self._objects = Objects()
        self._resources = ExitStack()
        self._running: list[Callable[[], bool | None]] | None = None
        self._error: _Error | None = None

    @property
    def addr(self) -> int:
        """A number of its own among the graphs that live."""
        return id(self)

    def add_component(
        self,
        component_class: Any,
        name: str,
        params: Any = None,
        obj: Any = None,
        logging_level: int = LoggingLevel.NONE,
    ) -> Any:
        """Add a component.

        Args:
            component_class: Its class.
            name: Its name.
            params: Its parameters.
            obj: What a component in Python gets besides.
            logging_level: Its log level.

        Returns:
            The component.

        Raises:
            TypeError: Something is of another type.
            ValueError: A class that is not in Python cannot get an object, there is a
                component of that name, or there is no such log level.
            _Error: It cannot be made.
        """
        kind = kind_of(component_class)
        if kind is None:
            found = type(component_class).__name__
            raise TypeError(f"'{found}' is not a component class")
        check_str(name)
        check_log_level(logging_level)
        is_user = is_user_class(component_class)
        if obj is not None and not is_user:
            raise ValueError("cannot pass a Python object to a non-Python component")
        if params is not None and not isinstance(params, dict | MapValue):
            raise TypeError("'params' parameter is not a 'dict' or a 'bt2.MapValue'.")
        if name in self._components:
            raise ValueError(f"there is a component '{name}' already")
        component = component_of(kind, component_class, name, logging_level)
        values = create_value(params or {})
        # Before it is made: its errors are those of a component that is known.
        self._components[name] = component
        try:
            if is_user:
                self._make_user_component(component, values, obj)
            else:
                self._make_ready_component(component, values)
        except BaseException:
            del self._components[name]
            raise
        return component

    def _make_user_component(
        self, component: _ComponentConst, params: Any, obj: Any
    ) -> None:
        name = component.name
        with self._errors("cannot add component to graph"):
            made = LaneComponent(
                component.cls,
                name,
                const_value(params),
                obj,
                component.logging_level,
                self._interruption,
                self._objects,
            )
            self._made[name] = made
            class_name = self._classes.add(str(component.cls._bt_kind))
            self._specs.append(ComponentSpec(name, class_name))
            self._look_at_ports(component)

    def _make_ready_component(self, component: _ComponentConst, params: Any) -> None:
        full_name = component.cls._full_name
        spec = ComponentSpec(
            component.name,
            full_name,
            plain_value(params),
            LETTERS[component.logging_level],
        )
        inputs, outputs = ["in"], ["out"]
        with self._errors("cannot add component to graph"):
            known = check_component(spec, registry)
            if known.has_many_inputs:
                inputs = ["in0"]
            if known.kind == "source":
                outputs = registry.make(spec, 0).port_names
            self._specs.append(spec)
            self._tell_ports(component, inputs, outputs)

    def _look_at_ports(self, component: _ComponentConst) -> None:
        """Tell the listeners of ports that a component has added."""
        made = self._made[component.name]
        self._tell_ports(component, made.input_ports, made.output_ports)

    def _tell_ports(
        self, component: _ComponentConst, inputs: Any, outputs: Any
    ) -> None:
        for port in component._add_ports(inputs, outputs):
            for listener in self._listeners:
                listener(component, port)

    def connect_ports(self, upstream_port: Any, downstream_port: Any) -> Any:
        """Connect two ports.

        Args:
            upstream_port: The output port.
            downstream_port: The input port.

        Returns:
            The connection.

        Raises:
            TypeError: They are none.
            ValueError: One is connected already.
            _Error: A component refuses it.
        """
        check_type(upstream_port, _OutputPortConst)
        check_type(downstream_port, _InputPortConst)
        for port in (upstream_port, downstream_port):
            if port.is_connected:
                raise ValueError(
                    f"port '{port.name}' of component '{port.component.name}' is "
                    "connected already"
                )
        connection = _ConnectionConst(upstream_port, downstream_port)
        ends = (upstream_port, downstream_port), (downstream_port, upstream_port)
        with self._errors("cannot connect component ports within graph"):
            for port, other in ends:
                made = self._made.get(port.component.name)
                if made is not None:
                    made.port_connected(port.name, other.name)
        self._connections.append(
            Connection(
                upstream_port.component.name,
                downstream_port.component.name,
                upstream_port.name,
                downstream_port.name,
            )
        )
        for port, _ in ends:
            port._connection = connection
            self._after_connection(port.component)
        return connection

    def _after_connection(self, component: _ComponentConst) -> None:
        with self._errors("cannot connect component ports within graph"):
            if component.name in self._made:
                self._look_at_ports(component)
            elif all(port.is_connected for port in component._inputs.values()):
                known = registry.find(component.cls._full_name)
                if known is not None and known.has_many_inputs:
                    self._tell_ports(component, [f"in{len(component._inputs)}"], [])

    def add_port_added_listener(self, listener: Callable[[Any, Any], object]) -> None:
        """Add what is called with component and port when a port is added.

        Args:
            listener: It.

        Raises:
            TypeError: It cannot be called.
        """
        if not callable(listener):
            raise TypeError("'listener' parameter is not callable")
        self._listeners.append(listener)

    def add_interrupter(self, interrupter: Interrupter) -> None:
        """Add what asks it to stop.

        Args:
            interrupter: It.
        """
        check_type(interrupter, Interrupter)
        self._interrupters.append(interrupter)

    @property
    def default_interrupter(self) -> Interrupter:
        """What asks it to stop from the beginning."""
        return self._default_interrupter

    def run(self) -> None:
        """Run until all sinks have ended.

        Raises:
            TryAgain: A component has nothing now, or somebody asks to stop.
            _Error: A component fails.
        """
        running = self._started()
        while running:
            for step in [*running]:
                self._step(step, "graph object stopped running")

    def run_once(self) -> None:
        """Let the next sink do a part of what there is to do.

        Raises:
            Stop: All sinks have ended.
            TryAgain: A component has nothing now, or somebody asks to stop.
            _Error: A component fails.
        """
        running = self._started()
        if not running:
            raise Stop
        step = running[0]
        more = self._step(step, "graph object could not run once")
        if step in running:
            running.append(running.pop(0))
        if more is False and not running:
            raise Stop

    def _step(self, step: Callable[[], bool | None], message: str) -> bool | None:
        if self._interruption.is_set:
            raise TryAgain(message)
        if self._error is not None:
            raise self._error
        try:
            with self._errors(message):
                more = step()
        except _Error as error:
            # What has failed once fails again.
            self._error = error
            raise
        if more is False and self._running is not None:
            self._running.remove(step)
        if more is None:
            raise TryAgain(message)
        return more

    def _started(self) -> list[Callable[[], bool | None]]:
        if self._running is None:
            made: Mapping[str, Any] = {
                name: _ConnectedComponent(one, self._components[name])
                for name, one in self._made.items()
            }
            with self._errors("cannot run graph"):
                graphs = lower(
                    Plan(self._specs, self._connections),
                    self._classes,
                    self._resources,
                    **DAMAGE_IS_AN_ERROR,
                    made=made,
                    interruption=self._interruption,
                )
            self._running = [_step_of(graph) for graph in graphs]
        return self._running

    def _errors(self, message: str) -> _Errors:
        return _Errors(message, self._components)

    def __del__(self) -> None:
        resources = getattr(self, "_resources", None)
        if resources is not None:
            resources.close()


def _step_of(graph: Any) -> Callable[[], bool | None]:
    """Return what does a part of what a graph has to do."""
    if isinstance(graph, LaneGraph):

        def lane_step() -> bool | None:
            more = graph._step()
            if more is False:
                graph._finish()
            return more

        return lane_step
    steps = graph.steps()
    return lambda: next(steps, graph) is not graph


class _Errors:
    # Turns what components raise into errors with causes.

    def __init__(self, message: str, components: Mapping[str, _ComponentConst]) -> None:
        self._message = message
        self._components = components

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or isinstance(error, _Error | StopIteration | TryAgain):
            return
        if isinstance(error, GraphInterruption):
            raise TryAgain(self._message) from error
        if isinstance(error, Exception):
            raise _Error(self._message, self._causes(error)) from error

    def _causes(self, error: Exception) -> list[_ErrorCause]:
        if not isinstance(error, ComponentError):
            text = (
                str(error)
                if isinstance(error, VestigeError)
                else "".join(traceback.format_exception(error))
            )
            if _UNCONNECTED.search(text):
                # The words for which scripts look.
                words = 'Single input port is not connected: port-name="in"'
                return [_ErrorCause(words), _ErrorCause(text)]
            return [_ErrorCause(text)]
        cause = error.__cause__ or error
        if isinstance(cause, _Error):
            return [*cause, _ErrorCause(str(error))]
        component = self._components.get(error.component)
        kind = "sink" if component is None else kind_of(component.cls) or "sink"
        name = "" if component is None else component.cls.__name__
        text = "".join(traceback.format_exception(cause))
        return [
            _ComponentErrorCause(
                text, KIND_NUMBERS[kind], name, component_name=error.component
            ),
            _ErrorCause(str(error)),
        ]
