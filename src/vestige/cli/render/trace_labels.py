"""Short texts that tell traces apart which are shown together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

from ...graph import Stream

__all__ = ["trace_labels"]


def trace_labels(streams: Sequence[Stream]) -> dict[int, str]:
    """Return host names where these differ, else what differs in the directories.

    Args:
        streams: The data streams of all traces.

    Returns:
        For the index of each trace its text; nothing when there is one trace only.
    """
    firsts = {stream.trace.index: stream for stream in reversed(streams)}
    if len(firsts) < 2:  # noqa: PLR2004 - several
        return {}
    hosts = {
        index: str(stream.trace.parsed.environment.get("hostname") or "")
        for index, stream in firsts.items()
    }
    if len({*hosts.values()} - {""}) == len(hosts):
        return hosts
    paths = {
        index: PurePath(stream.path).parent.parts for index, stream in firsts.items()
    }
    start = _common([*paths.values()])
    end = _common([parts[start:][::-1] for parts in paths.values()])
    return {
        index: "/".join(parts[start : len(parts) - end] or parts[-1:])
        for index, parts in paths.items()
    }


def _common(paths: Sequence[Sequence[str]]) -> int:
    """Return how many parts all of some paths begin with."""
    columns = zip(*paths, strict=False)
    return sum(1 for _ in takewhile(lambda parts: len({*parts}) == 1, columns))
