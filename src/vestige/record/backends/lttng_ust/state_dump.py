"""State dumps that the daemon writes: which objects a program has loaded.

They say what programs of LTTng-UST say themselves, by events of the same names and
fields, in a data stream of their own. So readers that know those know these.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ...._typing import NamedTuple
from .clock import Clock
from .metadata import event_text, state_stream_text
from .ring import PACKET_MAGIC, Packet

__all__ = [
    "LastStates",
    "LoadedObject",
    "ProgramState",
    "StatePacket",
    "read_states",
    "state_packet",
    "state_text",
]

STATE_STREAM = (1 << 16) - 1
"""The ID of the data stream class: those of channels are counted from 0 on."""
PROVIDER = "lttng_ust_statedump"
LEVEL = 13
"""The log level of such events in programs: TRACE_DEBUG_LINE."""
NAME_SIZE = 17
"""Bytes of the name of a process, with its end."""

LoadedObject = tuple[int, int, bytes, bool, bytes, tuple[bytes, int] | None]
"""Where it begins, how many bytes of memory it has, its path as the program sees it,
whether it may be anywhere, its build ID or nothing, name and checksum of its debug
file."""

_NUMBER = "integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; }"
_BASE = "integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; }"
_SUM = "integer { size = 32; align = 8; signed = 0; encoding = none; base = 10; }"
_FLAG = "integer { size = 8; align = 8; signed = 0; encoding = none; base = 10; }"
_BYTE = "integer { size = 8; align = 8; signed = 0; encoding = none; base = 16; }"
_LETTER = "integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; }"
_STRING = "string { encoding = UTF8; }"
_START, _NAME, _OBJECT, _BUILD_ID, _DEBUG_LINK, _END = range(6)
_EVENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("start", ()),
    ("procname", (f"{_LETTER} _procname[{NAME_SIZE}];",)),
    (
        "bin_info",
        (
            *(f"{_BASE} _baddr;", f"{_NUMBER} _memsz;", f"{_STRING} _path;"),
            *(f"{_FLAG} _is_pic;", f"{_FLAG} _has_build_id;"),
            f"{_FLAG} _has_debug_link;",
        ),
    ),
    (
        "build_id",
        (
            *(f"{_BASE} _baddr;", f"{_NUMBER} __build_id_length;"),
            f"{_BYTE} _build_id[__build_id_length];",
        ),
    ),
    (
        "debug_link",
        (f"{_BASE} _baddr;", f"{_SUM} _crc;", f"{_STRING} _filename;"),
    ),
    ("end", ()),
)
"""The events, by their IDs."""
_HEADER = struct.Struct("=I16sIQQQQQQQ")
"""Packet header and context, as of other packets, but of no CPU."""
_HEAD = struct.Struct("=BQQi")
"""ID, time, address, process ID: header and contexts of an event."""
_SIZES = struct.Struct("=QQ")
_FLAGS = struct.Struct("=BBB")
_SUM_OF = struct.Struct("=QI")


class ProgramState(NamedTuple):
    """What a program has loaded at a time."""

    vpid: int
    """Its process ID, as it sees it."""

    name: str
    objects: tuple[LoadedObject, ...]


class StatePacket(NamedTuple):
    """What is said of a packet of a state dump."""

    uuid: bytes
    """The trace."""

    time: int
    """Since when it is so, by the clock of programs."""

    sequence: int
    """Its number in the data stream."""

    instance: int = 0
    """Which data stream it is in: what stands together is numbered together."""


class LastStates(NamedTuple):
    """What a file of state dumps says last."""

    programs: dict[int, ProgramState]
    """How programs were described last, by their process IDs."""

    time: int
    """Of the last packet, by the clock of programs."""

    following: int
    """The number of the next packet."""


def state_text(clock: Clock) -> str:
    """Return the data stream class of state dumps, with its event record classes.

    Args:
        clock: What times are read from.
    """
    events = (
        event_text(
            f"{PROVIDER}:{name}",
            number,
            STATE_STREAM,
            level=LEVEL,
            fields=fields,
            uri="",
        )
        for number, (name, fields) in enumerate(_EVENTS)
    )
    return state_stream_text(STATE_STREAM, clock) + "".join(events)


def state_packet(
    facts: StatePacket, states: Iterable[ProgramState], wanted: AbstractSet[str]
) -> Packet:
    """Return a packet that says what programs have loaded.

    Args:
        facts: What is said of the packet.
        states: The programs.
        wanted: The names of the events that a session records, without provider.
    """
    kinds = {number for number, (name, _) in enumerate(_EVENTS) if name in wanted}
    parts = [
        event
        for state in states
        for kind, event in _events(state, facts.time)
        if kind in kinds
    ]
    content = b"".join(parts)
    bits = (_HEADER.size + len(content)) * 8
    header = _HEADER.pack(
        *(PACKET_MAGIC, facts.uuid, STATE_STREAM, facts.instance),
        *(facts.time, facts.time, bits, bits, facts.sequence, 0),
    )
    return Packet(header, memoryview(header + content))


def _events(state: ProgramState, time: int) -> Iterable[tuple[int, bytes]]:
    """Yield the events of a program with their IDs."""

    def head(kind: int) -> bytes:
        # It is no code of the program that tells: there is no address.
        return _HEAD.pack(kind, time, 0, state.vpid)

    yield _START, head(_START)
    name = state.name.encode(errors="replace")[: NAME_SIZE - 1]
    yield _NAME, head(_NAME) + name.ljust(NAME_SIZE, b"\0")
    for base, size, path, is_pic, build_id, debug_link in state.objects:
        text = path.replace(b"\0", b"") + b"\0"
        flags = _FLAGS.pack(is_pic, bool(build_id), debug_link is not None)
        yield _OBJECT, head(_OBJECT) + _SIZES.pack(base, size) + text + flags
        if build_id:
            start = head(_BUILD_ID) + _SIZES.pack(base, len(build_id))
            yield _BUILD_ID, start + build_id
        if debug_link is not None:
            file, checksum = debug_link
            start = head(_DEBUG_LINK) + _SUM_OF.pack(base, checksum)
            yield _DEBUG_LINK, start + file.replace(b"\0", b"") + b"\0"
    yield _END, head(_END)


def read_states(raw: bytes) -> LastStates:
    """Return how programs were described last.

    Args:
        raw: Packets of :func:`state_packet`.

    Raises:
        ValueError: They are none.
    """
    found: dict[int, ProgramState] = {}
    at = time = following = 0
    try:
        while at < len(raw):
            magic, *_, time, bits, _, sequence, _ = _HEADER.unpack_from(raw, at)
            if magic != PACKET_MAGIC or bits // 8 <= _HEADER.size:
                raise ValueError("expected packets of state dumps")
            end = at + bits // 8
            at += _HEADER.size
            following = sequence + 1
            while at < end:
                at = _read_event(raw, at, found)
    except struct.error as error:
        raise ValueError("expected events of state dumps") from error
    return LastStates(found, time, following)


def _read_event(raw: bytes, at: int, found: dict[int, ProgramState]) -> int:
    """Note what an event tells; return where the next one is."""
    kind, _, _, vpid = _HEAD.unpack_from(raw, at)
    at += _HEAD.size
    if kind == _START:
        found[vpid] = ProgramState(vpid, "", ())
        return at
    if kind == _END:
        return at
    # Sessions may record some of these events only.
    state = found.get(vpid, ProgramState(vpid, "", ()))
    if kind == _NAME:
        name = raw[at : at + NAME_SIZE].rstrip(b"\0").decode(errors="replace")
        found[vpid] = state._replace(name=name)
        return at + NAME_SIZE
    objects = [*state.objects]
    if kind == _OBJECT:
        base, size = _SIZES.unpack_from(raw, at)
        text = at + _SIZES.size
        last = raw.index(b"\0", text)
        is_pic, _, _ = _FLAGS.unpack_from(raw, last + 1)
        objects.append((base, size, raw[text:last], bool(is_pic), b"", None))
        at = last + 1 + _FLAGS.size
    elif kind == _BUILD_ID:
        _, length = _SIZES.unpack_from(raw, at)
        at += _SIZES.size
        objects[-1:] = [(*one[:4], raw[at : at + length], None) for one in objects[-1:]]
        at += length
    else:
        _, checksum = _SUM_OF.unpack_from(raw, at)
        text = at + _SUM_OF.size
        last = raw.index(b"\0", text)
        link = (raw[text:last], checksum)
        objects[-1:] = [(*one[:5], link) for one in objects[-1:]]
        at = last + 1
    found[vpid] = state._replace(objects=tuple(objects))
    return at
