"""Which sources of plugins the paths of a command line are read with.

As Babeltrace 2 does it: each component class is asked whether an input is one for it,
as a string, then as a file or a directory; directories that nobody wants are searched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError, VestigeError
from .component_words import ComponentWords, Value

if TYPE_CHECKING:
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
    search = _Search(registry)
    found: dict[object, list[_Input]] = {}
    for path in paths:
        before = sum(map(len, found.values()))
        for input_ in search.inputs(path):
            found.setdefault(input_.key, []).append(input_)
        if sum(map(len, found.values())) == before:
            print(
                f"vestige: warning: No trace was found based on input `{path.path}`.",
                file=sys.stderr,
            )
    return [_source_of(inputs) for inputs in found.values()]


class _Input(NamedTuple):
    # Something that a class reads, and the path in which it was found.
    class_name: str
    group: str | None
    text: str
    path: PathWords

    @property
    def key(self) -> object:
        """What inputs of one component have in common."""
        alone = self.text if self.group is None else None
        return (self.class_name, self.group, alone)


class _Search:
    # Asks the classes of sources.

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        names = [one for one in registry.names if one.startswith("source.")]
        # Those of plugins come first: what somebody has put there is wanted.
        self._names = sorted(names, key=lambda one: registry.user_class(one) is None)

    def inputs(self, path: PathWords) -> Iterator[_Input]:
        """Return what there is in a path."""
        found = self._best(path, path.path, "string")
        if found is not None:
            yield found
        elif os.path.exists(path.path):  # noqa: PTH110 - the path is text
            yield from self._below(path, os.path.abspath(path.path))  # noqa: PTH100

    def _below(self, path: PathWords, text: str) -> Iterator[_Input]:
        is_directory = os.path.isdir(text)  # noqa: PTH112 - the path is text
        found = self._best(path, text, "directory" if is_directory else "file")
        if found is not None:
            yield found
        elif is_directory:
            for name in sorted(os.listdir(text)):  # noqa: PTH208 - the path is text
                yield from self._below(path, os.path.join(text, name))  # noqa: PTH118

    def _best(self, path: PathWords, text: str, kind: str) -> _Input | None:
        best, most = None, 0.0
        for name in self._names:
            weight, group = self._support(name, text, kind)
            if weight > most:
                best, most = _Input(name, group, text, path), weight
        return best

    def _support(self, name: str, text: str, kind: str) -> tuple[float, str | None]:
        """Return how well a class can read something, and what goes together."""
        params = {"input": text, "type": kind}
        try:
            answer = self._registry.query(name, "babeltrace.support-info", params)
        except GraphError as error:
            if error.__cause__ is not None:
                raise
            return 0.0, None
        except VestigeError:
            return 0.0, None
        if isinstance(answer, dict):
            group = answer.get("group")
            return float(answer.get("weight", 0)), None if group is None else str(group)
        return float(answer), None


def _source_of(inputs: Sequence[_Input]) -> ComponentWords:
    source = ComponentWords(inputs[0].class_name, inputs[0].class_name)
    for path in {id(one.path): one.path for one in inputs}.values():
        for params in path.params:
            source.add_params(params)
        if path.log_level is not None:
            source.add_log_level(path.log_level)
    source.add_values(Value.of("inputs", [one.text for one in inputs]))
    return source
