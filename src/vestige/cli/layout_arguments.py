"""The options that choose how ``vestige view`` lays events out."""

from __future__ import annotations

import argparse

from ..errors import CommandError
from .terminal import add_wide_argument

__all__ = ["BABELTRACE", "SHORT", "add_layout_arguments", "layout_of"]

SHORT, BABELTRACE = "short", "babeltrace"
"""The layouts."""


def add_layout_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a layout.

    Args:
        parser: Where to.
    """
    parser.add_argument(
        "--layout",
        choices=(SHORT, BABELTRACE),
        help=f"{SHORT}: one short line for each event (the default); {BABELTRACE}: all "
        "events and fields, as babeltrace2 shows them (-f and -n imply it)",
    )
    add_wide_argument(parser)


def layout_of(options: argparse.Namespace) -> str:
    """Return the layout that a command line asks for.

    Args:
        options: The parsed command line.

    Raises:
        CommandError: Its options are for different layouts.
    """
    parts = [
        name
        for name, value in (("--fields", options.fields), ("--names", options.names))
        if value is not None
    ]
    if options.layout == SHORT and parts:
        raise CommandError(
            f"{parts[0]} is for --layout={BABELTRACE}, not for {SHORT}", exit_code=2
        )
    return options.layout or (BABELTRACE if parts else SHORT)
