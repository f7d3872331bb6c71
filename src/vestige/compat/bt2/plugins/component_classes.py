"""Component classes that are ready to be used: those of plugins."""

from __future__ import annotations

import os
from typing import Any

from ....components.registry import Registry
from ..errors import KIND_NUMBERS

__all__ = ["is_user_class", "kind_of", "registry"]

FOLDERS = "BABELTRACE_PLUGIN_PATH"
"""A variable with folders in which plugins are, separated by colons."""


class _CurrentRegistry:
    # Component classes, with those of plugins in the folders that are named just now.

    def __init__(self) -> None:
        self._folders: str | None = None
        self._registry = Registry()

    def _current(self) -> Registry:
        folders = os.environ.get(FOLDERS, "")
        if folders != self._folders:
            from .files import load_plugins  # noqa: PLC0415 - few have plugins
            from .user_plugins import UserPlugins  # noqa: PLC0415 - as above

            self._folders = folders
            plugins = load_plugins([one for one in folders.split(":") if one])
            self._registry = Registry(plugins=UserPlugins(plugins))
        return self._registry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current(), name)


registry: Any = _CurrentRegistry()
"""Where component classes are looked up."""


class _ComponentClassConst:
    """A component class.

    Args:
        full_name: Its name, such as ``source.ctf.fs``.
    """

    def __init__(self, full_name: str) -> None:
        self._full_name = full_name

    @property
    def name(self) -> str:
        """Its name in its plugin."""
        return self._full_name.rpartition(".")[2]

    @property
    def description(self) -> str | None:
        """What its components do, in a line."""
        found = registry.find(self._full_name)
        return None if found is None else found.description

    @property
    def help(self) -> str | None:
        """What there is to know of it."""
        return self.description

    @property
    def addr(self) -> int:
        """A number of its own."""
        return hash(self._full_name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ComponentClassConst):
            return False
        return self._full_name == other._full_name

    def __hash__(self) -> int:
        return hash(self._full_name)


class _SourceComponentClassConst(_ComponentClassConst):
    """A source component class."""


class _FilterComponentClassConst(_ComponentClassConst):
    """A filter component class."""


class _SinkComponentClassConst(_ComponentClassConst):
    """A sink component class."""


CLASSES: dict[str, type[_ComponentClassConst]] = {
    "source": _SourceComponentClassConst,
    "filter": _FilterComponentClassConst,
    "sink": _SinkComponentClassConst,
}
"""What stands for a component class, by its kind."""


def component_class(full_name: str) -> Any:
    """Return what stands for a component class.

    Args:
        full_name: Its name, such as ``source.ctf.fs``.

    Returns:
        A class in Python itself, if it is one.
    """
    made = registry.user_class(full_name)
    return CLASSES[full_name.partition(".")[0]](full_name) if made is None else made


def is_user_class(one: Any) -> bool:
    """Tell whether something is a component class in Python.

    Args:
        one: Anything.
    """
    return isinstance(one, type) and getattr(one, "_bt_kind", None) in KIND_NUMBERS


def kind_of(one: Any) -> str | None:
    """Return the kind of a component class, or ``None`` for anything else.

    Args:
        one: Anything.
    """
    if isinstance(one, _ComponentClassConst):
        return one._full_name.partition(".")[0]
    if is_user_class(one):
        return str(one._bt_kind)
    return None
