"""Call trees and calls as files of speedscope.

The format is described by ``file-format-schema.json`` of speedscope: frames once, and a
profile for each thread. Of a call tree, a profile is *sampled*: a stack for each path,
weighted with its own time. Of single calls it is *evented*: they begin and end.
"""

from __future__ import annotations

import json

from .._typing import TYPE_CHECKING
from .._version import __version__
from ..analysis.call_nodes import CallNode
from ..analysis.calls import CallTree
from ..analysis.functions import Function
from ..debuginfo import Place
from .names import OF_CALLS, Weights, shown, thread_label

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Frames", "document", "speedscope_text"]

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Frames:
    """The frames of a file, each once."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        """What the file has of them."""
        self._numbers: dict[tuple[str, str | None, int | None], int] = {}

    def number(self, function: Function) -> int:
        """Return the index of a function.

        Args:
            function: The function, or what stands where there is none.
        """
        place = function.place
        file = line = None
        if isinstance(place, Place) and place.line:
            file, line = place.source_path, place.line
        key = (shown(function.name), shown(file) if file else None, line)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.rows)
            row: dict[str, Any] = {"name": key[0]}
            if key[1]:
                row |= {"file": key[1], "line": key[2]}
            self.rows.append(row)
        return number


def speedscope_text(tree: CallTree, name: str, weights: Weights = OF_CALLS) -> str:
    """Write a call tree as a file of speedscope.

    Args:
        tree: The calls.
        name: A name for the file, which is shown as its title.
        weights: What is counted.

    Returns:
        JSON, with a profile for each thread that has calls. The one with most time of
        its own is shown first.
    """
    frames = Frames()
    profiles = [
        _sampled(thread.root, thread_label(thread), frames, weights)
        for thread in tree.threads
        if thread.root.callees
    ]
    return document(profiles, frames, name)


def document(profiles: list[dict[str, Any]], frames: Frames, name: str) -> str:
    """Write a file.

    Args:
        profiles: Its profiles. One without any gets an empty one.
        frames: The frames of these.
        name: A name for the file.
    """
    if not profiles:
        profiles = [_profile("no calls", [], [], OF_CALLS)]
    busiest = max(range(len(profiles)), key=lambda one: _busy(profiles[one]))
    facts = {
        "$schema": SCHEMA,
        "exporter": f"vestige {__version__}",
        "name": shown(name),
        "activeProfileIndex": busiest,
        "shared": {"frames": frames.rows},
        "profiles": profiles,
    }
    # As in a page, where "<" could end the script that it is in.
    return json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c") + "\n"


def _busy(profile: dict[str, Any]) -> int:
    """Return how much there is to see in a profile.

    A thread that waits in one call has much time, too: so paths count first.
    """
    if profile["type"] == "evented":
        return len(profile["events"])
    return len(profile["samples"])


def _sampled(
    root: CallNode, label: str, frames: Frames, kind: Weights
) -> dict[str, Any]:
    samples, weights = [], []
    path: list[int] = []
    for level, node in root.walk():
        if not level:
            continue
        del path[level - 1 :]
        path.append(frames.number(node.function))
        if node.self_time:
            samples.append(list(path))
            weights.append(node.self_time)
    return _profile(label, samples, weights, kind)


def _profile(
    label: str, samples: list[list[int]], weights: list[int], kind: Weights
) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": label,
        # Numbers of events have no unit there.
        "unit": kind.unit if kind.weights else "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
