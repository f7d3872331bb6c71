"""The event record classes of every recording; those of tracepoints follow them.

Their order is that of their IDs: new ones come last. There is no gap, since Babeltrace's
debug-info filter takes none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .terms import (
    ADDRESS,
    BYTE,
    CHARACTER,
    FLAG,
    I64,
    NAME_OF_THREAD,
    PLACE,
    TEXT,
    U32,
    U64,
    Layout,
    Member,
)

__all__ = ["EVENTS", "FUNCTION", "LINE", "Event", "layouts"]

FUNCTION, LINE = 12, 13
"""Log levels, see lttng-ust(3): LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION and _LINE."""


@dataclass(frozen=True)
class Event:
    """An event record class.

    Args:
        name: Provider and name.
        constant: Its name in C.
        level: Its log level.
        layout: Its fields.
        with_arguments: Further fields, where arguments of Python functions are recorded.
    """

    name: str
    constant: str
    level: int
    layout: Layout
    with_arguments: tuple[Member, ...] = ()
    about: str = field(default="", compare=False, repr=False, kw_only=True)


def _object(name: str, *more: Member) -> Layout:
    return Layout(
        name,
        (
            Member("baddr", ADDRESS),
            Member("memsz", U64),
            Member("path", TEXT),
            *more,
            Member("has_build_id", FLAG),
            Member("has_debug_link", FLAG),
        ),
    )


def _step(name: str, flag: str) -> Layout:
    """Of a generator or a coroutine: its function, which one it is, and how it goes on."""
    fields = (Member("addr", PLACE), Member("id", ADDRESS), Member(flag, FLAG))
    return Layout(name, fields)


ARGUMENTS = (Member("arguments", TEXT),)
RESULT = (Member("result", TEXT),)
NOTHING = Layout("nothing")
ADDR = Layout("addr", (Member("addr", PLACE),))
CALL = Layout("call", (Member("addr", PLACE), Member("call_site", PLACE)))
BASE = Layout("base", (Member("baddr", ADDRESS),))
PROCNAME = Layout("procname", (Member("procname", CHARACTER, NAME_OF_THREAD + 1),))
BIN_INFO = _object("bin_info", Member("is_pic", FLAG))
LOAD = _object("load")
BUILD_ID = Layout(
    "build_id",
    (Member("baddr", ADDRESS), Member("build_id", BYTE, has_length=True)),
)
DEBUG_LINK = Layout(
    "debug_link",
    (Member("baddr", ADDRESS), Member("crc", U32), Member("filename", TEXT)),
)
FILE = Layout(
    "file",
    (
        Member("baddr", ADDRESS),
        Member("sopath", TEXT),
        Member("size", I64),
        Member("mtime", I64),
    ),
)
CODE = Layout(
    "code",
    (
        Member("baddr", ADDRESS),
        Member("memsz", U64),
        Member("path", TEXT),
        Member("func", TEXT),
        Member("line", U32),
    ),
)
LIBRARY_FUNCTION = Layout(
    "library_function", (Member("addr", PLACE), Member("name", TEXT))
)
NOT_RECORDED = Layout("not_recorded", (Member("what", TEXT), Member("reason", TEXT)))

_FAST = "lttng_ust_cyg_profile_fast"
_VERBOSE = "lttng_ust_cyg_profile"
_DUMP = "lttng_ust_statedump"
_LIB = "lttng_ust_lib"

EVENTS = (
    Event(f"{_FAST}:func_entry", "FAST_ENTRY", FUNCTION, ADDR),
    Event(f"{_FAST}:func_exit", "FAST_EXIT", FUNCTION, NOTHING),
    Event(f"{_VERBOSE}:func_entry", "ENTRY", FUNCTION, CALL),
    Event(f"{_VERBOSE}:func_exit", "EXIT", FUNCTION, CALL),
    Event(f"{_DUMP}:start", "DUMP_START", LINE, NOTHING),
    Event(f"{_DUMP}:procname", "DUMP_PROCNAME", LINE, PROCNAME),
    Event(f"{_DUMP}:bin_info", "DUMP_BIN_INFO", LINE, BIN_INFO),
    Event(f"{_DUMP}:build_id", "DUMP_BUILD_ID", LINE, BUILD_ID),
    Event(f"{_DUMP}:debug_link", "DUMP_DEBUG_LINK", LINE, DEBUG_LINK),
    Event(f"{_DUMP}:end", "DUMP_END", LINE, NOTHING),
    Event(f"{_LIB}:load", "LIB_LOAD", LINE, LOAD),
    Event(f"{_LIB}:build_id", "LIB_BUILD_ID", LINE, BUILD_ID),
    Event(f"{_LIB}:debug_link", "LIB_DEBUG_LINK", LINE, DEBUG_LINK),
    Event(f"{_LIB}:unload", "LIB_UNLOAD", LINE, BASE),
    Event("ust_baddr:init", "BADDR_INIT", LINE, FILE),
    Event("ust_baddr:push", "BADDR_PUSH", LINE, FILE),
    Event("ust_baddr:pop", "BADDR_POP", LINE, BASE),
    Event(
        "vestige_python:code",
        "PYTHON_CODE",
        LINE,
        CODE,
        about="What vestige.instrument writes, from here on. This one tells what others mean.",
    ),
    Event("vestige_python:func_entry", "PYTHON_ENTRY", FUNCTION, ADDR, ARGUMENTS),
    Event("vestige_python:func_exit", "PYTHON_EXIT", FUNCTION, ADDR, RESULT),
    Event(
        "vestige_python:coroutine_entry",
        "PYTHON_COROUTINE_ENTRY",
        FUNCTION,
        _step("step_entry", "is_resumed"),
        ARGUMENTS,
    ),
    Event(
        "vestige_python:coroutine_exit",
        "PYTHON_COROUTINE_EXIT",
        FUNCTION,
        _step("step_exit", "is_suspended"),
        RESULT,
    ),
    Event("vestige_python:not_recorded", "PYTHON_NOT_RECORDED", LINE, NOT_RECORDED),
    Event(
        "vestige_library:function",
        "LIBRARY_FUNCTION",
        LINE,
        LIBRARY_FUNCTION,
        about="The tracer again: by which name a function of a library is called.",
    ),
)


def layouts() -> list[Layout]:
    """Return the layouts of all events, each once."""
    found = {event.layout.name: event.layout for event in EVENTS}
    return [one for one in found.values() if one.fields]
