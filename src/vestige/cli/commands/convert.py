"""``vestige convert``: the text of ``babeltrace2 convert``."""

from __future__ import annotations

import argparse
import sys

from ..._typing import TYPE_CHECKING
from ...components.sinks.text_colors import terminal_supports_color
from ...plain_text import plain
from ..damage_output import add_strict_argument
from ..debug_info_arguments import add_debug_info_arguments, debug_file_options
from ..exit_statuses import LIKE_BABELTRACE
from ..general_options import add_general_arguments, retry_seconds
from ..plugins import add_plugin_arguments, registry_of
from ..selection_arguments import TIME_FORMATS, add_selection_arguments, time_bounds
from ..text_arguments import add_text_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...components.registry import Registry
    from ..component_words import GraphWords
    from ..conversion import Discover

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
  vestige convert net://localhost       list live sessions
  vestige convert net://localhost/host/TARGET/SESSION
  vestige convert -o dummy TRACE        decode only, to check or to measure
  vestige convert -o ctf --output=COPY --begin=17:48:17 TRACE
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
            "paths",
            metavar="PATH",
            nargs="*",
            help="a trace directory, or the URL of a session that is recorded",
        )
        parser.add_argument(
            "-i",
            "--input-format",
            choices=("ctf", "lttng-live"),
            help="input format: traces in files (ctf), or a session that is recorded, "
            "at a relay daemon (lttng-live): PATH is its URL, "
            "net://HOST[:PORT]/host/TARGET/SESSION, and without a session all are "
            "listed. By default, as PATH is",
        )
        parser.add_argument(
            "-o",
            "--output-format",
            choices=("text", "dummy", "ctf-metadata", "ctf"),
            help="print text (the default), only decode (dummy), print the metadata "
            "of a trace (ctf-metadata), or write traces (ctf)",
        )
        parser.add_argument(
            "-w",
            "--output",
            metavar="FILE",
            help="write the text to FILE; with -o ctf, the traces below this directory",
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
        _add_component_arguments(parser)
        add_text_arguments(parser)
        add_debug_info_arguments(parser)
        add_general_arguments(parser)
        add_plugin_arguments(parser)
        parser.set_defaults(parser=parser)

    def run(self, options: argparse.Namespace) -> int:
        """Print the traces; return 1 when any of them is damaged."""
        from ..component_words import print_words
        from ..running import run_plan

        if not (options.paths or options.component):
            options.parser.error("the following arguments are required: PATH")
        if options.output_format == "ctf-metadata":
            return _write_metadata(options)
        if options.input_format != "ctf" and _asks_for_list(options.paths):
            return _list_sessions(options)
        registry = registry_of(options)
        words = _graph_words(options, registry)
        if options.run_args or options.run_args_0:
            print_words(words, for_shells=options.run_args)
            return 0
        # What is wrong with options is told by their names.
        time_bounds(options)
        if options.debug_info_target_prefix or options.debuginfod:
            debug_file_options(options)
        plan = words.plan(stream_intersection=options.stream_intersection)
        plan = plan._replace(retry_duration=retry_seconds(options))
        status = run_plan(
            plan,
            registry=registry,
            strict=options.strict,
            overlooked=options.overlook,
            literal=options.literal,
            events=options.event,
        )
        if terminal_supports_color():
            # Babeltrace 2 leaves any terminal that shows colours with a reset.
            sys.stdout.write("\x1b[0m")
        return status


def _write_metadata(options: argparse.Namespace) -> int:
    """Write the text of the metadata of the one path."""
    from ...components.registry import Registry

    if len(options.paths) != 1:
        options.parser.error("-o ctf-metadata needs one PATH")
    params = {"path": options.paths[0]}
    text = Registry().query("source.ctf.fs", "metadata-info", params)["text"]
    _write(options, text)
    return 0


def _asks_for_list(paths: Sequence[str]) -> bool:
    """Tell whether the one path is the URL of a relay daemon, without a session."""
    if len(paths) != 1 or not paths[0].startswith("net"):
        return False
    from ...live import LiveUrl

    url = LiveUrl.parse(paths[0])
    return url is not None and url.session is None


def _list_sessions(options: argparse.Namespace) -> int:
    """Write the sessions of a relay daemon, as Babeltrace 2 does."""
    from ...components.registry import Registry

    params = {"url": options.paths[0]}
    found = Registry().query("source.ctf.lttng-live", "sessions", params)
    lines = [
        f"{one['url']} (timer = {one['timer-us']}, {one['stream-count']} stream(s), "
        f"{one['client-count']} client(s) connected)"
        for one in found
    ]
    if options.output is None and sys.stdout.isatty():
        lines = [*map(plain, lines)]
    if lines or options.output is not None:
        _write(options, "\n".join(lines))
    return 0


def _write(options: argparse.Namespace, text: str) -> None:
    """Write a text to where --output says."""
    if options.output is None:
        print(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:  # noqa: PTH123 - the path is text
            print(text, file=file)


def _add_component_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("components")
    group.add_argument(
        "-c",
        "--component",
        metavar="[NAME:]CLASS",
        action="append",
        help="use a component, such as source.ctf.fs",
    )
    group.add_argument(
        "-p",
        "--params",
        metavar="NAME=VALUE[,...]",
        action="append",
        help="parameters of the last --component or PATH; before any, of all PATHs",
    )
    ways = group.add_mutually_exclusive_group()
    ways.add_argument(
        "--run-args",
        action="store_true",
        help="print the words with which 'vestige run' does the same",
    )
    ways.add_argument(
        "--run-args-0",
        action="store_true",
        help="the same, each word with a null character after it but the last",
    )


def _graph_words(options: argparse.Namespace, registry: Registry) -> GraphWords:
    """Return the components and connections that a command line asks for."""
    from ..conversion import convert_words
    from ..ordered_options import ordered_items
    from ..source_discovery import one_source, source_of_each_trace

    is_printed = options.run_args or options.run_args_0
    if is_printed and options.stream_intersection:
        options.parser.error("--stream-intersection has no words of 'run'")
    discover: Discover = one_source
    if registry.has_user_sources:
        from functools import partial

        from ..plugin_discovery import sources_of_plugins

        discover = partial(sources_of_plugins, registry)
    elif is_printed:
        discover = source_of_each_trace
    items = ordered_items(options.parser, options.command_line)
    return convert_words(items, discover)


def _integer(text: str) -> int:
    """Read an integer that the core can hold: 64 bits."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no integer") from None
    if value.bit_length() > LARGEST_OFFSET_BITS:
        raise argparse.ArgumentTypeError(f"{text} does not fit 64 bits")
    return value
