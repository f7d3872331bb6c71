"""Which sources of plugins the paths of a command line are read with.

As Babeltrace 2 does it: each component class is asked whether an input is one for it,
as a string, then as a file or a directory; directories that nobody wants are searched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..components.input_search import InputSearch
from ..errors import GraphError
from .component_words import ComponentWords, Value
from .plugins import told

if TYPE_CHECKING:
    from ..components.input_search import FoundInput
    from ..components.registry import Registry
    from .component_words import PathWords

__all__ = ["sources_of_plugins"]


def sources_of_plugins(
    registry: Registry, paths: Sequence[PathWords]
) -> list[ComponentWords]:
    """Return the sources of some paths, with those of plugins among them.

    Args:
        registry: The component classes that there are.
        paths: The paths.

    Raises:
        CommandError: A class raises an exception when it is asked.
    """
    search = InputSearch(registry)
    found: dict[object, list[tuple[FoundInput, PathWords]]] = {}
    for path in paths:
        before = sum(map(len, found.values()))
        try:
            inputs = [*search.inputs(path.path)]
        except GraphError as error:
            raise told(error) from None
        for input_ in inputs:
            found.setdefault(input_.key, []).append((input_, path))
        if sum(map(len, found.values())) == before:
            print(
                f"vestige: warning: No trace was found based on input `{path.path}`.",
                file=sys.stderr,
            )
    return [_source_of(inputs) for inputs in found.values()]


def _source_of(inputs: Sequence[tuple[FoundInput, PathWords]]) -> ComponentWords:
    class_name = inputs[0][0].class_name
    source = ComponentWords(class_name, class_name)
    for path in {id(path): path for _, path in inputs}.values():
        for params in path.params:
            source.add_params(params)
        if path.log_level is not None:
            source.add_log_level(path.log_level)
    source.add_values(Value.of("inputs", [one.text for one, _ in inputs]))
    return source
