"""Errors in the form of Babeltrace 2: the outermost first, then what caused each."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from ..._suppress import suppress
from ..._typing import NamedTuple
from ...errors import CommandError, SelectionError, TraceFormatError
from ...plain_text import plain

__all__ = ["Cause", "causes_of", "print_stack"]

CLI = "Babeltrace CLI"
SOURCE = "source.ctf.fs"
PACKETS = frozenset({"bad-magic", "packet-cut", "packet-header", "packet-sizes"})
"""Kinds of damage that Babeltrace 2 meets when it looks for packets."""
USAGE = 2
"""The exit status of errors in the command line, where it is ours."""


UNKNOWN_CLASS = re.compile(r"there is no class '([a-z]+)\.(.+)\.([^.]+)'")
"""What is said of a component class that there is not."""
UNKNOWN_EVENT_CLASS = re.compile(
    r"record of class ([0-9]+), which the metadata does not declare for stream class "
    r"([0-9]+)"
)
"""What is said of an event record whose class is not in the metadata."""
KINDS = {"source": 1, "filter": 2, "sink": 4}
"""The numbers of kinds of component classes."""


class Cause(NamedTuple):
    """One error of a stack."""

    actor: str
    """Who says it."""
    message: str
    """What is wrong; its lines stay lines."""


def causes_of(error: Exception, status: int) -> list[Cause]:
    """Return the stack of an error.

    Args:
        error: What ended the command.
        status: The exit status that ``vestige`` would have.
    """
    message = str(error)
    if isinstance(error, CommandError) and status == USAGE:
        return [
            Cause(CLI, "Command-line error: retcode=1"),
            Cause(CLI, _in_their_words(message)),
        ]
    graph = Cause(CLI, "Graph failed to complete successfully")
    if isinstance(error, SelectionError):
        return [graph, Cause(CLI, message)]
    if not isinstance(error, TraceFormatError):
        return [Cause(CLI, message)]
    if error.is_damage and error.damage.kind in PACKETS:
        path = error.damage.path
        not_indexed = Cause(SOURCE, f"Failed to index CTF stream file '{path}'")
        return [graph, not_indexed, Cause(SOURCE, message)]
    if unknown := UNKNOWN_EVENT_CLASS.search(message):
        words = (
            "No event class with ID of event class ID to use in stream class: "
            f"stream-class-id={unknown.group(2)}, event-class-id={unknown.group(1)}"
        )
        return [graph, Cause(SOURCE, message), Cause(SOURCE, words)]
    return [graph, Cause(SOURCE, message)]


def print_stack(causes: Sequence[Cause]) -> None:
    """Print a stack on standard error, where that is possible.

    Args:
        causes: The errors, the outermost first.
    """
    lines = [""]
    for number, cause in enumerate(causes):
        head = "CAUSED BY " if number else "ERROR:    "
        lines.append(f"{head}[{plain(cause.actor)}]")
        # No line is broken: scripts look for what stands in one.
        lines += [f"  {plain(line)}" for line in cause.message.splitlines()]
    with suppress(OSError):
        print("\n".join(lines), file=sys.stderr)


def _in_their_words(message: str) -> str:
    """Say what scripts look for in the words in which they look for it."""
    if message.startswith("--params: "):
        return f"Invalid format for --params option's argument:\n{message}"
    if unknown := UNKNOWN_CLASS.search(message):
        kind, plugin, name = unknown.groups()
        return (
            f'Cannot find component class: plugin-name="{plugin}", '
            f'comp-cls-name="{name}", comp-cls-type={KINDS[kind]}\n{message}'
        )
    return message
