"""What ``vestige export`` writes of calls: files for viewers, and tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from .damage_output import print_damage
from .debug_info_arguments import debug_file_options
from .exit_statuses import READING, WRONG_USAGE
from .min_duration import call_duration_filter
from .selection_arguments import select, time_bounds, warn_of_nobody
from .time_range_arguments import range_words

if TYPE_CHECKING:
    from ..viewers import Outcome

__all__ = ["VIEWER_FORMATS", "export_for_viewer"]

VIEWER_FORMATS = ("perfetto", "chrome", "speedscope", "pprof", "folded")
"""Those of :mod:`vestige.viewers.write`, which takes long to import."""
TEXT_FORMATS = frozenset({"chrome", "speedscope", "folded", "csv", "jsonl"})
"""Formats that standard output takes."""
LARGE_CHROME = 1_000_000
"""Entries and exits from which on a file of Chrome's format is too large to view."""


def export_for_viewer(options: argparse.Namespace) -> int:
    """Write traces for a viewer, or a table of calls.

    Args:
        options: The parsed command line.

    Returns:
        The exit status.

    Raises:
        CommandError: An option is of no use here, or the format needs a file.
    """
    from ..components.filters.debug_info import finder_for
    from ..components.sources.ctf_fs import CtfFsSource
    from ..debuginfo import Resolver
    from ..viewers.write import write_calls, write_trace
    from .render.progress import ProgressBar

    _check(options)
    bounds = time_bounds(options)
    source = CtfFsSource(options.paths)
    wanted = debug_file_options(options)
    resolver = Resolver(finder_for([source], wanted), demangle=wanted.demangle)
    selection = select(options, [source], bounds)
    long_calls = (
        None
        if options.min_duration is None
        else call_duration_filter(options.min_duration, [source], selection)
    )
    with ProgressBar("export") as bar:
        progress = (lambda done: bar.update(None, done)) if bar.enabled else None
        if options.calls:
            outcome = write_calls(
                source,
                options.output,
                options.to,
                resolver=resolver,
                selection=selection,
                call_filter=long_calls,
                progress=progress,
            )
        else:
            outcome = write_trace(
                source,
                options.output,
                options.to,
                resolver=resolver,
                selection=selection,
                call_filter=long_calls,
                name=Path(options.paths[0]).name or "trace",
                progress=progress,
            )
    _tell(outcome, options)
    return READING.of_reading(outcome.damage, is_readable=bool(source.streams))


def _check(options: argparse.Namespace) -> None:
    """Refuse what tables alone have."""
    for option, is_given in (
        ("--columns", options.columns is not None),
        ("--split", options.split),
        ("--values", options.values),
        ("--debug-info", options.debug_info),
        ("--strict", options.strict),
        ("--stream-intersection", options.stream_intersection),
    ):
        if is_given:
            raise CommandError(
                f"{option} is for tables of events, not for "
                f"{'--calls' if options.calls else f'--to {options.to}'}",
                exit_code=WRONG_USAGE,
            )
    if options.calls and options.to in VIEWER_FORMATS:
        raise CommandError(
            f"--calls is for tables, not for --to {options.to}, which has calls anyway",
            exit_code=WRONG_USAGE,
        )
    if options.output is None and options.to not in TEXT_FORMATS:
        raise CommandError(
            f"--to {options.to} needs a file: -o FILE", exit_code=WRONG_USAGE
        )


def _is_of_part(options: argparse.Namespace) -> bool:
    """Tell whether a part of the events was asked for."""
    chosen = options.event, options.filters, options.origin_threads
    return any((*chosen, options.origin_processes)) or range_words(options) != (
        None,
        None,
    )


def _tell(outcome: Outcome, options: argparse.Namespace) -> None:
    if outcome.lost:
        print(
            f"vestige: warning: the tracer discarded {outcome.lost} events, which are "
            "not in the output",
            file=sys.stderr,
        )
    only_calls = options.calls or options.to in {"folded", "pprof", "speedscope"}
    if only_calls and outcome.is_empty:
        among = " among the chosen events" if _is_of_part(options) else ""
        print(
            f"vestige: warning: no calls of functions{among}, so that the file holds "
            "nothing",
            file=sys.stderr,
        )
    if options.to == "chrome" and outcome.calls > LARGE_CHROME:
        print(
            "vestige: note: viewers read all of a file of this format first: choose a "
            "range with --begin and --end, or take --to perfetto",
            file=sys.stderr,
        )
    if not outcome.calls + outcome.events:
        warn_of_nobody(options)
    print_damage(outcome.damage)
