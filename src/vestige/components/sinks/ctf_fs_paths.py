"""Where ``sink.ctf.fs`` writes traces, and what it calls data streams.

The names are those that Babeltrace 2 gives.
"""

from __future__ import annotations

import os
import re
from datetime import datetime

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

__all__ = ["stream_name", "trace_path", "unused_path"]

TRACERS = {"lttng-ust", "lttng-modules"}
"""Tracers that tell in the environment of a trace where it belongs."""
FIRST_VERSION = (2, 11)
"""The first of their versions that does."""
LONGEST_NAME = 240
"""Most bytes of the name of a file or directory: file systems allow 255, and a number
may come behind it."""
DATE_AND_TIME = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)([.,]\d+)?(Z|[+-]\d\d(:?\d\d)?)?",
    re.ASCII,
)
"""Times as in ISO 8601, such as ``20261127T010203+0100``."""


def trace_path(name: str, environment: Mapping[str, int | str]) -> str:
    """Return the path of a trace below the directory of the output.

    Args:
        name: The name of the trace; empty when it has none.
        environment: What the trace tells about itself.
    """
    return _sanitized(_lttng_path(environment) or name or "trace")


def unused_path(path: Path) -> Path:
    """Return a path that does not exist: this one, or one with a number behind it.

    Args:
        path: The path that is wanted.
    """
    tried, number = path, 0
    while os.path.lexists(tried):
        tried = path.with_name(f"{path.name}-{number}")
        number += 1
    return tried


def stream_name(path: str, taken: Collection[str]) -> str:
    """Return the name of a data stream file.

    Args:
        path: The path of the data stream that is copied; may be empty.
        taken: The names of other data streams in the trace.
    """
    name = os.path.basename(path.rstrip("/"))  # noqa: PTH119 - the path is text
    wanted = "stream" if name in {"", ".", ".."} else _shortened(name)
    tried, number = wanted, 0
    while tried in taken or tried == "metadata":
        tried = f"{wanted}-{number}"
        number += 1
    return tried


def _sanitized(path: str) -> str:
    """Return a path without parts that lead elsewhere."""
    dots = {".": "_", "..": "__"}
    parts = [dots.get(part, part) for part in path.replace("\0", "_").split("/")]
    return "/".join(_shortened(part) for part in parts if part) or "trace"


def _shortened(name: str) -> str:
    """Return a name that file systems take."""
    encoded = os.fsencode(name)
    if len(encoded) <= LONGEST_NAME:
        return name
    return encoded[:LONGEST_NAME].decode(errors="ignore")


def _lttng_path(environment: Mapping[str, int | str]) -> str | None:
    """Return the path that LTTng gives such a trace, from version 2.11 on."""
    found = _Facts(environment)
    try:
        version = (found.number("tracer_major"), found.number("tracer_minor"))
        if found.text("tracer_name") not in TRACERS or version < FIRST_VERSION:
            return None
        session = f"{found.text('trace_name')}-{found.time('trace_creation_datetime')}"
        domain = found.text("domain")
        parts = [found.text("hostname"), session, domain]
        if domain == "ust":
            parts += _buffer_parts(found)
        elif domain != "kernel":
            return None
    except KeyError:
        return None
    return "/".join(parts)


def _buffer_parts(found: _Facts) -> list[str]:
    """Return the parts that tell whose buffers they were."""
    scheme = found.text("tracer_buffering_scheme")
    if scheme == "uid":
        user = str(found.number("tracer_buffering_id"))
        return [scheme, user, f"{found.number('architecture_bit_width')}-bit"]
    if scheme != "pid":
        raise KeyError(scheme)
    process = f"{found.text('procname')}-{found.number('vpid')}"
    return [scheme, f"{process}-{found.time('vpid_datetime')}"]


class _Facts:
    # Entries of an environment that must be there and of one type.

    def __init__(self, environment: Mapping[str, int | str]) -> None:
        self._environment = environment

    def text(self, name: str) -> str:
        """Return an entry that is a string."""
        value = self._environment.get(name)
        if not isinstance(value, str):
            raise KeyError(name)
        return value

    def number(self, name: str) -> int:
        """Return an entry that is an integer."""
        value = self._environment.get(name)
        if not isinstance(value, int):
            raise KeyError(name)
        return value

    def time(self, name: str) -> str:
        """Return an entry that is a time."""
        value = self.text(name)
        match = DATE_AND_TIME.fullmatch(value)
        if match is None:
            raise KeyError(name)
        year, month, day, hour, minute, second = (int(match[n]) for n in range(1, 7))
        try:
            datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - is it one?
        except ValueError:
            raise KeyError(name) from None
        return value
