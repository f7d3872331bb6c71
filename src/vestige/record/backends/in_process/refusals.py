"""Tracers that do not agree with the recorder, and so record nothing.

A program may bring a tracer of another build along, or an older one may be in a process
that was started long ago. It writes one line to a file in the trace, which the recorder
makes.
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ...._typing import NamedTuple
from ...._version import __version__
from ..._agreement import (
    AGREEMENT,
    LARGEST_REFUSALS,
    REFUSALS_FILE,
    SKIPPED_MARK,
    UNPATCHED_MARK,
)
from .own_files import read_file

__all__ = [
    "REFUSALS",
    "Refusal",
    "make_refusals",
    "read_refusals",
    "read_skipped",
    "read_unpatched",
    "refusal_lines",
    "remove_refusals",
]

REFUSALS = REFUSALS_FILE
_LINE = r"(\d{1,10}) (\S{1,32}) (\S{1,64}) (.{1,64})"
_MOST_LINES = 10


class Refusal(NamedTuple):
    """A tracer that records nothing."""

    process: int
    """Its process ID, as the process sees it."""

    agreement: str
    """The fingerprint of what it agrees on."""

    version: str
    """Its version of Vestige."""

    program: str
    """The name of the program."""


def make_refusals(directory: str) -> None:
    """Make the file, empty.

    Args:
        directory: The trace.

    Raises:
        OSError: The file cannot be made.
    """
    with open(os.path.join(directory, REFUSALS), "xb") as file:
        os.fchmod(file.fileno(), 0o600)


def read_refusals(directory: str) -> list[Refusal]:
    """Read the file.

    Args:
        directory: The trace.

    Returns:
        The tracers, each once. Lines of another form are left out.
    """
    marks = {SKIPPED_MARK, UNPATCHED_MARK}
    return [one for one in _read(directory) if one.agreement not in marks]


def read_skipped(directory: str) -> list[tuple[str, str]]:
    """Read what tracers say of single events in the same file.

    Args:
        directory: The trace.

    Returns:
        Words that say why, and names of providers or events, each pair once.
    """
    return _marked(directory, SKIPPED_MARK)


def read_unpatched(directory: str) -> list[tuple[str, str]]:
    """Read of which objects no function was rewritten, from the same file.

    Args:
        directory: The trace.

    Returns:
        Words that say why, and names of objects, each pair once.
    """
    return _marked(directory, UNPATCHED_MARK)


def _marked(directory: str, mark: str) -> list[tuple[str, str]]:
    found = (one for one in _read(directory) if one.agreement == mark)
    return list(dict.fromkeys((one.version, one.program) for one in found))


def _read(directory: str) -> list[Refusal]:
    data = b""
    with suppress(OSError):
        data = read_file(directory, REFUSALS, 2 * LARGEST_REFUSALS)
    if not data:
        return []
    # Few recordings have any.
    import re  # noqa: PLC0415 - see above

    lines = data.decode(errors="replace").splitlines()
    found = (re.fullmatch(_LINE, line) for line in lines)
    refusals = (Refusal(int(one[1]), *one.group(2, 3, 4)) for one in found if one)
    return list(dict.fromkeys(refusals))


def remove_refusals(directory: str) -> None:
    """Remove the file, of which nobody will write any more.

    Args:
        directory: The trace.
    """
    with suppress(OSError):
        os.unlink(os.path.join(directory, REFUSALS))


def refusal_lines(refusals: list[Refusal]) -> list[str]:
    """Say which programs are not recorded.

    Args:
        refusals: The tracers.

    Returns:
        Lines for people, not too many.
    """
    if not refusals:
        return []
    # Few recordings have any.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    lines = [
        f"{plain(one.program)} (PID {one.process}) is not recorded: its tracer is of "
        f"Vestige {plain(one.version)}, agreement {plain(one.agreement)}; the recorder "
        f"is of Vestige {__version__}, agreement {AGREEMENT}"
        for one in refusals[:_MOST_LINES]
    ]
    if len(refusals) > _MOST_LINES:
        lines.append(f"{len(refusals) - _MOST_LINES:,} more processes are not recorded")
    return lines
