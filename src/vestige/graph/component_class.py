"""What a plan may name: component classes, with what each takes and has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .._typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from typing import Any, Literal

    from .plan import ComponentSpec

__all__ = [
    "ARRAY_OF_STRINGS",
    "BOOLEAN",
    "INTEGER",
    "STRING",
    "TIME",
    "ComponentClass",
    "ComponentClasses",
    "Parameter",
]


class ParameterType(NamedTuple):
    """Which values a parameter can have."""

    description: str
    """What it is called in errors."""
    types: tuple[type, ...]
    """The Python types of its values."""

    def takes(self, value: object) -> bool:
        """Tell whether a value is one of the type.

        Args:
            value: The value.
        """
        if isinstance(value, bool):  # which Python takes for an integer
            return bool in self.types
        if isinstance(value, list):
            strings = all(isinstance(element, str) for element in value)
            return list in self.types and bool(value) and strings
        return isinstance(value, self.types)


BOOLEAN = ParameterType("a boolean", (bool,))
INTEGER = ParameterType("an integer", (int,))
STRING = ParameterType("a string", (str,))
ARRAY_OF_STRINGS = ParameterType("an array of strings", (list,))
TIME = ParameterType("a string or an integer", (str, int))


class Parameter(NamedTuple):
    """A parameter of a component class."""

    type: ParameterType
    """Which values it can have."""
    choices: tuple[str, ...] = ()
    """The strings that it can be; any when empty."""
    is_required: bool = False
    """Whether a component needs it."""


class ComponentClass(NamedTuple):
    """A class of components, known before what it takes to run one is imported."""

    name: str
    """Its name, such as ``filter.utils.trimmer``."""
    description: str
    """What its components do, in a line."""
    parameters: Mapping[str, Parameter]
    """Its parameters, by their names."""
    lane: Literal["batches", "messages"] = "batches"
    """Whether its components take and give batches, or one message at a time."""
    is_pushed_down: bool = False
    """Whether its components choose what is read of data streams, and do no more."""
    has_many_inputs: bool = False
    """Whether there is always another input port: ``in0``, ``in1`` and so on."""
    check: Callable[[ComponentSpec], None] | None = None
    """Refuses values of parameters that no component can have."""
    queries: Mapping[str, Mapping[str, Parameter]] = {}
    """What it answers without a component: the parameters of each question."""

    @property
    def kind(self) -> str:
        """What it is: ``source``, ``filter`` or ``sink``."""
        return self.name.partition(".")[0]

    @property
    def plugin(self) -> str:
        """The name of the plugin that it is in."""
        return self.name.split(".")[1]

    @property
    def input_ports(self) -> str:
        """The names of its input ports, in words."""
        if self.kind == "source":
            return "none"
        return "in0, in1 and so on" if self.has_many_inputs else "in"

    @property
    def output_ports(self) -> str:
        """The names of its output ports, in words."""
        ports = {"source": "one for each data stream", "filter": "out"}
        return ports.get(self.kind, "none")


class ComponentClasses(Protocol):
    """Where component classes are looked up."""

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """

    def make(self, spec: ComponentSpec, *arguments: Any) -> Any:
        """Make a component.

        Args:
            spec: What is wanted.
            arguments: What its kind needs besides.
        """
