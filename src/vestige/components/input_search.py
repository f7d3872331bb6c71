"""Which sources inputs are for, as their classes tell.

As Babeltrace 2 does it: each component class is asked whether an input is one for it,
as a string, then as a file or a directory; directories that nobody wants are searched.
"""

from __future__ import annotations

import os

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError, VestigeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .registry import Registry

__all__ = ["FoundInput", "InputSearch"]


class FoundInput(NamedTuple):
    """Something that a class reads."""

    class_name: str
    """Name of the class."""
    group: str | None
    """What it has in common with others that one component reads, or ``None``."""
    text: str
    """What the component gets."""

    @property
    def key(self) -> object:
        """What inputs of one component have in common."""
        alone = self.text if self.group is None else None
        return (self.class_name, self.group, alone)


class InputSearch:
    """Asks the classes of sources.

    Args:
        registry: The component classes that there are.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        names = [one for one in registry.names if one.startswith("source.")]
        # Those of plugins come first: what somebody has put there is wanted.
        self._names = sorted(names, key=lambda one: registry.user_class(one) is None)

    def inputs(self, text: str) -> Iterator[FoundInput]:
        """Find what there is in an input.

        Args:
            text: A path, or anything else that a class knows.

        Yields:
            What there is.

        Raises:
            GraphError: A class raises an exception when it is asked: its cause.
        """
        found = self._best(text, "string")
        if found is not None:
            yield found
        elif os.path.exists(text):  # noqa: PTH110 - the path is text
            yield from self._below(os.path.abspath(text))  # noqa: PTH100

    def _below(self, text: str) -> Iterator[FoundInput]:
        is_directory = os.path.isdir(text)  # noqa: PTH112 - the path is text
        found = self._best(text, "directory" if is_directory else "file")
        if found is not None:
            yield found
        elif is_directory:
            for name in sorted(os.listdir(text)):  # noqa: PTH208 - the path is text
                yield from self._below(os.path.join(text, name))  # noqa: PTH118

    def _best(self, text: str, kind: str) -> FoundInput | None:
        best, most = None, 0.0
        for name in self._names:
            weight, group = self._support(name, text, kind)
            if weight > most:
                best, most = FoundInput(name, group, text), weight
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
