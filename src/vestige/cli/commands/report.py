"""``vestige report``: which functions were called, how often, and how long."""

from __future__ import annotations

import argparse
import sys

from ..._typing import TYPE_CHECKING
from ...components.sinks.text_colors import terminal_supports_color
from ...errors import CommandError
from ..chosen_functions import add_choice_arguments, choose
from ..damage_output import print_damage
from ..debug_info_arguments import add_debug_file_arguments, debug_file_options
from ..exit_statuses import READING, UNREADABLE, WRONG_USAGE, ExitStatuses
from ..min_duration import add_min_duration_argument, call_duration_filter
from ..newest_recording import take_newest
from ..render.call_style import SORT_KEYS, CallStyle
from ..selection_arguments import (
    TIME_FORMATS,
    add_selection_arguments,
    select,
    time_bounds,
)
from ..terminal import add_wide_argument, line_width

if TYPE_CHECKING:
    from ...analysis.calls import CallTree

__all__ = ["ReportCommand"]

UNLIMITED = 1 << 30
"""Columns, where nothing is cut."""
DEFAULT_LIMIT = 50
"""Rows of a table or a tree, for people."""


REPORTING = ExitStatuses(
    {
        **READING.lines,
        UNREADABLE: "the trace cannot be read or holds nothing to report, or the\n"
        "output cannot be written",
    }
)


class ReportCommand:
    """Says where the time of a recorded program went."""

    name = "report"
    description = (
        "Read the CTF traces in or below each PATH, rebuild the calls of each thread "
        "from the entries and exits of functions, and print how often each function "
        "was called and how long it took: in total, and without the functions it "
        "called."
    )
    examples = (
        """\
examples:
  vestige report                            the newest recording
  vestige report --tree TRACE               who called whom
  vestige report --thread TRACE             each thread separately
  vestige report --sort=self --limit=10 TRACE
  vestige report --begin=17:48:17.5 --end=17:48:18 TRACE
  vestige report --min-duration=10us TRACE  only calls that take so long
  vestige report --only-my-code --exclude-function='*.<genexpr>' TRACE
  vestige report --json TRACE | jq '.functions[] | {function, calls}'

"""
        + TIME_FORMATS
    )
    exit_statuses = REPORTING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="a trace directory (default: the newest recording)",
        )
        parser.add_argument("--tree", action="store_true", help="print the call tree")
        parser.add_argument(
            "--thread",
            metavar="TID",
            nargs="?",
            const="",
            action="append",
            help="report each thread separately; with TID, only this thread "
            "(repeatable)",
        )
        parser.add_argument(
            "--sort",
            metavar="KEY",
            choices=SORT_KEYS,
            default="total",
            help=f"sort by {', '.join(SORT_KEYS[:-1])} or {SORT_KEYS[-1]} (default: "
            "total)",
        )
        parser.add_argument(
            "--limit",
            metavar="N",
            type=_limit,
            help=f"print at most N rows, 0 for all (default: {DEFAULT_LIMIT}; with "
            "--json: all)",
        )
        parser.add_argument(
            "--json", action="store_true", help="print the result as JSON"
        )
        choosing = parser.add_argument_group("choosing functions")
        add_choice_arguments(choosing)
        add_min_duration_argument(
            choosing,
            "leave out calls shorter than TIME (10us, 1.5ms, 2s); their time is that "
            "of their callers",
        )
        add_selection_arguments(parser)
        add_wide_argument(parser)
        add_debug_file_arguments(parser.add_argument_group("debug information"))

    def run(self, options: argparse.Namespace) -> int:
        """Print the report; return 1 when a trace is damaged."""
        from ...analysis.call_reader import call_tree
        from ...components.filters.debug_info import finder_for
        from ...components.sources.ctf_fs import CtfFsSource
        from ...debuginfo import Resolver
        from ..render.calls import call_lines
        from ..render.progress import ProgressBar

        threads = _threads(options)
        bounds = time_bounds(options)
        take_newest(options)
        source = CtfFsSource(options.paths)
        wanted = debug_file_options(options)
        finder = finder_for([source], wanted)
        resolver = Resolver(finder, demangle=wanted.demangle)
        selection = select(options, [source], bounds)
        long_calls = (
            None
            if options.min_duration is None
            else call_duration_filter(options.min_duration, [source], selection)
        )
        with ProgressBar("reading") as bar:
            progress = (lambda done: bar.update(None, done)) if bar.enabled else None
            tree = call_tree(
                source,
                resolver,
                selection=selection,
                call_filter=long_calls,
                progress=progress,
            )
        _check(tree, options)
        if threads:
            tree = _only(tree, threads)
        tree = choose(tree, options)
        style = CallStyle(
            _width(wide=options.wide),
            sys.stdout.isatty() and terminal_supports_color(),
            _rows(options),
            options.sort,
            options.tree,
            options.thread is not None,
        )
        if options.json:
            from ..render.calls_json import calls_json

            print(calls_json(tree, style))
        else:
            for line in call_lines(tree, style):
                print(line)
        sys.stdout.flush()
        print_damage(tree.damage)
        return self.exit_statuses.of_reading(
            tree.damage, is_readable=bool(source.streams)
        )


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of rows")
    return int(text)


