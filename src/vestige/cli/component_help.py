"""Component classes and plugins, described for people."""

from __future__ import annotations

from collections.abc import Iterator

from .._typing import TYPE_CHECKING
from ..components.registry import PLUGINS, Registry, full_class_name

if TYPE_CHECKING:
    from ..compat.bt2.plugins.files import PluginFile
    from ..graph.component_class import ComponentClass, Parameter
    from .plugins import FoundPlugins

__all__ = ["describe", "plugin_list"]


def plugin_list(others: FoundPlugins | None = None) -> Iterator[str]:
    """Yield the lines that list all component classes.

    Args:
        others: The plugins in Python.
    """
    registry = Registry(plugins=others)
    files = () if others is None else others.files
    count = len(PLUGINS) + len(files)
    names = {*registry.names, *(() if others is None else others.all_names)}
    yield f"{len(names)} component classes in {count} plugins."
    for plugin in PLUGINS:
        yield ""
        yield from _plugin_lines(registry, plugin)
    for file in files:
        yield ""
        yield from _file_lines(file)


def _file_lines(plugin: PluginFile) -> Iterator[str]:
    """Describe a plugin in Python, as Babeltrace 2 does."""
    yield f"{plugin.name}:"
    yield f"  Path: {plugin.path}"
    for what, text in (
        ("Version", plugin.version_text),
        ("Description", plugin.description),
        ("Author", plugin.author),
        ("License", plugin.license),
    ):
        if text is not None:
            yield f"  {what}: {text}"
    for kind in ("source", "filter", "sink"):
        names = [one.__name__ for one in plugin.classes_of(kind)]
        if names:
            yield f"  {kind.capitalize()} component classes:"
        for name in names:
            yield f"    '{kind}.{plugin.name}.{name}'"


def describe(text: str, others: FoundPlugins | None = None) -> list[str] | None:
    """Describe a component class or a plugin.

    Args:
        text: The name of a class, such as ``source.ctf.fs``, or of a plugin.
        others: The plugins in Python.

    Returns:
        The lines; ``None`` when there is neither of that name.
    """
    registry = Registry(plugins=others)
    if text in PLUGINS:
        return [*_plugin_lines(registry, text)]
    known = registry.find(full_class_name(text) or "")
    for file in () if others is None or known is not None else others.files:
        if file.name == text:
            return [*_file_lines(file)]
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
