"""The messages between programs of LTTng-UST and a session daemon, ABI 9, x86-64."""

from __future__ import annotations

import os
import socket
import struct

from ...._typing import NamedTuple

__all__ = ["Registration", "process_number", "read_registration", "text"]

MAGIC = 0xC57C57C5
MAJOR = 9
REGISTRATION = struct.Struct("=14I16s64x")
MESSAGE = struct.Struct("=II32x572s")
REPLY = struct.Struct("=IIiI32x276s")
COMMAND_SOCKET, NOTIFY_SOCKET = 0, 1

RELEASE = 0x01
SESSION, TRACER_VERSION, TRACEPOINT_LIST, REGISTER_DONE = 0x40, 0x41, 0x42, 0x44
TRACEPOINT_FIELD_LIST, EVENT_NOTIFIER_GROUP = 0x45, 0x46
CHANNEL, START, STOP, STATEDUMP = 0x51, 0x52, 0x53, 0x54
STREAM, EVENT = 0x60, 0x61
CONTEXT, FLUSH_BUFFER = 0x70, 0x71
ENABLE, DISABLE = 0x80, 0x81
TRACEPOINT_LIST_GET, FIELD_LIST_GET = 0x90, 0x91
FILTER, EXCLUSION = 0xA0, 0xA1
EVENT_NOTIFIER, CAPTURE = 0xB0, 0xB6
COUNTER, COUNTER_CPU = 0xC0, 0xD1

SO_PEERPIDFD = 77
PIDFD = struct.Struct("=i")
NAME_SIZE = 256
EVENT_BODY = struct.Struct("=i256siiQ")
CHANNEL_BODY = struct.Struct("=Qi")
STREAM_BODY = struct.Struct("=QI")
FILTER_BODY = struct.Struct("=IIQ")
COUNTER_BODY = struct.Struct("=i16xIQ256s")
APP_CONTEXT_BODY = struct.Struct("=i16xII")
NOTIFIER_BODY = struct.Struct("=i256siiQ296xQ32x")
"""A rule as that of a channel, with the counter of what could not be told."""
CAPTURE_BODY = struct.Struct("=IIQ")
SIZE_BODY = struct.Struct("=Q")
COUNTER_SIZES = struct.Struct("=III8xQ171x")
"""Of counters: arithmetic, bits, dimensions, size of the first dimension."""
COUNTER_CPU_BODY = struct.Struct("=QI")
NOTIFICATION = struct.Struct("=QH32x")
"""A match: the token of the rule, and how many bytes of captures follow."""
TRACEPOINT = struct.Struct("=256si")
FIELD = struct.Struct("=256s256siii")
LEVEL_TYPES = {"ALL": 0, "RANGE": 1, "SINGLE": 2}
FIELD_TYPES = ("other", "integer", "enum", "float", "string")
CONTEXTS = {
    "VTID": 0,
    "VPID": 1,
    "PTHREAD_ID": 2,
    "PROCNAME": 3,
    "IP": 4,
    "PERF": 5,
    "APP": 7,
    "CGROUP_NS": 8,
    "IPC_NS": 9,
    "MNT_NS": 10,
    "NET_NS": 11,
    "PID_NS": 12,
    "USER_NS": 13,
    "UTS_NS": 14,
    "VUID": 15,
    "VEUID": 16,
    "VSUID": 17,
    "VGID": 18,
    "VEGID": 19,
    "VSGID": 20,
    "TIME_NS": 21,
}

NOTIFY_HEAD = struct.Struct("=I")
EVENT_NOTICE = struct.Struct("=II256siIII32x")
EVENT_ANSWER = struct.Struct("=IiI32x")
CHANNEL_NOTICE = struct.Struct("=III32x")
CHANNEL_ANSWER = struct.Struct("=IiII32x")
ENUM_NOTICE = struct.Struct("=I256sI32x")
ENUM_ANSWER = struct.Struct("=IiQ32x")
NOTICE_EVENT, NOTICE_CHANNEL, NOTICE_ENUM = 0, 1, 2
LARGE_HEADER = 2
"""The header of event records with 16 bits for the class, and 32 for the time."""


class Registration(NamedTuple):
    """What a program says of itself; who it is, the kernel knows better."""

    major: int
    pid: int
    uid: int
    gid: int
    bits: int
    kind: int
    """Which of its sockets this is."""

    name: str


def process_number(connection: socket.socket) -> int:
    """Return what tells the process that connected from all others; 0 if unknown.

    Args:
        connection: Its socket.
    """
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, PIDFD.size)
        (file,) = PIDFD.unpack(raw)
    except (OSError, struct.error):
        return 0
    try:
        # Since Linux 6.9 each process has a node of its own; before, all share one.
        number = os.fstat(file).st_ino
        own = os.pidfd_open(os.getpid())
        try:
            return 0 if os.fstat(own).st_ino == number else number
        finally:
            os.close(own)
    finally:
        os.close(file)


def text(raw: bytes) -> str:
    """Return a text that ends with a zero.

    Args:
        raw: Its bytes, and any after them.
    """
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def read_registration(raw: bytes) -> Registration:
    """Return what a program says when it connects.

    Args:
        raw: The message.

    Raises:
        ValueError: It is none of this ABI, or of this byte order.
    """
    magic, major, _, pid, _, uid, gid, bits, *_, kind, name = REGISTRATION.unpack(raw)
    if magic != MAGIC or major != MAJOR or kind not in {COMMAND_SOCKET, NOTIFY_SOCKET}:
        raise ValueError(f"expected a program of LTTng-UST with ABI {MAJOR}")
    return Registration(major, pid, uid, gid, bits, kind, text(name))
