"""Only events of some threads or processes."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ...graph.growing import Feed
from .kept_names import kept_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...graph import Stream
    from ...graph.selection import Selection
    from .named_threads import NamedThreads

__all__ = ["are_names_unknown", "choose_origins", "origin_expressions"]

IDS = {"thread": ("vtid", "tid"), "process": ("vpid", "pid")}
"""Contexts that have an ID: that of a PID namespace, and that of the machine."""
NAME = "procname"
"""The context that has a name."""
_NONE = "0 == 1"
"""True of no event."""
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
    known = _KnownNames(selections)
    for kind, words in wanted.items():
        if not words:
            continue
        narrowed = {
            stream: _narrowed(stream, one, kind, words, known)
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


def are_names_unknown(streams: Sequence[Stream]) -> bool:
    """Tell whether events of any data stream do not have the name of their thread.

    Args:
        streams: The data streams.
    """
    return any(NAME not in _contexts(stream) for stream in streams)


def _not_told(kind: str, words: Sequence[str]) -> SelectionError:
    return SelectionError(
        f"the events do not tell their {kind} by "
        f"{' and '.join(_needed(kind, words))}: record these contexts"
    )


class _KnownNames:
    # The names of threads of some data streams, read when they are needed.

    def __init__(self, streams: Iterable[Stream | Feed]) -> None:
        # What is not there yet cannot be read twice.
        all_of_them = [*streams]
        self._streams = [one for one in all_of_them if not isinstance(one, Feed)]
        self._is_complete = len(self._streams) == len(all_of_them)
        self._read: NamedThreads | None = None

    def threads(self, kind: str, word: str) -> set[int]:
        """Return the IDs of the threads that a name or the ID of a process means."""
        read = self._known()
        if kind == "thread":
            return read.threads(word)
        is_id = word.isdecimal() and word.isascii()
        return read.threads_of({int(word)} if is_id else read.processes(word))

    @property
    def can_tell(self) -> bool:
        """Whether there are any names, and of all data streams."""
        return self._is_complete and bool(self._known().rows)

    def _known(self) -> NamedThreads:
        if self._read is None:
            from .named_threads import read_named_threads  # noqa: PLC0415 - few need it

            self._read = read_named_threads(self._streams)
        return self._read


def _narrowed(
    stream: Stream | Feed,
    wanted: Selection,
    kind: str,
    words: Sequence[str],
    names: _KnownNames,
) -> Selection | None:
    """Return what is wanted; ``None`` if the events do not tell."""
    known = {*_contexts(stream)}
    terms = []
    for word in words:
        found = [*_terms(kind, word, known)]
        if not found and known.intersection(IDS["thread"]) and names.can_tell:
            # Other events tell which threads these are.
            threads = sorted(names.threads(kind, word))
            found = [
                one for tid in threads for one in _terms("thread", str(tid), known)
            ]
            found = found or [_NONE]
        terms += found
    if not terms:
        return None
    return wanted._replace(filters=(*wanted.filters, " || ".join(terms)))


def _terms(kind: str, word: str, known: set[str]) -> Iterator[str]:
    if word.isdecimal() and word.isascii():
        for name in IDS[kind]:
            if name in known:
                yield f"$ctx.{name} == {int(word)}"
    elif NAME in known:
        # Kernels, and so tracers, have the beginning of a longer one.
        names = [word] if "*" in word else [*dict.fromkeys((word, kept_name(word)))]
        for name in names:
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
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
