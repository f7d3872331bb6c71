"""What is known of a component class, and where its components are made."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..graph.component_class import ComponentClass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Entry"]


class Entry:
    """A component class, and where one of its components is made.

    Args:
        component_class: What is known of it.
        module: The module, below this package; empty where none is needed.
        function: The function there that makes a component of what is wanted.
        queries: The module and the function that answer each question.
    """

    def __init__(
        self,
        component_class: ComponentClass,
        module: str = "",
        function: str = "",
        queries: Mapping[str, str] | None = None,
    ) -> None:
        self.component_class = component_class
        self.module = module
        self.function = function
        self.queries = queries or {}
