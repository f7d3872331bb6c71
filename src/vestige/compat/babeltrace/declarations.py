"""Classes of events and fields, as Babeltrace 1 has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import model
from .constants import SCOPES, ByteOrder, CTFScope, CTFStringEncoding, CTFTypeId

__all__ = [
    "ArrayFieldDeclaration",
    "EnumerationFieldDeclaration",
    "EventDeclaration",
    "FieldDeclaration",
    "FloatFieldDeclaration",
    "IntegerFieldDeclaration",
    "SequenceFieldDeclaration",
    "StringFieldDeclaration",
    "StructureFieldDeclaration",
    "VariantFieldDeclaration",
    "event_declarations",
]


class FieldDeclaration:
    """The class of a field, with its name.

    Args:
        name: Name of the field.
        field_class: Its class.
        scope: Its scope.
    """

    _type = CTFTypeId.UNKNOWN

    def __init__(self, name: str, field_class: Any, scope: int) -> None:
        self._name = name
        self._class = field_class
        self._scope = scope

    def __repr__(self) -> str:
        scope = CTFScope.scope_name(self._scope)
        return f"({scope}) {CTFTypeId.type_name(self.type)} {self._name}"

    @property
    def name(self) -> str:
        """Name of the field."""
        return self._name

    @property
    def type(self) -> int:
        """Kind of the field, of :class:`.constants.CTFTypeId`."""
        return self._type

    @property
    def scope(self) -> int:
        """Scope of the field, of :class:`.constants.CTFScope`."""
        return self._scope


class IntegerFieldDeclaration(FieldDeclaration):
    """The class of an integer."""

    _type = CTFTypeId.INTEGER

    @property
    def signedness(self) -> int:
        """1 if its values may be negative, otherwise 0."""
        return int(self._class.signed)

    @property
    def base(self) -> int:
        """The base in which its values are shown."""
        return int(self._class.base)

    @property
    def byte_order(self) -> int:
        """Byte order, of :class:`.constants.ByteOrder`."""
        orders = {
            "little": ByteOrder.BYTE_ORDER_LITTLE_ENDIAN,
            "big": ByteOrder.BYTE_ORDER_BIG_ENDIAN,
        }
        return orders.get(
            getattr(self._class, "byte_order", None) or "",
            ByteOrder.BYTE_ORDER_UNKNOWN,
        )

    @property
    def length(self) -> int:
        """Number of bits."""
        return int(getattr(self._class, "size", 64))

    @property
    def encoding(self) -> int:
        """What text it is a part of: none."""
        return CTFStringEncoding.NONE


class EnumerationFieldDeclaration(FieldDeclaration):
    """The class of an enumeration."""

    _type = CTFTypeId.ENUM


class _Text:
    """The class of a byte of a text."""

    signed = False
    base = 10
    size = 8
    byte_order = None


class _TextByteDeclaration(IntegerFieldDeclaration):
    """The class of a byte of a text."""

    @property
    def encoding(self) -> int:
        """What text it is a part of."""
        return CTFStringEncoding.UTF8


class ArrayFieldDeclaration(FieldDeclaration):
    """The class of an array of one length."""

    _type = CTFTypeId.ARRAY

    @property
    def length(self) -> int:
        """Number of elements."""
        return int(self._class.length)

    @property
    def element_declaration(self) -> Any:
        """The class of the elements."""
        if self._class.text:
            return _TextByteDeclaration("", _Text, self._scope)
        return declaration("", self._class.element, self._scope)


class SequenceFieldDeclaration(FieldDeclaration):
    """The class of an array of any length."""

    _type = CTFTypeId.SEQUENCE

    @property
    def element_declaration(self) -> Any:
        """The class of the elements."""
        if self._class.text:
            return _TextByteDeclaration("", _Text, self._scope)
        return declaration("", self._class.element, self._scope)


class FloatFieldDeclaration(FieldDeclaration):
    """The class of a floating point number."""

    _type = CTFTypeId.FLOAT


class StructureFieldDeclaration(FieldDeclaration):
    """The class of a structure."""

    _type = CTFTypeId.STRUCT


class StringFieldDeclaration(FieldDeclaration):
    """The class of a string."""

    _type = CTFTypeId.STRING


class VariantFieldDeclaration(FieldDeclaration):
    """The class of a variant."""

    _type = CTFTypeId.VARIANT


def declaration(name: str, field_class: model.FieldClass, scope: int) -> Any:
    """Return the class of a field with its name.

    Args:
        name: Name of the field.
        field_class: Its class.
        scope: Its scope.
    """
    kind: type[FieldDeclaration] = FieldDeclaration
    match field_class:
        case model.EnumerationFieldClass():
            kind = EnumerationFieldDeclaration
        case model.IntegerFieldClass() | model.VariableLengthIntegerFieldClass():
            kind = IntegerFieldDeclaration
        case model.FloatFieldClass():
            kind = FloatFieldDeclaration
        case model.StringFieldClass():
            kind = StringFieldDeclaration
        case model.ArrayFieldClass(length=int()):
            kind = ArrayFieldDeclaration
        case model.ArrayFieldClass():
            kind = SequenceFieldDeclaration
        case model.StructureFieldClass():
            kind = StructureFieldDeclaration
        case model.VariantFieldClass():
            kind = VariantFieldDeclaration
    return kind(name, field_class, scope)


class EventDeclaration:
    """The class of events of a name.

    Args:
        stream_class: The stream class.
        event_class: The event record class.
    """

    def __init__(
        self, stream_class: model.StreamClass, event_class: model.EventRecordClass
    ) -> None:
        self._event_class = event_class
        self._scopes = {
            CTFScope.EVENT_FIELDS: event_class.payload,
            CTFScope.EVENT_CONTEXT: event_class.context,
            CTFScope.STREAM_EVENT_CONTEXT: stream_class.event_context,
            CTFScope.STREAM_PACKET_CONTEXT: stream_class.packet_context,
        }

    @property
    def name(self) -> str | None:
        """The name."""
        return self._event_class.name

    @property
    def fields(self) -> Iterator[FieldDeclaration]:
        """The classes of all fields, scope by scope."""
        for scope in SCOPES:
            yield from self.fields_scope(scope)

    def fields_scope(self, scope: int) -> Iterator[FieldDeclaration]:
        """Iterate over the classes of the fields of a scope.

        Args:
            scope: The scope, of :class:`.constants.CTFScope`.

        Yields:
            The classes, with the names of the fields.
        """
        found = self._scopes.get(scope)
        for member in found.members if found else ():
            yield declaration(member.name, member.field_class, scope)


def event_declarations(trace_class: model.TraceClass) -> Iterator[EventDeclaration]:
    """Iterate over the classes of events of a trace.

    Args:
        trace_class: The class of the trace.

    Yields:
        The classes.
    """
    for stream_class in trace_class.stream_classes:
        for event_class in stream_class.event_classes:
            yield EventDeclaration(stream_class, event_class)
