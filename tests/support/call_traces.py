"""Writes traces of function calls, with any losses, and rebuilds calls the plain way."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import vestige
from vestige import Trace

from .ctf_writer import Event, Packet, metadata_head, write_trace

__all__ = [
    "HOSTILE_NAME",
    "PlainCalls",
    "call_metadata",
    "code",
    "enter",
    "leave",
    "packet",
    "state",
    "write_calls",
]

HOSTILE_NAME = '</script><b>;x\n\x1b[31m"\\ \u202eev\udcffil'
"""A name that ends scripts, frames, lines and the direction of text."""
VPID = 77
PROVIDERS = ("lttng_ust_cyg_profile_fast", "lttng_ust_cyg_profile")
CONTEXT = "int32_t _vpid; int32_t _vtid; uint64_t _ip;"


def call_metadata(
    *, per_thread: bool = True, contexts: bool = False, tracer: str = ""
) -> str:
    """Return metadata of traces with the four events of function calls.

    Args:
        per_thread: Whether packets name their thread, as those of ``vestige record``;
            else their CPU, as those of LTTng.
        contexts: Whether each record has ``vpid``, ``vtid`` and ``ip``.
        tracer: Name of the tracer.
    """
    more = "int32_t vpid; int32_t vtid;" if per_thread else "uint32_t cpu_id;"
    head = metadata_head(
        packet=more,
        context=CONTEXT if contexts else "",
        env=f'tracer_name = "{tracer}";' if tracer else "",
    )
    address, both = "uint64_t _addr;", "uint64_t _addr; uint64_t _call_site;"
    fields = (address, "", both, both)
    for index, members in enumerate(fields):
        name = f"{PROVIDERS[index // 2]}:func_{('entry', 'exit')[index % 2]}"
        head += (
            f'event {{ id = {index}; stream_id = 0; name = "{name}";\n'
            f"\tfields := struct {{ {members} }};\n}};\n"
        )
    code_fields = "uint64_t _baddr; uint64_t _memsz; string _path; string _func;"
    object_fields = "uint64_t _baddr; uint64_t _memsz; string _path; uint8_t _is_pic;"
    more_events = (
        ("lttng_ust_statedump:start", ""),
        ("lttng_ust_statedump:bin_info", object_fields),
        ("lttng_ust_lib:load", object_fields.replace(" uint8_t _is_pic;", "")),
        ("lttng_ust_lib:unload", "uint64_t _baddr;"),
        ("vestige_python:code", f"{code_fields} uint32_t _line;"),
    )
    for index, (name, members) in enumerate(more_events, len(fields)):
        head += (
            f'event {{ id = {index}; stream_id = 0; name = "{name}";\n'
            f"\tfields := struct {{ {members} }};\n}};\n"
        )
    return head


def state(
    time: int, kind: str, base: int = 0, path: str = "", *, vtid: int | None = None
) -> Event:
    """Return an event that changes the image of the process.

    Args:
        time: When.
        kind: ``start``, ``bin_info``, ``load`` or ``unload``.
        base: Where the object of 4 KiB is.
        path: Its path.
        vtid: The thread, for records with contexts.
    """
    head = b"" if vtid is None else struct.pack("<iiQ", VPID, vtid, 0)
    at = struct.pack("<Q", base)
    whole = at + struct.pack("<Q", 0x1000) + path.encode() + b"\0"
    payloads = {"start": b"", "bin_info": whole + b"\1", "load": whole, "unload": at}
    return Event(time, head + payloads[kind], 4 + list(payloads).index(kind))


def code(
    time: int,
    base: int,
    function: str,
    line: int = 1,
    *,
    path: str = "/srv/app.py",
    vtid: int | None = None,
) -> Event:
    """Return an event that tells of a code object.

    Args:
        time: When.
        base: Where its 4 KiB of addresses are.
        function: The name of its function.
        line: The function's first line.
        path: The source file.
        vtid: The thread, for records with contexts.
    """
    head = b"" if vtid is None else struct.pack("<iiQ", VPID, vtid, 0)
    texts = path.encode("utf-8", "surrogateescape") + b"\0"
    texts += function.encode("utf-8", "surrogateescape") + b"\0"
    at = struct.pack("<QQ", base, 0x1000)
    return Event(time, head + at + texts + struct.pack("<I", line), 8)


def enter(
    time: int, address: int, site: int | None = None, *, vtid: int | None = None
) -> Event:
    """Return the entry of a function; verbose with a call site.

    Args:
        time: When.
        address: The function.
        site: Where it is called.
        vtid: The thread, for records with contexts.
    """
    head = b"" if vtid is None else struct.pack("<iiQ", VPID, vtid, address)
    if site is None:
        return Event(time, head + struct.pack("<Q", address), 0)
    return Event(time, head + struct.pack("<QQ", address, site), 2)


def leave(
    time: int,
    address: int = 0,
    site: int | None = None,
    *,
    vtid: int | None = None,
) -> Event:
    """Return the exit of a function; verbose with a call site.

    Args:
        time: When.
        address: The function, for verbose records and for those with contexts.
        site: Where it was called.
        vtid: The thread, for records with contexts.
    """
    head = b"" if vtid is None else struct.pack("<iiQ", VPID, vtid, address)
    if site is None:
        return Event(time, head, 1)
    return Event(time, head + struct.pack("<QQ", address, site), 3)


def packet(
    events: Sequence[Event], *, vtid: int = 1, vpid: int = VPID, **facts: int
) -> Packet:
    """Return a packet of one thread."""
    made = Packet(events, context=struct.pack("<ii", vpid, vtid))
    return replace(made, **facts)  # type: ignore[arg-type] # all of them are numbers


def write_calls(
    directory: Path, streams: Mapping[str, Iterable[Packet]], **facts: object
) -> Path:
    """Write a trace of function calls; return its directory.

    Args:
        directory: Where.
        streams: The packets of each data stream.
        facts: What :func:`call_metadata` takes.
    """
    files = {
        name: b"".join(one.encode() for one in packets)
        for name, packets in streams.items()
    }
    return write_trace(directory, call_metadata(**facts), files)  # type: ignore[arg-type]


@dataclass
class PlainCalls:
    """The calls of a trace without losses and jumps, rebuilt in the plainest way."""

    calls: dict[object, int] = field(default_factory=dict)
    """Number of calls by function."""
    total: dict[object, int] = field(default_factory=dict)
    """Nanoseconds by function, of the outermost calls."""
    self_time: dict[object, int] = field(default_factory=dict)
    """Nanoseconds by function, without those of its callees."""
    longest: dict[object, int] = field(default_factory=dict)
    """Nanoseconds of the longest call."""
    paths: dict[tuple[object, ...], int] = field(default_factory=dict)
    """Number of calls by path."""

    @classmethod
    def of(
        cls, trace: Trace, name: Callable[[vestige.Event], object] | None = None
    ) -> PlainCalls:
        """Read a trace.

        Args:
            trace: The trace.
            name: Makes the function of an entry.
        """
        found = cls()
        stacks: dict[object, list[list[Any]]] = {}
        for event in trace.events("lttng_ust_cyg_profile*"):
            packet_context = event.packet_context
            thread = event.context.get("vtid", packet_context.get("vtid"))
            process = event.context.get("vpid", packet_context.get("vpid"))
            stack = stacks.setdefault((process, thread), [])
            if (event.name or "").endswith("entry"):
                function = event["addr"] if name is None else name(event)
                stack.append([function, event.timestamp, 0])
                path = tuple(frame[0] for frame in stack)
                found.paths[path] = found.paths.get(path, 0) + 1
            else:
                assert event.timestamp is not None
                found.leave(stack, event.timestamp)
        assert not any(stacks.values())
        return found

    def leave(self, stack: list[list[Any]], time: int) -> None:
        """End the innermost call."""
        function, start, inner = stack.pop()
        lasted = time - start
        if stack:
            stack[-1][2] += lasted
        if all(frame[0] != function for frame in stack):
            _add(self.total, function, lasted)
        _add(self.calls, function, 1)
        _add(self.self_time, function, lasted - inner)
        self.longest[function] = max(self.longest.get(function, 0), lasted)


def _add(sums: dict[object, int], key: object, value: int) -> None:
    sums[key] = sums.get(key, 0) + value
