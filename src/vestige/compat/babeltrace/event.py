"""Events, as Babeltrace 1 has them."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from datetime import datetime
from typing import Any

from ...core import Event as CoreEvent
from ...values import BitMapValue, EnumerationValue
from .constants import SCOPES, CTFScope

__all__ = ["Event", "FieldError", "field_error"]

_PLAIN = frozenset({int, str, float})
"""Types of values that are the same in both."""


class FieldError(Exception):
    """A field cannot be read.

    Args:
        value: Why.
    """

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return repr(self.value)


def field_error() -> int:
    """Return the number of the last error with a field: there is none."""
    return 0


def _converted(name: str, value: Any) -> Any:
    """Return the value of a field as Babeltrace 1 gives it: a label, not its number."""
    match value:
        case EnumerationValue():
            if not value.labels:
                raise FieldError(
                    f"Error occurred while accessing field {name} of type ENUM"
                )
            return value.labels[0]
        case BitMapValue() | bool():
            return int(value)
        case list():
            return [_converted(name, one) for one in value]
        case dict():
            return {key: _converted(key, one) for key, one in value.items()}
        case bytes():
            return [*value]
    return value


class Event(Mapping[str, Any]):
    """An event: its fields by their names.

    Args:
        event: The event of Vestige.
        collection: What it is read of.
    """

    __slots__ = ("_collection", "_event")

    def __init__(self, event: CoreEvent, collection: Any) -> None:
        self._event = event
        self._collection = collection

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._event.name

    @property
    def cycles(self) -> int:
        """The value of its clock."""
        return self._event.cycles

    @property
    def timestamp(self) -> int:
        """Its time, nanoseconds from the origin of its clock; 0 without a clock."""
        return self._event.timestamp or 0

    @property
    def datetime(self) -> datetime:
        """Its time as a local one without a time zone, to the microsecond."""
        return datetime.fromtimestamp(self.timestamp / 1e9)  # noqa: DTZ006 - as there

    @property
    def handle(self) -> Any:
        """The handle of its trace, or ``None``."""
        return self._collection._handle_of(self._event.stream)

    @property
    def trace_collection(self) -> Any:
        """What it is read of."""
        return self._collection

    def _scope(self, scope: int) -> Any:
        event = self._event
        match scope:
            case CTFScope.EVENT_FIELDS:
                return event.payload
            case CTFScope.EVENT_CONTEXT:
                return event.specific_context
            case CTFScope.STREAM_EVENT_CONTEXT:
                return event.context
            case CTFScope.STREAM_PACKET_CONTEXT:
                return event.packet_context
            case CTFScope.STREAM_EVENT_HEADER | CTFScope.TRACE_PACKET_HEADER:
                # They say where events are, which is done when there is an event.
                return {}
        raise ValueError("Invalid scope provided")

    def field_with_scope(self, field_name: str, scope: int) -> Any:
        """Return the value of a field of a scope, or ``None``.

        Args:
            field_name: Name of the field.
            scope: The scope, of :class:`.constants.CTFScope`.

        Raises:
            FieldError: Its value has no label.
            ValueError: There is no such scope.
        """
        return _converted(field_name, self._scope(scope).get(field_name))

    def field_list_with_scope(self, scope: int) -> list[str]:
        """Return the names of the fields of a scope.

        Args:
            scope: The scope, of :class:`.constants.CTFScope`.

        Raises:
            ValueError: There is no such scope.
        """
        return [*self._scope(scope).keys()]

    def __getitem__(self, field_name: str) -> Any:
        value = self._event.get(field_name, self)
        if type(value) in _PLAIN:
            return value
        if value is self or "." in field_name:
            return self._looked_up(field_name)
        return _converted(field_name, value)

    def _looked_up(self, field_name: str) -> Any:
        """Return a field of a name that means another one, or of the packet alone."""
        for scope in SCOPES:
            fields = self._scope(scope)
            if field_name in fields:
                return _converted(field_name, fields[field_name])
        raise KeyError(field_name)

    def __contains__(self, field_name: object) -> bool:
        return any(field_name in self._scope(scope) for scope in SCOPES)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return sum(len(self._scope(scope)) for scope in SCOPES)

    def keys(self) -> KeysView[str]:
        """Return the names of the fields of all scopes."""
        names = (name for scope in SCOPES for name in self._scope(scope))
        return dict.fromkeys(names).keys()

    def items(self) -> ItemsView[str, Any]:
        """Return the names and values of the fields of all scopes."""
        return {name: self[name] for name in self.keys()}.items()
