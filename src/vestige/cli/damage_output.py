"""Damage on the command line: the option ``--strict``, and lines on standard error."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from ..damage import Damage
from ..plain_text import plain

__all__ = ["add_strict_argument", "print_damage"]

LINES_PER_FILE = 20
"""How many damages of one file get a line of their own."""


def add_strict_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option to a parser."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="stop at the first damage; by default, continue after it",
    )
    # Others overlook what we report.
    parser.add_argument(
        "--overlook",
        metavar="KIND",
        action="append",
        default=[],
        help=argparse.SUPPRESS,
    )
    parser.add_argument("--literal", action="store_true", help=argparse.SUPPRESS)


def print_damage(damage: Sequence[Damage]) -> None:
    """Print damage on standard error, a line each; a flood is summed up by file."""
    counts: Counter[str] = Counter()
    for found in damage:
        counts[found.path] += 1
        if counts[found.path] <= LINES_PER_FILE:
            print(f"vestige: error: {plain(str(found))}", file=sys.stderr)
    for path, count in counts.items():
        rest = count - LINES_PER_FILE
        if rest > 0:
            print(
                f"vestige: error: {plain(path)}: damaged in {rest} more "
                f"place{'' if rest == 1 else 's'}; 'vestige check --json' lists them",
                file=sys.stderr,
            )
