"""Only events of some threads or processes."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ...graph.growing import Feed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...graph import Stream
    from ...graph.selection import Selection

__all__ = ["choose_origins", "origin_expressions"]

IDS = {"thread": ("vtid", "tid"), "process": ("vpid", "pid")}
"""Contexts that have an ID: that of a PID namespace, and that of the machine."""
NAME = "procname"
"""The context that has a name."""
ANY_NAME = ((),)
"""A choice of names that no event has."""


def choose_origins(
    selections: dict[Stream | Feed, Selection],
    threads: Sequence[str],
    processes: Sequence[str],
) -> dict[Stream | Feed, Selection]:
    """Narrow what is wanted of data streams to some threads and processes.

    Args:
        selections: What is wanted of each data stream without it.
        threads: IDs, or names with ``*``; of all threads without one.
        processes: The same of processes.

    Raises:
        SelectionError: No event tells its thread or its process.
    """
    wanted = {"thread": threads, "process": processes}
    for kind, words in wanted.items():
        if not words:
            continue
        narrowed = {
            stream: _narrowed(stream, one, kind, words)
            for stream, one in selections.items()
        }
        if selections and not any(narrowed.values()):
            raise _not_told(kind, words)
        selections = {
            stream: found or one._replace(patterns=(*one.patterns, *ANY_NAME))
            for (stream, found), one in zip(
                narrowed.items(), selections.values(), strict=True
            )
        }
    return selections


def origin_expressions(
    streams: Sequence[Stream], threads: Sequence[str], processes: Sequence[str]
) -> list[str]:
    """Return expressions that are true of events of some threads and processes.

    Args:
        streams: The data streams.
        threads: IDs, or names with ``*``; of all threads without one.
        processes: The same of processes.

    Raises:
        SelectionError: No event tells its thread or its process.
    """
    contexts = [{*_contexts(stream)} for stream in streams]
    everywhere = set.intersection(*contexts) if contexts else set()
    expressions = []
    for kind, words in (("thread", threads), ("process", processes)):
        found = []
        for word in words:
            # An expression is false where one of its names is unknown.
            terms = [*_terms(kind, word, everywhere)]
            terms = terms or [*_terms(kind, word, set().union(*contexts))][:1]
            found += terms
        if words and not found and streams:
            raise _not_told(kind, words)
        if found:
            expressions.append(" || ".join(found))
    return expressions


def _not_told(kind: str, words: Sequence[str]) -> SelectionError:
    return SelectionError(
        f"the events do not tell their {kind} by "
        f"{' and '.join(_needed(kind, words))}: record these contexts"
    )


def _narrowed(
    stream: Stream | Feed, wanted: Selection, kind: str, words: Sequence[str]
) -> Selection | None:
    """Return what is wanted; ``None`` if the events do not tell."""
    known = {*_contexts(stream)}
    terms = [term for word in words for term in _terms(kind, word, known)]
    if not terms:
        return None
    return wanted._replace(filters=(*wanted.filters, " || ".join(terms)))


def _terms(kind: str, word: str, known: set[str]) -> Iterator[str]:
    if word.isdecimal() and word.isascii():
        for name in IDS[kind]:
            if name in known:
                yield f"$ctx.{name} == {int(word)}"
    elif NAME in known:
        quoted = word.replace("\\", "\\\\").replace('"', '\\"')
        yield f'$ctx.{NAME} == "{quoted}"'


def _needed(kind: str, words: Sequence[str]) -> list[str]:
    """Return the contexts that tell what was asked for."""
    found = {IDS[kind][0] if word.isdecimal() else NAME for word in words}
    return sorted(found)


def _contexts(stream: Stream | Feed) -> Iterable[str]:
    """Return the names of the contexts that all events of a data stream have."""
    if isinstance(stream, Feed):
        # Data streams to come may have any. Those that lack one have no event.
        yield from (*IDS["thread"], *IDS["process"], NAME)
        return
    described = stream.stream_class
    for scope in (described.packet_context, described.event_context):
        for member in () if scope is None else scope.members:
            yield member.name
    yield from ({"vpid", NAME} & {*stream.trace.parsed.environment})
