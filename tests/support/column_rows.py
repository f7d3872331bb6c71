"""What the columns of a selection must hold, by way of its events."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from vestige import EventSelection
from vestige.model import (
    ArrayFieldClass,
    EnumerationFieldClass,
    FieldClass,
    StructureFieldClass,
    VariantFieldClass,
)

RECORDINGS = ["fields", "hello", "lost", "reload", "threads-pid"]
"""Names of the recorded traces."""

Row = dict[str, Any]


def table(
    selection: EventSelection, columns: list[str] | None = None, **options: Any
) -> Any:
    """Return a checked table."""
    made = pa.table(selection.to_arrow(columns, **options))
    made.validate(full=True)
    return made


def expected(field_class: FieldClass, value: Any) -> Any:
    """Return what a column holds for the value of an event."""
    match field_class:
        case EnumerationFieldClass():
            return value.label or str(int(value))
        case VariantFieldClass():
            # The test traces select the option of the value's type.
            return {
                option.name: expected(option.field_class, value)
                if fits(option.field_class, value)
                else None
                for option in field_class.options
            }
        case StructureFieldClass():
            return {
                member.name: expected(member.field_class, value[member.name])
                for member in field_class.members
            }
        case ArrayFieldClass(text=False):
            return [expected(field_class.element, element) for element in value]
        case _ if isinstance(value, str):
            # A column of text holds no bytes that are no text.
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        case _:
            return value


def fits(field_class: FieldClass, value: Any) -> bool:
    """Tell whether a variant's value can be that of an option."""
    kinds = {
        "IntegerFieldClass": int,
        "FloatFieldClass": float,
        "StringFieldClass": str,
        "StructureFieldClass": dict,
        "ArrayFieldClass": list,
    }
    return type(value) is kinds[type(field_class).__name__]


def rows(selection: EventSelection) -> list[Row]:
    """Return what columns must hold, by way of the events."""
    found = []
    several = "trace" in selection.to_arrow().names
    for event in selection:
        stream_class = event.stream.stream_class
        event_class = next(
            known for known in stream_class.event_classes if known.id == event.class_id
        )
        row = {"timestamp": event.timestamp, "event": event.name}
        if several:
            row["trace"] = event.stream.trace.name
        row["stream_id"] = event.stream.id
        packet_context = event.packet_context
        for name, scope, field_class in [
            ("packet_context", packet_context, stream_class.packet_context),
            ("context", event.context.to_dict(), stream_class.event_context),
            ("specific_context", event.specific_context.to_dict(), event_class.context),
            ("payload", event.payload.to_dict(), event_class.payload),
        ]:
            for member in field_class.members if field_class else ():
                if scope is not packet_context or member.field_class.visible:
                    row[f"{name}.{member.name}"] = expected(
                        member.field_class, scope[member.name]
                    )
        found.append(row)
    return found


def both(selection: EventSelection) -> tuple[list[Row], list[Row]]:
    """Return the rows that columns must hold, and those that they hold."""
    wanted = rows(selection)
    names = dict.fromkeys(name for row in wanted for name in row)
    return wanted, plain(table(selection, list(names)))


def plain(made: Any) -> list[Row]:
    """Return the rows of a table, with times as numbers and without nulls."""
    index = made.schema.get_field_index("timestamp")
    if index >= 0:
        made = made.set_column(index, "timestamp", made["timestamp"].cast(pa.int64()))
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in made.to_pylist()
    ]


def same(left: Any, right: Any) -> bool:
    """Compare values; no number is equal to itself and not to another."""
    if isinstance(left, float) and math.isnan(left):
        return isinstance(right, float) and math.isnan(right)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(value, right[name]) for name, value in left.items()
        )
    return type(left) is type(right) and left == right
