"""Reading spans and coroutines from recordings of Python programs.

A coroutine's events name it by an address, and say whether it begins or goes on, waits
or ends. Spans have a number in both events. While a span is open, it runs as long as
the coroutine does in which it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .. import core
from .._typing import TYPE_CHECKING
from ..debuginfo import (
    CODE_EVENT,
    Mapping,
    Reason,
    Resolver,
    Unresolved,
)
from ..graph import DamageNotice, Graph, Inputs, Selection, Stream, notices_of
from ..units import Address
from .activities import Activity
from .place_names import code_mapping, function_at

if TYPE_CHECKING:
    from typing import Any

__all__ = ["COROUTINE_ENTRY", "read_activities", "span_classes"]

COROUTINE_ENTRY = "vestige_python:coroutine_entry"
COROUTINE_EXIT = "vestige_python:coroutine_exit"
_ENTRY_FIELDS = {"span_id", "parent_id", "task"}
_EXIT_FIELDS = {"span_id", "error", "waited"}
"""What tells events of spans from those of others."""
_NOTHING = "\0"
"""A pattern that no name matches."""

_Process = tuple[int, int]
"""The process space of the data stream, and the process ID."""
_Key = tuple[int, int, int]
"""The same, and an address or a number."""


def span_classes(streams: Iterable[Stream]) -> tuple[set[str], set[str]]:
    """Find the events of spans by their fields.

    Args:
        streams: The data streams.

    Returns:
        The names of entries, and those of exits.
    """
    entries, exits = set(), set()
    for stream_class in {
        id(one.stream_class): one.stream_class for one in streams
    }.values():
        for one in stream_class.event_classes:
            fields = _field_names(one.payload)
            name = one.name or ""
            if fields >= _ENTRY_FIELDS and name.endswith("_entry"):
                entries.add(name)
            elif fields >= _EXIT_FIELDS and name.endswith("_exit"):
                exits.add(name)
    return entries, exits


def _field_names(payload: Any) -> frozenset[str]:
    members = getattr(payload, "members", ()) or ()
    return frozenset(member.name for member in members)


def read_activities(
    streams: Sequence[Stream],
    resolver: Resolver,
    selection: Selection | None = None,
    *,
    knows_waits: bool,
) -> tuple[list[Activity], list[Activity]]:
    """Read traces, and put together what belongs together.

    Args:
        streams: The data streams.
        resolver: Names places.
        selection: The range of time that counts.
        knows_waits: Whether functions of Python were recorded, so that a span that is
            in no coroutine never waits.

    Returns:
        The spans and the coroutines, those that took longest first.
    """
    entries, exits = span_classes(streams)
    reader = _Reader(entries, exits, selection or Selection(), knows_waits=knows_waits)
    nothing = Selection(patterns=(_NOTHING,))
    Graph([Inputs(streams)], reader, (), nothing).run()
    return reader.found(resolver)


class _Coroutine:
    # One call of a coroutine function.
    __slots__ = (
        "activity", "began", "is_uncertain", "resumes", "running", "since", "spans",
    )  # fmt: skip

    def __init__(self, activity: Activity, began: int | None) -> None:
        self.activity = activity
        self.began = began
        self.running = 0
        self.resumes = 0
        self.since: int | None = None
        self.is_uncertain = False
        self.spans: list[_Span] = []


class _Span:
    # A span that has begun.
    __slots__ = (
        "activity", "began", "carrier", "is_uncertain", "resumes", "running", "since",
        "waits_are_known",
    )  # fmt: skip

    def __init__(
        self, activity: Activity, began: int, *, waits_are_known: bool
    ) -> None:
        self.activity = activity
        self.began = began
        self.carrier: _Coroutine | None = None
        self.since: int | None = began
        self.running = 0
        self.resumes = 0
        self.is_uncertain = False
        self.waits_are_known = waits_are_known

    def carried_by(self, carrier: _Coroutine) -> None:
        """Run from now on as long as a coroutine does."""
        self.carrier = carrier
        self.waits_are_known = True
        carrier.spans.append(self)


class _Thread:
    # A data stream: the coroutines that are running in it, one within the other.

    def __init__(self, process: _Process) -> None:
        self.process = process
        self.stack: list[_Coroutine] = []
        self.rootless: list[_Span] = []
        """Spans of a task whose coroutine has not begun."""
        self.has_lost = False
        """Whether it may be in coroutines that are not in the stack."""


class _Reader:
    # Follows the events of all threads.
    looks_at_records = True
    checks_fields = False

    def __init__(
        self,
        entries: set[str],
        exits: set[str],
        selection: Selection,
        *,
        knows_waits: bool,
    ) -> None:
        self._entries = entries
        self._exits = exits
        self.needed_events = frozenset(
            {*entries, *exits, CODE_EVENT, COROUTINE_ENTRY, COROUTINE_EXIT}
        )
        self._begin = selection.begin
        self._end = selection.end
        self._knows_waits = knows_waits
        # It reads what is told of code objects, as far as somebody asks.
        self._fold = core.CallFold([], [], [], code_events=[CODE_EVENT])
        self._index = 0
        self._threads: dict[Stream, _Thread] = {}
        self._coroutines: dict[_Key, _Coroutine] = {}
        self._spans: dict[_Key, _Span] = {}
        self._functions: dict[_Key, Activity] = {}
        self._named: dict[str, Activity] = {}
        self._places: list[tuple[Activity, Mapping | Unresolved, int]] = []

    def finish(self) -> None:
        """Do nothing: what has not ended is in no place yet."""

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        self._fold.begin(merge)
        for self._index, event in enumerate(merge.events()):
            self._add_event(event)
        self._fold.advance()
        if any(not isinstance(one, DamageNotice) for one in notices_of(merge)):
            for thread in self._threads.values():
                # Nobody knows which coroutines have been left.
                thread.stack.clear()
                thread.has_lost = True
            for coroutine in self._coroutines.values():
                coroutine.is_uncertain = True
            for span in self._spans.values():
                span.is_uncertain = True

    def _add_event(self, event: core.Event) -> None:
        name = event.name or ""
        if name == CODE_EVENT:
            return
        thread = self._threads.get(event.stream)
        if thread is None:
            thread = self._threads[event.stream] = _thread(event)
        time = event.timestamp
        if (
            time is None
            or (self._begin is not None and time < self._begin)
            or (self._end is not None and time > self._end)
        ):
            return
        if name == COROUTINE_ENTRY:
            self._enter(thread, event, time)
        elif name == COROUTINE_EXIT:
            self._leave(thread, event, time)
        elif name in self._entries:
            self._begin_span(thread, event, name.removesuffix("_entry"), time)
        elif name in self._exits:
            self._end_span(thread, event, time)

    def _enter(self, thread: _Thread, event: core.Event, time: int) -> None:
        key = (*thread.process, _integer(event, "id"))
        one = self._coroutines.get(key)
        if not event.get("is_resumed"):
            if one is not None:
                self._drop(one)
            one = _Coroutine(self._function(thread, _integer(event, "addr")), time)
            one.activity.calls += 1
            self._coroutines[key] = one
            while thread.rootless:
                thread.rootless.pop().carried_by(one)
        elif one is None:
            one = _Coroutine(self._function(thread, _integer(event, "addr")), None)
            self._coroutines[key] = one
        else:
            one.resumes += 1
            for span in one.spans:
                span.resumes += 1
                span.since = time
        one.since = time
        thread.stack.append(one)

    def _leave(self, thread: _Thread, event: core.Event, time: int) -> None:
        key = (*thread.process, _integer(event, "id"))
        one = self._coroutines.get(key)
        if one is None:
            return
        if one in thread.stack:
            del thread.stack[thread.stack.index(one) :]
        if one.since is not None:
            one.running += time - one.since
            one.since = None
        if event.get("is_suspended"):
            for span in one.spans:
                _stop(span, time)
            return
        del self._coroutines[key]
        one.activity.resumes += one.resumes
        if one.began is not None:
            one.activity.elapsed.add(time - one.began)
            one.activity.running.add(one.running)
            one.activity.uncertain += one.is_uncertain

    def _drop(self, one: _Coroutine) -> None:
        one.activity.resumes += one.resumes
        if one.began is not None:
            one.activity.unended += 1

    def _begin_span(
        self, thread: _Thread, event: core.Event, name: str, time: int
    ) -> None:
        activity = self._named.get(name)
        if activity is None:
            activity = self._named[name] = Activity(name=name)
            address = event.context.get("ip")
            if isinstance(address, int):
                self._note_place(activity, thread, address)
        activity.calls += 1
        has_task = bool(event["task"])
        is_known = self._knows_waits and not has_task and not thread.has_lost
        span = _Span(activity, time, waits_are_known=is_known)
        self._spans[(*thread.process, _integer(event, "span_id"))] = span
        if thread.stack:
            span.carried_by(thread.stack[-1])
        elif has_task and self._knows_waits:
            thread.rootless.append(span)

    def _end_span(self, thread: _Thread, event: core.Event, time: int) -> None:
        number = _integer(event, "span_id")
        span = self._spans.pop((*thread.process, number), None)
        if span is None:
            return
        if span.carrier is not None:
            span.carrier.spans.remove(span)
        elif span in thread.rootless:
            thread.rootless.remove(span)
        _stop(span, time)
        waited = _integer(event, "waited")
        activity = span.activity
        activity.elapsed.add(time - span.began)
        activity.resumes += span.resumes
        activity.uncertain += span.is_uncertain
        if event["error"]:
            activity.errors[str(event["error"])] += 1
        if waited and span.carrier is not None:
            # Both the generator and its caller waited, perhaps at the same time.
            return
        if span.waits_are_known or waited:
            activity.running.add(max(span.running - waited, 0))

    def _function(self, thread: _Thread, address: int) -> Activity:
        key = (*thread.process, address)
        activity = self._functions.get(key)
        if activity is None:
            activity = self._functions[key] = Activity(name="")
            self._note_place(activity, thread, address)
        return activity

    def _note_place(self, activity: Activity, thread: _Thread, address: int) -> None:
        self._fold.advance(self._index)
        code = self._fold.find_code(*thread.process, address)
        found = code_mapping(code) if code else Unresolved(Reason.NO_OBJECT)
        self._places.append((activity, found, address))

    def found(self, resolver: Resolver) -> tuple[list[Activity], list[Activity]]:
        """Name the places; return the spans and the coroutines."""
        for one in self._coroutines.values():
            self._drop(one)
        for span in self._spans.values():
            span.activity.unended += 1
            span.activity.resumes += span.resumes
        questions = [(found, Address(address)) for _, found, address in self._places]
        places = resolver.resolve_many(questions)
        rows = zip(self._places, places, strict=True)
        for (activity, _, address), place in rows:
            activity.function = function_at(place, address)
        return _sorted(self._named.values()), _sorted(_joined(self._functions.values()))


def _integer(event: core.Event, name: str) -> int:
    """Return a field; 0 where the trace has another type or no such field."""
    value = event.get(name)
    return value if isinstance(value, int) else 0


def _thread(event: core.Event) -> _Thread:
    known = event.stream.trace.parsed.environment.get("vpid")
    for scope in (event.packet_context, event.context):
        vpid = scope.get("vpid")
        known = vpid if isinstance(vpid, int) else known
    vpid = known if isinstance(known, int) else -1
    return _Thread((event.stream.process_space, vpid))


def _stop(span: _Span, time: int) -> None:
    if span.since is not None:
        span.running += time - span.since
        span.since = None


def _joined(functions: Iterable[Activity]) -> Iterator[Activity]:
    """Put together what is the same function in several processes."""
    known: dict[tuple[str, str | None], Activity] = {}
    for one in functions:
        if one.function is None:
            continue
        one.name = one.function.name
        key = (one.name, one.function.source)
        first = known.setdefault(key, one)
        if first is not one:
            _merge(first, one)
    yield from known.values()


def _merge(first: Activity, other: Activity) -> None:
    first.calls += other.calls
    first.resumes += other.resumes
    first.unended += other.unended
    first.uncertain += other.uncertain
    for mine, theirs in (
        (first.elapsed, other.elapsed),
        (first.running, other.running),
    ):
        mine.count += theirs.count
        mine.total += theirs.total
        ends = [mine.shortest, theirs.shortest, mine.longest, theirs.longest]
        times = [time for time in ends if time is not None]
        mine.shortest, mine.longest = min(times, default=None), max(times, default=None)


def _sorted(activities: Iterable[Activity]) -> list[Activity]:
    return sorted(activities, key=lambda one: (-one.elapsed.total, one.name))
