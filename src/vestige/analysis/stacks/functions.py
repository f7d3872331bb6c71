"""Which functions of programs waited or called the kernel, and where in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..._typing import TYPE_CHECKING
from .found import CallStacks, Frame, Stack, StackTimes

if TYPE_CHECKING:
    from ..functions import Function

__all__ = ["FunctionTimes", "by_function"]

_SCHEDULER = (
    *("schedule", "__schedule", "io_schedule", "preempt_schedule", "do_nanosleep"),
    *("__cond_resched", "rwsem_down", "__mutex_lock", "usleep_range", "msleep"),
    *("wait_for_completion", "__wait_for_common", "bit_wait", "out_of_line_wait"),
    *("__wait_on_bit", "irqentry_exit", "raw_irqentry_exit", "asm_"),
)
"""How functions begin that wait for whoever calls them: where a thread waits is behind
these, as in the ``wchan`` of a process."""


@dataclass(slots=True, kw_only=True)
class FunctionTimes:
    """How long a function of a program waited in a function of the kernel."""

    name: str | None
    """Name of the thread."""
    function: Function | None
    """The innermost function of the program; one of a library where it has none, and
    ``None`` where no function is known, or the thread is one of the kernel."""
    source: str | None
    """Its source file, without directories, and the line of the call."""
    kernel: str | None
    """Where it waited: the innermost function of the kernel that does more than that,
    or the system call; ``None`` where it is not known."""
    times: StackTimes = field(default_factory=StackTimes)
    """How often, and how long."""


def by_function(stacks: CallStacks, space: int) -> list[FunctionTimes]:
    """Add up call stacks by functions.

    Args:
        stacks: The stacks, with times.
        space: The process space of the trace of which they are; see
            :class:`.graph.Stream`.

    Returns:
        The functions, the longest time first.
    """
    found: dict[tuple[object, ...], FunctionTimes] = {}
    for one in stacks.stacks:
        if one.space != space:
            continue
        frame = _of_program(one)
        kernel = one.event if one.event is not None else _of_kernel(one.frames)
        function = None if frame is None else frame.function
        key = one.name, function, kernel
        known = found.get(key)
        if known is None:
            known = found[key] = FunctionTimes(
                name=one.name,
                function=function,
                source=None if frame is None else frame.source,
                kernel=kernel,
            )
        known.times.add(one.times)
    return sorted(found.values(), key=lambda one: -one.times.total)


def _of_program(stack: Stack) -> Frame | None:
    own = [one for one in stack.frames if not one.is_kernel]
    inner = (one for one in reversed(own) if not one.is_library)
    return next(inner, own[-1] if own else None)


def _of_kernel(frames: Iterable[Frame]) -> str | None:
    names = [one.function.name for one in frames if one.is_kernel]
    inner = (one for one in reversed(names) if not one.startswith(_SCHEDULER))
    return next(inner, names[0] if names else None)
