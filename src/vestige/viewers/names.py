"""What viewers call threads and functions."""

from __future__ import annotations

from .._typing import NamedTuple
from ..analysis.calls import ThreadCalls
from ..plain_text import plain

__all__ = ["OF_CALLS", "Weights", "label", "shown", "thread_label"]


class Weights(NamedTuple):
    """What the numbers of a call tree are."""

    counts: str
    """What is counted."""
    weights: str
    """What is added up as ``self_time`` of nodes; empty: nothing but the count."""
    unit: str
    """The unit of that, as viewers name it."""


OF_CALLS = Weights("calls", "self", "nanoseconds")
"""Those of calls."""
LONGEST_NAME = 4000
"""Characters of a name that are written; templates may have names of any length."""


def shown(name: str) -> str:
    """Return a name as viewers get it: no control characters, not too long.

    Args:
        name: A name from a trace.
    """
    text = plain(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def thread_label(thread: ThreadCalls) -> str:
    """Return a name of a thread that no other thread of its trace has.

    Args:
        thread: The thread.
    """
    name = thread.thread_name or thread.name
    return label(name, thread.vpid, thread.vtid)


def label(name: str | None, vpid: int | None, vtid: int | None) -> str:
    """Return a name of a thread.

    Args:
        name: Its own or that of its process, if one is known.
        vpid: The process ID, if it is known.
        vtid: The thread ID, if it is known.
    """
    parts = [shown(name)] if name else []
    if vtid is not None:
        parts.append(f"thread {vtid}")
    elif vpid is not None:
        parts.append(f"process {vpid}")
    return " ".join(parts) or "thread"
