"""The component classes that a command line can name, those of plugins among them."""

from __future__ import annotations

import argparse
import os
import sys
from functools import cache, cached_property

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from ..plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, ClassVar

    from ..compat.bt2.plugins.files import PluginFile
    from ..compat.bt2.plugins.user_plugins import UserPlugins
    from ..components.registry import Registry
    from ..graph.component_class import ComponentClass
    from ..graph.plan import ComponentSpec

__all__ = ["FoundPlugins", "add_plugin_arguments", "registry_of", "told"]

FOLDERS = "BABELTRACE_PLUGIN_PATH"
"""A variable with folders, separated by colons."""
OF_HOME = ".local/lib/babeltrace2/plugins"
"""The folder of a person, in the home directory."""


def add_plugin_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where plugins are.

    Args:
        parser: The parser.
    """
    group = parser.add_argument_group("plugins")
    group.add_argument(
        "--plugin-path",
        metavar="PATH[:PATH]...",
        action="append",
        help="look for plugins (bt_plugin_*.py) in these folders, then in those of "
        "$BABELTRACE_PLUGIN_PATH and in ~/.local/lib/babeltrace2/plugins",
    )
    group.add_argument(
        "--omit-home-plugin-path",
        action="store_true",
        help="look for none in the home directory",
    )
    group.add_argument(
        "--omit-system-plugin-path",
        action="store_true",
        help="accepted and of no effect: no plugins are in the system's folders",
    )


def registry_of(options: argparse.Namespace) -> Registry:
    """Return the component classes that a command line can name.

    Args:
        options: Its options.
    """
    from ..components.registry import Registry

    return Registry(plugins=FoundPlugins(options))


class FoundPlugins:
    """The plugins that a command line can name, loaded when one is asked for.

    Args:
        options: Its options.
    """

    warns: ClassVar[bool] = True
    """Whether a folder that was asked for and cannot be looked into is told:
    Babeltrace 2 says nothing of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._warn_of_others(options.plugin_path or ())
        given = [*(options.plugin_path or ()), os.environ.get(FOLDERS, "")]
        if not options.omit_home_plugin_path:
            given.append(os.path.expanduser(f"~/{OF_HOME}"))  # noqa: PTH111 - the path is text
        folders = [folder for one in given for folder in one.split(":")]
        self._folders = [one for one in folders if one and os.path.isdir(one)]  # noqa: PTH112
        self._log_level: str = getattr(options, "log_level", None) or "W"

    def _warn_of_others(self, given: Sequence[str]) -> None:
        """Tell which of the paths that were asked for are no folders."""
        if self.warns:
            for path in dict.fromkeys(one for some in given for one in some.split(":")):
                if path and not os.path.isdir(path):  # noqa: PTH112 - as below
                    _warn_of(path, exists=os.path.lexists(path))

    @property
    def names(self) -> Iterator[str]:
        """The names of all classes in the folders."""
        return self._in_folders.names if self._folders else iter(())

    @property
    def files(self) -> Sequence[PluginFile]:
        """All plugins: those in the folders, and those of distributions."""
        found = [*self._in_folders.plugins] if self._folders else []
        return [*found, *self._installed.plugins]

    @property
    def all_names(self) -> list[str]:
        """The names of all classes, those of distributions among them."""
        return [*dict.fromkeys((*self.names, *self._installed.names))]

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        return self._with(name).find(name)

    def user_class(self, name: str) -> type | None:
        """Return the Python class of a name, or ``None``.

        Args:
            name: The name.
        """
        return self._with(name).user_class(name)

    def make(self, spec: ComponentSpec, *arguments: Any) -> Any:
        """Make a component.

        Args:
            spec: What is wanted.
            arguments: What its kind needs.
        """
        return self._with(spec.class_name).make(spec, *arguments)

    def query(self, name: str, question: str, params: Mapping[str, Any]) -> Any:
        """Ask a class.

        Args:
            name: The name of the class.
            question: What is asked.
            params: The parameters of the question.
        """
        return self._with(name).query(name, question, params)

    def _with(self, name: str) -> UserPlugins:
        """Return the plugins that may have a class."""
        if self._folders and self._in_folders.user_class(name) is not None:
            return self._in_folders
        return self._installed

    @cached_property
    def _in_folders(self) -> UserPlugins:
        from ..compat.bt2.plugins.files import Failure, load_plugins

        _find_modules()
        failures: list[Failure] = []
        plugins = load_plugins(self._folders, failures)
        _report(failures)
        return self._of(plugins)

    @cached_property
    def _installed(self) -> UserPlugins:
        """What distributions bring: looked up last, since it takes long."""
        from ..compat.bt2.plugins.files import Failure, installed_plugins

        _find_modules()
        failures: list[Failure] = []
        plugins = installed_plugins(failures)
        _report(failures)
        return self._of(plugins)

    def _of(self, plugins: Sequence[PluginFile]) -> UserPlugins:
        from ..compat.bt2.plugins.user_plugins import UserPlugins
        from .general_options import LOG_LEVELS

        return UserPlugins(plugins, LOG_LEVELS[self._log_level])


@cache
def _warn_of(path: str, *, exists: bool) -> None:
    """Say once that there are no plugins where they are looked for."""
    what = "is no folder" if exists else "does not exist"
    print(f"vestige: warning: --plugin-path: '{plain(path)}' {what}", file=sys.stderr)


def _find_modules() -> None:
    """Let plugins import what other programs can: ours start without it."""
    if sys.flags.no_site:
        import site

        site.main()
    if sys.flags.ignore_environment:
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [one for one in given if one and one not in sys.path]


def _report(failures: Sequence[Any]) -> None:
    for one in failures:
        print(f"vestige: warning: {one.path}: cannot be loaded", file=sys.stderr)
        print(one.text, end="", file=sys.stderr)


def told(error: Exception) -> CommandError:
    """Print what a component raised; return the error that it has caused.

    Args:
        error: The error, whose cause is what was raised.
    """
    import traceback

    sys.stdout.flush()
    if error.__cause__ is not None:
        traceback.print_exception(error.__cause__)
    return CommandError(str(error), exit_code=1)
