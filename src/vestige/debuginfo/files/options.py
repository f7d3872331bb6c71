"""What a user says about where debug information is, and how it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..._typing import NamedTuple

__all__ = [
    "DEBUG_DIRECTORIES",
    "DEBUG_PATH_VARIABLE",
    "DebugInfoOptions",
    "split_path_list",
]

DEBUG_DIRECTORIES = (Path("/usr/lib/debug"),)
"""The global debug directories that are searched by default."""

DEBUG_PATH_VARIABLE = "VESTIGE_DEBUG_PATH"
"""The environment variable that names other debug directories, joined by colons."""


class DebugInfoOptions(NamedTuple):
    """Where debug information is looked for, and how it is shown."""

    debug_directories: tuple[Path, ...] | None = None
    """Directories of separate debug files, in the order of the search.

    By default those that the environment variable ``VESTIGE_DEBUG_PATH`` names, joined
    by colons, else ``/usr/lib/debug``.
    """

    field_name: str = "debug_info"
    """Name of the structure that the filter adds to events."""

    full_path: bool = False
    """Whether ``bin`` and ``src`` show whole paths."""

    target_prefixes: tuple[tuple[str, Path], ...] = ()
    """Where directories of the traced machine are found on this one.

    Pairs such as ``("/app", Path("/srv/build"))``; ``"/"`` for its root directory. All
    that fit an object are tried, in order. An object that none fits is looked for at
    the path it had.
    """

    debuginfod: bool = False
    """Whether the servers in ``DEBUGINFOD_URLS`` are asked for what is not here."""

    demangle: bool = True
    """Whether functions have their readable names instead of the linker's."""

    notice: Callable[[str], None] | None = None
    """Called with a sentence for each download."""

    def directories(self) -> tuple[Path, ...]:
        """Return the debug directories that are searched.

        Returns:
            Those of the options, else those of the environment, else the default.
        """
        if self.debug_directories is not None:
            return tuple(self.debug_directories)
        return split_path_list(os.environ.get(DEBUG_PATH_VARIABLE)) or DEBUG_DIRECTORIES


def split_path_list(text: str | None) -> tuple[Path, ...]:
    """Split directories that are joined by colons, as in ``PATH``.

    Args:
        text: The directories, if any; empty ones are left out.

    Returns:
        The directories in order.
    """
    return tuple(Path(part) for part in (text or "").split(":") if part)
