"""Reading spans and coroutines from recordings of Python programs.

A coroutine's events name it by an address, and say whether it begins or goes on, waits
or ends. Spans have a number in both events. While a span is open, it runs as long as
the coroutine does in which it began.

A task that waits leaves its coroutines from the innermost one outwards, with no other
event of the thread in between: so each of them knows what it waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import core
from ..._typing import TYPE_CHECKING
from ...debuginfo import (
    CODE_EVENT,
    Reason,
    Resolver,
    Unresolved,
)
from ...debuginfo import Mapping as CodeMapping
from ...graph import DamageNotice, Graph, Inputs, Selection, Stream, notices_of
from ...units import Address
from ..durations.keeper import DurationKeeper
from ..place_names import code_mapping, function_at
from ..threads import Thread
from .activity import Activity
from .joined import joined_functions, sorted_activities
from .open_things import OpenCoroutine, OpenSpan, ProcessKey, Runner
from .runners import runner_of
from .span_events import ENTRY_FIELDS, span_classes
from .waits import Life, Place, long_activity

if TYPE_CHECKING:
    pass

__all__ = ["COROUTINE_ENTRY", "read_activities"]

COROUTINE_ENTRY = "vestige_python:coroutine_entry"
COROUTINE_EXIT = "vestige_python:coroutine_exit"
_NOTHING = "\0"
"""A pattern that no name matches."""
_MOST_PLACES = 1 << 16
"""Paths of coroutines that await each other; of others, the outermost one is known."""

_Key = tuple[int, int, int]
"""Process space, process ID, and an address or a number."""


def read_activities(  # noqa: PLR0913 - what is read, and what is kept of it
    streams: Sequence[Stream],
    resolver: Resolver,
    selection: Selection | None = None,
    *,
    knows_waits: bool,
    longest: int | None = None,
    threads: Sequence[int | Thread] | None = None,
    names: Mapping[ProcessKey, str] | None = None,
) -> tuple[list[Activity], list[Activity]]:
    """Read traces, and put together what belongs together.

    Args:
        streams: The data streams.
        resolver: Names places.
        selection: The range of time that counts.
        knows_waits: Whether functions of Python were recorded, so that a span that is
            in no coroutine never waits.
        longest: Keep how long they took, and so many of the longest of each name, with
            their waits; nothing of it by default.
        threads: The threads that count, or their thread IDs; all by default.
        names: Names of processes.

    Returns:
        The spans and the coroutines, those that took longest first.
    """
    entries, exits = span_classes(streams)
    reader = _Reader(
        (entries, exits),
        selection or Selection(),
        knows_waits=knows_waits,
        longest=longest,
    )
    reader.wanted, reader.names = threads, names or {}
    nothing = Selection(patterns=(_NOTHING,))
    Graph([Inputs(streams)], reader, (), nothing).run()
    return reader.found(resolver)


class _Reader:
    # Follows the events of all threads.
    looks_at_records = True
    checks_fields = False

    def __init__(
        self,
        spans: tuple[set[str], set[str]],
        selection: Selection,
        *,
        knows_waits: bool,
        longest: int | None,
    ) -> None:
        self._entries, self._exits = spans
        self.needed_events = frozenset(
            {*self._entries, *self._exits, CODE_EVENT, COROUTINE_ENTRY, COROUTINE_EXIT}
        )
        self._begin = selection.begin
        self._end = selection.end
        self._knows_waits = knows_waits
        self._longest = longest
        self.wanted: Sequence[int | Thread] | None = None
        """The threads that count; all by default."""
        self.names: Mapping[ProcessKey, str] = {}
        """Names of processes."""
        # It reads what is told of code objects, as far as somebody asks.
        self._fold = core.CallFold([], [], [], code_events=[CODE_EVENT])
        self._index = 0
        self._runners: dict[Stream, Runner] = {}
        self._coroutines: dict[_Key, OpenCoroutine] = {}
        self._spans: dict[_Key, OpenSpan] = {}
        self._functions: dict[_Key, Activity] = {}
        self._named: dict[str, Activity] = {}
        self._lives: dict[int, DurationKeeper] = {}
        self._paths: dict[tuple[int, int], Place] = {}
        self._places: list[tuple[Activity, CodeMapping | Unresolved, int]] = []

    def finish(self) -> None:
        """Do nothing: what has not ended is in no place yet."""

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        self._fold.begin(merge)
        for self._index, event in enumerate(merge.events()):
            self._add_event(event)
        self._fold.advance()
        if any(not isinstance(one, DamageNotice) for one in notices_of(merge)):
            for runner in self._runners.values():
                # Nobody knows which coroutines have been left.
                runner.lose()
            for coroutine in self._coroutines.values():
                coroutine.is_uncertain = True
            for span in self._spans.values():
                span.is_uncertain = True

    def _add_event(self, event: core.Event) -> None:
        name = event.name or ""
        if name == CODE_EVENT:
            return
        runner = self._runners.get(event.stream)
        if runner is None:
            runner = self._runners[event.stream] = runner_of(
                event, self.names, self.wanted
            )
        time = event.timestamp
        if (
            not runner.is_wanted
            or time is None
            or (self._begin is not None and time < self._begin)
            or (self._end is not None and time > self._end)
        ):
            return
        if name == COROUTINE_ENTRY:
            self._enter(runner, event, time)
        elif name == COROUTINE_EXIT:
            self._leave(runner, event, time)
        elif name in self._entries:
            self._begin_span(runner, event, name.removesuffix("_entry"), time)
        elif name in self._exits:
            self._end_span(runner, event, name.removesuffix("_exit"), time)

    def _enter(self, runner: Runner, event: core.Event, time: int) -> None:
        runner.awaited = None
        key = (*runner.process, _integer(event, "id"))
        one = self._coroutines.get(key)
        is_resumed = event.get("is_resumed")
        if one is None or not is_resumed:
            if one is not None:
                _drop(one)
            function = self._function(runner, _integer(event, "addr"))
            one = self._coroutines[key] = OpenCoroutine(
                function,
                None if is_resumed else time,
                runner.thread,
                keeps_waits=self._longest is not None,
            )
            if not is_resumed:
                function.calls += 1
                while runner.rootless:
                    runner.rootless.pop().carried_by(one)
        else:
            one.go_on(time, runner)
        one.since = time
        runner.enter(one, time)

    def _leave(self, runner: Runner, event: core.Event, time: int) -> None:
        awaited, runner.awaited = runner.awaited, None
        key = (*runner.process, _integer(event, "id"))
        one = self._coroutines.get(key)
        if one is None:
            return
        depth = runner.leave(one, time)
        if one.since is not None:
            one.running += time - one.since
            one.since = None
        if event.get("is_suspended"):
            place = None
            if self._longest is not None and depth is not None:
                inner = None
                if awaited is not None and awaited[0] == depth + 1:
                    inner = awaited[1]
                place = self._place(one.activity, inner)
                runner.awaited = depth, place
            one.wait(place, time, runner)
            return
        del self._coroutines[key]
        self._end_coroutine(one, time)

    def _end_coroutine(self, one: OpenCoroutine, time: int) -> None:
        activity = one.activity
        activity.resumes += one.resumes
        if one.began is None:
            return
        elapsed = time - one.began
        activity.elapsed.add(elapsed)
        activity.running.add(one.running)
        activity.uncertain += one.is_uncertain
        if self._longest is not None and not one.is_uncertain:
            life = Life(one.began, one.running, one.waits, one.thread, None, {})
            self._lives_of(activity).add(elapsed, life.begin, life)

    def _begin_span(
        self, runner: Runner, event: core.Event, name: str, time: int
    ) -> None:
        runner.awaited = None
        activity = self._span_activity(name)
        if activity.function is None and not activity.calls:
            address = event.context.get("ip")
            if isinstance(address, int):
                self._note_place(activity, runner, address)
        activity.calls += 1
        has_task = bool(event["task"])
        is_known = self._knows_waits and not has_task and not runner.has_lost
        span = OpenSpan(
            activity,
            time,
            runner.thread,
            waits_are_known=is_known,
            keeps_waits=self._longest is not None,
        )
        if self._longest is not None:
            span.task = str(event["task"]) or None if has_task else None
            span.fields = {
                field: value
                for field, value in event.payload.items()
                if field not in ENTRY_FIELDS
            }
        self._spans[(*runner.process, _integer(event, "span_id"))] = span
        if runner.stack:
            span.carried_by(runner.stack[-1])
        elif has_task and self._knows_waits:
            runner.rootless.append(span)

    def _end_span(
        self, runner: Runner, event: core.Event, name: str, time: int
    ) -> None:
        runner.awaited = None
        number = _integer(event, "span_id")
        span = self._spans.pop((*runner.process, number), None)
        if span is None:
            self._span_activity(name).unbegun += 1
            return
        if span.carrier is not None:
            span.carrier.spans.remove(span)
        elif span in runner.rootless:
            runner.rootless.remove(span)
        span.stop(time)
        waited = _integer(event, "waited")
        activity = span.activity
        elapsed = time - span.began
        activity.elapsed.add(elapsed)
        activity.resumes += span.resumes
        activity.uncertain += span.is_uncertain
        if event["error"]:
            activity.errors[str(event["error"])] += 1
        running = _running_time(span, waited)
        if running is not None:
            activity.running.add(running)
        if self._longest is not None and not span.is_uncertain:
            waits = span.waits if span.waits_are_known else None
            life = Life(span.began, running, waits, span.thread, span.task, span.fields)
            self._lives_of(activity).add(elapsed, life.begin, life)

    def _span_activity(self, name: str) -> Activity:
        activity = self._named.get(name)
        if activity is None:
            activity = self._named[name] = Activity(name=name)
        return activity

    def _function(self, runner: Runner, address: int) -> Activity:
        key = (*runner.process, address)
        activity = self._functions.get(key)
        if activity is None:
            activity = self._functions[key] = Activity(name="")
            self._note_place(activity, runner, address)
        return activity

    def _lives_of(self, activity: Activity) -> DurationKeeper:
        lives = self._lives.get(id(activity))
        if lives is None:
            lives = self._lives[id(activity)] = DurationKeeper(self._longest or 0)
        return lives

    def _place(self, activity: Activity, inner: Place | None) -> Place:
        """Return where a coroutine waits: the same object for the same path."""
        key = id(activity), id(inner)
        place = self._paths.get(key)
        if place is None:
            if inner is not None and len(self._paths) >= _MOST_PLACES:
                return self._place(activity, None)
            place = self._paths[key] = Place(activity, inner)
        return place

    def _note_place(self, activity: Activity, runner: Runner, address: int) -> None:
        self._fold.advance(self._index)
        code = self._fold.find_code(*runner.process, address)
        found = code_mapping(code) if code else Unresolved(Reason.NO_OBJECT)
        self._places.append((activity, found, address))

    def found(self, resolver: Resolver) -> tuple[list[Activity], list[Activity]]:
        """Name the places; return the spans and the coroutines."""
        for one in self._coroutines.values():
            _drop(one)
        for span in self._spans.values():
            span.activity.unended += 1
            span.activity.resumes += span.resumes
        questions = [(found, Address(address)) for _, found, address in self._places]
        places = resolver.resolve_many(questions)
        rows = zip(self._places, places, strict=True)
        for (activity, _, address), place in rows:
            activity.function = function_at(place, address)
        spans = [one for one in self._named.values() if one.calls or one.unbegun]
        if self._longest is not None:
            for activity in (*spans, *self._functions.values()):
                lives = self._lives_of(activity)
                activity.durations = lives.durations(long_activity)
                activity.durations_total = lives.total
        return sorted_activities(spans), sorted_activities(
            joined_functions(self._functions.values())
        )


def _drop(one: OpenCoroutine) -> None:
    one.activity.resumes += one.resumes
    if one.began is not None:
        one.activity.unended += 1


def _running_time(span: OpenSpan, waited: int) -> int | None:
    """Return how long a span ran, where that is known."""
    if waited and span.carrier is not None:
        # Both the generator and its caller waited, perhaps at the same time.
        return None
    if span.waits_are_known or waited:
        return max(span.running - waited, 0)
    return None


def _integer(event: core.Event, name: str) -> int:
    """Return a field; 0 where the trace has another type or no such field."""
    value = event.get(name)
    return value if isinstance(value, int) else 0
