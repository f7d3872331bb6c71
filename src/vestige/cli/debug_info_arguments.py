"""The options that say where debug information is, and what is shown of it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..components.filters.debug_info import DebugInfoFilter, DebugInfoOptions

__all__ = ["add_debug_info_arguments", "debug_info_filter"]


def add_debug_info_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("debug information")
    group.add_argument(
        "--debug-info-dir",
        metavar="DIR[:DIR]...",
        help="directories of separate debug files (default: /usr/lib/debug)",
    )
    group.add_argument(
        "--debug-info-field-name",
        metavar="NAME",
        default="debug_info",
        help="name of the structure that holds bin, func and src (default: debug_info)",
    )
    group.add_argument(
        "--debug-info-full-path",
        action="store_true",
        help="show whole paths of objects and sources",
    )
    group.add_argument(
        "--debug-info-target-prefix",
        metavar="DIR",
        help="where the root directory of the traced machine is found here",
    )


def debug_info_options(options: argparse.Namespace) -> DebugInfoOptions:
    """Return the options of the filter."""
    # The filter is imported when it is asked for: most of what a command line reads is
    # text without it, and the import costs as much as all others together.
    from pathlib import Path  # noqa: PLC0415

    from ..components.filters.debug_info import DebugInfoOptions  # noqa: PLC0415

    directories = options.debug_info_dir
    prefix = options.debug_info_target_prefix
    return DebugInfoOptions(
        directories=None
        if directories is None
        else tuple(Path(part) for part in directories.split(":") if part),
        field_name=options.debug_info_field_name,
        full_path=options.debug_info_full_path,
        target_prefix=None if prefix is None else Path(prefix),
    )


def debug_info_filter(options: argparse.Namespace) -> DebugInfoFilter:
    """Return the filter that a command line asks for."""
    from ..components.filters.debug_info import DebugInfoFilter  # noqa: PLC0415

    return DebugInfoFilter(debug_info_options(options))
