"""Component classes of a graph: those in Python that are in no plugin, and others."""

from __future__ import annotations

from typing import Any

from ....graph.component_class import ComponentClass
from ....graph.plan import ComponentSpec
from ..plugins.component_classes import registry

__all__ = ["OwnClasses"]


class OwnClasses:
    """The component classes that a graph can name."""

    def __init__(self) -> None:
        self._own: dict[str, ComponentClass] = {}

    def add(self, kind: str) -> str:
        """Add a class in Python.

        Args:
            kind: Its kind.

        Returns:
            What a plan calls it.
        """
        name = f"{kind}.user.{len(self._own)}"
        self._own[name] = ComponentClass(
            name, "", {}, lane="messages", takes_anything=True
        )
        return name

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name.
        """
        return self._own.get(name) or registry.find(name)

    def make(self, spec: ComponentSpec, *arguments: Any) -> Any:
        """Make a component that is not in Python.

        Args:
            spec: What is wanted.
            arguments: What its kind needs.
        """
        return registry.make(spec, *arguments)
