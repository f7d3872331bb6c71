"""Plugins in files: ``bt_plugin_NAME.py``, which register component classes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

__all__ = [
    "PluginFile",
    "installed_plugins",
    "load_plugins",
    "plugin_component_class",
    "plugins_in_path",
    "register_plugin",
]

PREFIX = "bt_plugin_"
"""How the name of such a file begins."""
ENTRY_POINTS = "vestige.components"
"""The entry points of distributions that bring plugins: modules."""


class PluginFile:
    """A plugin.

    Args:
        name: Its name.
        description: What it is for.
        author: Who made it.
        license: Under which terms it is used.
        version: Major, minor, patch and what stands behind them.
    """

    def __init__(
        self,
        name: str,
        description: str | None = None,
        author: str | None = None,
        license: str | None = None,  # noqa: A002 - Babeltrace's
        version: Sequence[Any] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.author = author
        self.license = license
        self.version = version
        self.path = ""
        """The file."""
        self.classes: list[type] = []
        """Its component classes."""

    def classes_of(self, kind: str) -> Iterator[type]:
        """Return its component classes of a kind.

        Args:
            kind: ``source``, ``filter`` or ``sink``.
        """
        return (one for one in self.classes if one._bt_kind == kind)  # type: ignore[attr-defined]

    @property
    def version_text(self) -> str | None:
        """The version as it is shown."""
        if self.version is None:
            return None
        numbers, *rest = [self.version[:3], *self.version[3:]]
        return ".".join(map(str, numbers)) + "".join(map(str, rest))


def register_plugin(  # noqa: PLR0913, PLR0917 - all that a plugin has
    module_name: str,
    name: str,
    description: str | None = None,
    author: str | None = None,
    license: str | None = None,  # noqa: A002 - Babeltrace's
    version: Sequence[Any] | None = None,
) -> None:
    """Say of a module that it is a plugin.

    Args:
        module_name: The name of the module.
        name: The name of the plugin.
        description: What it is for.
        author: Who made it.
        license: Under which terms it is used.
        version: Major, minor, patch and what stands behind them.
    """
    module = sys.modules[module_name]
    module._bt_plugin_info = PluginFile(name, description, author, license, version)  # type: ignore[attr-defined]


def plugin_component_class(component_class: Any) -> Any:
    """Say of a component class that it is in the plugin of its module.

    Args:
        component_class: The class.
    """
    if not getattr(component_class, "_bt_kind", ""):
        raise TypeError("component class is not a subclass of a user component class")
    component_class._bt_plugin_component_class = None
    return component_class


class Failure(NamedTuple):
    """A file that cannot be loaded."""

    path: str
    """The file."""
    text: str
    """What it raised."""


def load_plugins(
    folders: Iterable[str], failures: list[Failure] | None = None
) -> list[PluginFile]:
    """Load the plugins in some folders; the first of a name counts.

    ``bt2`` must be this module while that is done.

    Args:
        folders: The folders.
        failures: Gets the files that cannot be loaded.
    """
    return _loaded(_files(folders), failures)


def plugins_in_path(
    path: str, *, recurse: bool, failures: list[Failure]
) -> list[PluginFile]:
    """Load the plugin of a file, or those in a folder.

    Args:
        path: The file or the folder.
        recurse: Whether folders in the folder count.
        failures: Gets the files that cannot be loaded.
    """
    if Path(path).is_file():
        name = Path(path).name
        is_plugin = name.startswith(PREFIX) and name.endswith(".py")
        return _loaded([path] if is_plugin else [], failures)
    folders = sorted(folder for folder, _, _ in os.walk(path)) if recurse else [path]
    return load_plugins(folders, failures)


def _loaded(paths: Iterable[str], failures: list[Failure] | None) -> list[PluginFile]:
    found: dict[str, PluginFile] = {}
    for path in paths:
        try:
            plugin = _load(path)
        except (Exception, SystemExit):  # noqa: BLE001 - whatever others' modules raise
            if failures is not None:
                failures.append(Failure(path, traceback.format_exc()))
            continue
        if plugin is not None:
            found.setdefault(plugin.name, plugin)
    return [*found.values()]


def installed_plugins(failures: list[Failure] | None = None) -> list[PluginFile]:
    """Load the plugins that distributions bring.

    Args:
        failures: Gets the modules that cannot be loaded.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - it takes long

    found = []
    for point in entry_points(group=ENTRY_POINTS):
        _stand_in()
        try:
            plugin = _plugin_of(point.load())
        except (Exception, SystemExit):  # noqa: BLE001 - as above
            if failures is not None:
                failures.append(Failure(point.value, traceback.format_exc()))
            continue
        if plugin is not None:
            found.append(plugin)
    return found


def _files(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - the path is text
        except OSError:
            continue
        for name in names:
            if name.startswith(PREFIX) and name.endswith(".py"):
                yield f"{folder.rstrip('/')}/{name}"


def _stand_in() -> None:
    """Be the module that plugins import as ``bt2``, from now on."""
    from .... import compat  # noqa: PLC0415 - it imports this

    sys.modules["bt2"] = import_module(f"{compat.__name__}.bt2")


def _load(path: str) -> PluginFile | None:
    _stand_in()
    name = Path(path).stem
    module = ModuleType(name)
    module.__file__ = path
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        code = compile(Path(path).read_bytes(), path, "exec")
        exec(code, module.__dict__)  # noqa: S102 - that is what a plugin is for
    finally:
        if before is not None:
            sys.modules[name] = before
    return _plugin_of(module)


def _plugin_of(module: ModuleType) -> PluginFile | None:
    """Return what a module has registered."""
    plugin: PluginFile | None = getattr(module, "_bt_plugin_info", None)
    if plugin is None:
        return None
    plugin.path = module.__file__ or ""
    plugin.classes = [
        one
        for one in vars(module).values()
        if isinstance(one, type) and "_bt_plugin_component_class" in vars(one)
    ]
    return plugin
