"""``vestige demo``: a program recorded on the spot, or the shipped recording."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import CommandError, RecordError
from ..debug_info_arguments import add_debug_info_arguments
from ..exit_statuses import READING
from ..layout_arguments import add_layout_arguments
from ..selection_arguments import AddPatterns
from ..text_arguments import add_text_arguments

__all__ = ["DemoCommand"]

DESCRIPTION = """\
Compile a small C program with a shared library and a plugin, record it, and show its
function calls with their source lines, and where the time went. Without a C compiler,
or with --shipped, show the recording that ships with Vestige.
"""

LIVE_INTRODUCTION = """\
A small shop takes orders: a C program (shop), a shared library (libpricing.so) and a
plugin that it loads while it runs (libdiscount.so). They are compiled and recorded now:
"""

LIVE_NEXT = """\
Each entry and exit of a function is an event. The program was not changed: its compiler
was asked to call hooks, and a small library records them. Try next:

  vestige demo -o DIRECTORY       the same, and keep the program and its trace
  vestige record -- ./your-program
  vestige demo --shipped          a recording by LTTng, of stripped binaries
"""

INTRODUCTION = """\
A small shop took orders while LTTng 2.13 recorded it: a C program (shop), a shared
library (libpricing.so) and a plugin that it loads while it runs (libdiscount.so). The
three binaries are stripped; their debug files were put aside, two of them under their
build IDs and one behind a debug link. Some orders are refused. Follow one and see why:

  time, step, process and thread, event, its fields, and the function and source line
"""

WHAT_NEXT = """\
The binaries hold no names: every function and line above comes from a separate debug
file that was found for the object that was mapped when the event happened. Try next:

  vestige demo --shipped --event 'shop:*' --debug-info-full-path
  vestige view DIRECTORY          a trace of your own, from LTTng, barectf, perf, ...
  vestige convert DIRECTORY       the same text as 'babeltrace2 DIRECTORY'
"""


class DemoCommand:
    """Records a small program and shows it, or shows the shipped recording."""

    name = "demo"
    description = DESCRIPTION
    examples = """\
examples:
  vestige demo
  vestige demo --shipped --event 'shop:*'
"""
    exit_statuses = READING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--shipped",
            action="store_true",
            help="show the recording that ships with Vestige",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="DIR",
            type=Path,
            help="keep the program and its trace in DIR, which must be new or empty",
        )
        parser.add_argument(
            "-e",
            "--event",
            metavar="PATTERN[,PATTERN]...",
            action=AddPatterns,
            default=[],
            help="only events whose name matches PATTERN (repeatable; default: those "
            "of the program itself)",
        )
        parser.add_argument(
            "--no-pager", action="store_true", help="do not use a pager"
        )
        add_layout_arguments(parser)
        add_text_arguments(parser)
        add_debug_info_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Record and show a program, or show the shipped recording."""
        options.no_debug_info = False
        options.strict = False
        if options.shipped:
            return _show_shipped(options)
        with _directory(options.output) as directory:
            try:
                trace = _record(directory)
            except (CommandError, RecordError) as error:
                if options.output is not None:
                    raise
                print(f"vestige: not recorded now: {error}\n", file=sys.stderr)
            else:
                return _show_live(options, trace)
        return _show_shipped(options)


def _show_shipped(options: argparse.Namespace) -> int:
    from ..shipped_demo import shipped_demo
    from .view import view

    print(INTRODUCTION, flush=True)
    patterns = tuple(options.event) or ("[!l]*",)
    with shipped_demo() as demo:
        options.debug_info_dir = options.debug_info_dir or str(demo / "debug")
        options.debug_info_target_prefix = [f"/={demo / 'root'}"]
        status = view(options, [str(demo / "trace")], patterns)
    sys.stderr.flush()
    print("\n" + WHAT_NEXT, end="")
    return status


@contextmanager
def _directory(wanted: Path | None) -> Iterator[Path]:
    """Give a directory for the demo: one to keep, or one that goes away."""
    if wanted is not None:
        yield wanted.absolute()
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="vestige-demo-") as name:
        yield Path(name)


def _record(directory: Path) -> Path:
    """Compile and record the program; return the trace."""
    from ...record import record
    from ..live_demo import compile_demo

    if directory.exists() and any(directory.iterdir()):
        raise CommandError(f"{directory}: expected a new or an empty directory")
    built = compile_demo(directory)
    print(LIVE_INTRODUCTION)
    for line in built.commands:
        print(f"  $ {line}")
    print("  $ vestige record -o trace -- ./shop", flush=True)
    recording = record([str(built.program)], directory / "trace")
    if recording.status or not recording.collected.streams:
        raise CommandError(f"{built.program}: status {recording.status}, not recorded")
    return recording.directory


def _show_live(options: argparse.Namespace, trace: Path) -> int:
    from .report import ReportCommand
    from .view import view

    patterns = tuple(options.event)
    chosen = f"--event '{','.join(patterns)}' " if patterns else ""
    print(f"\n  $ vestige view {chosen}trace", flush=True)
    status = view(options, [str(trace)], patterns, recorder_events=False)
    sys.stderr.flush()
    print("\n  $ vestige report trace", flush=True)
    report = ReportCommand()
    parser = argparse.ArgumentParser()
    report.configure(parser)
    status = max(status, report.run(parser.parse_args([str(trace)])))
    print("\n" + LIVE_NEXT, end="")
    return status
