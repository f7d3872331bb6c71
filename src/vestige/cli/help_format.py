"""What help looks like: the lines of examples as they are, as wide as the terminal."""

from __future__ import annotations

import argparse
import os
import sys

__all__ = ["HelpFormatter"]

WIDEST = 100
"""Columns of text beyond which lines are hard to read."""


LONGEST_VERB = 12
"""Characters of the longest name of a verb."""


class HelpFormatter(argparse.HelpFormatter):
    """Fills descriptions and keeps the lines of examples.

    The parser makes one for each command line, in case of an error. It would find the
    width with a module whose import takes longer than reading a small trace.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_columns(), WIDEST) - 2)
        # The names of verbs stand further to the right than it reckons.
        self._action_max_length = LONGEST_VERB + 4

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        # Examples and exit statuses are several lines, a description is one.
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "".join(indent + line for line in text.splitlines(keepends=True))


def _columns() -> int:
    # As shutil.get_terminal_size does.
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    try:
        stream = sys.__stdout__
        return 80 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (ValueError, OSError):
        return 80
