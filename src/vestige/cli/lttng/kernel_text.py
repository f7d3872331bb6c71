"""Rules of the kernel as people see them, as LTTng lists them."""

from __future__ import annotations

import os

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["call_line", "kernel_rule_lines", "tracepoint_line"]

_TYPES = {"PROBE": "probe", "FUNCTION": "function"}


def tracepoint_line(name: str) -> str:
    """Return a tracepoint in one line.

    Args:
        name: Its name; LTTng shows the level of 0 with all of them.
    """
    return f"{name} (loglevel: TRACE_EMERG (0)) (type: tracepoint)"


def call_line(name: str) -> str:
    """Return a system call in one line.

    Args:
        name: Its name. The kernel tells no calls of 32-bit programs.
    """
    return f"{name} [64-bit]"


def kernel_rule_lines(rule: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a recording event rule.

    Args:
        rule: What the daemon tells of it.
    """
    state = f" [{'enabled' if rule['enabled'] else 'disabled'}]"
    expression = rule["filter"]
    filtered = "" if expression is None else f" [filter: '{expression}']"
    kind, name = rule["type"], rule["name"]
    if kind == "TRACEPOINT":
        yield f"{tracepoint_line(name)}{state}{filtered}"
    elif kind == "SYSCALL":
        yield f"{name} (type:syscall){state}{filtered}"
    elif kind == "USERSPACE_PROBE":
        yield f"{name} (type: userspace-probe){state}"
        yield from (f"  {one}" for one in _in_program(rule["location"]))
    else:
        yield f"{name} (type: {_TYPES[kind]}){state}{filtered}"
        yield from (f"  {one}" for one in _in_kernel(rule["location"]))


def _in_kernel(place: dict[str, Any]) -> list[str]:
    if place["type"] == "address":
        return [f"addr: {place['address']:#x}"]
    return [f"offset: {place['offset']:#x}", f"symbol: {place['name']}"]


def _in_program(place: dict[str, Any]) -> list[str]:
    # As in LTTng: what a link leads to is shown, and the link is saved.
    path = os.path.realpath(place["path"])
    if place["type"] == "function":
        return [
            "Type: Function",
            f"Binary path:   {path}",
            f"Function:      {place['function']}()",
            "Lookup method: ELF",
        ]
    return [
        "Type: Tracepoint",
        f"Binary path:   {path}",
        f"Tracepoint:    {place['provider']}:{place['probe']}",
        "Lookup method: SDT",
    ]
