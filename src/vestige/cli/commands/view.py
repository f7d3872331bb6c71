"""``vestige view``: a trace for people."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..._typing import TYPE_CHECKING, cast
from ...errors import CommandError
from ..damage_output import add_strict_argument, print_damage
from ..debug_info_arguments import add_debug_info_arguments, debug_file_options
from ..exit_statuses import INTERRUPTED, READING
from ..layout_arguments import BABELTRACE, SHORT, add_layout_arguments, layout_of
from ..min_duration import add_min_duration_argument, call_duration_filter
from ..newest_recording import take_newest
from ..selection_arguments import (
    TIME_FORMATS,
    add_origin_arguments,
    add_selection_arguments,
    report_unmatched,
    time_bounds,
    warn_of_nobody,
)
from ..text_arguments import add_text_arguments, short_text_options, text_options

if TYPE_CHECKING:
    from contextlib import ExitStack
    from typing import IO, Any

    from ... import core
    from ...components.sources.ctf_fs import CtfFsSource
    from ...components.sources.recording import RecordingSource
    from ...damage import Damage
    from ...graph import Filter, Selection, Sink, Stream
    from ...graph.plan import ComponentSpec
    from ..render.summary import Summary

__all__ = ["ViewCommand", "view"]


class ViewCommand:
    """Shows traces to people."""

    name = "view"
    description = (
        "Show the events of the CTF traces in or below each PATH, in time order, one "
        "line each: time, time since the previous event, process and thread, name, "
        "fields, and the function and source line where the trace allows it. On a "
        "terminal the text is coloured, fits the width and goes through a pager "
        "($PAGER)."
    )
    examples = (
        """\
