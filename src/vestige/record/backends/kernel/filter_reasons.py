"""Why a filter can be true of no event: one sentence, with names that there are."""

from __future__ import annotations

import re

from ...._typing import TYPE_CHECKING
from ....advice import nearest
from ....expressions.code import Operation
from .contexts import CONTEXTS, FOR_FILTERS
from .event_classes import event_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ....expressions.code import Instruction
    from .formats import EventFormat

__all__ = ["why_impossible"]

_NAME = re.compile(r"\b_(\w+)(?=;|\[)")
"""A field in TSDL, where all have an underscore."""
_LIKENESS = 0.7
"""How much of two names must be the same to take one for the other (:mod:`difflib`)."""


def why_impossible(
    text: str, code: Sequence[Instruction], events: Sequence[EventFormat]
) -> str:
    """Say why a filter is true of none of some events.

    Args:
        text: The filter.
        code: Its byte code.
        events: What the kernel says of the events that its rule takes, at least one.

    Returns:
        A sentence.
    """
    return f"the filter '{text}' is never true: {_reason(code, events)}"


def _reason(code: Sequence[Instruction], events: Sequence[EventFormat]) -> str:
    for name in _names(code, Operation.CONTEXT):
        known = sorted({*CONTEXTS, *FOR_FILTERS})
        if name not in known:
            return f"the kernel has no context '{name}'; there {nearest(name, known)}"
    fields = dict(map(_fields_of, events))
    asked = list(_names(code, Operation.FIELD, Operation.ELEMENT))
    for name in asked:
        if not any(name in names for names in fields.values()):
            return _no_field(name, fields)
    lacking = {
        event: [name for name in asked if name not in names]
        for event, names in fields.items()
    }
    if all(lacking.values()):
        wanted = " and ".join(f"'{name}'" for name in dict.fromkeys(asked))
        return f"no event that it is for has both {wanted}"
    event = next(event for event, names in lacking.items() if not names)
    return f"a field of {event} is of another type"


def _no_field(name: str, fields: Mapping[str, Sequence[str]]) -> str:
    if len(fields) == 1:
        [(event, names)] = fields.items()
        return f"{event} has no field '{name}'; there {nearest(name, names)}"
    # Only a mistake needs it, and it takes time to import.
    from difflib import get_close_matches  # noqa: PLC0415 - see above

    text = f"none of the {len(fields):,} events that it is for has a field '{name}'"
    all_names = sorted({one for names in fields.values() for one in names})
    close = get_close_matches(name, all_names, 1, _LIKENESS)
    for one in close:
        having = [event for event, names in fields.items() if one in names]
        others = f" and {len(having) - 1:,} more" if len(having) > 1 else ""
        text += f"; there is '{one}' of {having[0]}{others}"
    return text


def _names(code: Sequence[Instruction], *operations: Operation) -> Iterator[str]:
    """Yield what a filter asks for; of parts of fields, the fields."""
    for one in code:
        if one.operation in operations and isinstance(one.value, bytes):
            said = one.value.decode(errors="replace")
            is_context = one.operation is Operation.CONTEXT
            yield said if is_context else re.split(r"[.\[]", said, maxsplit=1)[0]


def _fields_of(event: EventFormat) -> tuple[str, list[str]]:
    """Return LTTng's name of an event, and those of its fields."""
    name, fields, _ = event_class(event)
    return name, list(dict.fromkeys(_NAME.findall(fields)))
