"""The filters of a channel: what the kernel does of them, and what is left to do."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from ....errors import SelectionError
from ....expressions.code import Instruction, Operation
from ..._kernel import impossible_filters
from .call_programs import GETS_MEMORY
from .contexts import CONTEXTS, FOR_FILTERS, context_fields, context_operations
from .event_classes import event_class
from .expressions import FilterError, split, whole
from .filter_reasons import why_impossible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .event_classes import Operation as Made
    from .formats import EventFormat
    from .tracefs import Instance

__all__ = ["ChannelFilters", "Filters", "check_filter"]

_Code = tuple[Instruction, ...]
Filters = tuple[
    str, "list[tuple[int, list[Made] | None, list[tuple[int, int, int | float | str]]]]"
]
"""As :class:`vestige.record._kernel.Collector` has it."""

_Tells = tuple[str, int, int]
_NEVER = (Instruction(Operation.INTEGER), Instruction(Operation.RETURN))
"""What is true of no record."""
_TRACE = """\
/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; }};
stream {{ id = 0;
event.header := struct {{ integer {{ size = 32; align = 8; signed = 0; }} id; }};
event.context := struct {{ {context} }}; }};
"""
_EVENT = """\
event {{ name = "event {name}"; id = {id}; stream_id = 0;
fields := struct {{ {fields} }}; }};
"""


def check_filter(text: str, events: Sequence[EventFormat]) -> None:
    """Refuse a filter that can be true of none of some events.

    Args:
        text: The filter.
        events: What the kernel says of the events that its rule takes.

    Raises:
        FilterError: It is no expression, or needs what none of them has.
    """
    _possible_events(text, events)


def _possible_events(text: str, events: Sequence[EventFormat]) -> set[int]:
    """Return the IDs of the events of which a filter can be true.

    Raises:
        FilterError: There are none.
    """
    try:
        code = whole([text])
    except SelectionError as error:
        raise FilterError(str(error)) from None
    if code is None or not events:
        return set()
    impossible = impossible_filters(_bound({one.id: (one, code) for one in events}, ()))
    found = {one.id for one in events} - set(impossible)
    if not found:
        raise FilterError(why_impossible(text, code, events))
    return found


def _asked(codes: Iterable[_Code]) -> list[str]:
    """Return the contexts that filters ask for, those that there are."""
    names = {
        one.value.decode(errors="replace")
        for code in codes
        for one in code
        if one.operation is Operation.CONTEXT and isinstance(one.value, bytes)
    }
    return sorted(names & {*CONTEXTS, *FOR_FILTERS})


def _nothing(_: EventFormat) -> None:
    return None


def _bound(
    rests: Mapping[int, tuple[EventFormat, _Code]],
    contexts: Sequence[str],
    told: Callable[[EventFormat], _Tells | None] = _nothing,
) -> Filters:
    """Return filters as the collector takes them, by the IDs of their events."""
    asked = _asked(code for _, code in rests.values())
    needed = [*contexts, *(one for one in asked if one not in {*contexts, "tid"})]
    text = _TRACE.format(context=context_fields(needed))
    filters = []
    for number, (key, (event, code)) in enumerate(rests.items()):
        operations = context_operations(needed, event.system)
        gets = told(event)
        made = event_class(event, "event", operations, gets and gets[1])
        text += _EVENT.format(name=number, id=number, fields=made.fields)
        own = list(made.operations) if needed != list(contexts) else None
        filters.append((key, own, [_told(one) for one in code]))
    return text, filters


def _told(one: Instruction) -> tuple[int, int, int | float | str]:
    value = one.value
    if isinstance(value, bytes):
        return one.operation, one.argument, value.decode("latin-1")
    return one.operation, one.argument, value


class ChannelFilters:
    """The filters of the events of a channel.

    Args:
        instance: Where the events are.
        contexts: LTTng's names of the contexts of its records.
        spared: Events of which the kernel must leave out none; ``None``: all.
        told: What records of an event get that the kernel's own have not, and where.
            Of those that get memory, it must leave out none: what is told of a call
            could be taken for that of the next one, of which nothing is told.
    """

    def __init__(
        self,
        instance: Instance,
        contexts: Sequence[str],
        spared: frozenset[tuple[str, str]] | None = frozenset(),
        told: Callable[[EventFormat], _Tells | None] = _nothing,
    ) -> None:
        self.problems: list[str] = []
        """Filters that make no sense."""
        self._instance, self._spared, self._gets = instance, spared, told
        self._contexts = [one for one in dict.fromkeys(contexts) if one != "tid"]
        self._written: dict[tuple[str, str], str] = {}
        self._rests: dict[int, tuple[EventFormat, _Code]] = {}

    def apply(self, wanted: Sequence[tuple[EventFormat, Sequence[str | None]]]) -> None:
        """Give the kernel what it can do, and keep the rest.

        Args:
            wanted: All events, each with the filters of its rules.
        """
        self._rests = {}
        possible = self._possible(wanted)
        for event, texts in wanted:
            kernel: str | None = None
            rest: _Code | None = None
            if None not in texts:
                known = [one for one in texts if (event.id, one) in possible]
                kernel, rest = split(known, event) if known else (None, _NEVER)
                if kernel is not None and not self._write(event, kernel):
                    kernel, rest = None, whole(known)
            if kernel is None:
                self._write(event, None)
            if rest is not None:
                self._rests[event.id] = event, rest

    def _write(self, event: EventFormat, text: str | None) -> bool:
        """Give the kernel a filter; tell whether it takes it."""
        key = event.system, event.name
        if text is not None and self._is_spared(event):
            return False
        if self._written.get(key) == text:
            return True
        try:
            self._instance.write(f"events/{key[0]}/{key[1]}/filter", text or "0")
        except OSError:
            return False
        if text is None:
            self._written.pop(key, None)
        else:
            self._written[key] = text
        return True

    def _is_spared(self, event: EventFormat) -> bool:
        """Tell whether the kernel must leave out none of an event."""
        if self._spared is None or (event.system, event.name) in self._spared:
            return True
        gets = self._gets(event)
        return gets is not None and gets[0] == GETS_MEMORY

    def _possible(
        self, wanted: Sequence[tuple[EventFormat, Sequence[str | None]]]
    ) -> set[tuple[int, str]]:
        """Return which filters can be true of which events; tell those that cannot."""
        by_text: dict[str, list[EventFormat]] = {}
        for event, texts in wanted:
            for text in texts:
                if text is not None:
                    by_text.setdefault(text, []).append(event)
        possible = set()
        for text, events in by_text.items():
            try:
                found = _possible_events(text, events)
            except FilterError as error:
                self.problems.append(str(error))
                continue
            possible |= {(one, text) for one in found}
        return possible

    def asked(self) -> list[str]:
        """Return the contexts that must be known for what the kernel does not do."""
        return _asked(code for _, code in self._rests.values())

    def to_read(self) -> Filters:
        """Return what the kernel does not do."""
        return _bound(self._rests, self._contexts, self._gets)
