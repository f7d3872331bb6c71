"""What fields and contexts of LTTng's filters are in the kernel's own filters.

Only what has the same value in both is here: what the collector makes of several parts
of a record, it alone can compare (``Documentation/trace/events.rst``, section 5).
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from . import system_calls
from .lttng_names import CHANGES, COMMON_CHANGES, FIRST_PRIORITY, MORE_FIELDS

if TYPE_CHECKING:
    from typing import Literal

    from .formats import EventFormat, FieldFormat

    _Kind = Literal["integer", "array", "located", "user"]

__all__ = ["KernelField", "kernel_context", "kernel_field"]

_SIZES = (1, 2, 4, 8)
_NAME_BYTES = 16
"""Of the name of a thread (``TASK_COMM_LEN``)."""


class KernelField(NamedTuple):
    """What a filter of the kernel compares."""

    text: str
    """As its filters have it."""

    kind: _Kind
    """A number; a text in the record, at a place that the record tells, in the
    memory of the program."""

    bytes: int
    """Of the number; those of the text at most, 0 where nobody knows."""

    is_signed: bool = False
    added: int = 0
    """What the kernel's value has in addition to LTTng's."""


_THREAD = KernelField("common_pid", "integer", 4, is_signed=True)
_CONTEXTS = {
    b"tid": _THREAD,
    b"cpu_id": KernelField("CPU", "integer", 4, is_signed=True),
    b"procname": KernelField("COMM", "array", _NAME_BYTES),
}


def kernel_context(name: bytes) -> KernelField | None:
    """Return what a context is there.

    Args:
        name: Its name, without ``$ctx.``.

    Returns:
        The field; ``None``: the kernel's filters have no such thing.
    """
    return _CONTEXTS.get(name)


def kernel_field(event: EventFormat, name: bytes) -> KernelField | None:
    """Return what a field of an event is there.

    Args:
        event: What the kernel says of the event.
        name: LTTng's name of the field.

    Returns:
        The field; ``None``: the kernel's filters have none of the same value.
    """
    changes = CHANGES.get(event.name, COMMON_CHANGES)
    wanted = name.decode(errors="replace")
    for field in event.fields:
        named, change = changes.get(field.name, (field.name, None))
        if event.system == "syscalls" and not system_calls.is_text(event.name, field):
            named = system_calls.argument(event, field).name
        if named == wanted:
            return _of_field(event, field, change)
    if wanted == "tid" and MORE_FIELDS.get(event.name) == "thread":
        return _THREAD
    return None


def _of_field(
    event: EventFormat, field: FieldFormat, change: str | None
) -> KernelField | None:
    is_integer = field.bytes in _SIZES and not field.array
    if change == "priority" and is_integer:
        return KernelField(
            field.name, "integer", field.bytes, is_signed=True, added=FIRST_PRIORITY
        )
    if change is not None:
        return None
    if field.array or field.c_type.startswith(("__data_loc", "__rel_loc")):
        return _of_text(field)
    if event.system == "syscalls" and is_integer:
        return _of_call(event, field)
    if is_integer:
        return KernelField(field.name, "integer", field.bytes, field.is_signed)
    return None


def _of_text(field: FieldFormat) -> KernelField | None:
    if field.c_type.startswith(("__data_loc", "__rel_loc")):
        is_text = "char" in field.c_type
        return KernelField(field.name, "located", 0) if is_text else None
    is_text = field.c_type == "char" and field.bytes > 0
    return KernelField(field.name, "array", field.bytes) if is_text else None


def _of_call(event: EventFormat, field: FieldFormat) -> KernelField | None:
    if field.name == system_calls.NUMBER:
        return None
    if system_calls.is_text(event.name, field):
        content = system_calls.content_name(field)
        if event.at(content) is not None:
            # What the record has, the collector would compare, too.
            return KernelField(content, "located", 0)
        return KernelField(f"{field.name}.ustring", "user", 0)
    if field.c_type.endswith("char *"):
        # A text to the kernel, whatever it leads to.
        return None
    if system_calls.argument(event, field).bytes != field.bytes:
        # Programs may leave anything in the upper half of a register.
        return None
    return KernelField(field.name, "integer", field.bytes, field.is_signed)
