"""The option ``--percentiles``: which percentiles of durations are shown."""

from __future__ import annotations

import argparse
import re

from ..errors import CommandError
from .exit_statuses import WRONG_USAGE

__all__ = ["USUAL", "add_percentiles_argument", "take_percentiles"]

USUAL = (50.0, 90.0, 99.0, 99.9)
"""Those of the option without a value, percent."""
MOST = 12
"""More columns help nobody."""
_LIST = re.compile(r"[\d.]+(,[\d.]+)*", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}(\.\d{1,6})?", re.ASCII)
_WHOLE = 100


def add_percentiles_argument(parser: argparse._ActionsContainer) -> None:
    """Add the option.

    Args:
        parser: Where to.
    """
    parser.add_argument(
        "--percentiles",
        metavar="P[,P]...",
        nargs="?",
        const="",
        help="show how long the shorter P percent of the calls took at most; of "
        f"complete calls (default: {','.join(f'{one:g}' for one in USUAL)})",
    )


def take_percentiles(options: argparse.Namespace) -> tuple[float, ...]:
    """Return the percentiles that a command line asks for.

    Args:
        options: The parsed command line. If the word after the option was meant as the
            trace, it goes there.

    Returns:
        Percent; none if they were not asked for.

    Raises:
        CommandError: One of them is none.
    """
    text = options.percentiles
    if text is None:
        return ()
    if text and not _LIST.fullmatch(text):
        options.paths.append(text)
        text = ""
    if not text:
        return USUAL
    words = text.split(",")
    numbers = [float(word) for word in words if _NUMBER.fullmatch(word)]
    if len(numbers) != len(words) or max(numbers) > _WHOLE or len(words) > MOST:
        raise CommandError(
            f"--percentiles={text}: expected up to {MOST} numbers from 0 to 100, such "
            "as 50,90,99.9",
            exit_code=WRONG_USAGE,
        )
    return tuple(dict.fromkeys(numbers))
