"""``vestige demo``: the shipped recording, with its source lines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...components.sources.ctf_fs import CtfFsSource
from ...graph import Selection
from ..debug_info_arguments import add_debug_info_arguments
from ..text_arguments import add_text_arguments
from .view import view

__all__ = ["DemoCommand"]

DEMO = Path(__file__).resolve().parents[2] / "demo"
"""Where the package keeps the recording, its binaries and their debug files."""

INTRODUCTION = """\
A small shop took orders while LTTng 2.13 recorded it: a C program (shop), a shared
library (libpricing.so) and a plugin that it loads while it runs (libdiscount.so). The
three binaries are stripped; their debug files were put aside, two of them under their
build IDs and one behind a debug link. Some orders are refused. Follow one and see why:

  bin   the object that was running   func  the function   src  the line of its source
"""

WHAT_NEXT = """\
The binaries hold no names: every func and src above comes from a separate debug file
that was found for the object that was mapped when the event happened. Try next:

  vestige demo --event 'shop:*' --debug-info-full-path
  vestige view DIRECTORY          a trace of your own, from LTTng, barectf, perf, ...
  vestige convert DIRECTORY       the same text as 'babeltrace2 DIRECTORY'
"""


class DemoCommand:
    """Shows the shipped recording."""

    name = "demo"
    summary = "show a small real recording, with its source lines"
    description = INTRODUCTION
    examples = """\
examples:
  vestige demo
  vestige demo --event 'shop:*'
"""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "-e",
            "--event",
            metavar="PATTERN",
            default="[!l]*",
            help="only events with such a name (default: those of the program itself)",
        )
        parser.add_argument("--no-pager", action="store_true", help="use no pager")
        add_text_arguments(parser)
        add_debug_info_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Show the recording."""
        print(INTRODUCTION, flush=True)
        options.no_debug_info = False
        options.strict = False
        options.debug_info_dir = options.debug_info_dir or str(DEMO / "debug")
        options.debug_info_target_prefix = [f"/={DEMO / 'root'}"]
        source = CtfFsSource([DEMO / "trace"])
        patterns = () if options.event is None else (options.event,)
        status = view(options, source, Selection(patterns=patterns))
        sys.stderr.flush()
        print("\n" + WHAT_NEXT, end="")
        return status
