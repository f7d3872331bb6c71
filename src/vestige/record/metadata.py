"""The metadata of recordings, in TSDL (CTF 1.8.3): the same classes in each.

``tracer/src/packet.h`` has the layout of the same records in C.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping

from .._version import __version__
from .clock import ClockRate
from .contexts import context_classes
from .options import RecordingOptions

__all__ = ["event_names", "metadata_text", "tracepoint_classes"]

_ADDRESS = "integer { size = 64; align = 8; signed = false; base = 16; }"
_CODE = "integer { size = 48; align = 8; signed = false; base = 16; }"
"""A place in a program: addresses of user space have no more bits."""
_NUMBER = "integer { size = 64; align = 8; signed = false; }"
_SIGNED = "integer { size = 64; align = 8; signed = true; }"
_FLAG = "integer { size = 8; align = 8; signed = false; }"
_CHARACTER = "integer { size = 8; align = 8; signed = true; encoding = UTF8; }"
_BYTE = "integer { size = 8; align = 8; signed = false; base = 16; }"

_DEBUG_FUNCTION = 12
_DEBUG_LINE = 13

_ADDR = f"{_CODE} _addr;"
_CALL = f"{_ADDR} {_CODE} _call_site;"
_BUILD_ID = (
    f"{_ADDRESS} _baddr; {_NUMBER} __build_id_length; "
    f"{_BYTE} _build_id[__build_id_length];"
)
_DEBUG_LINK = (
    f"{_ADDRESS} _baddr; integer {{ size = 32; align = 8; signed = false; }} _crc; "
    "string _filename;"
)
_OBJECT = f"{_ADDRESS} _baddr; {_NUMBER} _memsz; string _path;"
_HAS = f"{_FLAG} _has_build_id; {_FLAG} _has_debug_link;"

_FILE = f"{_ADDRESS} _baddr; string _sopath; {_SIGNED} _size; {_SIGNED} _mtime;"

_PYTHON_CODE = (
    f"{_ADDRESS} _baddr; {_NUMBER} _memsz; string _path; string _func; "
    "integer { size = 32; align = 8; signed = false; } _line;"
)

_STEP = f"{_ADDR} {_ADDRESS} _id; {_FLAG}"
"""Of a generator or a coroutine: its function, which one it is, and how it goes on."""

_EVENTS: tuple[tuple[str, int, str], ...] = (
    ("lttng_ust_cyg_profile_fast:func_entry", _DEBUG_FUNCTION, _ADDR),
    ("lttng_ust_cyg_profile_fast:func_exit", _DEBUG_FUNCTION, ""),
    ("lttng_ust_cyg_profile:func_entry", _DEBUG_FUNCTION, _CALL),
    ("lttng_ust_cyg_profile:func_exit", _DEBUG_FUNCTION, _CALL),
    ("lttng_ust_statedump:start", _DEBUG_LINE, ""),
    ("lttng_ust_statedump:procname", _DEBUG_LINE, f"{_CHARACTER} _procname[17];"),
    ("lttng_ust_statedump:bin_info", _DEBUG_LINE, f"{_OBJECT} {_FLAG} _is_pic; {_HAS}"),
    ("lttng_ust_statedump:build_id", _DEBUG_LINE, _BUILD_ID),
    ("lttng_ust_statedump:debug_link", _DEBUG_LINE, _DEBUG_LINK),
    ("lttng_ust_statedump:end", _DEBUG_LINE, ""),
    ("lttng_ust_lib:load", _DEBUG_LINE, f"{_OBJECT} {_HAS}"),
    ("lttng_ust_lib:build_id", _DEBUG_LINE, _BUILD_ID),
    ("lttng_ust_lib:debug_link", _DEBUG_LINE, _DEBUG_LINK),
    ("lttng_ust_lib:unload", _DEBUG_LINE, f"{_ADDRESS} _baddr;"),
    ("vestige:abandoned", _DEBUG_LINE, ""),
    ("vestige:abandoned_place", _DEBUG_LINE, f"{_BYTE} _bytes[6];"),
    ("ust_baddr:init", _DEBUG_LINE, _FILE),
    ("ust_baddr:push", _DEBUG_LINE, _FILE),
    ("ust_baddr:pop", _DEBUG_LINE, f"{_ADDRESS} _baddr;"),
    ("vestige:abandoned_places", _DEBUG_LINE, f"{_BYTE} _bytes[12];"),
    ("vestige_python:code", _DEBUG_LINE, _PYTHON_CODE),
    ("vestige_python:func_entry", _DEBUG_FUNCTION, _ADDR),
    ("vestige_python:func_exit", _DEBUG_FUNCTION, _ADDR),
    ("vestige_python:coroutine_entry", _DEBUG_FUNCTION, f"{_STEP} _is_resumed;"),
    ("vestige_python:coroutine_exit", _DEBUG_FUNCTION, f"{_STEP} _is_suspended;"),
    ("vestige_python:not_recorded", _DEBUG_LINE, "string _what; string _reason;"),
)
"""Name, log level and fields, in the order of the IDs that the tracer writes."""

_WITH_ARGUMENTS = {
    "vestige_python:func_entry": "string _arguments;",
    "vestige_python:func_exit": "string _result;",
    "vestige_python:coroutine_entry": "string _arguments;",
    "vestige_python:coroutine_exit": "string _result;",
}
"""Further fields of events, where arguments of Python functions are recorded."""

_HEAD = """\
/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {byte_order};
	packet.header := struct {{
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
{environment}}};

