"""Options that record functions of programs that were not compiled for it."""

from __future__ import annotations

import argparse

from .durations import seconds

__all__ = ["add_patch_arguments"]


def add_patch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options.

    Args:
        parser: Where to; ``patch`` becomes a list of patterns, of which an empty one
            takes all, or ``None``.
    """
    parser.add_argument(
        "-P",
        "--patch",
        metavar="PATTERN",
        nargs="?",
        const="",
        action="append",
        help="record calls of functions without hooks, too, by rewriting their entries "
        "in memory: those whose names match, or all; of PROGRAM and of its libraries "
        "outside of the system's directories (repeatable)",
    )
    parser.add_argument(
        "--library-calls",
        metavar="[LIBRARY:]PATTERN",
        nargs="?",
        const="",
        action="append",
        help="record calls that PROGRAM, and its libraries outside of the system's "
        "directories, make to functions of other libraries: those whose names match, "
        "or all (repeatable)",
    )
    parser.add_argument(
        "--patch-in",
        metavar="LIBRARY",
        action="append",
        default=[],
        help="with --patch: also those of a library in the system's directories, by "
        "its file name (repeatable)",
    )
    parser.add_argument(
        "--patch-wait",
        metavar="TIME",
        type=seconds,
        default=0.2,
        help="with --patch: for how long a program that another one executes waits "
        "until it has been planned, and an object that is loaded later (default: "
        "200ms); without a plan, its calls are not recorded",
    )
    parser.add_argument(
        "--entries",
        action="store_true",
        help="record when functions are called, and not when they end: half the cost",
    )
    parser.add_argument(
        "--probe",
        metavar="[OBJECT:]FUNCTION(VALUE,...)",
        action="append",
        default=[],
        help="record calls of a function of PROGRAM or of any library as "
        "vestige_probe:FUNCTION, with values: names of parameters, places with types "
        "such as rdi:ptr, and $return as vestige_probe:FUNCTION_return (repeatable)",
    )
