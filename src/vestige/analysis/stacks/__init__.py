"""Call stacks of the kernel's events: where threads wait, where events come from."""

from __future__ import annotations

from .found import CallStacks, Frame, Stack, StackTimes
from .functions import FunctionTimes, by_function
from .reader import has_stacks, off_cpu_stacks, stack_counts, system_call_stacks

__all__ = [
    "CallStacks",
    "Frame",
    "FunctionTimes",
    "Stack",
    "StackTimes",
    "by_function",
    "has_stacks",
    "off_cpu_stacks",
    "stack_counts",
    "system_call_stacks",
]
