"""Call stacks as contexts: LTTng's ``callstack-kernel`` and ``callstack-user``.

An instance writes them behind all of its events, as records of their own (Linux,
``Documentation/trace/ftrace.rst``: ``stacktrace``, ``userstacktrace``); those who
collect join them. Stacks of programs have up to 8 addresses, found by frame pointers.
Addresses that may be missing at the end are told by one of all ones, as LTTng does.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from .event_classes import integer
from .formats import read_format
from .tracefs import NoKernelTracerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .event_classes import Operation
    from .tracefs import Instance, Tracefs

__all__ = ["CALL_STACKS", "CallStack", "record_stacks", "stack_plans"]

_Plan = tuple[int, None, list["Operation"], tuple[str, int, int]]
"""As :class:`vestige.record._kernel.Collector` has it."""
_SYSTEM = "ftrace"
_ADDRESSES = "caller"


class CallStack(NamedTuple):
    """A context with a call stack."""

    field: str
    """In TSDL."""

    operation: Operation
    """What makes it."""

    event: str
    """What the kernel calls the records, and what they tell."""

    length: str | None
    """Their field with the number of addresses; ``None``: these end with a 0."""

    option: str
    """The option of an instance that has them written."""


def _field(name: str) -> str:
    address = integer(8, base=16)
    return f"{integer(4)} __{name}_length; {address} _{name}[__{name}_length];"


CALL_STACKS = {
    "callstack-kernel": CallStack(
        _field("callstack_kernel"),
        ("kernel_stack", 0, 0),
        "kernel_stack",
        "size",
        "stacktrace",
    ),
    "callstack-user": CallStack(
        _field("callstack_user"),
        ("user_stack", 0, 0),
        "user_stack",
        None,
        "userstacktrace",
    ),
}
"""By LTTng's names."""


def record_stacks(instance: Instance, contexts: Iterable[str]) -> None:
    """Let an instance write call stacks.

    Args:
        instance: The instance.
        contexts: What its records have besides.

    Raises:
        NoKernelTracerError: This kernel has none.
    """
    for name in contexts:
        if (stack := CALL_STACKS.get(name)) is not None:
            try:
                instance.write(f"options/{stack.option}", 1)
            except OSError as error:
                why = f"this kernel has no {name}: {error.strerror}"
                raise NoKernelTracerError(why) from error


def stack_plans(tracefs: Tracefs, contexts: Iterable[str]) -> list[_Plan]:
    """Return what becomes of the records of call stacks.

    Args:
        tracefs: Where they are described.
        contexts: What records have besides.

    Raises:
        NoKernelTracerError: They have an unknown shape.
        OSError: They are not described.
    """
    return [
        _plan(tracefs, CALL_STACKS[name]) for name in contexts if name in CALL_STACKS
    ]


def _plan(tracefs: Tracefs, stack: CallStack) -> _Plan:
    text = tracefs.read(f"events/{_SYSTEM}/{stack.event}/format")
    form = read_format(_SYSTEM, stack.event, text)
    addresses = form.at(_ADDRESSES)
    count = form.at(stack.length) if stack.length is not None else 0
    if addresses is None or count is None:
        raise NoKernelTracerError(f"its {stack.event} has an unknown shape")
    places = (addresses, 0) if stack.length is None else (count, addresses)
    return form.id, None, [], (stack.event, *places)
