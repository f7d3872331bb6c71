"""Writes traces of a service of coroutines, as recordings of Python programs have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vestige import ctf

__all__ = ["FUNCTIONS", "Request", "write_service"]

FUNCTIONS = {"handle": 0x1000, "render": 0x1100, "database": 0x1200}
"""Addresses of the coroutine functions, each at line 1 of a file of its name."""
VPID = 7


class Request(NamedTuple):
    """What a request waits for: it runs 10 ns before each wait and at its end."""

    number: int
    """Its field, and the ID of its coroutines."""
    begin: int
    """When it begins, nanoseconds."""
    waits: Sequence[tuple[str, int]]
    """What is awaited, and how long, nanoseconds; ``handle`` waits itself."""
    vtid: int = 7
    """Its thread."""
    vpid: int = VPID
    """Its process."""
    has_end: bool = True
    """Whether the trace has its end."""


def write_service(path: Path, requests: Sequence[Request]) -> Path:
    """Write a trace.

    Args:
        path: Where to.
        requests: The requests; of two of a thread, one runs while the other one waits.

    Returns:
        The path.
    """
    context: dict[str, Any] = {"vpid": "s32", "vtid": "s32", "ip": "x64"}
    with ctf.Writer(path, event_context=context) as writer:
        service = _Service(writer)
        for request in requests:
            service.write(request)
        service.finish()
    return path


class _Service:
    def __init__(self, writer: ctf.Writer) -> None:
        self._writer = writer
        define = writer.event_class
        code: dict[str, Any] = {
            "baddr": "x64",
            "memsz": "u64",
            "path": str,
            "func": str,
        }
        self._code = define("vestige_python:code", {**code, "line": "u32"})
        entry = {"addr": "x64", "id": "u64", "is_resumed": "u8"}
        self._entry = define("vestige_python:coroutine_entry", entry)
        leave = {"addr": "x64", "id": "u64", "is_suspended": "u8"}
        self._exit = define("vestige_python:coroutine_exit", leave)
        ids: dict[str, Any] = {"span_id": "u64", "parent_id": "u64", "task": str}
        self._begin = define("shop:request_entry", {**ids, "number": "s64"})
        ends: dict[str, Any] = {"span_id": "u64", "error": str, "waited": "u64"}
        self._end = define("shop:request_exit", ends)
        self._events: dict[tuple[int, int], list[tuple[int, Any, dict[str, Any]]]] = {}
        self._time = 0

    def write(self, request: Request) -> None:
        who = request.vpid, request.vtid
        self._time = request.begin

        def put(event: object, **fields: object) -> None:
            self._events[who].append((self._time, event, fields))

        if who not in self._events:
            self._events[who] = []
            for name, address in FUNCTIONS.items():
                put(
                    self._code, baddr=address, memsz=0x100, path=f"/{name}.py",
                    func=name, line=1,
                )  # fmt: skip
        number = request.number
        handle = {"addr": FUNCTIONS["handle"], "id": 10 * number}
        put(self._entry, **handle, is_resumed=0)
        put(
            self._begin,
            span_id=number,
            parent_id=0,
            task=f"task-{number}",
            number=number,
        )
        for index, (name, time) in enumerate(request.waits, 1):
            inner = {"addr": FUNCTIONS[name], "id": 10 * number + index}
            if name != "handle":
                put(self._entry, **inner, is_resumed=0)
            self._time += 10
            if name != "handle":
                put(self._exit, **inner, is_suspended=1)
            put(self._exit, **handle, is_suspended=1)
            self._time += time
            put(self._entry, **handle, is_resumed=1)
            if name != "handle":
                put(self._entry, **inner, is_resumed=1)
                put(self._exit, **inner, is_suspended=0)
        self._time += 10
        if request.has_end:
            put(self._end, span_id=number, error="", waited=0)
            put(self._exit, **handle, is_suspended=0)

    def finish(self) -> None:
        """Write what happened in each thread, in order."""
        for (vpid, vtid), events in self._events.items():
            stream = self._writer.stream(f"thread-{vpid}-{vtid}")
            context = {"vpid": vpid, "vtid": vtid, "ip": FUNCTIONS["handle"]}
            for time, event, fields in sorted(events, key=lambda one: one[0]):
                stream.write(event, time, context, **fields)
