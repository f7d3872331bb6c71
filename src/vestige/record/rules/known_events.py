"""Events that are known before a program runs: names, log levels, fields.

They are those that the tracer, its helpers and ``vestige.instrument`` make; all others
are tracepoints of programs.
"""

from __future__ import annotations

import re

from ..._typing import NamedTuple
from .._agreement import EVENTS
from .logger_rules import LOG_EVENT, LOG_FIELDS

__all__ = ["DEBUG_LINE", "KNOWN_EVENTS", "KnownEvent", "provider_of"]

DEBUG_LINE = 13
"""The log level of events that have none of their own, see lttng-ust(3)."""
_FIELD = re.compile(r"\b_(?!_)(\w+)(?:\[[^\]]*\])?;")
_OBJECT = ("baddr", "memsz", "flags", "path", "has_build_id", "has_debug_link")
_LINE_EVENTS = {
    "lttng_ust_libc:malloc": ("size", "ptr"),
    "lttng_ust_libc:calloc": ("nmemb", "size", "ptr"),
    "lttng_ust_libc:realloc": ("in_ptr", "size", "ptr"),
    "lttng_ust_libc:free": ("ptr",),
    "lttng_ust_libc:memalign": ("alignment", "size", "ptr"),
    "lttng_ust_libc:posix_memalign": ("out_ptr", "alignment", "size", "result"),
    "lttng_ust_pthread:pthread_mutex_lock_req": ("mutex",),
    "lttng_ust_pthread:pthread_mutex_lock_acq": ("mutex", "status"),
    "lttng_ust_pthread:pthread_mutex_trylock": ("mutex", "status"),
    "lttng_ust_pthread:pthread_mutex_unlock": ("mutex", "status"),
    "lttng_ust_dl:dlopen": _OBJECT,
    "lttng_ust_dl:dlmopen": (*_OBJECT, "nsid"),
    "lttng_ust_dl:build_id": ("baddr", "build_id"),
    "lttng_ust_dl:debug_link": ("baddr", "crc", "filename"),
    "lttng_ust_dl:dlclose": ("baddr",),
    "vestige_python:gc_entry": ("span_id", "parent_id", "task", "generation"),
    "vestige_python:gc_exit": (
        "span_id",
        "error",
        "waited",
        "collected",
        "uncollectable",
    ),
}


class KnownEvent(NamedTuple):
    """An event that is known beforehand."""

    name: str
    """Provider and name."""

    level: int
    """Its log level."""

    fields: frozenset[str]
    """What filters may ask for."""


def provider_of(name: str) -> str:
    """Return the provider of an event.

    Args:
        name: Its full name.

    Returns:
        What is before the colon.
    """
    return name.partition(":")[0]


KNOWN_EVENTS = (
    *(
        KnownEvent(name, level, frozenset(_FIELD.findall(fields)))
        for name, level, _, fields in EVENTS
        if not name.startswith("vestige:")
    ),
    *(
        KnownEvent(name, DEBUG_LINE, frozenset(fields))
        for name, fields in _LINE_EVENTS.items()
    ),
    KnownEvent(LOG_EVENT, DEBUG_LINE, frozenset(LOG_FIELDS)),
)
"""All of them."""
