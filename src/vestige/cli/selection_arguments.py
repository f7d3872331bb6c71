"""The options that choose events, the same in every verb that reads them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from .._typing import TYPE_CHECKING, Protocol
from ..errors import SelectionError
from ..plain_text import plain
from .time_range_arguments import (
    TIME_FORMATS,
    add_time_range_arguments,
    time_bounds,
)

if TYPE_CHECKING:
    from typing import Any

    from ..components.filters.trimmer import TimeBound
    from ..graph import Selection, Stream
    from ..model import StreamClass


class Streams(Protocol):
    """Somebody with data streams: a source, or a trace."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""


__all__ = [
    "TIME_FORMATS",
    "AddPatterns",
    "add_origin_arguments",
    "add_selection_arguments",
    "select",
    "split_patterns",
    "time_bounds",
    "warn_of_nobody",
]

ORIGINS = ("threads", "processes")
"""What events may be chosen by whose they are."""
MOST_NAMES = 5_000
"""Names that another one is compared with."""
MOST_PROVIDERS = 8
"""Providers of events that one line names."""
Bounds = tuple["TimeBound | None", "TimeBound | None"]
"""Begin and end of a range of time."""


class AddPatterns(argparse.Action):
    """Adds the patterns of a list with commas to those before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Add them."""
        found = [*getattr(namespace, self.dest), *split_patterns(str(values))]
        if not found:
            parser.error(f"{option_string}: expected a pattern")
        setattr(namespace, self.dest, found)


def split_patterns(text: str) -> list[str]:
    r"""Split at commas; ``\,`` is a comma in a pattern.

    Args:
        text: Patterns.
    """
    parts = text.replace("\\,", "\0").split(",")
    return [part.replace("\0", ",").strip() for part in parts if part.strip()]


def add_selection_arguments(
    parser: argparse.ArgumentParser,
    *,
    like_babeltrace: bool = False,
    with_gmt: bool = True,
) -> argparse._ArgumentGroup:
    """Add the options to a parser.

    Args:
        parser: The parser.
        like_babeltrace: Whether ``-e`` stands for ``--end``, not for ``--event``.
        with_gmt: Whether to add ``--clock-gmt``; options of text have it, too.

    Returns:
        The group in the help, for other options that choose events.
    """
    group = parser.add_argument_group("choosing events")
    names = ("--event",) if like_babeltrace else ("-e", "--event")
    group.add_argument(
        *names,
        metavar="PATTERN[,PATTERN]...",
        action=AddPatterns,
        default=[],
        help="only events whose name matches PATTERN, with *, ? and [...] (repeatable)",
    )
    if not like_babeltrace:
        group.add_argument(
            "--filter",
            metavar="EXPR",
            dest="filters",
            action="append",
            default=[],
            help="only events for which EXPR is true, such as 'size > 99 && "
            "$ctx.vtid == 7' (repeatable: all must be true)",
        )
    add_time_range_arguments(group, short_end=like_babeltrace)
    if with_gmt:
        group.add_argument(
            "--clock-gmt",
            action="store_true",
            help="BEGIN and END are in UTC instead of local time",
        )
    return group


