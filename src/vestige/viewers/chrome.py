"""Calls and events in the JSON format of Chrome's trace viewer.

It takes some 130 bytes a call, and viewers read all of it before they show anything:
so it is for ranges of time. Times are microseconds with three digits behind the point,
from the first event on: as numbers of JavaScript hold them, nanoseconds since the epoch
would lose their last digits.

See "Trace Event Format" of the Chromium project.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from .. import core
from .._typing import TYPE_CHECKING
from ..analysis.each_call import EachCall, Wanted
from ..analysis.functions import MERGED_FUNCTION, Function
from ..debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS, Resolver
from .names import label, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, Any

    from ..graph import Stream

__all__ = ["ChromeSink"]

CALLS = frozenset((*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS))
FIRST_FREE_ID = 1 << 24
"""Where process IDs begin that are given to processes of other PID namespaces."""


class _Ids:
    """Process IDs; of two processes with the same one, the second gets another."""

    def __init__(self) -> None:
        self.given: dict[tuple[int, int], int] = {}
        self._taken: set[int] = set()

    def of(self, space: int, vpid: int) -> int:
        known = self.given.get((space, vpid))
        if known is None:
            known = max(vpid, 0)
            if known in self._taken:
                known = FIRST_FREE_ID + len(self.given)
            self._taken.add(known)
            self.given[space, vpid] = known
        return known


class ChromeSink(EachCall):
    """Writes calls and events as they are read.

    Args:
        resolver: Names functions.
        streams: The data streams.
        file: Where to.
        wanted: Which part of the traces is read.
    """

    def __init__(
        self,
        resolver: Resolver,
        streams: Sequence[Stream],
        file: IO[str],
        *,
        wanted: Wanted,
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        self.fold.keep_all_calls()
        self._file = file
        self._ids = _Ids()
        self._threads: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._origin: int | None = None
        self._rows = core.ChromeCalls(_texts(MERGED_FUNCTION))
        self._named = 0
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')

    def take(self, merge: core.Merge | None) -> None:
        """Write what is new."""
        if self._origin is None and merge is not None and merge.time_span:
            self._origin = merge.time_span[0]
        if fresh := self._rows.add_calls(self.fold):
            threads = self.fold.threads()
            for index in fresh:
                ids = self._thread(*threads[index][:3])
                self._rows.name_thread(index, ids["pid"], ids["tid"])
        if self.all_are_named:
            self._put_calls()
        if merge is not None:
            self._put(self._event_rows(merge))
            return
        self._put(self._names())
        facts = {"begin_ns": str(self._origin or 0), "losses": len(self.losses)}
        end = {"name": "end of the trace", "ph": "M", "pid": 0, "tid": 0, "args": {}}
        self._file.write(f'{json.dumps(end)}],"otherData":{json.dumps(facts)}}}\n')

    def _put(self, rows: Iterator[dict[str, Any]]) -> None:
        for row in rows:
            self._file.write(_json(row) + ",\n")

    def _time(self, nanoseconds: int) -> float:
        return (nanoseconds - (self._origin or 0)) / 1000

    def _thread(self, space: int, vpid: int, vtid: int) -> dict[str, int]:
        pid = self._ids.of(space, vpid)
        tid = max(vtid, 0)
        if (pid, tid) not in self._threads:
            self._threads[pid, tid] = (space, vpid, vtid)
        return {"pid": pid, "tid": tid}

    def _put_calls(self) -> None:
        """Write the calls that wait, once all of them have names."""
        named = self.named[self._named :]
        self._named += len(named)
        self._rows.name_functions([_texts(one) for one in named])
        self._file.write(self._rows.take_rows(self._origin or 0))

    def _event_rows(self, merge: core.Merge) -> Iterator[dict[str, Any]]:
        for index in self.fold.others(merge):
            event = merge.event(index)
            if event.name in CALLS:
                continue
            payload = event.payload
            fields = {} if payload is None else payload.to_dict()
            space = event.stream.process_space
            ids = (-1 if one is None else one for one in (event.process, event.thread))
            yield {
                "name": shown(event.name or "(no name)"),
                "cat": "event",
                "ph": "i",
                "s": "t",
                "ts": self._time(event.timestamp or 0),
                **self._thread(space, *ids),
                "args": {shown(name): _plain(value) for name, value in fields.items()},
            }

    def _names(self) -> Iterator[dict[str, Any]]:
        for (space, vpid), pid in self._ids.given.items():
            name = shown(self.process_name(space, vpid) or "process")
            yield {
                "name": "process_name", "ph": "M", "pid": pid, "args": {"name": name},
            }  # fmt: skip
        for (pid, tid), (space, vpid, vtid) in self._threads.items():
            ids = (None if one < 0 else one for one in (vpid, vtid))
            name = label(self.thread_name(space, vpid, vtid), *ids)
            yield {
                "name": "thread_name", "ph": "M", "pid": pid, "tid": tid,
                "args": {"name": name},
            }  # fmt: skip


def _json(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), default=str)
    # As in a page, where "<" could end the script that it is in.
    return text.replace("<", "\\u003c")


def _texts(function: Function) -> tuple[str, str | None]:
    """Return name and source of a function as texts of JSON."""
    source = function.source
    return _json(shown(function.name)), _json(shown(source)) if source else None


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; texts without what steers a terminal."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown(str(name)): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return (
        value if isinstance(value, (int, bool)) or value is None else shown(str(value))
    )
