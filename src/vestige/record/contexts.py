"""Contexts: what event records may tell of their thread and process.

Names and types are those of LTTng-UST, see lttng-add-context(1), but for addresses of
code, which have 48 bits. ``tracer/src/context.c`` has the same list.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CONTEXTS", "CONTEXT_CLASSES", "ContextClass"]

_CODE = "integer { size = 48; align = 8; signed = false; base = 16; }"
_ID = "integer { size = 32; align = 8; signed = true; }"
"""Of a process or a thread: Babeltrace finds places for no other size."""
_CHARACTER = "integer { size = 8; align = 8; signed = true; encoding = UTF8; }"
_CPU = "integer { size = 16; align = 8; signed = false; }"
_NUMBER = "integer { size = 64; align = 8; signed = false; }"
_OWNER = "integer { size = 32; align = 8; signed = false; }"


class ContextClass(NamedTuple):
    """A field that each event record has."""

    name: str
    """Without the underscore that it has in TSDL."""

    size: int
    """Bytes."""

    field: str
    """Its declaration in TSDL, CTF 1.8.3, section 7."""

    about: str
    """What it tells, for people."""


def _plain(name: str, size: int, kind: str, about: str) -> ContextClass:
    return ContextClass(name, size, f"{kind} _{name};", about)


def _namespace(name: str, of: str) -> ContextClass:
    return _plain(name, 8, _NUMBER, f"inode of the {of} namespace")


def _owner(name: str, of: str) -> ContextClass:
    return _plain(name, 4, _OWNER, f"{of}, as the process sees it")


CONTEXT_CLASSES = (
    _plain("ip", 6, _CODE, "address of the code that made the event"),
    _plain("vpid", 4, _ID, "process ID, as the process sees it"),
    _plain("vtid", 4, _ID, "thread ID, as the process sees it"),
    ContextClass("procname", 17, f"{_CHARACTER} _procname[17];", "name of the thread"),
    _plain("cpu_id", 2, _CPU, "number of the CPU"),
    _plain("pthread_id", 8, _NUMBER, "POSIX thread ID, of pthread_self(3)"),
    _namespace("cgroup_ns", "control group"),
    _namespace("ipc_ns", "interprocess communication"),
    _namespace("mnt_ns", "mount point"),
    _namespace("net_ns", "network"),
    _namespace("pid_ns", "process ID"),
    _namespace("time_ns", "time"),
    _namespace("user_ns", "user"),
    _namespace("uts_ns", "host name"),
    _owner("vuid", "real user ID"),
    _owner("vgid", "real group ID"),
    _owner("veuid", "effective user ID"),
    _owner("vegid", "effective group ID"),
    _owner("vsuid", "saved set-user-ID"),
    _owner("vsgid", "saved set-group-ID"),
)
"""In the order in which they are written."""

CONTEXTS = tuple(one.name for one in CONTEXT_CLASSES)
"""Their names."""