clock {{
	name = "{clock}";
	description = "{description}";
	freq = {frequency:<20};
	offset = {offset:<20};
}};

typealias integer {{
	size = 24; align = 1; signed = false; map = clock.{clock}.value;
}} := uint24_time_t;
typealias integer {{
	size = 64; align = 8; signed = false; map = clock.{clock}.value;
}} := uint64_time_t;

stream {{
	id = 0;
	packet.context := struct {{
		uint64_time_t timestamp_begin;
		uint64_time_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t vpid;
		uint32_t vtid;
		{character} procname[16];
	}};
	event.header := struct {{
		enum : integer {{ size = 8; align = 1; signed = false; }} {{
			compact = 0 ... 254, extended = 255
		}} id;
		variant <id> {{
			struct {{ uint24_time_t timestamp; }} compact;
			struct {{ uint32_t id; uint64_time_t timestamp; }} extended;
		}} v;
	}} align(8);
{contexts}}};
"""

_EVENT = """
event {{
	name = "{name}";
	id = {id};
	stream_id = 0;
	loglevel = {level};
	fields := struct {{ {fields} }};
}};
"""

_TRACEPOINT = re.compile(
    r'^\tname = "([^"\n]+)";\n\tstream_id = 0;\n\tloglevel = (-?\d+);', re.MULTILINE
)


def metadata_text(  # noqa: PLR0913 - facts of a recording, by name
    uuid: str,
    rate: ClockRate,
    options: RecordingOptions,
    name: str,
    *,
    is_counter: bool,
    call_cost: int | None = None,
    created: float | None = None,
) -> str:
    """Write the metadata of a recording.

    Args:
        uuid: The UUID of the trace, which is in each packet.
        rate: How clock values become times.
        options: What the recording holds.
        name: The name of the recording.
        is_counter: Whether the clock is the time-stamp counter.
        call_cost: What a call costs that is recorded, nanoseconds, if it is known.
        created: When the recording began, in seconds since 1970; ``None`` is now.

    Returns:
        The text.
    """
    chosen = [one.field for one in context_classes(options.contexts)]
    contexts = f"\tevent.context := struct {{ {' '.join(chosen)} }};\n"
    head = _HEAD.format(
        uuid=uuid,
        byte_order="le" if sys.byteorder == "little" else "be",
        environment="".join(_lines(_environment(name, created)))
        + _cost_line(call_cost),
        clock="counter" if is_counter else "monotonic",
        description="time-stamp counter" if is_counter else "CLOCK_MONOTONIC",
        frequency=rate.frequency,
        offset=rate.offset,
        character=_CHARACTER,
        contexts=contexts if chosen else "",
    )
    events = [
        _EVENT.format(name=event, id=number, level=level, fields=fields)
        for number, (event, level, fields) in enumerate(_events(options))
    ]
    return head + "".join(events)


def _events(options: RecordingOptions) -> Iterable[tuple[str, int, str]]:
    more = _WITH_ARGUMENTS if options.python_arguments else {}
    for name, level, fields in _EVENTS:
        yield name, level, f"{fields} {more[name]}" if name in more else fields


def event_names() -> list[str]:
    """Return the names of all event classes.

    Returns:
        The names, in the order of the IDs.
    """
    return [name for name, _, _ in _EVENTS]


def tracepoint_classes(text: str) -> list[tuple[str, int]]:
    """Find the event record classes that processes have added.

    Args:
        text: The metadata of a recording; ``tracer/src/event_class.c`` writes these
            classes, their names before their IDs' stream.

    Returns:
        Name and log level of each.
    """
    return [(found[1], int(found[2])) for found in _TRACEPOINT.finditer(text)]


def _environment(name: str, created: float | None) -> Mapping[str, str | int]:
    major, minor, patch = (int(part) for part in __version__.split(".")[:3])
    return {
        "hostname": os.uname().nodename,
        "domain": "ust",
        "tracer_name": "vestige",
        "tracer_major": major,
        "tracer_minor": minor,
        "tracer_patchlevel": patch,
        "architecture_bit_width": 64,
        "trace_name": name,
        "trace_creation_datetime": time.strftime(
            "%Y%m%dT%H%M%S%z", time.localtime(created)
        ),
        "sysname": os.uname().sysname,
    }


def _cost_line(call_cost: int | None) -> str:
    """Return a line that is as long with the number as without it."""
    line = f"\ttracer_call_cost_ns = {call_cost or 0:<8};\n"
    return " " * (len(line) - 1) + "\n" if call_cost is None else line


def _lines(values: Mapping[str, str | int]) -> Iterable[str]:
    for name, value in values.items():
        if isinstance(value, int):
            yield f"\t{name} = {value};\n"
        else:
            yield f'\t{name} = "{"".join(map(_escaped, value))}";\n'


def _escaped(character: str) -> str:
    if character < " ":
        return f"\\{ord(character):03o}"
    return f"\\{character}" if character in '\\"' else character