examples:
  vestige view TRACE
  vestige view --event 'my_app:*' TRACE
  vestige view --follow                     the recording that runs, while it runs
  vestige view --min-duration=10us TRACE    only calls that take so long
  vestige view --indent TRACE               calls with braces, and what is in them
  vestige view --thread=4711 -t +10.2s,+10.3s TRACE
  vestige view --around=17:48:17.523,1ms TRACE
  vestige view TRACE | grep -B5 -A2 'my_app:error'
  vestige view --all TRACE                  also what the recorder itself needs
  vestige view --layout=babeltrace TRACE    all fields, as babeltrace2 shows them
  vestige view --debug-info-target-prefix=/srv/board-root TRACE
  vestige view --begin=17:48:17.5 --end=17:48:18 TRACE

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
        selecting = add_selection_arguments(parser, with_gmt=False)
        add_origin_arguments(selecting)
        add_min_duration_argument(
            selecting,
            "hide function calls shorter than TIME (10us, 1.5ms, 2s); other events "
            "are shown",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="also show the events that only the recorder needs: state dumps and "
            "loaded objects",
        )
        parser.add_argument(
            "--indent",
            action="store_true",
            help="indent events by the calls of their thread: 'f() {' at an entry, '}' "
            "and how long it took at the exit",
        )
        add_layout_arguments(parser)
        parser.add_argument(
            "--no-debug-info", action="store_true", help="do not look up source lines"
        )
        parser.add_argument(
            "--follow",
            action="store_true",
            help="go on with what is recorded from now on, until the recording ends or "
            "Ctrl-C: of one PATH, or of a live session, "
            "net://HOST[:PORT]/host/TARGET/SESSION",
        )
        parser.add_argument(
            "--no-pager", action="store_true", help="do not use a pager"
        )
        add_strict_argument(parser)
        add_text_arguments(parser)
        add_debug_info_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Show the traces; return the exit status."""
        time_bounds(options)
        if options.indent and layout_of(options) != SHORT:
            raise CommandError(
                f"--indent is for --layout={SHORT}, not for {BABELTRACE}", exit_code=2
            )
        take_newest(options)
        if options.follow:
            _check_follow(options)
        hides = not options.all and layout_of(options) == SHORT
        return view(options, options.paths, options.event, recorder_events=not hides)


def _check_follow(options: argparse.Namespace) -> None:
    """Refuse what cannot be had while a recording goes on."""
    if len(options.paths) != 1:
        raise CommandError("--follow: expected one PATH", exit_code=2)
    if options.min_duration is not None or options.stream_intersection:
        option = "--min-duration" if options.min_duration else "--stream-intersection"
        raise CommandError(
            f"{option}: needs all of a recording, and cannot be had with --follow",
            exit_code=2,
        )


def view(
    options: argparse.Namespace,
    paths: Sequence[str],
    patterns: Sequence[str],
    *,
    recorder_events: bool = True,
) -> int:
    """Show traces and end with a summary.

    Args:
        options: The parsed command line: text and debug information.
        paths: Where the traces are.
        patterns: Patterns of the events that are shown; all events without one.
        recorder_events: Whether events that only the recorder needs are shown, if no
            pattern says so.

    Returns:
        The exit status.
    """
    from contextlib import ExitStack

    from ...components.registry import Registry
    from ...graph.lowering import lower
    from ..render.summary import Summary
    from ..viewing import LONG_CALLS, RECORDING, SINK, view_plan

    if not options.no_debug_info:
        debug_file_options(options)
    plan = view_plan(options, paths, patterns, recorder_events=recorder_events)
    summary = Summary()
    chosen = bool(patterns or getattr(options, "filters", ()))

    def sink(resources: ExitStack, streams: Sequence[Stream]) -> Sink:
        # The pager is not there yet, which would hide it.
        if not getattr(options, "follow", False):
            # Else events of other names may come.
            report_unmatched(options.event, streams)
        use_pager = not (options.no_pager or getattr(options, "follow", False))
        descriptor = resources.enter_context(output(use_pager=use_pager))
        inner = _sink(options, streams, descriptor)
        return SummarySink(inner, summary, counting=not (recorder_events or chosen))

    def calls(sources: Sequence[CtfFsSource], selection: Selection) -> Filter:
        return _long_calls(options.min_duration, sources, selection)

    makers: dict[str, Callable[..., Any]] = {
        one.name: _recording(one)
        for one in plan.components
        if one.class_name == RECORDING
    }
    makers |= {SINK: sink, LONG_CALLS: calls}
    graph = None
    try:
        with ExitStack() as resources:
            [graph] = lower(
                plan, Registry(), resources, strict=options.strict, makers=makers
            )
            damage = graph.run()
    except KeyboardInterrupt:
        if not getattr(options, "follow", False):
            raise
        report(summary, [] if graph is None else graph.damage)
        return INTERRUPTED
    except PagerClosedError:
        # The person has seen enough: there is nothing to sum up.
        return 0
    report(summary, damage)
    if not summary.events and hasattr(options, "origin_threads"):
        warn_of_nobody(options)
    return READING.of_reading(damage, is_readable=bool(graph.streams))


def _recording(spec: ComponentSpec) -> Callable[[int], RecordingSource]:
    """Return what opens a recording that goes on."""

    def opened(first_index: int) -> RecordingSource:
        from ...components.sources.recording import RecordingSource
        from ...record.backends.in_process.recovery import is_left

        path, name = str(spec.params["path"]), spec.params.get("trace-name")
        others = str(spec.params.get("read-parts", "")).split("/")
        return RecordingSource(path, first_index, is_left, name, others)

    return opened


def _long_calls(
    least: int, sources: Sequence[CtfFsSource], selection: Selection
) -> Filter:
    found = call_duration_filter(least, sources, selection)
    if not found.calls:
        print(
            "vestige: warning: --min-duration: no entries or exits of functions",
            file=sys.stderr,
        )
    return found


def _sink(
    options: argparse.Namespace, streams: Sequence[Stream], descriptor: int
) -> Sink:
    from ...components.sinks.text_pretty import TextPrettySink
    from ...components.sinks.text_short import TextShortSink
    from ..render.trace_labels import trace_labels

    if layout_of(options) == BABELTRACE:
        text = text_options(options, safe=True)
        return TextPrettySink(text, descriptor=descriptor)
    short = short_text_options(options, trace_labels(streams))
    return TextShortSink(short, descriptor=descriptor)


class SummarySink:
    """Passes merges on and counts what it sees.

    Args:
        inner: The sink that writes.
        summary: Where the counts go.
        counting: Whether it counts events that only the recorder needs.
    """

    looks_at_records = True
    """The inner sink decodes what it shows."""

    def __init__(self, inner: Sink, summary: Summary, *, counting: bool) -> None:
        self._inner = inner
        self._counting = counting
        self._summary = summary

    def consume(self, merge: core.Merge) -> None:
        """Count a merge and pass it on."""
        self._inner.consume(merge)
        self._summary.add(merge)
        if self._counting:
            self._summary.left_out += merge.left_out

    def finish(self) -> None:
        """End the inner sink."""
        self._inner.finish()


def report(summary: Summary, damage: Sequence[Damage]) -> None:
    """Print damage and the closing lines on standard error."""
    from ..render.summary import summary_lines

    print_damage(damage)
    for line in summary_lines(summary, damaged=len(damage)):
        print(line, file=sys.stderr)


class PagerClosedError(Exception):
    """The pager went away before it had all of the text."""


@contextmanager
def output(*, use_pager: bool) -> Iterator[int]:
    """Give the descriptor for text: a pager on a terminal, else standard output."""
    sys.stdout.flush()
    if not (use_pager and sys.stdout.isatty()):
        yield sys.stdout.fileno()
        return
    import shlex
    import subprocess

    command = shlex.split(os.environ.get("PAGER") or "less")
    environment = {"LESS": "FRX", **os.environ}
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError:
        yield sys.stdout.fileno()
        return
    text = cast("IO[bytes]", pager.stdin)
    try:
        yield text.fileno()
    except BrokenPipeError as error:
        raise PagerClosedError from error
    finally:
        text.close()
        pager.wait()
