"""The fields of event records as text, as a line of ``vestige view`` has them.

Integers have the base that the trace wants for them, so that pointers are hexadecimal,
and what tells who has recorded an event is left out: its row tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core import Event, FieldsView
from ..graph import Stream
from ..model import (
    ArrayFieldClass,
    FieldClass,
    IntegerFieldClass,
    StructureFieldClass,
    VariableLengthIntegerFieldClass,
)
from ..plain_text import plain

__all__ = ["FieldTexts"]

_ORIGIN = frozenset({"vpid", "vtid", "pid", "tid", "procname", "ip", "cpu_id"})
"""Fields of contexts that tell who has recorded an event, and where."""
_PREFIXES = {2: "0b", 8: "0", 16: "0x"}
_FORMS = {2: "b", 8: "o", 16: "X"}


class FieldTexts:
    """Writes the fields of event records.

    Args:
        longest: How long a text may become, characters.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._classes: dict[tuple[Stream, int | None], tuple[Any, Any, Any]] = {}

    def of(self, event: Event) -> str:
        """Return the fields of an event record: ``name=value``, one after the other.

        Args:
            event: The event record.
        """
        parts: list[str] = []
        length = 0
        for part in self._parts(event):
            parts.append(part)
            length += len(part) + 1
            if length > self._longest:
                break
        text = plain(" ".join(parts))
        if len(text) > self._longest:
            return f"{text[: self._longest]} …"
        return text

    def _parts(self, event: Event) -> Iterator[str]:
        payload, specific, common = self._classes_of(event)
        yield from _texts(event.payload, payload)
        scopes = ((event.specific_context, specific), (event.context, common))
        for fields, known in scopes:
            names = fields.keys()
            own = {name: fields[name] for name in names if name not in _ORIGIN}
            yield from _texts(own, known)

    def _classes_of(self, event: Event) -> tuple[Any, Any, Any]:
        key = event.stream, event.class_id
        found = self._classes.get(key)
        if found is None:
            stream_class = event.stream.stream_class
            classes = (one for one in stream_class.event_classes if one.id == key[1])
            own = next(classes, None)
            scopes = (None, None) if own is None else (own.payload, own.context)
            found = self._classes[key] = (*scopes, stream_class.event_context)
        return found


def _texts(
    fields: Mapping[str, Any] | FieldsView, known: StructureFieldClass | None
) -> Iterator[str]:
    for name in fields.keys():  # noqa: SIM118 - it need be no mapping
        member = None if known is None else known.member(name)
        kind = None if member is None else member.field_class
        yield f"{name}={_text(fields[name], kind)}"


def _text(value: object, known: FieldClass | None) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if type(value) is int:
        return _number(value, known)
    if isinstance(value, list):
        element = known.element if isinstance(known, ArrayFieldClass) else None
        return f"[{', '.join(_text(one, element) for one in value)}]"
    if isinstance(value, dict):
        structure = known if isinstance(known, StructureFieldClass) else None
        return f"{{{', '.join(_texts(value, structure))}}}"
    return str(value)


def _number(value: int, known: FieldClass | None) -> str:
    if not isinstance(known, IntegerFieldClass | VariableLengthIntegerFieldClass):
        return str(value)
    form = _FORMS.get(known.base)
    if form is None:
        return str(value)
    if value < 0 and isinstance(known, IntegerFieldClass):
        value += 1 << known.size  # its bits, as everywhere
    return f"{_PREFIXES[known.base]}{value:{form}}"
