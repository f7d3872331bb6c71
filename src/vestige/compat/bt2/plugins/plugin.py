"""Plugins: component classes of one purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...._version import __version__ as vestige_version
from ....components.registry import PLUGINS
from ..checks import check_bool, check_str
from ..errors import _Error, _ErrorCause
from .component_classes import component_class, registry
from .files import Failure, PluginFile, plugins_in_path

__all__ = ["find_plugin", "find_plugins", "find_plugins_in_path"]

_NUMBERS = 3
"""How many numbers a version has."""


class _PluginVersion:
    """A version.

    Args:
        text: The version as text.
        extra: What comes after its numbers.
    """

    def __init__(self, text: str, extra: str | None = None) -> None:
        numbers = [int(part) for part in text.split(".")[:3] if part.isdecimal()]
        self._numbers = (*numbers, 0, 0, 0)[:3]
        self._extra = extra

    @property
    def major(self) -> int:
        """The first number."""
        return self._numbers[0]

    @property
    def minor(self) -> int:
        """The second number."""
        return self._numbers[1]

    @property
    def patch(self) -> int:
        """The third number."""
        return self._numbers[2]

    @property
    def extra(self) -> str | None:
        """What comes after, or ``None``."""
        return self._extra

    def __str__(self) -> str:
        return ".".join(map(str, self._numbers)) + (self._extra or "")


class _PluginComponentClasses(Mapping[str, Any]):
    """The component classes of a kind in a plugin, by their names.

    Args:
        prefix: What their names begin with.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getitem__(self, name: str) -> Any:
        check_str(name)
        full_name = self._prefix + name
        if full_name not in registry.names:
            raise KeyError(name)
        return component_class(full_name)

    def __iter__(self) -> Iterator[str]:
        for name in registry.names:
            if name.startswith(self._prefix):
                yield name.removeprefix(self._prefix)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Plugin:
    """A plugin.

    Args:
        name: Its name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def addr(self) -> int:
        """A number of its own."""
        return hash(self._name)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def author(self) -> str | None:
        """Who made it: not told."""
        return None

    @property
    def license(self) -> str | None:
        """Its license: not told."""
        return None

    @property
    def description(self) -> str | None:
        """What it is for."""
        return PLUGINS.get(self._name)

    @property
    def path(self) -> str | None:
        """Its file: it is built in."""
        return None

    @property
    def version(self) -> _PluginVersion | None:
        """Its version."""
        return _PluginVersion(vestige_version)

    @property
    def source_component_classes(self) -> Mapping[str, Any]:
        """Its source component classes, by their names."""
        return _PluginComponentClasses(f"source.{self._name}.")

    @property
    def filter_component_classes(self) -> Mapping[str, Any]:
        """Its filter component classes, by their names."""
        return _PluginComponentClasses(f"filter.{self._name}.")

    @property
    def sink_component_classes(self) -> Mapping[str, Any]:
        """Its sink component classes, by their names."""
        return _PluginComponentClasses(f"sink.{self._name}.")


class _FilePlugin(_Plugin):
    """A plugin in Python that was asked for by its path.

    Args:
        file: What was loaded.
    """

    def __init__(self, file: PluginFile) -> None:
        super().__init__(file.name)
        self._file = file

    @property
    def author(self) -> str | None:
        """Who made it."""
        return self._file.author

    @property
    def license(self) -> str | None:
        """Its license."""
        return self._file.license

    @property
    def description(self) -> str | None:
        """What it is for."""
        return self._file.description

    @property
    def path(self) -> str | None:
        """Its file."""
        return self._file.path

    @property
    def version(self) -> _PluginVersion | None:
        """Its version."""
        version = self._file.version
        if version is None:
            return None
        extra = str(version[3]) if len(version) > _NUMBERS else None
        return _PluginVersion(".".join(map(str, version[:_NUMBERS])), extra)

    @property
    def source_component_classes(self) -> Mapping[str, Any]:
        """Its source component classes, by their names."""
        return self._classes("source")

    @property
    def filter_component_classes(self) -> Mapping[str, Any]:
        """Its filter component classes, by their names."""
        return self._classes("filter")

    @property
    def sink_component_classes(self) -> Mapping[str, Any]:
        """Its sink component classes, by their names."""
        return self._classes("sink")

    def _classes(self, kind: str) -> Mapping[str, Any]:
        return {one.__name__: one for one in self._file.classes_of(kind)}


class _PluginSet(Sequence[Any]):
    """Plugins.

    Args:
        plugins: The plugins.
    """

    def __init__(self, plugins: Sequence[_Plugin]) -> None:
        self._plugins = plugins

    def __getitem__(self, index: Any) -> Any:
        return self._plugins[index]

    def __len__(self) -> int:
        return len(self._plugins)


def find_plugins(
    *,
    find_in_std_env_var: bool = True,
    find_in_user_dir: bool = True,
    find_in_sys_dir: bool = True,
    find_in_static: bool = True,
    fail_on_load_error: bool = False,
) -> _PluginSet | None:
    """Return the plugins that there are.

    Args:
        find_in_std_env_var: Whether to look in ``BABELTRACE_PLUGIN_PATH``.
        find_in_user_dir: Of no effect.
        find_in_sys_dir: Of no effect.
        find_in_static: Of no effect: what is built in is always there.
        fail_on_load_error: Of no effect.
    """
    for flag in (
        find_in_std_env_var,
        find_in_user_dir,
        find_in_sys_dir,
        find_in_static,
        fail_on_load_error,
    ):
        check_bool(flag)
    names = dict.fromkeys(name.split(".")[1] for name in registry.names)
    return _PluginSet([_Plugin(name) for name in names]) if names else None


def find_plugins_in_path(
    path: str, recurse: bool = True, fail_on_load_error: bool = False
) -> _PluginSet | None:
    """Load the plugin of a file or those in a folder; ``None`` if there is none.

    Args:
        path: A file ``bt_plugin_NAME.py``, or a folder.
        recurse: Whether folders in the folder count.
        fail_on_load_error: Whether a file that cannot be loaded is an error.

    Raises:
        ValueError: The path is neither.
        _Error: A file cannot be loaded, and that is an error.
    """
    check_str(path)
    check_bool(recurse)
    check_bool(fail_on_load_error)
    if not Path(path).exists():
        raise ValueError(f"invalid path: '{path}'")
    failures: list[Failure] = []
    found = plugins_in_path(path, recurse=recurse, failures=failures)
    if failures and fail_on_load_error:
        causes = [_ErrorCause(f"{one.path}: {one.text}") for one in failures]
        raise _Error("failed to find plugins", causes)
    return _PluginSet([*map(_FilePlugin, found)]) if found else None


def find_plugin(  # noqa: PLR0913 - as bt2 has it
    name: str,
    *,
    find_in_std_env_var: bool = True,
    find_in_user_dir: bool = True,
    find_in_sys_dir: bool = True,
    find_in_static: bool = True,
    fail_on_load_error: bool = False,
) -> _Plugin | None:
    """Return the plugin of a name, or ``None``.

    Args:
        name: The name.
        find_in_std_env_var: Whether to look in ``BABELTRACE_PLUGIN_PATH``.
        find_in_user_dir: Of no effect.
        find_in_sys_dir: Of no effect.
        find_in_static: Of no effect: what is built in is always there.
        fail_on_load_error: Of no effect.
    """
    check_str(name)
    plugins = find_plugins(
        find_in_std_env_var=find_in_std_env_var,
        find_in_user_dir=find_in_user_dir,
        find_in_sys_dir=find_in_sys_dir,
        find_in_static=find_in_static,
        fail_on_load_error=fail_on_load_error,
    )
    return next((one for one in plugins or () if one.name == name), None)
