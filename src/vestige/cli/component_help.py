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
    from ..compat.bt2.plugins.descriptions import description_of

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
        classes = [*plugin.classes_of(kind)]
        if classes:
            yield f"  {kind.capitalize()} component classes:"
        for one in classes:
            description = description_of(one)
            more = f": {description}" if description else ""
            yield f"    '{kind}.{plugin.name}.{one.__name__}'{more}"


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
    if known is None:
        return None
    made = None if others is None else others.user_class(known.name)
    return [*_class_lines(known), *_help_lines(made)]


def _help_lines(made: type | None) -> Iterator[str]:
    """Yield what a class in Python says of itself besides its description."""
    if made is None:
        return
    from ..compat.bt2.plugins.descriptions import help_of

    text = help_of(made)
    if text:
        yield ""
        yield from text.split("\n")


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
