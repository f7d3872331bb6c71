"""What is wrong with a plan, said before anything is read."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .component_class import ComponentClass, ComponentClasses, Parameter
    from .plan import ComponentSpec, Connection, Plan

__all__ = ["check_component", "check_params", "check_plan"]


def check_plan(plan: Plan, classes: ComponentClasses) -> None:
    """Refuse a plan that cannot run.

    Args:
        plan: The plan.
        classes: The component classes that there are.

    Raises:
        GraphError: A class is unknown; a parameter is, or has a value of another type;
            or a component is not connected, or to itself through others. The message
            names component and port.
    """
    kinds: dict[str, str] = {}
    for spec in plan.components:
        if spec.name in kinds:
            raise GraphError(f"there are two components called '{spec.name}'")
        kinds[spec.name] = check_component(spec, classes).kind
    _check_connections(plan, kinds)
    for name, kind in kinds.items():
        _check_is_connected(plan, name, kind)
    _check_loops(plan)


def check_component(spec: ComponentSpec, classes: ComponentClasses) -> ComponentClass:
    """Refuse a component of an unknown class, or with wrong parameters.

    Args:
        spec: The component.
        classes: The component classes that there are.

    Returns:
        Its class.

    Raises:
        GraphError: There is no such class, or it takes no such parameters.
    """
    known = classes.find(spec.class_name)
    if known is None:
        raise GraphError(
            f"component '{spec.name}': there is no class '{spec.class_name}'"
        )
    if not known.takes_anything:
        check_params(_whose(spec), known.parameters, spec.params)
    if known.check is not None:
        known.check(spec)
    return known


def _whose(spec: ComponentSpec) -> str:
    if spec.name == spec.class_name:
        return spec.class_name
    return f"component '{spec.name}' ({spec.class_name})"


def check_params(
    whose: str, known: Mapping[str, Parameter], params: Mapping[str, object]
) -> None:
    """Refuse unknown parameters, values of other types, and what is missing.

    Args:
        whose: Who has the parameters, for errors.
        known: The parameters that there are.
        params: The values.

    Raises:
        GraphError: They are not right.
    """
    for name, value in params.items():
        if name not in known:
            there = ", ".join(known)
            choices = f"it has {there}" if there else "it has none"
            raise GraphError(f"{whose} has no parameter '{name}'; {choices}")
        _check_value(f"{whose}: the parameter '{name}'", known[name], value)
    for name, parameter in known.items():
        if parameter.is_required and name not in params:
            raise GraphError(f"{whose}: the parameter '{name}' is missing")


def _check_value(what: str, parameter: Parameter, value: object) -> None:
    if not parameter.type.takes(value):
        raise GraphError(f"{what} is {parameter.type.description}, not {value!r}")
    if parameter.choices and value not in parameter.choices:
        expected = ", ".join(parameter.choices)
        raise GraphError(f"{what} is one of {expected}, not '{value}'")


def _check_connections(plan: Plan, kinds: Mapping[str, str]) -> None:
    seen: set[Connection] = set()
    for connection in plan.connections:
        for name in (connection.upstream, connection.downstream):
            if name not in kinds:
                raise GraphError(
                    f"connection '{connection}': there is no component '{name}'"
                )
        if kinds[connection.upstream] == "sink":
            raise GraphError(
                f"connection '{connection}': the sink '{connection.upstream}' has no "
                "output port"
            )
        if kinds[connection.downstream] == "source":
            raise GraphError(
                f"connection '{connection}': the source '{connection.downstream}' has "
                "no input port"
            )
        if connection in seen:
            raise GraphError(f"connection '{connection}' is given twice")
        seen.add(connection)


def _check_is_connected(plan: Plan, name: str, kind: str) -> None:
    ends = []
    if kind != "source":
        ends.append(("input", {one.downstream for one in plan.connections}))
    if kind != "sink":
        ends.append(("output", {one.upstream for one in plan.connections}))
    for which, connected in ends:
        if name not in connected:
            raise GraphError(
                f"component '{name}': its {which} port is connected to nothing"
            )


def _check_loops(plan: Plan) -> None:
    """Refuse a connection that leads back to where it comes from."""
    below: dict[str, list[Connection]] = {}
    for connection in plan.connections:
        below.setdefault(connection.upstream, []).append(connection)
    for first in below:
        for connection in _reached(first, below):
            if connection.downstream == first:
                raise GraphError(
                    f"connection '{connection}' closes a loop: what comes out of "
                    f"'{first}' goes into it again"
                )


def _reached(first: str, below: Mapping[str, list[Connection]]) -> Iterator[Connection]:
    """Iterate over all connections below a component, each once."""
    seen = {first}
    names = [first]
    while names:
        for connection in below.get(names.pop(), ()):
            yield connection
            if connection.downstream not in seen:
                seen.add(connection.downstream)
                names.append(connection.downstream)
