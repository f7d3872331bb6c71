"""Pages of a watched instance: few records, whose fields become values of Python.

What is recorded goes through :mod:`vestige.record._kernel`. Here a rule chooses so few
records that they are read where somebody waits for them. The layout of a page is that
of Linux, ``include/linux/ring_buffer.h`` and ``kernel/trace/ring_buffer.c``.
"""

from __future__ import annotations

import struct

from ...._typing import TYPE_CHECKING, NamedTuple
from .lttng_names import CHANGES, FIRST_PRIORITY
from .system_calls import NUMBER, argument, is_content, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .formats import EventFormat, FieldFormat
    from .system_calls import Argument

__all__ = [
    "Value",
    "WatchedPage",
    "field_name",
    "read_page",
    "read_values",
    "thread_of",
    "type_of",
]

Value = int | bytes | None
"""Of a field; ``None`` if it is neither a number nor a text."""
_CALLS = "syscalls"
"""The kernel's system of system calls."""
_HEADER = 16
_LENGTH = (1 << 20) - 1
_HAS_LOST, _HAS_COUNT = 1 << 31, 1 << 30
_PADDING, _EXTEND, _STAMP = 29, 30, 31
_COUNT = struct.Struct("<Q")
_WORD = struct.Struct("<I")
_COMMON = struct.Struct("<HBBi")
"""Type, flags, depth of preemption and thread: what each record begins with."""
_NUMBER_BYTES = (1, 2, 4, 8)


class WatchedPage(NamedTuple):
    """What a page holds."""

    records: list[memoryview]
    lost: int
    """How many were lost before it, at least."""


def read_page(page: bytes) -> WatchedPage:
    """Find the records of a page.

    Args:
        page: Its bytes, as ``trace_pipe_raw`` gives them.

    Returns:
        What it holds; what comes after something that makes no sense is left out.
    """
    if len(page) < _HEADER:
        return WatchedPage([], 0)
    commit = int.from_bytes(page[8:16], "little")
    end = min(_HEADER + (commit & _LENGTH), len(page))
    lost = 0
    if commit & _HAS_LOST:
        is_told = commit & _HAS_COUNT and end + _COUNT.size <= len(page)
        lost = _COUNT.unpack_from(page, end)[0] if is_told else 1
    return WatchedPage([*_records(memoryview(page)[:end])], lost)


def _records(data: memoryview) -> Iterator[memoryview]:
    at = _HEADER
    while at + 4 <= len(data):
        kind = _WORD.unpack_from(data, at)[0] & 31
        at += 4
        if kind in {_EXTEND, _STAMP}:
            at += 4
            continue
        size = kind * 4
        if kind in {0, _PADDING}:
            if at + 4 > len(data):
                return
            # The length of a large one counts itself.
            size = _WORD.unpack_from(data, at)[0] - 4
            at += 4
            if size < 0 or (kind == _PADDING and size == 0):
                return
        if at + size > len(data):
            return
        if kind != _PADDING and size >= _COMMON.size:
            yield data[at : at + size]
        at += size


def field_name(event: EventFormat, field: FieldFormat) -> str | None:
    """Return what LTTng calls a field, ``None`` if it does not have it.

    Args:
        event: What the kernel says of its event.
        field: The field.
    """
    if event.system == _CALLS:
        is_beside = field.name == NUMBER or is_content(event, field)
        return None if is_beside else argument(event, field).name
    return CHANGES.get(event.name, {}).get(field.name, (field.name, None))[0]


def read_values(record: memoryview, event: EventFormat) -> dict[str, Value]:
    """Return the fields of a record, by LTTng's names.

    Args:
        record: The record.
        event: What the kernel says of its event.
    """
    changes = CHANGES.get(event.name, {})
    values: dict[str, Value] = {}
    for field in event.fields:
        name = field_name(event, field)
        if name is None:
            continue
        value = _value(record, field)
        _, change = changes.get(field.name, (name, None))
        if isinstance(value, int) and event.system == _CALLS:
            value = _narrow(value, argument(event, field))
        elif isinstance(value, int):
            value = _changed(value, change)
        values[name] = value
    # Where the kernel does not tell a text, nobody reads it for a trigger.
    for field, at in texts(event):
        if at is not None:
            values[field.name] = _located(record, 0, bytes(record[at : at + 4]))
    return values


def _changed(value: int, change: str | None) -> Value:
    """Return LTTng's value of a number."""
    if change is None:
        return value
    if change == "priority":
        return value - FIRST_PRIORITY
    return value & 0xFF if change == "byte" else None


def _narrow(value: int, wanted: Argument) -> int:
    """Return an argument, for which the kernel has 8 bytes, as its C type has it."""
    data = value.to_bytes(8, "little", signed=value < 0)[: wanted.bytes]
    return int.from_bytes(data, "little", signed=wanted.is_signed)


def thread_of(record: memoryview) -> int:
    """Return the ID of the thread that a record is of.

    Args:
        record: The record.
    """
    thread: int = _COMMON.unpack_from(record)[3]
    return thread


def type_of(record: memoryview) -> int:
    """Return the ID of the event of a record.

    Args:
        record: The record.
    """
    kind: int = _COMMON.unpack_from(record)[0]
    return kind


def _value(record: memoryview, field: FieldFormat) -> Value:
    data = bytes(record[field.at : field.at + field.bytes])
    if len(data) < field.bytes:
        return None
    declared = field.c_type + field.array
    if declared.startswith(("__data_loc", "__rel_loc")):
        start = field.at + field.bytes if declared.startswith("__rel_loc") else 0
        return _located(record, start, data) if "char" in declared else None
    if field.array:
        return data.partition(b"\0")[0] if "char" in field.c_type else None
    if field.bytes not in _NUMBER_BYTES:
        return None
    return int.from_bytes(data, "little", signed=field.is_signed)


def _located(record: memoryview, start: int, place: bytes) -> Value:
    """Return the text to which a word leads, from a place of the record on."""
    word = int.from_bytes(place, "little")
    at, size = start + (word & 0xFFFF), word >> 16
    return bytes(record[at : at + size]).partition(b"\0")[0]
