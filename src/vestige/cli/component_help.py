"""Component classes and plugins, described for people."""

from __future__ import annotations

from collections.abc import Iterator

from .._typing import TYPE_CHECKING
from ..components.registry import PLUGINS, Registry, full_class_name

if TYPE_CHECKING:
    from ..graph.component_class import ComponentClass, Parameter

__all__ = ["describe", "plugin_list"]


def plugin_list() -> Iterator[str]:
    """Yield the lines that list all component classes."""
    registry = Registry()
    yield f"{len(registry.names)} component classes in {len(PLUGINS)} plugins."
    for plugin in PLUGINS:
        yield ""
        yield from _plugin_lines(registry, plugin)


def describe(text: str) -> list[str] | None:
    """Describe a component class or a plugin.

    Args:
        text: The name of a class, such as ``source.ctf.fs``, or of a plugin.

    Returns:
        The lines; ``None`` when there is neither of that name.
    """
    registry = Registry()
    if text in PLUGINS:
        return [*_plugin_lines(registry, text)]
    known = registry.find(full_class_name(text) or "")
    return None if known is None else [*_class_lines(known)]


def _plugin_lines(registry: Registry, plugin: str) -> Iterator[str]:
    yield f"{plugin}:"
    yield f"  Description: {PLUGINS[plugin]}"
    for name in registry.names:
        known = registry.find(name)
        if known is not None and known.plugin == plugin:
            yield f"  {name}: {known.description}"


def _class_lines(known: ComponentClass) -> Iterator[str]:
    yield f"{known.name}:"
    yield f"  Description: {known.description}"
    yield f"  Input ports: {known.input_ports}"
    yield f"  Output ports: {known.output_ports}"
    if known.parameters:
        yield "  Parameters:"
    for name, parameter in known.parameters.items():
        yield f"    {_parameter(name, parameter)}"
    for question, parameters in known.queries.items():
        yield f"  Object {question}:"
        for name, parameter in parameters.items():
            yield f"    {_parameter(name, parameter)}"


def _parameter(name: str, parameter: Parameter) -> str:
    kind = parameter.type.description
    if parameter.choices:
        kind = f"one of {', '.join(parameter.choices)}"
    return f"{name}: {kind}{' (required)' if parameter.is_required else ''}"
