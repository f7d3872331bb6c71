"""From events of the kernel to classes of the trace, and how their fields are made.

What has no meaning here (structures, sets of CPUs) stays as the bytes that it is.
"""

from __future__ import annotations

import re

from ...._typing import TYPE_CHECKING, NamedTuple
from . import system_calls
from .call_fields import NOWHERE, CallField, call_fields
from .formats import EventFormat, FieldFormat
from .lttng_names import (
    CHANGES,
    COMMON_CHANGES,
    FIRST_PRIORITY,
    MORE_FIELDS,
    lttng_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CONTEXT", "EventClass", "Operation", "event_class", "integer", "text_of"]

Operation = tuple[str, int, int]
"""As :func:`vestige.record._kernel.collect` has it."""

CONTEXT = "integer { size = 32; align = 8; signed = 1; base = 10; } _tid;"
_THREAD_AT, _THREAD_BYTES = 4, 4
"""Where each record has the ID of the thread (``common_pid``)."""
_LOCATED = re.compile(r"__(data|rel)_loc (.+?)\s*(?:\[\])?")
_POINTERS = frozenset({"ip", "parent_ip", "call_site", "ptr", "skbaddr", "skaddr"})
"""Fields with addresses whose type does not say so."""
_ADDRESS_BYTES = 8
"""Of the kernels that are recorded."""
_WORD = 4
"""Bytes of a word that leads to a text."""
_LOWEST = {"byte": 1, "four_bytes": 4}
"""Of changes that keep the lowest bytes of a number, how many."""
_PLAIN = (1, 2, 4, 8)
"""Bytes of integers."""
_INTEGERS = re.compile(
    r"(?:const )?(?:unsigned |signed )?(?:char|short|int|long|long long|unsigned|bool"
    r"|[us](?:8|16|32|64)|__[us](?:8|16|32|64)|u?int\d+_t)(?: int)?"
)
"""Types whose arrays are arrays of integers."""


class EventClass(NamedTuple):
    """An event as the trace has it."""

    name: str
    fields: str
    """In TSDL."""

    operations: tuple[Operation, ...]
    """How context and fields are made of the kernel's record."""


def event_class(
    event: EventFormat,
    name: str | None = None,
    contexts: Iterable[Operation] = (),
    texts_at: int | None = None,
) -> EventClass:
    """Work out what becomes of an event.

    Args:
        event: What the kernel says of it.
        name: What it is called in the trace; ``None``: as LTTng calls it.
        contexts: What makes the contexts behind that of the thread.
        texts_at: Where words are put that lead to texts and memory of a call which the
            kernel does not tell; ``None``: nobody does.

    Returns:
        Its class.
    """
    made = _Making(texts_at)
    made.copy(_THREAD_AT, _THREAD_BYTES)
    made.operations += contexts
    _add_all(made, event)
    more = MORE_FIELDS.get(event.name)
    if more == "thread":
        made.copy(_THREAD_AT, _THREAD_BYTES)
        made.declare(integer(4, is_signed=True), "tid")
    elif more == "groups":
        _add_groups(made, event)
    name = lttng_name(event.system, event.name) if name is None else name
    return EventClass(name, " ".join(made.fields), (*made.operations, *made.addresses))


class _Making:
    """Fields and operations, as they come."""

    def __init__(self, texts_at: int | None = None) -> None:
        self.texts_at = texts_at
        self.fields: list[str] = []
        self.operations: list[Operation] = []
        self.addresses: list[Operation] = []
        """Where there may be addresses of the kernel's code."""

    def declare(self, c_type: str, name: str, array: str = "") -> None:
        self.fields.append(f"{c_type} _{name}{array};")

    def copy_address(self, at: int, size: int) -> None:
        """Copy an address."""
        self.copy(at, size)
        if size == _ADDRESS_BYTES:
            self.addresses.append(("address", at, 0))

    def copy(self, at: int, size: int) -> None:
        """Copy bytes; those behind the ones before in one go."""
        kind, begin, before = self.operations[-1] if self.operations else ("", 0, 0)
        if kind == "copy" and begin + before == at:
            self.operations[-1] = ("copy", begin, before + size)
        else:
            self.operations.append(("copy", at, size))


def integer(size: int, *, is_signed: bool = False, base: int = 10) -> str:
    """Return the TSDL of an integer.

    Args:
        size: Its bytes.
        is_signed: Whether it may be negative.
        base: That in which it is shown.
    """
    return (
        f"integer {{ size = {size * 8}; align = 8; signed = {int(is_signed)}; "
        f"base = {base}; }}"
    )


def text_of(size: int) -> str:
    """Return the TSDL of an array of characters, with ``{}`` for its name."""
    character = "integer {{ size = 8; align = 8; signed = 0; encoding = UTF8; }}"
    return f"{character} {{}}[{size}];"


def _add_all(made: _Making, event: EventFormat) -> None:
    """Add the fields of an event."""
    order = call_fields(event.name) if event.system == "syscalls" else None
    if order is None:
        for field in event.fields:
            _add(made, event, field)
        return
    named = {field.name: field for field in event.fields}
    at = NOWHERE if made.texts_at is None else made.texts_at
    for one in order:
        if isinstance(one, CallField):
            made.operations.append(one.operation(at))
            made.fields.append(one.declared)
        elif one in named:
            _add(made, event, named[one])


def _add(made: _Making, event: EventFormat, field: FieldFormat) -> None:
    is_call = event.system == "syscalls"
    if is_call and _is_beside(event, field):
        return
    name, change = CHANGES.get(event.name, COMMON_CHANGES).get(
        field.name, (field.name, None)
    )
    if name is None:
        return
    if located := _LOCATED.fullmatch(field.c_type + field.array):
        _add_located(made, name, field, *located.groups())
    elif change is not None:
        _add_changed(made, name, field, change)
    elif field.array:
        _add_array(made, name, field)
    elif is_call and system_calls.is_text(event.name, field):
        _add_text(made, event, name, field)
    elif is_call and field.bytes in _PLAIN:
        _add_argument(made, field, system_calls.argument(event, field))
    elif field.bytes in _PLAIN:
        is_address = "*" in field.c_type or field.name in _POINTERS
        if is_address:
            made.copy_address(field.at, field.bytes)
        else:
            made.copy(field.at, field.bytes)
        made.declare(
            integer(
                field.bytes,
                is_signed=field.is_signed and not is_address,
                base=16 if is_address else 10,
            ),
            name,
        )
    else:
        made.copy(field.at, field.bytes)
        made.declare(integer(1, base=16), name, f"[{field.bytes}]")


def _is_beside(event: EventFormat, field: FieldFormat) -> bool:
    """Tell whether a field of a call is none of LTTng's, but what belongs to one.

    What a call writes, passwords maybe, is nothing that somebody expects in a trace.
    """
    return field.name == system_calls.NUMBER or system_calls.is_content(event, field)


def _add_argument(
    made: _Making, field: FieldFormat, argument: system_calls.Argument
) -> None:
    made.copy(field.at, argument.bytes)
    if argument.declared:
        made.fields.append(argument.declared.format(f"_{argument.name}"))
        return
    declared = integer(argument.bytes, is_signed=argument.is_signed, base=argument.base)
    made.declare(declared, argument.name)


def _add_changed(made: _Making, name: str, field: FieldFormat, change: str) -> None:
    if change == "priority":
        made.operations.append(("subtract", field.at, FIRST_PRIORITY))
        made.declare(integer(4, is_signed=True), name)
    elif change == "request_bits":
        made.operations.append(("request_bits", field.at, field.bytes))
        made.declare(integer(4), name)
    elif change in _LOWEST:
        made.copy(field.at, _LOWEST[change])
        made.declare(integer(_LOWEST[change]), name)
    elif change == "address":
        made.copy_address(field.at, field.bytes)
        made.declare(integer(field.bytes, base=16), name)
    else:
        made.operations.append(("line", field.at, 0))
        made.declare("string", name)


def _add_located(
    made: _Making, name: str, field: FieldFormat, kind: str, element: str
) -> None:
    start = "" if kind == "data" else "relative_"
    if element in {"char", "const char"}:
        made.operations.append((f"{start}text", field.at, 0))
        made.declare("string", name)
        return
    size = _element_bytes(element)
    made.operations.append((f"{start}sequence", field.at, size))
    made.declare(integer(4), f"_{name}_length")
    made.declare(integer(size, base=10 if size > 1 else 16), name, f"[__{name}_length]")


def _element_bytes(c_type: str) -> int:
    """Return the bytes of an element whose type is known; of others each is one."""
    if found := re.search(r"(8|16|32|64)(?:_t)?$", c_type):
        return int(found[1]) // 8
    words = {"short": 2, "int": 4, "unsigned": 4, "long": 8}
    return words.get(c_type.rpartition(" ")[2], 1)


def _add_array(made: _Making, name: str, field: FieldFormat) -> None:
    if field.bytes == 0:
        # What goes on to the end of the record, such as a text.
        made.operations.append(("line", field.at, 0))
        made.declare("string", name)
        return
    made.copy(field.at, field.bytes)
    if field.c_type == "char":
        made.fields.append(text_of(field.bytes).format(f"_{name}"))
        return
    count = re.fullmatch(r"\[(\d+)\]", field.array)
    size = field.bytes // int(count[1]) if count and int(count[1]) else 0
    if size in _PLAIN and _INTEGERS.fullmatch(field.c_type):
        made.declare(integer(size, is_signed=field.is_signed), name, field.array)
    else:
        made.declare(integer(1, base=16), name, f"[{field.bytes}]")


def _add_text(made: _Making, event: EventFormat, name: str, field: FieldFormat) -> None:
    """Add a text to which an argument leads, and its address.

    Kernels that read it have it in a field beside the address; for others, a program
    may read it.
    """
    there = event.at(system_calls.content_name(field))
    if there is None and made.texts_at is not None:
        there, made.texts_at = made.texts_at, made.texts_at + _WORD
    made.operations.append(("zeros", 1, 0) if there is None else ("text", there, 0))
    made.declare("string", name)
    made.copy(field.at, field.bytes)
    made.declare(integer(field.bytes, base=16), f"{name}_addr")


def _add_groups(made: _Making, event: EventFormat) -> None:
    parent, child = event.at("parent_pid"), event.at("child_pid")
    if parent is None or child is None:
        return
    made.operations.append(("groups", parent, child))
    made.declare(integer(4, is_signed=True), "parent_pid")
    made.declare(integer(4, is_signed=True), "child_pid")
