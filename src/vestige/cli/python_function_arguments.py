"""The options of ``vestige record`` that choose calls of Python functions."""

from __future__ import annotations

import argparse

from .min_duration import nanoseconds

__all__ = ["add_python_arguments"]


def add_python_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options.

    Args:
        parser: Where to.
    """
    parser.add_argument(
        "--python-functions",
        nargs="?",
        choices=("python", "all"),
        const="python",
        help="record the function calls of Python programs: of functions written "
        "in Python (the default), or of all, including those written in C",
    )
    parser.add_argument(
        "--python-arguments",
        action="store_true",
        help="record the arguments of Python functions and what they return, as short "
        "texts; no code of the program runs for them (implies --python-functions)",
    )
    parser.add_argument(
        "--python-gc",
        action="store_true",
        help="record each garbage collection of Python programs",
    )
    parser.add_argument(
        "--only-my-code",
        action="store_true",
        help="of Python functions, leave out those of the standard library, of "
        "installed packages and of frozen modules",
    )
    parser.add_argument(
        "--min-duration",
        metavar="TIME",
        type=nanoseconds,
        help="of Python functions, record no calls shorter than TIME (10us, 1.5ms), "
        "unless something in them is recorded",
    )
    parser.add_argument(
        "--max-depth",
        metavar="N",
        type=int,
        help="of Python functions, record the N outermost calls of those that are open "
        "in a thread",
    )
