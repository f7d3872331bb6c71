"""Call stacks for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from .call_style import SHOW_ALL, CallStyle, bold, cut, duration
from .debuginfo import count

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.stacks import CallStacks, Frame, Stack, StackTimes

__all__ = ["folded_stack", "stack_facts", "stack_lines"]

_INDENT = "    "
_NOTHING = "(no call stack)"
_MORE = "..."
_KERNEL = "[kernel]"


def stack_lines(
    found: CallStacks, stacks: Sequence[Stack], style: CallStyle
) -> Iterator[str]:
    """Write stacks one below the other, innermost function first.

    Args:
        found: What was found.
        stacks: The stacks that are shown of it.
        style: What is shown.

    Yields:
        The lines.
    """
    sums = found.sums
    threads = {(one.space, one.thread) for one in found.stacks}
    of = f"of {count(len(threads), 'thread')}"
    if found.is_time:
        yield f"{count(sums.count, 'wait')} {of}, {duration(sums.total)} in all"
    else:
        yield f"{count(sums.count, 'event')} {of}"
    whole = found.weight(sums) or 1
    shown = stacks[: style.limit] if style.limit else stacks
    for one in shown:
        share = f"{100 * found.weight(one.times) / whole:.1f} %"
        yield ""
        text = f"{_numbers(one.times, share, is_time=found.is_time)}: {_who(one)}"
        yield bold(text, style)
        for line in _frame_lines(one):
            yield _INDENT + cut(line, max(style.width - len(_INDENT), 1))
    if len(shown) < len(stacks):
        yield ""
        yield f"and {count(len(stacks) - len(shown), 'stack')} more: {SHOW_ALL}"


def _numbers(times: StackTimes, share: str, *, is_time: bool) -> str:
    if not is_time:
        return f"{count(times.count, 'event')}, {share}"
    parts = [
        f"{duration(times.total)}, {share}, {count(times.count, 'wait')}",
        f"at most {duration(times.longest)}",
    ]
    if times.runnable:
        parts.append(f"runnable {duration(times.runnable)}")
    return ", ".join(parts)


def _who(stack: Stack) -> str:
    name = plain(stack.name) if stack.name else ""
    if stack.thread is not None:
        name = f"{stack.thread} ({name})" if name else f"thread {stack.thread}"
    name = name or "no known thread"
    return f"{name}, {plain(stack.event)}" if stack.event else name


def _frame_lines(stack: Stack) -> Iterator[str]:
    for frame in reversed(stack.frames):
        where = frame.source or (_KERNEL if frame.is_kernel else _object(frame))
        name = plain(frame.function.name)
        yield f"{name}  {plain(where)}" if where else name
    if stack.is_cut:
        yield _MORE
    if not stack.frames:
        yield _NOTHING


def _object(frame: Frame) -> str:
    return (frame.function.object or "").rpartition("/")[2]


def stack_facts(one: Stack, *, is_time: bool) -> dict[str, Any]:
    """Return a stack as JSON has it.

    Args:
        one: The stack.
        is_time: Whether it has times.
    """
    times = one.times
    return {
        "trace": one.trace,
        "pid": one.process,
        "tid": one.thread,
        "name": one.name,
        "event": one.event,
        "count": times.count,
        "total_ns": times.total if is_time else None,
        "max_ns": times.longest if is_time else None,
        "runnable_ns": times.runnable if is_time else None,
        "stack": [
            {
                "function": frame.function.name,
                "object": frame.function.object,
                "source": frame.source,
                "is_kernel": frame.is_kernel,
            }
            for frame in one.frames
        ],
        "is_cut": one.is_cut,
    }


def folded_stack(stack: Stack) -> str:
    """Return the functions of a stack in one text, outermost first.

    Args:
        stack: The stack.
    """
    names = [frame.function.name.replace(";", ":") for frame in stack.frames]
    return ";".join([*([_MORE] if stack.is_cut else []), *names])
