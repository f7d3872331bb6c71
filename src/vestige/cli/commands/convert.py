"""``vestige convert``: the text of ``babeltrace2 convert``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..._typing import TYPE_CHECKING
from ..damage_output import add_strict_argument, print_damage
from ..debug_info_arguments import add_debug_info_arguments
from ..exit_statuses import LIKE_BABELTRACE
from ..explicit_components import SOURCE, add_component_arguments, components
from ..general_options import add_general_arguments
from ..selection_arguments import (
    TIME_FORMATS,
    add_selection_arguments,
    select,
    time_bounds,
)
from ..text_arguments import (
    add_text_arguments,
    terminal_supports_color,
    text_options,
)

if TYPE_CHECKING:
    from ...components.sinks.text_pretty import TextOptions
    from ...graph import Graph, Sink

__all__ = ["ConvertCommand"]

LARGEST_OFFSET_BITS = 63
"""Bits of a clock offset besides its sign."""


class ConvertCommand:
    """Prints traces as Babeltrace 2 does."""

    name = "convert"
    description = (
        "Merge all CTF traces in or below each PATH by time and print their events. "
        "Options and output are those of 'babeltrace2 convert' 2.0; "
        "docs/differences.md lists where the output is better."
    )
    examples = (
        """\
examples:
  vestige convert ~/lttng-traces/my-session
  vestige convert --clock-date --clock-gmt --names=all TRACE
  vestige convert --debug-info --debug-info-dir=/srv/debug:/usr/lib/debug TRACE
  vestige convert -o dummy TRACE        decode only, to check or to measure
  vestige convert --begin=17:48:17.5 --end=17:48:18 TRACE
  vestige convert --timerange='[2026-11-21 08:00,2026-11-21 09:30]' TRACE
  vestige convert --params='trace-name="before", clock-class-offset-ns=-5' TRACE
  vestige convert -c source.ctf.fs -p 'inputs=["TRACE"]' -c sink.utils.dummy

"""
        + TIME_FORMATS
    )
    exit_statuses = LIKE_BABELTRACE

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths", metavar="PATH", nargs="*", help="a trace directory"
        )
        parser.add_argument(
            "-i", "--input-format", choices=("ctf",), help="input format"
        )
        parser.add_argument(
            "-o",
            "--output-format",
            choices=("text", "dummy"),
            default="text",
            help="print text (the default), or only decode (dummy)",
        )
        parser.add_argument(
            "-w", "--output", metavar="FILE", help="write the text to FILE"
        )
        parser.add_argument(
            "--clock-offset",
            metavar="SECONDS",
            type=_integer,
            default=0,
            help="add SECONDS to all clocks",
        )
        parser.add_argument(
            "--clock-offset-ns",
            metavar="NS",
            type=_integer,
            default=0,
            help="add NS nanoseconds to all clocks",
        )
        parser.add_argument(
            "--clock-force-correlate",
            action="store_true",
            help="treat all clocks as counting from the Unix epoch",
        )
        parser.add_argument(
            "--debug-info",
            action="store_true",
            help="add the object, function and source line to each event",
        )
        add_strict_argument(parser)
        add_selection_arguments(parser, like_babeltrace=True, with_gmt=False)
        add_component_arguments(parser)
        add_text_arguments(parser)
        add_debug_info_arguments(parser)
        add_general_arguments(parser)
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Print the traces; return 1 when any of them is damaged."""
        from ...graph import Graph
        from ..source_arguments import (
            apply_components,
            debug_info_filters,
            open_sources,
        )

        named = components(options)
        if not options.paths and not any(part.name == SOURCE for part in named):
            options.usage_error("the following arguments are required: PATH")
        changes = apply_components(options, named)
        bounds = time_bounds(options)
        text = text_options(
            options, to_standard_output=options.output is None, like_babeltrace=True
        )
        text = text._replace(**changes)
        sources = open_sources(options, named)
        filters = debug_info_filters(options, named, sources)
        selection = select(options, sources, bounds)
        with open_sink(options, text) as sink:
            graph = Graph(sources, sink, filters, selection, strict=options.strict)
            status = run_graph(graph)
        if terminal_supports_color():
            # Babeltrace 2 leaves any terminal that shows colours with a reset.
            sys.stdout.write("\x1b[0m")
        return status


def _integer(text: str) -> int:
    """Read an integer that the core can hold: 64 bits."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no integer") from None
    if value.bit_length() > LARGEST_OFFSET_BITS:
        raise argparse.ArgumentTypeError(f"{text} does not fit 64 bits")
    return value


@contextmanager
def open_sink(options: argparse.Namespace, text: TextOptions) -> Iterator[Sink]:
    """Open the sink that a command line asks for.

    Args:
        options: The parsed command line.
        text: What lines of text look like.

    Yields:
        The sink.
    """
    from ...components.sinks.dummy import DummySink
    from ...components.sinks.text_pretty import TextPrettySink

    if options.output_format == "dummy":
        yield DummySink()
        return
    if options.output is None:
        sys.stdout.flush()
        yield TextPrettySink(text)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    descriptor = os.open(options.output, flags, 0o666)
    try:
        yield TextPrettySink(text, descriptor=descriptor)
    finally:
        os.close(descriptor)


def run_graph(graph: Graph) -> int:
    """Run a graph and report the damage it met.

    Args:
        graph: The graph.

    Returns:
        The exit status.

    Raises:
        GraphError: The times of its data streams cannot be compared.
        TraceFormatError: There is damage, and it is to be strict.
    """
    from ...graph import check_correlation

    check_correlation(stream for source in graph.sources for stream in source.streams)
    damage = graph.run()
    print_damage(damage)
    return 1 if damage else 0
