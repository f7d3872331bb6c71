"""``vestige report``: where the time went, and what else a trace tells."""

from __future__ import annotations

import argparse
import os
import sys

from ...components.sinks.text_colors import terminal_supports_color
from ..chosen_functions import add_choice_arguments, shown_functions
from ..damage_output import print_damage
from ..debug_info_arguments import add_debug_file_arguments
from ..exit_statuses import READING, UNREADABLE, ExitStatuses
from ..min_duration import add_min_duration_argument
from ..named_origins import is_id
from ..newest_recording import take_newest
from ..percentiles import add_percentiles_argument, take_percentiles
from ..render.call_style import SORT_KEYS, CallStyle
from ..reports.forms import (
    TABLE,
    add_form_arguments,
    chosen_form,
    goes_to_file,
    own_report,
    write,
)
from ..reports.kinds import Kind, add_kind_arguments, chosen_kind, make_report
from ..selection_arguments import (
    TIME_FORMATS,
    AddPatterns,
    add_selection_arguments,
    select,
    split_patterns,
    time_bounds,
)
from ..terminal import add_wide_argument, line_width

__all__ = ["ReportCommand"]

UNLIMITED = 1 << 30
"""Columns, where nothing is cut."""
DEFAULT_LIMIT = 50
"""Rows of a table or a tree, for people."""
LONGEST = 10
"""How many of the longest calls are told of each function."""
MOST_LONGEST = 10_000
"""How many of them are kept at most."""


REPORTING = ExitStatuses(
    {
        **READING.lines,
        UNREADABLE: "the trace cannot be read or holds nothing to report, or the\n"
        "output cannot be written",
    }
)


class ReportCommand:
    """Says where the time of a recorded program went, and what else there is."""

    name = "report"
    description = (
        "Read the CTF traces in or below each PATH, rebuild the calls of each thread "
        "from the entries and exits of functions, and print how often each function "
        "was called and how long it took: in total, and without the functions it "
        "called. Of a trace without calls, and with --events, print how many events "
        "there are of each name, when, and in how many threads."
    )
    examples = (
        """\
examples:
  vestige report                            the newest recording
  vestige report --tree TRACE               who called whom
  vestige report --events TRACE             which events, how many, how often
  vestige report --percentiles TRACE        also how long most calls take at most
  vestige report --durations=handle TRACE   histogram, and the ten longest calls
  vestige report --callers=malloc TRACE     who called it, and how long that took
  vestige report --threads TRACE            which threads there are
  vestige report --kernel TRACE             who ran, who waited, of a kernel
  vestige report --off-cpu TRACE            where threads waited, by call stacks
  vestige report --off-cpu --to folded TRACE | flamegraph.pl > waits.svg
  vestige report --stacks --event='kmem_*' TRACE    where events came from
  vestige report --io TRACE                 who read and wrote, of a kernel
  vestige report --thread TRACE             each thread separately
  vestige report --locks TRACE              who waited for mutexes
  vestige report --memory TRACE             what was not freed
  vestige report --memory --tree TRACE      the same by paths of calls
  vestige report --process=4711 TRACE       only this process; also by its name
  vestige report --sort=self --limit=10 TRACE
  vestige report --begin=17:48:17.5 --end=17:48:18 TRACE
  vestige report --min-duration=10us TRACE  only calls that take so long
  vestige report --only-my-code --exclude-function='*.<genexpr>' TRACE
  vestige report --json TRACE | jq '.functions[] | {function, calls}'
  vestige report --to csv -o functions.csv TRACE

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
        add_kind_arguments(parser)
        parser.add_argument("--tree", action="store_true", help="print the call tree")
        parser.add_argument(
            "--thread",
            metavar="TID|NAME",
            nargs="?",
            const="",
            action="append",
            help="report each thread separately; with an ID or a name (with *), only "
            "such threads (repeatable)",
        )
        parser.add_argument(
            "--process",
            metavar="PID|NAME",
            action=AddPatterns,
            default=[],
            help="report only processes with this ID or name (with *; repeatable)",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="with --events and --threads: also count the events that only the "
            "recorder needs: state dumps and loaded objects",
        )
        add_percentiles_argument(parser)
        parser.add_argument(
            "--sort",
            metavar="KEY",
            choices=(*SORT_KEYS, "begin"),
            help=f"sort by {', '.join(SORT_KEYS[:-1])} or {SORT_KEYS[-1]} (default: "
            "total); events by their number or name, threads also by their begin",
        )
        parser.add_argument(
            "--limit",
            metavar="N",
            type=_limit,
            help=f"print at most N rows, 0 for all (default: {DEFAULT_LIMIT}; in "
            "other forms than a table: all); of --durations, the N longest (default: "
            f"{LONGEST})",
        )
        add_form_arguments(parser)
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
        from ...components.sources.ctf_fs import CtfFsSource
        from ..reports.reading import Reading

        kind = chosen_kind(options)
        form = chosen_form(options, kind)
        threads = _threads(options)
        percentiles = take_percentiles(options)
        bounds = time_bounds(options)
        take_newest(options)
        source = CtfFsSource(options.paths)
        reading = Reading(options, source, select(options, [source], bounds))
        reading.threads = reading.names.ids("thread", threads)
        reading.processes = reading.names.ids("process", options.process)
        reading.asked = {"process": options.process, "thread": threads}
        reading.percentiles = percentiles
        reading.longest = _longest(options)
        report = own_report(form, reading) or make_report(kind, reading)
        write(form, report, _style(options, kind, percentiles), reading)
        print_damage(report.damage)
        return self.exit_statuses.of_reading(
            report.damage, is_readable=bool(source.streams)
        )


def _style(
    options: argparse.Namespace, kind: Kind, percentiles: tuple[float, ...]
) -> CallStyle:
    to_file = goes_to_file(options)
    return CallStyle(
        UNLIMITED if to_file else _width(wide=options.wide),
        not to_file and sys.stdout.isatty() and terminal_supports_color(),
        _rows(options),
        options.sort or (kind.sort_keys or SORT_KEYS)[0],
        options.tree,
        options.thread is not None,
        percentiles,
        shown_functions(options),
    )


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of rows")
    return int(text)


def _rows(options: argparse.Namespace) -> int:
    if options.limit is None:
        return DEFAULT_LIMIT if options.to in {None, TABLE} else 0
    limit: int = options.limit
    return limit


def _longest(options: argparse.Namespace) -> int:
    """Return how many of the longest are kept."""
    if options.limit is None:
        return LONGEST
    limit: int = options.limit
    return min(limit, MOST_LONGEST) or MOST_LONGEST


def _threads(options: argparse.Namespace) -> list[str]:
    """Return the threads that are wanted, IDs and names; none for all."""
    threads = []
    for word in options.thread or ():
        if word and not is_id(word) and os.path.isdir(word):  # noqa: PTH112 - pathlib takes long to import
            # "--thread TRACE": the word after the option was meant as the trace.
            options.paths.append(word)
        else:
            threads += split_patterns(word)
    return threads


def _width(*, wide: bool) -> int:
    """Return the columns of the terminal; in files nothing is cut."""
    width = line_width(wide=wide)
    return UNLIMITED if width is None else width
