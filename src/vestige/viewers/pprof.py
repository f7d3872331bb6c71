"""Call trees as profiles of pprof: protocol buffers, compressed.

The format is described by ``proto/profile.proto`` of github.com/google/pprof. A sample
is a path of calls of a thread, with two values: how many calls ended it, and its own
time. A location is the entry of a function, so that nothing is inlined there: functions
that the compiler has inlined are part of the ones that were called.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import NamedTuple

from ..analysis.call_nodes import CallNode
from ..analysis.calls import CallTree, ThreadCalls
from ..analysis.functions import Function
from ..debuginfo import Mapping, Place
from .names import OF_CALLS, Weights, shown, thread_label
from .protobuf import number, numbers, text, within

__all__ = ["pprof_bytes"]

# Fields of Profile.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRINGS = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _COMMENT, _DEFAULT_TYPE = 9, 10, 13, 14


class _Object(NamedTuple):
    """What tells mappings apart."""

    path: str
    build_id: bytes | None
    base: int


class _Strings:
    """The texts of a profile, each once; the first one is empty."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def number(self, name: str) -> int:
        return self.numbers.setdefault(shown(name), len(self.numbers))


class _Profile:
    """A profile that grows."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.strings = _Strings()
        self.samples: list[bytes] = []
        self._mappings: dict[_Object, int] = {}
        self._mapping_rows: list[bytes] = []
        self._locations: dict[Function, int] = {}
        self._location_rows: list[bytes] = []
        self._function_rows: list[bytes] = []

    def add_thread(self, thread: ThreadCalls) -> None:
        """Add the calls of a thread."""
        labels = b"".join(self._labels(thread))
        path: list[int] = []
        for level, node in thread.root.walk():
            if not level:
                continue
            del path[level - 1 :]
            path.append(self._location(node.function))
            if node.calls or node.self_time:
                self._add_sample(path, node, labels)

    def _add_sample(self, path: list[int], node: CallNode, labels: bytes) -> None:
        places = numbers(1, reversed(path))
        both = node.calls, node.self_time
        values = numbers(2, both if self._weights.weights else both[:1])
        self.samples.append(within(_SAMPLE, places + values + labels))

    def _labels(self, thread: ThreadCalls) -> Iterator[bytes]:
        names = self.strings.number
        label = number(2, names(thread_label(thread)))
        yield within(3, number(1, names("thread")) + label)
        for key, value in (("tid", thread.vtid), ("pid", thread.vpid)):
            if value is not None:
                yield within(3, number(1, names(key)) + number(3, value))
        if thread.name:
            label = number(2, names(thread.name))
            yield within(3, number(1, names("process")) + label)

    def _location(self, function: Function) -> int:
        known = self._locations.get(function)
        if known is not None:
            return known
        place = function.place if isinstance(function.place, Place) else None
        index = self._locations[function] = len(self._locations) + 1
        names = self.strings.number
        # Without a symbol pprof takes the name as it is; else it cuts what is in "<>".
        symbol = (place and place.linkage_name) or ""
        if symbol == function.name:
            symbol = ""
        file = (place and place.source_path) or ""
        line = (place and place.line) or 0
        self._function_rows.append(
            number(1, index)
            + number(2, names(function.name))
            + number(3, names(symbol))
            + number(4, names(file))
            + number(5, line)
        )
        row = number(1, index)
        mapping = place.binary.mapping if place else None
        if mapping is not None and mapping.code is None:
            row += number(2, self._mapping(mapping))
        row += number(3, function.address or 0)
        row += within(4, number(1, index) + number(2, line))
        self._location_rows.append(row)
        return index

    def _mapping(self, mapping: Mapping) -> int:
        key = _Object(mapping.path, mapping.build_id, mapping.base)
        known = self._mappings.get(key)
        if known is not None:
            return known
        index = self._mappings[key] = len(self._mappings) + 1
        names = self.strings.number
        build_id = mapping.build_id.hex() if mapping.build_id else ""
        self._mapping_rows.append(
            number(1, index)
            + number(2, mapping.base)
            + number(3, mapping.end)
            + number(5, names(mapping.path))
            + number(6, names(build_id))
            # Names are complete; files and lines are there where they are known.
            + number(7, 1)
            + number(8, 1)
            + number(9, 1)
        )
        return index

    def bytes(self, begin: int, duration: int, comments: list[str]) -> bytes:
        """Return the profile, not compressed.

        Args:
            begin: When it begins, nanoseconds since the epoch.
            duration: How long it takes, nanoseconds.
            comments: What ``pprof -comments`` shows.
        """
        names = self.strings.number
        kind = self._weights
        types = [(kind.counts, "count")]
        if kind.weights:
            types.append((kind.weights, kind.unit))
        parts = [
            within(_SAMPLE_TYPE, number(1, names(what)) + number(2, names(unit)))
            for what, unit in types
        ]
        parts += self.samples
        parts += [within(_MAPPING, row) for row in self._mapping_rows]
        parts += [within(_LOCATION, row) for row in self._location_rows]
        parts += [within(_FUNCTION, row) for row in self._function_rows]
        parts += [number(_TIME, begin), number(_DURATION, duration)]
        # Each of them is written, also where the number of a text is 0.
        parts += [number(_COMMENT, names(one)) for one in comments]
        parts.append(number(_DEFAULT_TYPE, names(types[-1][0])))
        parts += [text(_STRINGS, one) for one in self.strings.numbers]
        return b"".join(parts)


def pprof_bytes(
    tree: CallTree, comments: tuple[str, ...] = (), weights: Weights = OF_CALLS
) -> bytes:
    """Write a call tree as a profile of pprof.

    Args:
        tree: The calls.
        comments: What ``pprof -comments`` shows.
        weights: What is counted.

    Returns:
        The profile, compressed with gzip. Samples have the values ``calls`` (count) and
        ``self`` (nanoseconds), and the labels ``thread``, ``tid``, ``pid`` and
        ``process``, as far as these are known.
    """
    profile = _Profile(weights)
    for thread in tree.threads:
        profile.add_thread(thread)
    begin = min((thread.begin for thread in tree.threads), default=0)
    end = max((thread.end for thread in tree.threads), default=begin)
    facts = profile.bytes(begin, end - begin, [one for one in comments if one])
    # Without a time: equal trees give equal files.
    return gzip.compress(facts, 6, mtime=0)
