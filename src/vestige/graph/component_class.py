"""What a plan may name: component classes, with what each takes and has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .._typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import Any, Literal

    from .growing import Feed
    from .message_component import Flow
    from .plan import ComponentSpec
    from .protocols import Filter, PortedSource
    from .selection import Selection
    from .stream import Stream

    MakeFilter = Callable[[Sequence[PortedSource], Selection], Filter]
    """Makes a filter of the sources above it and what is read of all of them."""
    Behind = Callable[
        [ComponentSpec, frozenset[str], Mapping[Stream | Feed, Selection]],
        tuple[ComponentSpec, MakeFilter | None],
    ]
    """Splits a component, by names of added fields and what comes in."""

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


class ParameterType:
    """Which values a parameter can have.

    Args:
        description: What it is called in errors.
        types: The Python types of its values.
        least: The least of its integers; ``None`` for any.
    """

    def __init__(
        self, description: str, types: tuple[type, ...], least: int | None = None
    ) -> None:
        self.description = description
        self.types = types
        self.least = least

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
        if self.least is not None and isinstance(value, int) and value < self.least:
            return False
        return isinstance(value, self.types)


BOOLEAN = ParameterType("a boolean", (bool,))
INTEGER = ParameterType("an integer", (int,))
COUNT = ParameterType("an integer of 0 or more", (int,), least=0)
STRING = ParameterType("a string", (str,))
ARRAY_OF_STRINGS = ParameterType("an array of strings", (list,))
TIME = ParameterType("a string or an integer", (str, int))


class Parameter:
    """A parameter of a component class.

    Args:
        type: Which values it can have.
        choices: The strings that it can be; any when empty.
        is_required: Whether a component needs it.
    """

    def __init__(
        self,
        type: ParameterType,  # noqa: A002 - what it is
        choices: tuple[str, ...] = (),
        *,
        is_required: bool = False,
    ) -> None:
        self.type = type
        self.choices = choices
        self.is_required = is_required


class ComponentClass:
    """A class of components, known before what it takes to run one is imported.

    Args:
        name: Its name, such as ``filter.utils.trimmer``.
        description: What its components do, in a line.
        parameters: Its parameters, by their names.
        lane: Whether its components take and give batches, or one message at a time.
        is_pushed_down: Whether its components choose what is read of data streams, and
            do no more.
        has_many_inputs: Whether there is always another input port: ``in0``, ``in1``
            and so on.
        added_field: Tells the name of the field that a component adds to the common
            context of event records.
        behind: Splits a component that is pushed down and stands behind some that add
            fields of some names: what of it can be pushed down nevertheless, and what
            makes a filter of the rest, if any is left.
        output: Name of its one output port, of a source that has not one for each data
            stream.
        check: Refuses values of parameters that no component can have.
        queries: What it answers without a component: the parameters of each question.
        takes_anything: Whether only its components know which parameters they take.
        on_flow: Makes of what comes in what comes out, of a component that is pushed
            down elsewhere, behind one of messages.
    """

    def __init__(  # noqa: PLR0913 - what there is to know of a class
        self,
        name: str,
        description: str,
        parameters: Mapping[str, Parameter],
        *,
        lane: Literal["batches", "messages"] = "batches",
        is_pushed_down: bool = False,
        has_many_inputs: bool = False,
        added_field: Callable[[ComponentSpec], str] | None = None,
        behind: Behind | None = None,
        output: str = "",
        check: Callable[[ComponentSpec], None] | None = None,
        queries: Mapping[str, Mapping[str, Parameter]] | None = None,
        takes_anything: bool = False,
        on_flow: Callable[[ComponentSpec, Flow], Flow] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters
        self.lane = lane
        self.is_pushed_down = is_pushed_down
        self.has_many_inputs = has_many_inputs
        self.added_field = added_field
        self.behind = behind
        self.output = output
        self.check = check
        self.queries = queries or {}
        self.takes_anything = takes_anything
        self.on_flow = on_flow

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
        if self.lane == "messages":
            return "those that a component adds"
        return "in0, in1 and so on" if self.has_many_inputs else "in"

    @property
    def output_ports(self) -> str:
        """The names of its output ports, in words."""
        if self.lane == "messages" and self.kind != "sink":
            return "those that a component adds"
        each = "one for each data stream"
        ports = {"source": self.output or each, "filter": "out"}
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
