"""``vestige help``: the help of the whole command, a verb, or a component class."""

from __future__ import annotations

import argparse

from ..exit_statuses import PLAIN, READ
from ..plugins import FoundPlugins, add_plugin_arguments

__all__ = ["HelpCommand"]


class HelpCommand:
    """Prints what ``--help`` prints, or describes components."""

    name = "help"
    description = (
        "Describe Vestige, one of its commands and all options of it, or a component "
        "class and its parameters."
    )
    examples = """\
examples:
  vestige help
  vestige help view                 the same as vestige view --help
  vestige help source.ctf.fs        a component class
  vestige help ctf                  the component classes of a plugin
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "command",
            metavar="COMMAND",
            nargs="?",
            help="the command, component class or plugin to describe",
        )
        add_plugin_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Print the help."""
        from ..verbs import VERBS, load_commands

        if options.command is not None and options.command not in VERBS:
            from ..component_help import describe

            lines = describe(options.command, FoundPlugins(options))
            if lines is not None:
                print("\n".join(lines))
                return READ
        # Both import the verbs.
        from ..parser import build_parser, check_words

        words = [] if options.command is None else [options.command]
        parser = build_parser(load_commands([*words, "--help"]))
        check_words(parser, words)
        parser.parse_args([*words, "--help"])
        return READ
