"""``vestige check``: whether traces are sound."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from ..._typing import TYPE_CHECKING
from ...errors import VestigeError
from ...plain_text import plain
from ..damage_output import add_strict_argument, print_damage
from ..exit_statuses import DAMAGED, READ, READING, UNREADABLE
from ..newest_recording import take_newest
from ..selection_arguments import (
    TIME_FORMATS,
    add_selection_arguments,
    select,
    time_bounds,
)

if TYPE_CHECKING:
    from ...analysis.check import TraceReport, TracesReport
    from ...components.sources.ctf_fs import CtfFsSource
    from ..render.progress import ProgressBar

__all__ = ["CheckCommand"]


_WORDS = {READ: "clean", DAMAGED: "damaged", UNREADABLE: "unreadable"}
"""What the JSON says for each exit status."""


class CheckCommand:
    """Reads everything and says what is wrong."""

    name = "check"
    description = (
        "Read the metadata, all packets and every field of every event of the CTF "
        "traces in or below each PATH, and look for data streams without metadata. "
        "Print a summary of each trace on standard output, and what is damaged "
        "on standard error."
    )
    examples = (
        """\
examples:
  vestige check TRACE
  vestige check --begin='2026-11-21 08:00' TRACE    only from this time on
  vestige check --json TRACE | jq '.damage[] | {path, start, end, kind}'

"""
        + TIME_FORMATS
    )
    exit_statuses = READING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="a trace directory (default: the newest recording)",
        )
        parser.add_argument(
            "--json", action="store_true", help="print the result as JSON"
        )
        add_strict_argument(parser)
        add_selection_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Check the traces; return the exit status."""
        from ...analysis.check import TracesReport, examine
        from ...analysis.lost_metadata import lost_metadata
        from ...components.sources.ctf_fs import CtfFsSource
        from ..render.progress import ProgressBar

        bounds = time_bounds(options)
        take_newest(options)
        try:
            source = CtfFsSource(options.paths)
        except VestigeError as error:
            if options.json:
                _print_json("unreadable", TracesReport([], []), str(error))
            print(f"vestige: error: {plain(str(error))}", file=sys.stderr)
            return UNREADABLE
        selection = select(options, [source], bounds)
        with ProgressBar("checking") as bar:
            progress = _progress(source, bar) if bar.enabled else None
            report = examine(
                source,
                strict=options.strict,
                selection=selection,
                progress=progress,
            )
        report.damage.extend(lost_metadata(source.roots))
        status = _status(report)
        if options.json:
            _print_json(_WORDS[status], report)
        else:
            for line in _lines(report):
                print(plain(line))
            sys.stdout.flush()
            print_damage(report.damage)
        return status


def _progress(
    source: CtfFsSource, bar: ProgressBar
) -> Callable[[int | None, int], None]:
    """Tell the bar how much of the time of the traces is done, as packets tell it."""
    begins, ends = [], []
    for stream in source.streams:
        times = stream.handle.packet_times
        begins += [begin for begin, _, _ in times if begin is not None]
        ends += [end for _, end, _ in times if end is not None]
    first, last = min(begins, default=0), max(ends, default=0)

    def progress(time: int | None, events: int) -> None:
        known = time is not None and last > first
        share = (time - first) / (last - first) if known and time else None
        bar.update(share, events)

    return progress


def _status(report: TracesReport) -> int:
    return READING.of_reading(report.damage, is_readable=report.is_readable)


def _print_json(status: str, report: TracesReport, error: str | None = None) -> None:
    import json

    traces = [
        {
            "name": trace.name,
            "uuid": trace.uuid,
            "packets": trace.packets,
            "events": trace.events,
            "begin": trace.begin,
            "end": trace.end,
            "streams": [vars(stream) for stream in trace.streams],
        }
        for trace in report.traces
    ]
    facts = {
        "status": status,
        "error": error,
        "traces": traces,
        "damage": [found._asdict() for found in report.damage],
        "lost_records": report.lost_records,
    }
    print(json.dumps(facts, indent=2))


def _lines(report: TracesReport) -> list[str]:
    lines = []
    for trace in report.traces:
        lines.append(f"{trace.name}: {_contents(trace)}")
        lines += [f"  lost by the tracer: {text}" for text in _losses(trace)]
    if not report.damage:
        lines.append("no damage")
        return lines
    places = len(report.damage)
    text = f"damaged in {places} place{'' if places == 1 else 's'}"
    if report.lost_records:
        text += f"; about {_count(report.lost_records, 'event')} lost by it"
    if any(found.lost_records is None for found in report.damage):
        text += "; how many events more, some places do not tell"
    lines.append(text)
    return lines


def _contents(trace: TraceReport) -> str:
    from ..render.summary import duration

    text = (
        f"{_count(len(trace.streams), 'data stream')}, "
        f"{_count(trace.packets, 'packet')}, {_count(trace.events, 'event')}"
    )
    if trace.begin is not None and trace.end is not None:
        text += f" over {duration(trace.end - trace.begin)}"
    return text


def _losses(trace: TraceReport) -> list[str]:
    events = sum(stream.lost_events for stream in trace.streams)
    packets = sum(stream.lost_packets for stream in trace.streams)
    found = []
    if events:
        found.append(_count(events, "event"))
    if packets:
        found.append(_count(packets, "packet"))
    if any(stream.lost_uncounted for stream in trace.streams):
        found.append("an unknown number of events before the first packet")
    return found


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