def _rows(options: argparse.Namespace) -> int:
    if options.limit is None:
        return 0 if options.json else DEFAULT_LIMIT
    limit: int = options.limit
    return limit


def _threads(options: argparse.Namespace) -> set[int]:
    """Return the threads that are wanted; none for all."""
    threads = set()
    for word in options.thread or ():
        if word.isdecimal():
            threads.add(int(word))
        elif word:
            # "--thread TRACE": the word after the option was meant as the trace.
            options.paths.append(word)
    return threads


def _check(tree: CallTree, options: argparse.Namespace) -> None:
    """Refuse traces of which no report can be made."""
    paths = ", ".join(options.paths)
    if options.min_duration is not None and tree.left_out_calls and not tree.threads:
        from ..render.call_style import duration

        raise CommandError(
            f"{paths}: none of the calls takes {duration(options.min_duration)} or "
            "longer"
        )
    if not tree.events and not tree.spans:
        print_damage(tree.damage)
        if options.event or options.begin or options.end or options.timerange:
            raise CommandError(
                f"{paths}: no entries or exits of functions among the chosen events"
            )
        raise CommandError(
            f"{paths}: no entries or exits of functions: compile the program with "
            "'-g -finstrument-functions' and record it with 'vestige record -- PROGRAM'"
            ", or with lttng enable-event -u 'lttng_ust_cyg_profile*' and "
            "LD_PRELOAD=liblttng-ust-cyg-profile-fast.so",
        )
    if tree.threads_unknown:
        raise CommandError(
            f"{paths}: the events do not tell their threads, so nobody knows which "
            "exit belongs to which entry; record the contexts: "
            "lttng add-context -u -t vpid -t vtid -t ip",
        )


def _only(tree: CallTree, threads: set[int]) -> CallTree:
    from dataclasses import replace

    chosen = [thread for thread in tree.threads if thread.vtid in threads]
    if not chosen:
        known = sorted({thread.vtid for thread in tree.threads if thread.vtid})
        shown = ", ".join(map(str, known[:20])) + (", ..." if len(known) > 20 else "")  # noqa: PLR2004
        wanted = ", ".join(map(str, sorted(threads)))
        raise CommandError(
            f"--thread={wanted}: no such thread has calls; those that have: {shown}",
            exit_code=WRONG_USAGE,
        )
    # Spans and coroutines may go from one thread to another.
    return replace(tree, threads=chosen, spans=[], coroutines=[])


def _width(*, wide: bool) -> int:
    """Return the columns of the terminal; in files nothing is cut."""
    width = line_width(wide=wide)
    return UNLIMITED if width is None else width
