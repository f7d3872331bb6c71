"""The contexts of a channel, as Vestige's own tracer is asked for them."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from ...._typing import TYPE_CHECKING
from ..._agreement import APPLICATION_PREFIX, COUNTER_PREFIX, COUNTERS_OF_KERNEL
from ...rules.contexts import CONTEXTS, COUNTERS, context_field, possible_contexts
from ..in_process.tracer import library_path
from ._agreement import REGISTER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lttng_ust.plan import ContextPlan

__all__ = ["channel_contexts"]

RAW = 4
"""Type of a counter, perf_event_open(2)."""
LONGEST_QUESTION = 10.0
"""Seconds."""
_QUESTION = """\
import ctypes, sys
can_count = ctypes.CDLL(sys.argv[1]).vestige_can_count
can_count.restype = ctypes.c_bool
sys.exit(not can_count(sys.argv[2].encode()))
"""


def channel_contexts(contexts: Sequence[ContextPlan]) -> tuple[str, ...]:
    """Return the contexts that the records of a channel have.

    Left out are counters that the tracer or this machine does not have, and what is too
    much for a record or would be the same field: the rest is recorded without it.

    Args:
        contexts: As they were asked for.
    """
    kinds = {one.kind.lower() for one in contexts}
    others: list[str] = []
    for one in contexts:
        name = _counter(one) if one.kind == "PERF" else ""
        if name and _can_count(name):
            others.append(name)
        elif one.kind == "APP":
            others.append(f"{APPLICATION_PREFIX}{one.name}")
    return (
        *(one for one in CONTEXTS if one in kinds),
        *possible_contexts(list(dict.fromkeys(others))),
    )


def _counter(context: ContextPlan) -> str:
    """Return our name of a counter; empty if there is none."""
    if context.type == RAW:
        start = context_field(COUNTER_PREFIX)
        name = context.name.removeprefix(start)
        return f"{COUNTER_PREFIX}raw:r{context.config:x}:{name}"
    known = (one for one in COUNTERS if context_field(one) == context.name)
    return next(known, "")


@functools.cache
def _can_count(name: str) -> bool:
    """Tell whether this machine has a counter.

    A process of its own asks: the tracer belongs into programs that are recorded.
    """
    if name.removeprefix(COUNTER_PREFIX) in COUNTERS_OF_KERNEL:
        return True
    command = [sys.executable, "-S", "-c", _QUESTION, library_path(), name]
    try:
        done = subprocess.run(
            command,
            check=False,
            env={**os.environ, REGISTER_VARIABLE: "0"},
            timeout=LONGEST_QUESTION,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
