"""What a trace collection message iterator is made of: components to be made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from ....components.input_search import FoundInput, InputSearch
from ..checks import check_str
from ..logging import LoggingLevel, check_log_level
from ..plugins.component_classes import component_class, kind_of, registry
from ..plugins.plugin import find_plugin
from ..values.value import MapValue, create_value
from .plan_messages import failing_as_error

__all__ = ["AutoSourceComponentSpec", "ComponentSpec", "discovered"]


def _params(params: Any) -> Any:
    if isinstance(params, str | os.PathLike):
        params = {"inputs": [os.fspath(params)]}
    return create_value(params)


class ComponentSpec:
    """A component to be made.

    Args:
        component_class: Its class: a source or a filter.
        params: Its parameters, or a path, which is its only input.
        obj: What a component in Python gets besides.
        logging_level: Its log level.

    Raises:
        TypeError: Something is of another type.
    """

    def __init__(
        self,
        component_class: Any,
        params: Any = None,
        obj: Any = None,
        logging_level: int = LoggingLevel.NONE,
    ) -> None:
        if kind_of(component_class) not in {"source", "filter"}:
            raise TypeError(
                f"'{type(component_class).__name__}' is not a source or filter "
                "component class"
            )
        check_log_level(logging_level)
        self._component_class = component_class
        self._params = _params(params)
        self._obj = obj
        self._logging_level = logging_level

    @classmethod
    def from_named_plugin_and_component_class(
        cls,
        plugin_name: str,
        component_class_name: str,
        params: Any = None,
        obj: Any = None,
        logging_level: int = LoggingLevel.NONE,
    ) -> ComponentSpec:
        """Make one of names.

        Args:
            plugin_name: Name of the plugin.
            component_class_name: Name of the source or filter class in it.
            params: As above.
            obj: As above.
            logging_level: As above.

        Raises:
            KeyError: The plugin has no such class.
            TypeError: Something is of another type.
            ValueError: There is no such plugin.
        """
        check_str(plugin_name)
        check_str(component_class_name)
        plugin = find_plugin(plugin_name)
        if plugin is None:
            raise ValueError(f"no such plugin: {plugin_name}")
        for classes in (
            plugin.source_component_classes,
            plugin.filter_component_classes,
        ):
            if component_class_name in classes:
                found = classes[component_class_name]
                return cls(found, params, obj, logging_level)
        raise KeyError(
            f"source or filter component class `{component_class_name}` not found in "
            f"plugin `{plugin_name}`"
        )

    @property
    def component_class(self) -> Any:
        """Its class."""
        return self._component_class

    @property
    def params(self) -> Any:
        """Its parameters, or ``None``."""
        return self._params

    @property
    def obj(self) -> Any:
        """What a component in Python gets besides."""
        return self._obj

    @property
    def logging_level(self) -> int:
        """Its log level."""
        return self._logging_level


class AutoSourceComponentSpec:
    """An input, for which sources are found.

    Args:
        input: The input, such as a path.
        params: Parameters of the sources, besides the inputs.
        obj: What a component in Python gets besides.
        logging_level: Log level of the sources.
    """

    _no_obj: ClassVar[object] = object()

    def __init__(
        self,
        input: str | os.PathLike[str],  # noqa: A002 - as bt2 has it
        params: Any = None,
        obj: Any = _no_obj,
        logging_level: int | None = None,
    ) -> None:
        if logging_level is not None:
            check_log_level(logging_level)
        self._input = input
        self._params = create_value(params)
        self._obj = obj
        self._logging_level = logging_level

    @property
    def input(self) -> str | os.PathLike[str]:
        """The input."""
        return self._input

    @property
    def params(self) -> Any:
        """Parameters of the sources, or ``None``."""
        return self._params

    @property
    def obj(self) -> Any:
        """What a component in Python gets besides."""
        return self._obj

    @property
    def logging_level(self) -> int | None:
        """Log level of the sources, or ``None``."""
        return self._logging_level


def discovered(specs: Sequence[AutoSourceComponentSpec]) -> list[ComponentSpec]:
    """Find sources for inputs.

    Args:
        specs: The inputs.

    Returns:
        The sources.

    Raises:
        RuntimeError: For an input there is none.
        _Error: An input would be a trace, but its metadata cannot be used.
    """
    unused = []
    found: dict[object, tuple[list[FoundInput], list[AutoSourceComponentSpec]]] = {}
    for spec in specs:
        inputs = [*InputSearch(registry).inputs(os.fspath(spec.input))]
        if not inputs:
            _check_metadata(os.fspath(spec.input))
            unused.append(os.fspath(spec.input))
        for one in inputs:
            there, makers = found.setdefault(one.key, ([], []))
            there.append(one)
            if spec not in makers:
                makers.append(spec)
    if unused:
        raise RuntimeError(
            "Some auto source component specs did not produce any component: "
            + ", ".join(unused)
        )
    return [_combined(inputs, makers) for inputs, makers in found.values()]


def _check_metadata(text: str) -> None:
    """Tell what keeps a directory from being a trace, if it has metadata."""
    params = {"input": text, "type": "directory"}
    with failing_as_error("cannot create the components"):
        registry.query("source.ctf.fs", "babeltrace.support-info", params)


def _combined(
    inputs: Sequence[FoundInput], makers: Sequence[AutoSourceComponentSpec]
) -> ComponentSpec:
    params = MapValue()
    level = LoggingLevel.NONE
    obj = None
    for maker in makers:
        params.update(maker.params or {})
        level = level if maker.logging_level is None else maker.logging_level
        obj = obj if maker.obj is AutoSourceComponentSpec._no_obj else maker.obj
    params["inputs"] = [one.text for one in inputs]
    return ComponentSpec(component_class(inputs[0].class_name), params, obj, level)
