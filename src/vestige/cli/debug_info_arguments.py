"""The options that say where debug information is, and what is shown of it."""

from __future__ import annotations

import argparse
import os
import sys

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from ..plain_text import plain

if TYPE_CHECKING:
    from ..debuginfo import DebugInfoOptions

__all__ = [
    "add_debug_file_arguments",
    "add_debug_info_arguments",
    "debug_file_options",
    "debug_info_options",
]


def add_debug_info_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("debug information")
    add_debug_file_arguments(group)
    group.add_argument(
        "--debug-info-field-name",
        metavar="NAME",
        default="debug_info",
        help="call the field with bin, func and src NAME (default: debug_info)",
    )
    group.add_argument(
        "--debug-info-full-path",
        action="store_true",
        help="show full paths of objects and source files",
    )


def add_debug_file_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options that say where debug files are, and how functions are named."""
    group.add_argument(
        "--debug-info-dir",
        metavar="DIR[:DIR]...",
        help="look for separate debug files in these directories "
        "(default: $VESTIGE_DEBUG_PATH, or else /usr/lib/debug)",
    )
    group.add_argument(
        "--debug-info-target-prefix",
        metavar="[OLD=]DIR",
        action="append",
        help="look in DIR for files of the traced machine, or for those in its "
        "directory OLD (repeatable)",
    )
    group.add_argument(
        "--debuginfod",
        action="store_true",
        help="download missing debug files from the servers in $DEBUGINFOD_URLS",
    )
    group.add_argument(
        "--no-demangle",
        action="store_true",
        help="show function names as linker symbols",
    )


def debug_info_options(options: argparse.Namespace) -> DebugInfoOptions:
    """Return the options of the filter.

    Raises:
        CommandError: A target prefix is malformed.
    """
    return debug_file_options(options)._replace(
        field_name=options.debug_info_field_name,
        full_path=options.debug_info_full_path,
    )


def debug_file_options(options: argparse.Namespace) -> DebugInfoOptions:
    """Return the options that say where debug files are, and how functions are named.

    Raises:
        CommandError: A target prefix is malformed.
    """
    # The package is imported when it is asked for: most of what a command line reads is
    # text without it, and the import costs as much as all others together.
    from ..debuginfo import (
        DebugInfoOptions,
        TargetPrefix,
        split_path_list,
    )

    directories = options.debug_info_dir
    prefixes = options.debug_info_target_prefix or ()
    try:
        target_prefixes = tuple(TargetPrefix.parse(text) for text in prefixes)
    except ValueError as error:
        message = f"--debug-info-target-prefix: {error}"
        raise CommandError(message, exit_code=2) from None
    if options.debuginfod and not os.environ.get("DEBUGINFOD_URLS", "").split():
        _print_notice("warning: --debuginfod: DEBUGINFOD_URLS names no server")
    return DebugInfoOptions(
        debug_directories=None if directories is None else split_path_list(directories),
        target_prefixes=target_prefixes,
        debuginfod=options.debuginfod,
        demangle=not options.no_demangle,
        notice=_print_notice,
    )


def _print_notice(text: str) -> None:
    print(f"vestige: {plain(text)}", file=sys.stderr, flush=True)
