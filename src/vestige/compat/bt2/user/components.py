"""The base classes of components that somebody writes in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..traces import builders
from .iterators import _UserMessageIterator

__all__: list[str] = []

KINDS = ("source", "filter", "sink")


class _UserPort:
    """A port of a component.

    Args:
        name: Its name.
        user_data: What its component has to do with it.
    """

    def __init__(self, name: str, user_data: Any) -> None:
        self._name = name
        self._user_data = user_data
        self.is_connected = False
        """Whether it is connected."""

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def user_data(self) -> Any:
        """What its component has given it."""
        return self._user_data

    @property
    def addr(self) -> int:
        """A number of its own."""
        return id(self)


class _UserComponentOutputPort(_UserPort):
    """An output port."""


class _UserComponentInputPort(_UserPort):
    """An input port."""

    def __init__(self, name: str, user_data: Any, component: str) -> None:
        super().__init__(name, user_data)
        self.component = component
        """The name of its component."""
        self.flow: Any = None
        """What begins to give what comes in."""
        self.objects: Any = None
        """What makes the objects of its streams."""


class _Ports(Mapping[str, Any]):
    # The ports of one direction of a component, by their names.

    def __init__(self) -> None:
        self._ports: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self._ports[name]

    def __len__(self) -> int:
        return len(self._ports)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def add(self, port: _UserPort) -> Any:
        if port.name in self._ports:
            raise ValueError(f"there is a port '{port.name}' already")
        self._ports[port.name] = port
        return port


class _Facts:
    # What a component is told of itself before it is made.

    def __init__(
        self, name: str, log_level: int, interruption: Any, objects: Any
    ) -> None:
        self.name = name
        self.log_level = log_level
        self.interruption = interruption
        self.objects = objects
        self.inputs = _Ports()
        self.outputs = _Ports()


class _ComponentConfiguration:
    """What a component says of itself: nothing yet."""


class _UserComponentType(type):
    # A component class has the name of its class, unless it says another one.

    @property
    def name(cls) -> str:
        return str(cls.__dict__.get("_bt_name") or cls.__name__)


class _UserComponent(metaclass=_UserComponentType):
    """Any component."""

    _bt_kind = ""
    _bt_iterator_class: Any = None
    _bt_name: str | None = None
    _facts: _Facts

    def __init_subclass__(cls, name: str | None = None, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls._bt_name = name

    def __init__(self, config: Any, params: Any, obj: Any) -> None:
        """Do nothing: whoever wants to, replaces it."""

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._facts.name

    @property
    def logging_level(self) -> int:
        """How much it is to say."""
        return self._facts.log_level

    @property
    def addr(self) -> int:
        """A number of its own."""
        return id(self)

    @property
    def cls(self) -> type:
        """Its class."""
        return type(self)

    @property
    def _graph_mip_version(self) -> int:
        return 0

    @classmethod
    def _user_get_supported_mip_versions(
        cls, params: Any, obj: Any, log_level: int
    ) -> Any:
        return [0]

    @classmethod
    def _user_query(cls, executor: Any, obj: str, params: Any, method_obj: Any) -> Any:
        from ..errors import UnknownObject  # noqa: PLC0415 - few are asked

        raise UnknownObject

    def _user_finalize(self) -> None:
        """Do nothing, as above."""

    def _user_port_connected(self, port: Any, other_port: Any) -> None:
        """Do nothing, as above."""

    def _create_trace_class(
        self,
        user_attributes: Any = None,
        assigns_automatic_stream_class_id: bool = True,
    ) -> Any:
        return builders._TraceClass(
            user_attributes,
            assigns_automatic_stream_class_id=assigns_automatic_stream_class_id,
        )

    def _create_clock_class(  # noqa: PLR0913, PLR0917 - all that a clock has
        self,
        frequency: int | None = None,
        name: str | None = None,
        user_attributes: Any = None,
        description: str | None = None,
        precision: int | None = None,
        offset: Any = None,
        origin_is_unix_epoch: bool = True,
        uuid: Any = None,
    ) -> Any:
        return builders._ClockClass(
            frequency=frequency,
            name=name,
            user_attributes=user_attributes,
            description=description,
            precision=precision,
            offset=offset,
            origin_is_unix_epoch=origin_is_unix_epoch,
            uuid=uuid,
        )


class _GivesMessages(_UserComponent):
    # A component with output ports and a class of iterators.

    def __init_subclass__(
        cls, message_iterator_class: Any = None, **named: Any
    ) -> None:
        super().__init_subclass__(**named)
        if message_iterator_class is not None:
            if not issubclass(message_iterator_class, _UserMessageIterator):
                raise TypeError(
                    f"cannot create component class '{cls.__name__}': message iterator "
                    "class does not inherit bt2._UserMessageIterator"
                )
            cls._bt_iterator_class = message_iterator_class

    @property
    def _output_ports(self) -> _Ports:
        return self._facts.outputs

    def _add_output_port(self, name: str, user_data: Any = None) -> Any:
        return self._facts.outputs.add(_UserComponentOutputPort(str(name), user_data))


class _TakesMessages(_UserComponent):
    # A component with input ports.

    @property
    def _input_ports(self) -> _Ports:
        return self._facts.inputs

    def _add_input_port(self, name: str, user_data: Any = None) -> Any:
        port = _UserComponentInputPort(str(name), user_data, self.name)
        port.objects = self._facts.objects
        return self._facts.inputs.add(port)


class _UserSourceComponent(_GivesMessages):
    """A component that makes messages."""

    _bt_kind = "source"


class _UserFilterComponent(_GivesMessages, _TakesMessages):
    """A component that takes messages and gives messages."""

    _bt_kind = "filter"


class _UserSinkComponent(_TakesMessages):
    """A component that takes messages."""

    _bt_kind = "sink"

    def _user_graph_is_configured(self) -> None:
        """Do nothing: whoever wants to, replaces it."""

    def _user_consume(self) -> None:
        raise NotImplementedError

    def _create_message_iterator(self, input_port: Any) -> Any:
        from .iterators import upstream_iterator  # noqa: PLC0415 - when it runs

        return upstream_iterator(input_port)
