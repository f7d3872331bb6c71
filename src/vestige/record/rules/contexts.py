"""Contexts: what event records may tell of their thread and process.

Names and types are those of LTTng-UST, see lttng-add-context(1), but for addresses of
code, which have 48 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..._typing import NamedTuple
from ...errors import SelectionError
from .. import _agreement
from .._agreement import (
    COUNTER_FIELD,
    COUNTER_PREFIX,
    COUNTERS_OF_KERNEL,
    COUNTERS_OF_PROCESSOR,
    MOST_COUNTERS,
)

__all__ = [
    "CONTEXTS",
    "CONTEXT_CLASSES",
    "COUNTERS",
    "MOST_COUNTERS",
    "ContextClass",
    "context_classes",
    "counter_class",
]


class ContextClass(NamedTuple):
    """A field that each event record has."""

    name: str
    """Without the underscore that it has in TSDL."""

    size: int
    """Bytes."""

    field: str
    """Its declaration in TSDL, CTF 1.8.3, section 7."""

    about: str
    """What it says, for people."""


CONTEXT_CLASSES = tuple(ContextClass(*facts) for facts in _agreement.CONTEXTS)
"""In the order in which they are written."""

CONTEXTS = tuple(one.name for one in CONTEXT_CLASSES)
"""Their names."""

COUNTERS = tuple(
    f"{COUNTER_PREFIX}{name}" for name in (*COUNTERS_OF_KERNEL, *COUNTERS_OF_PROCESSOR)
)
"""Contexts that count something in the thread."""
_RAW = COUNTER_PREFIX + r"raw:r[0-9a-fA-F]{1,16}:[A-Za-z_][A-Za-z0-9_]*"


def context_classes(names: Sequence[str]) -> list[ContextClass]:
    """Return contexts in the order in which records have them.

    Args:
        names: Their names, in any order.

    Returns:
        The contexts, each once.

    Raises:
        SelectionError: There is none of a name, or too many count.
    """
    counters = dict.fromkeys(name for name in names if name not in CONTEXTS)
    for name in counters:
        if name not in COUNTERS and not _is_raw(name):
            raise SelectionError(
                f"no context '{name}': expected some of {', '.join(CONTEXTS)}, or "
                f"{COUNTER_PREFIX}NAME; --list-contexts lists all"
            )
    if len(counters) > MOST_COUNTERS:
        raise SelectionError(
            f"{len(counters)} counters: expected up to {MOST_COUNTERS} in a recording"
        )
    return [
        *(one for one in CONTEXT_CLASSES if one.name in names),
        *map(counter_class, counters),
    ]


def _is_raw(name: str) -> bool:
    # Few recordings count anything.
    import re  # noqa: PLC0415 - see above

    return re.fullmatch(_RAW, name) is not None


def counter_class(name: str) -> ContextClass:
    """Return the context of a counter.

    Args:
        name: Its name, as options have it.

    Returns:
        The context, whose field has underscores only.
    """
    field = "".join(one if one.isalnum() else "_" for one in name)
    is_of_kernel = name.removeprefix(COUNTER_PREFIX) in COUNTERS_OF_KERNEL
    of = "the kernel" if is_of_kernel else "the CPU"
    return ContextClass(
        name, 8, COUNTER_FIELD.replace("{name}", f"_{field}"), f"counter of {of}"
    )
