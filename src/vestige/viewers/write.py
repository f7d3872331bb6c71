"""Writing traces for viewers: one function for each format.

``folded``, ``pprof`` and, without a range of time, ``speedscope`` have what calls add
up to; the others have each call.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .._typing import TYPE_CHECKING, NamedTuple
from ..analysis.call_reader import TraceSource, call_tree
from ..analysis.each_call import EachCall, Wanted
from ..debuginfo import DebugFileFinder, Resolver
from ..errors import SelectionError
from ..graph import Graph, Selection
from ..trace import Trace, complete_file
from .call_table import ArrowCalls, TextCalls
from .chrome import ChromeSink
from .folded import folded_lines
from .names import OF_CALLS
from .perfetto import PerfettoSink
from .pprof import pprof_bytes
from .speedscope import speedscope_text
from .speedscope_calls import SpeedscopeSink

if TYPE_CHECKING:
    from typing import IO

    from ..analysis.calls import CallTree
    from ..damage import Damage
    from ..graph import Filter
    from .names import Weights

__all__ = ["FORMS", "TABLES", "Outcome", "tree_bytes", "write_calls", "write_trace"]

FORMS = ("perfetto", "chrome", "speedscope", "pprof", "folded")
"""All formats."""
TABLES = ("parquet", "arrow", "csv", "jsonl")
"""Formats of tables of calls."""
OF_TREES = frozenset({"speedscope", "pprof", "folded"})
"""Those that a call tree is enough for."""
BINARY = frozenset({"perfetto", "pprof"})
"""Those that standard output does not take."""


class Outcome(NamedTuple):
    """What was read."""

    calls: int
    """Number of entries and exits of functions."""
    events: int
    """Number of other event records."""
    lost: int
    """Number of event records that are known to be lost."""
    damage: list[Damage]
    """What could not be read."""
    is_empty: bool = False
    """Whether there is no call, neither whole nor in part."""


class _Wanted(NamedTuple):
    source: TraceSource
    resolver: Resolver
    selection: Selection
    call_filter: Filter | None
    progress: Callable[[int], object] | None

    @property
    def part(self) -> Wanted:
        return Wanted(self.selection, self.call_filter is not None)

    def graph(self, sink: object) -> Graph:
        filters = [] if self.call_filter is None else [self.call_filter]
        return Graph(
            [self.source],
            sink,  # type: ignore[arg-type] # each of ours is a sink
            filters,
            self.selection,
            progress=self.progress,
        )


def write_trace(  # noqa: PLR0913 - what is read, where to, and how
    source: TraceSource,
    path: str | os.PathLike[str] | None,
    to: str,
    *,
    resolver: Resolver | None = None,
    selection: Selection | None = None,
    call_filter: Filter | None = None,
    name: str = "trace",
    progress: Callable[[int], object] | None = None,
) -> Outcome:
    """Read traces, and write them for a viewer.

    Args:
        source: The traces: :func:`vestige.open` returns such an object.
        path: The file, which is there when it is complete; ``None`` for standard
            output, which takes text.
        to: One of :data:`FORMS`.
        resolver: Names functions; by default with the debug files of the trace.
        selection: Which part of the traces is read; all by default.
        call_filter: Hides entries of calls, as ``CallDurationFilter`` does.
        name: What the file is called in the viewer.
        progress: Called with the number of event records read so far.

    Raises:
        SelectionError: There is no such format, or it needs a file.
        OSError: The file cannot be written.

    Example:
        >>> from vestige.viewers import write_trace
        >>> write_trace(vestige.open("my-trace"), "trace.pftrace", "perfetto")
    """
    if to not in FORMS:
        raise SelectionError(f"no format '{to}': expected one of {', '.join(FORMS)}")
    if path is None and to in BINARY:
        raise SelectionError(f"{to} needs a file: it cannot go to standard output")
    wanted = _Wanted(
        source,
        resolver or _resolver_of(source),
        selection or Selection(),
        call_filter,
        progress,
    )
    has_range = wanted.selection.begin is not None or wanted.selection.end is not None
    if to == "perfetto":
        return _perfetto(wanted, Path(path or ""))
    if to == "chrome":
        return _chrome(wanted, path)
    if to == "speedscope" and has_range:
        return _speedscope(wanted, path, name)
    return _tree(wanted, path, to, name)


def write_calls(  # noqa: PLR0913 - as above
    source: TraceSource,
    path: str | os.PathLike[str] | None,
    to: str,
    *,
    resolver: Resolver | None = None,
    selection: Selection | None = None,
    call_filter: Filter | None = None,
    progress: Callable[[int], object] | None = None,
) -> Outcome:
    """Read traces, and write their calls as a table, a row for each.

    Args:
        source: The traces: :func:`vestige.open` returns such an object.
        path: The file, which is there when it is complete; ``None`` for standard
            output, which takes CSV and JSON Lines.
        to: One of :data:`TABLES`.
        resolver: Names functions; by default with the debug files of the trace.
        selection: Which part of the traces is read; all by default.
        call_filter: Hides entries of calls, as ``CallDurationFilter`` does.
        progress: Called with the number of event records read so far.

    Raises:
        MissingExtraError: pyarrow is needed and not installed.
        SelectionError: There is no such format, or it needs a file.
        OSError: The file cannot be written.
    """
    if to not in TABLES:
        raise SelectionError(f"no format '{to}': expected one of {', '.join(TABLES)}")
    wanted = _Wanted(
        source,
        resolver or _resolver_of(source),
        selection or Selection(),
        call_filter,
        progress,
    )
    if to in {"csv", "jsonl"}:
        with _text_file(path) as file:
            text = TextCalls(
                wanted.resolver, source.streams, file, to, wanted=wanted.part
            )
            return _outcome(text, wanted.graph(text).run())
    if path is None:
        raise SelectionError(f"{to} needs a file: it cannot go to standard output")
    with complete_file(Path(path)) as place:
        table = ArrowCalls(
            wanted.resolver, source.streams, place, to, wanted=wanted.part
        )
        return _outcome(table, wanted.graph(table).run())


def tree_bytes(
    tree: CallTree, to: str, name: str = "trace", weights: Weights = OF_CALLS
) -> bytes:
    """Write a call tree for a viewer.

    Args:
        tree: The calls.
        to: One of :data:`OF_TREES`.
        name: What the file is called in the viewer.
        weights: What is counted.
    """
    if to == "pprof":
        return pprof_bytes(tree, (name,), weights)
    if to == "speedscope":
        return speedscope_text(tree, name, weights).encode()
    return "".join(f"{line}\n" for line in folded_lines(tree)).encode()


def _resolver_of(source: TraceSource) -> Resolver:
    if isinstance(source, Trace):
        return source.resolver()
    return Resolver(DebugFileFinder())


def _tree(
    wanted: _Wanted, path: str | os.PathLike[str] | None, to: str, name: str
) -> Outcome:
    tree = call_tree(
        wanted.source,
        wanted.resolver,
        selection=wanted.selection,
        call_filter=wanted.call_filter,
        progress=wanted.progress,
    )
    data = tree_bytes(tree, to, name)
    if path is None:
        sys.stdout.write(data.decode())
    else:
        with complete_file(Path(path)) as place:
            place.write_bytes(data)
    return Outcome(
        tree.events, tree.other_events, tree.lost, tree.damage, not tree.functions()
    )


def _perfetto(wanted: _Wanted, path: Path) -> Outcome:
    with complete_file(path) as place, place.open("wb", 0) as file:
        sink = PerfettoSink(
            wanted.resolver,
            wanted.source.streams,
            file.fileno(),
            wanted=wanted.part,
        )
        damage = wanted.graph(sink).run()
    return _outcome(sink, damage)


def _chrome(wanted: _Wanted, path: str | os.PathLike[str] | None) -> Outcome:
    with _text_file(path) as file:
        sink = ChromeSink(
            wanted.resolver,
            wanted.source.streams,
            file,
            wanted=wanted.part,
        )
        damage = wanted.graph(sink).run()
    return _outcome(sink, damage)


def _speedscope(
    wanted: _Wanted, path: str | os.PathLike[str] | None, name: str
) -> Outcome:
    sink = SpeedscopeSink(wanted.resolver, wanted.source.streams, wanted=wanted.part)
    damage = wanted.graph(sink).run()
    with _text_file(path) as file:
        file.write(sink.text(name))
    return _outcome(sink, damage)


def _outcome(sink: EachCall, damage: list[Damage]) -> Outcome:
    calls = sink.fold.calls
    lost = sum(one.count or 0 for one in sink.losses if one.kind == "events")
    return Outcome(calls, sink.shown - calls, lost, damage, sink.is_empty)


@contextmanager
def _text_file(path: str | os.PathLike[str] | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    with complete_file(Path(path)) as place, place.open("w", encoding="utf-8") as file:
        yield file
