"""``vestige convert``: the text of ``babeltrace2 convert``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ...components.filters.debug_info import DebugInfoFilter
from ...components.sinks.dummy import DummySink
from ...components.sinks.text_pretty import TextOptions, TextPrettySink
from ...components.sources.ctf_fs import CtfFsSource
from ...graph import Graph, Sink
from ..debug_info_arguments import add_debug_info_arguments, debug_info_filter
from ..text_arguments import add_text_arguments, text_options

__all__ = ["ConvertCommand"]


class ConvertCommand:
    """Prints traces as Babeltrace 2 does."""

    name = "convert"
    summary = "print traces as 'babeltrace2 convert' does, byte for byte"
    description = (
        "Merge all CTF traces at or below each PATH by time and print their events. "
        "Options and output are those of 'babeltrace2 convert' 2.0; docs/differences.md "
        "lists where the output is better."
    )
    examples = """\
examples:
  vestige convert ~/lttng-traces/my-session
  vestige convert --clock-date --clock-gmt --names=all TRACE
  vestige convert --debug-info --debug-info-dir=/srv/debug:/usr/lib/debug TRACE
  vestige convert -o dummy TRACE        decode only, to check or to measure
"""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("paths", metavar="PATH", nargs="+", help="a trace directory")
        parser.add_argument(
            "-i", "--input-format", choices=("ctf",), help="format of the input"
        )
        parser.add_argument(
            "-o",
            "--output-format",
            choices=("text", "dummy"),
            default="text",
            help="text, or dummy to decode and print nothing (default: text)",
        )
        parser.add_argument(
            "-w", "--output", metavar="FILE", help="write the text to FILE"
        )
        parser.add_argument(
            "--clock-offset",
            metavar="SECONDS",
            type=int,
            default=0,
            help="add SECONDS to all clocks",
        )
        parser.add_argument(
            "--clock-offset-ns",
            metavar="NS",
            type=int,
            default=0,
            help="add NS nanoseconds to all clocks",
        )
        parser.add_argument(
            "--debug-info",
            action="store_true",
            help="add object, function and source line to events",
        )
        add_text_arguments(parser)
        add_debug_info_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Print the traces; return 1 when any of them is damaged."""
        source = CtfFsSource(
            options.paths,
            clock_offset_seconds=options.clock_offset,
            clock_offset_nanoseconds=options.clock_offset_ns,
        )
        filters = [debug_info_filter(options)] if _wants_debug_info(options) else []
        if options.output_format == "dummy":
            return run_graph(source, DummySink(), filters)
        text = text_options(options, to_standard_output=options.output is None)
        with open_text_sink(text, options.output) as sink:
            return run_graph(source, sink, filters)


def _wants_debug_info(options: argparse.Namespace) -> bool:
    """Any of its options implies the filter, as with Babeltrace 2."""
    return bool(
        options.debug_info
        or options.debug_info_dir
        or options.debug_info_full_path
        or options.debug_info_target_prefix
        or options.debug_info_field_name != "debug_info"
    )


@contextmanager
def open_text_sink(options: TextOptions, path: str | None) -> Iterator[TextPrettySink]:
    """Open the text sink on a file or on standard output.

    Args:
        options: What the lines look like.
        path: The file, or ``None``.

    Yields:
        The sink.
    """
    if path is None:
        sys.stdout.flush()
        yield TextPrettySink(options)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        yield TextPrettySink(options, descriptor=descriptor)
    finally:
        os.close(descriptor)


def run_graph(source: CtfFsSource, sink: Sink, filters: list[DebugInfoFilter]) -> int:
    """Run a graph and report the damage it met.

    Args:
        source: The source.
        sink: The sink.
        filters: The filters.

    Returns:
        The exit status.
    """
    damage = Graph([source], sink, filters).run()
    for error in damage:
        print(f"vestige: error: {error}", file=sys.stderr)
    return 1 if damage else 0
