"""``vestige help``: the help of the whole command, or of a verb."""

from __future__ import annotations

import argparse

from ..exit_statuses import PLAIN, READ

__all__ = ["HelpCommand"]


class HelpCommand:
    """Prints what ``--help`` prints."""

    name = "help"
    description = "Describe Vestige, or one of its commands and all options of it."
    examples = """\
examples:
  vestige help
  vestige help view                 the same as vestige view --help
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "command", metavar="COMMAND", nargs="?", help="the command to describe"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Print the help."""
        # Both import the verbs.
        from ..parser import build_parser, check_words
        from . import load_commands

        words = [] if options.command is None else [options.command]
        parser = build_parser(load_commands([*words, "--help"]))
        check_words(parser, words)
        parser.parse_args([*words, "--help"])
        return READ