def add_origin_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options that choose threads and processes.

    Args:
        group: Where to.
    """
    for kind, plural, number in (
        ("thread", "threads", "TID"),
        ("process", "processes", "PID"),
    ):
        group.add_argument(
            f"--{kind}",
            metavar=f"{number}|NAME",
            dest=f"origin_{plural}",
            action=AddPatterns,
            default=[],
            help=f"only events of the {kind} with this ID or name (with *; repeatable)",
        )


def select(
    options: argparse.Namespace, sources: Sequence[Streams], bounds: Bounds
) -> Selection:
    """Return which events of the sources a command line wants.

    A pattern that no event can match is reported on standard error.

    Args:
        options: The parsed command line.
        sources: Its sources.
        bounds: The range of time that it gives.

    Raises:
        SelectionError: The sources have no such range of time; or an expression is
            none, or names what no event of the patterns has.
    """
    # Not for the help, which needs none of it.
    from ..graph import Selection

    if options.stream_intersection and not all(source.streams for source in sources):
        raise SelectionError("stream intersection: the trace has no data stream")
    streams = [stream for source in sources for stream in source.streams]
    begin = end = None
    if bounds != (None, None):
        from ..components.filters.trimmer import time_range

        begin, end = time_range(streams, *bounds)
    patterns = tuple(options.event)
    report_unmatched(patterns, streams)
    selection = Selection(
        begin,
        end,
        (patterns,) if patterns else (),
        intersection=options.stream_intersection,
    )
    # Of a trace that is opened with debug information: its field is one like others.
    added = tuple(
        one for source in sources for one in getattr(source, "added_names", ())
    )
    expressions = [*getattr(options, "filters", ())]
    threads, processes = (getattr(options, f"origin_{it}", ()) for it in ORIGINS)
    if threads or processes:
        from ..components.filters.origins import (
            are_names_unknown,
            origin_expressions,
        )

        words = {"thread": threads, "process": processes}
        known = _ids_of_names(words, streams) if are_names_unknown(streams) else words
        expressions += origin_expressions(streams, known["thread"], known["process"])
    for expression in expressions:
        selection = selection.filtered(expression, streams, added)
    return selection


def _ids_of_names(
    words: dict[str, Sequence[str]], streams: Sequence[Stream]
) -> dict[str, Sequence[str]]:
    """Return IDs for names, where events do not tell the name of their thread."""
    from .named_origins import Names

    names = Names(streams)
    return {
        kind: [str(one) for one in sorted(names.ids(kind, those))]
        for kind, those in words.items()
    }


def warn_of_nobody(options: argparse.Namespace) -> None:
    """Print a line where nothing is of the threads and processes that were asked for.

    Args:
        options: The parsed command line.
    """
    wanted = (("thread", options.origin_threads), ("process", options.origin_processes))
    asked = [f"--{kind}={plain(word)}" for kind, words in wanted for word in words]
    if asked:
        print(
            f"vestige: warning: {' '.join(asked)}: no such event; 'vestige report "
            "--threads' shows which threads and processes there are",
            file=sys.stderr,
        )


def report_unmatched(patterns: Iterable[str], streams: Iterable[Stream]) -> None:
    """Print a line for each pattern that no event of some data streams can match.

    Args:
        patterns: The patterns.
        streams: The data streams.
    """
    patterns = list(dict.fromkeys(patterns))
    if not patterns:
        return
    classes: dict[tuple[int, int], StreamClass] = {}
    for stream in streams:
        key = stream.trace.index, stream.class_index
        if key not in classes:
            classes[key] = stream.stream_class
    events = (event for one in classes.values() for event in one.event_classes)
    names = {event.name for event in events if event.name is not None}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            print(
                f"vestige: warning: --event: no event is called "
                f"'{plain(pattern)}'{plain(_advice(pattern, names))}",
                file=sys.stderr,
            )


def _advice(pattern: str, names: set[str]) -> str:
    """Return the nearest names, or what there is when none is near."""
    # A trace may hold anything: neither what steers terminals nor too much of it.
    names = set(sorted(name for name in names if name.isprintable())[:MOST_NAMES])
    # The short lines of 'view' leave out providers.
    anywhere = f"*:{pattern}"
    if ":" not in pattern and any(fnmatchcase(name, anywhere) for name in names):
        return f"; did you mean '{anywhere}'?"
    from .suggestions import did_you_mean

    advice = did_you_mean(pattern, _alternatives(names, pattern))
    if advice or not names:
        return advice
    found = sorted({_group(name) for name in names})
    shown = ", ".join(f"'{one}'" for one in found[:MOST_PROVIDERS])
    more = len(found) - MOST_PROVIDERS
    return f"; the trace has {shown}" + (f" and {more} more" if more > 0 else "")


def _group(name: str) -> str:
    """Return a pattern of a provider's events; those of the kernel have none."""
    provider, colon, _ = name.partition(":")
    return f"{provider}:*" if colon else name


def _alternatives(names: Iterable[str], pattern: str) -> set[str]:
    """Return names, or patterns of providers for a pattern of one."""
    if not pattern.endswith(":*"):
        return set(names)
    return {f"{name.partition(':')[0]}:*" for name in names if ":" in name}
