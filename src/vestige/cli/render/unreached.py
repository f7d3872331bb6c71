"""Lines about processes that are not recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...plain_text import plain
from ...record.collected import Unreached

__all__ = ["unreached_lines"]

MOST_LINES = 10
MOST_NUMBERS = 3
"""Processes of one program that are named by their IDs."""


def unreached_lines(unreached: Iterable[Unreached], more: int) -> Iterator[str]:
    """Name processes that are not recorded, and say why.

    Args:
        unreached: The processes; those of one program share a line.
        more: How many more there were.

    Yields:
        Lines for people.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for one in unreached:
        groups.setdefault((one.name, one.reason), []).append(_process(one))
    for count, ((name, reason), processes) in enumerate(groups.items()):
        if count < MOST_LINES:
            verb = "is" if len(processes) == 1 else "are"
            yield f"{plain(name)} ({_several(processes)}) {verb} not recorded: {reason}"
        else:
            more += len(processes)
    if more:
        yield f"{more:,} more {'process' if more == 1 else 'processes'} not recorded"


def _process(one: Unreached) -> str:
    return f"PID {one.process}" if one.process else f"child of PID {one.parent}"


def _several(processes: list[str]) -> str:
    text = ", ".join(processes[:MOST_NUMBERS])
    rest = len(processes) - MOST_NUMBERS
    return f"{text} and {rest:,} more" if rest > 0 else text
