"""``vestige export``: events as files of other programs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ..damage_output import add_strict_argument, print_damage
from ..debug_info_arguments import add_debug_info_arguments, debug_info_options
from ..exit_statuses import READING
from ..exporting import VIEWER_FORMATS, export_for_viewer
from ..min_duration import add_min_duration_argument
from ..repeated_lists import AddToList
from ..selection_arguments import (
    TIME_FORMATS,
    add_origin_arguments,
    add_selection_arguments,
    select,
    time_bounds,
    warn_of_nobody,
)

if TYPE_CHECKING:
    from ...trace import EventSelection, Progress, Trace
    from ..render.progress import ProgressBar

__all__ = ["ExportCommand"]

FORMATS = ("parquet", "arrow", "csv", "jsonl")
"""Those of :mod:`vestige.trace.column_files`, which takes long to import."""

TEXT_FORMATS = frozenset({"csv", "jsonl"})
"""Formats that standard output takes."""


class ExportCommand:
    """Writes events for other programs."""

    name = "export"
    description = (
        "Write the events of the CTF traces in or below each PATH, in time order, as "
        "one table: a row for each event, a column for each field; or, for a viewer, "
        "calls of functions and other events. Text goes to standard output without "
        "-o. Parquet and Arrow need the extra 'arrow' (pip install 'vestige[arrow]'). "
        "docs/guide/columns.md describes the columns, docs/reference/export.md what "
        "viewers get."
    )
    examples = (
        """\
examples:
  vestige export --to parquet -o trace.parquet TRACE
  vestige export --to jsonl --event 'my_app:*' TRACE | jq .user
  vestige export --to csv --columns timestamp,event,cpu_id -o trace.csv TRACE
  vestige export --to parquet --split -o DIRECTORY TRACE
  vestige export --calls --to parquet -o calls.parquet TRACE
  vestige export --to perfetto -o trace.pftrace TRACE   for https://ui.perfetto.dev
  vestige export --to pprof -o trace.pb.gz TRACE        for go tool pprof
  vestige export --to folded TRACE | flamegraph.pl > flames.svg
  vestige export --to speedscope --begin=17:48:17.5 --end=17:48:17.6 -o one.json TRACE

"""
        + TIME_FORMATS
    )
    exit_statuses = READING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths", metavar="PATH", nargs="+", help="a trace directory"
        )
        parser.add_argument(
            "--to",
            metavar="FORMAT",
            choices=(*FORMATS, *VIEWER_FORMATS),
            required=True,
            help=f"output format: a table as {', '.join(FORMATS[:-1])} or "
            f"{FORMATS[-1]}; for viewers {', '.join(VIEWER_FORMATS[:-1])} or "
            f"{VIEWER_FORMATS[-1]}",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="OUT",
            help="write to the file OUT (- for standard output); with --split, to the "
            "directory OUT",
        )
        # As in versions before.
        parser.add_argument("-w", dest="output", help=argparse.SUPPRESS)
        parser.add_argument(
            "-c",
            "--columns",
            metavar="NAME[,NAME]...",
            action=AddToList,
            help="write only these columns, in this order (repeatable)",
        )
        parser.add_argument(
            "--split",
            action="store_true",
            help="write one file for each event name, with only its columns",
        )
        parser.add_argument(
            "--values",
            action="store_true",
            help="write enumerations as numbers instead of labels",
        )
        parser.add_argument(
            "--debug-info",
            action="store_true",
            help="add a column with the object, function and source line of each event",
        )
        parser.add_argument(
            "--calls",
            action="store_true",
            help="write a table of calls of functions, a row for each, instead of one "
            "of events",
        )
        add_min_duration_argument(
            parser,
            "of calls: leave out calls shorter than TIME (10us, 1.5ms, 2s)",
        )
        add_strict_argument(parser)
        add_origin_arguments(add_selection_arguments(parser))
        add_debug_info_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Write the file or files; return the exit status."""
        from ...trace import EventSelection
        from ...trace import open as open_trace
        from ..render.progress import ProgressBar

        if options.output == "-":
            options.output = None
        if options.calls or options.to in VIEWER_FORMATS:
            return export_for_viewer(options)
        if options.min_duration is not None:
            raise CommandError(
                "--min-duration is for calls: --calls, or a format of viewers",
                exit_code=2,
            )
        if options.output is None and (options.split or options.to not in TEXT_FORMATS):
            raise CommandError(
                "--split needs a directory: -o DIRECTORY"
                if options.split
                else f"--to {options.to} needs a file: -o FILE",
                exit_code=2,
            )
        bounds = time_bounds(options)
        with _damage_collected():
            debug_info = debug_info_options(options) if options.debug_info else False
            trace = open_trace(
                options.paths,
                debug_info=debug_info,
                strict=options.strict,
                stream_intersection=options.stream_intersection,
            )
            selection = EventSelection(trace, select(options, [trace], bounds))
            with ProgressBar("export") as bar:
                # Lines that a person reads as they come are progress enough.
                shown = options.output is not None or not sys.stdout.isatty()
                progress = _progress(selection, bar) if shown else None
                if not self._write(selection, options, progress):
                    warn_of_nobody(options)
        return _report(trace)

    def _write(
        self,
        selection: EventSelection,
        options: argparse.Namespace,
        progress: Progress | None,
    ) -> int:
        from ...trace import export_each, write_file

        columns = None if options.columns is None else _names(options.columns)
        write = export_each if options.split else write_file
        rows = write(
            selection,
            options.output,
            options.to,
            columns=columns,
            progress=progress,
            enumerations="values" if options.values else "labels",
        )
        return rows if isinstance(rows, int) else sum(rows.values())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def _damage_collected() -> Iterator[None]:
    """Keep damage from being shown as Python warnings: it is reported at the end."""
    import warnings

    from ...trace import TraceDamageWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceDamageWarning)
        yield


def _progress(selection: EventSelection, bar: ProgressBar) -> Progress | None:
    """Tell the bar how much of the time of the trace is done."""
    if not bar.enabled:
        return None
    begin, end = selection.time_span or (0, 0)

    def progress(time: int | None, events: int) -> None:
        known = time is not None and end > begin
        bar.update((time - begin) / (end - begin) if known and time else None, events)

    return progress


def _report(trace: Trace) -> int:
    for kind in ("events", "packets"):
        lost = [loss.count for loss in trace.losses if loss.kind == kind]
        if lost:
            known = sum(count or 0 for count in lost)
            number = known or "an unknown number of"
            print(
                f"vestige: warning: the tracer discarded {number} {kind}, which are "
                "not in the output",
                file=sys.stderr,
            )
    print_damage(trace.damage)
    return READING.of_reading(trace.damage, is_readable=bool(trace.streams))
