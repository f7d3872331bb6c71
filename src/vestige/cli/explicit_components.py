"""Components that a command line names: ``--component`` and ``--params``.

Only the component classes that ``vestige convert`` knows can be named, each with the
parameters that Babeltrace 2 documents for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..errors import CommandError

if TYPE_CHECKING:
    from typing import Any

    from .params import ParamValue

__all__ = [
    "COMPONENT_CLASSES",
    "DEBUG_INFO",
    "Component",
    "add_component_arguments",
    "components",
]

STRINGS = "an array of strings"
"""Kind of the parameter ``inputs``."""
TIME = "a string or an integer"
"""Kind of the parameters ``begin`` and ``end``."""
KINDS: dict[str, tuple[type, ...]] = {
    "a boolean": (bool,),
    "an integer": (int,),
    "a string": (str,),
    STRINGS: (list,),
    TIME: (str, int),
}
"""The Python types of each kind of parameter."""

TEXT_SWITCHES = (
    "no-delta",
    "clock-cycles",
    "clock-date",
    "clock-gmt",
    "clock-seconds",
    "verbose",
    "name-payload",
    "name-context",
    "name-header",
    "name-scope",
    "field-trace",
    "field-trace:hostname",
    "field-trace:domain",
    "field-trace:procname",
    "field-trace:vpid",
    "field-loglevel",
    "field-emf",
    "field-callsite",
)
"""Parameters of ``sink.text.pretty`` that are booleans."""

DEBUG_INFO = "filter.lttng-utils.debug-info"
"""The class of filters that add a field."""

COMPONENT_CLASSES: dict[str, dict[str, str]] = {
    "source.ctf.fs": {
        "inputs": STRINGS,
        "clock-class-offset-s": "an integer",
        "clock-class-offset-ns": "an integer",
        "force-clock-class-origin-unix-epoch": "a boolean",
        "trace-name": "a string",
    },
    "filter.utils.muxer": {},
    "filter.utils.trimmer": {"begin": TIME, "end": TIME, "gmt": "a boolean"},
    DEBUG_INFO: {
        "debug-info-dir": "a string",
        "debug-info-field-name": "a string",
        "full-path": "a boolean",
        "target-prefix": "a string",
    },
    "sink.text.pretty": {
        "path": "a string",
        "color": "a string",
        "name-default": "a string",
        "field-default": "a string",
        **dict.fromkeys(TEXT_SWITCHES, "a boolean"),
    },
    "sink.utils.dummy": {},
}
"""The parameters of each component class that can be named, with their kinds."""

SOURCE = "source.ctf.fs"
"""The only class of sources."""

SHORT_TYPES = {"src": "source", "flt": "filter"}
"""Other names of the types of component classes."""


class Component:
    """A component that the command line names.

    Args:
        name: Its component class, as ``source.ctf.fs``.
        implicit: Whether it is the source of the paths of the command line.
    """

    def __init__(self, name: str, *, implicit: bool = False) -> None:
        self.name = name
        self.implicit = implicit
        self.params: dict[str, ParamValue] = {}
        """Its parameters."""

    def get(self, param: str, default: Any = None) -> Any:
        """Return the value of a parameter."""
        return self.params.get(param, default)


class InOrder(argparse.Action):
    """Keeps an option and its value in one list with others, in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Add to the list."""
        del parser, option_string
        found = getattr(namespace, "named_components", None) or []
        namespace.named_components = [*found, (self.dest, str(values))]


def add_component_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("components")
    group.add_argument(
        "-c",
        "--component",
        metavar="[NAME:]CLASS",
        action=InOrder,
        help=f"use a component: {', '.join(COMPONENT_CLASSES)}",
    )
    group.add_argument(
        "-p",
        "--params",
        metavar="NAME=VALUE[,...]",
        action=InOrder,
        help="parameters of the last --component; before any, of the source of PATH",
    )


def components(options: argparse.Namespace) -> list[Component]:
    """Return the components that a command line names.

    Parameters that stand before any component are those of the source of its paths,
    which then is the first one of the list.

    Args:
        options: The parsed command line.

    Raises:
        CommandError: It names an unknown class, or a parameter that the class has not.
    """
    found: list[Component] = []
    for option, value in getattr(options, "named_components", None) or []:
        if option == "component":
            found.append(Component(component_class(value)))
            continue
        if not found:
            found.append(Component(SOURCE, implicit=True))
        from .params import parse_params

        found[-1].params.update(parse_params(value))
    for component in found:
        _check(component)
    return found


def component_class(text: str) -> str:
    """Return the class that ``[NAME:]TYPE.PLUGIN.CLASS`` names.

    Args:
        text: The argument of ``--component``.

    Raises:
        CommandError: It is no class that can be named.
    """
    kind, _, rest = text.rpartition(":")[2].partition(".")
    name = f"{SHORT_TYPES.get(kind, kind)}.{rest}".replace("'", "")
    if name not in COMPONENT_CLASSES:
        known = ", ".join(COMPONENT_CLASSES)
        raise CommandError(
            f"--component: unknown class '{text}'; expected {known}", exit_code=2
        )
    return name


def _check(component: Component) -> None:
    known = COMPONENT_CLASSES[component.name]
    for name, value in component.params.items():
        if name not in known:
            choices = f"it has {', '.join(known)}" if known else "it has none"
            raise CommandError(
                f"{component.name} has no parameter '{name}'; {choices}", exit_code=2
            )
        if not _fits(value, known[name]):
            raise CommandError(
                f"{component.name}: the parameter '{name}' is {known[name]}, "
                f"not {value!r}",
                exit_code=2,
            )


def _fits(value: ParamValue, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "a boolean"
    if isinstance(value, list):
        strings = all(isinstance(element, str) for element in value)
        return kind == STRINGS and bool(value) and strings
    return isinstance(value, KINDS[kind])
