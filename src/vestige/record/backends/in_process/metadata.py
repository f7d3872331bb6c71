"""The metadata of recordings, in TSDL (CTF 1.8.3): the same classes in each."""

from __future__ import annotations

import os
import sys
import time

from ...._typing import TYPE_CHECKING
from ...._version import __version__
from ..._agreement import (
    EVENTS,
    FIELDS_WITH_ARGUMENTS,
    HEADER_CLASS_BITS,
    HEADER_EXTENDED,
    HEADER_TIME_BITS,
    PACKET_CONTEXT,
    PACKET_CONTEXT_OF_CPUS,
    PACKET_HEADER,
    STREAM_CLASS,
    STREAM_CLASS_OF_CPUS,
)
from ...rules.contexts import context_classes
from ...rules.options import RecordingOptions
from ..environment_text import environment_lines
from .clock import ClockRate, RecordingClock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "DAMAGED_LINE",
    "UNDAMAGED_LINE",
    "boot_id",
    "clock_names",
    "event_names",
    "metadata_head",
    "metadata_rest",
]

DAMAGED_LINE = "\ttracer_memory_damaged = 1;\n"
"""That programs have damaged the memory of the recording: events may be missing."""
UNDAMAGED_LINE = " " * (len(DAMAGED_LINE) - 1) + "\n"
"""Room for that line."""

_HEAD = """\
/* CTF 1.8 */

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {byte_order};
	packet.header := struct {{
{header}	}};
}};

env {{
{environment}}};

clock {{
	name = "{clock}";
{boot}	description = "{description}";
	freq = {frequency:<20};
	offset = {offset:<20};
	absolute = true;
}};
"""

_STREAM = """\

stream {{
	id = {stream};
	packet.context := struct {{
{context}	}};
	event.header := struct {{
		enum : integer {{ size = {class_bits}; align = 1; signed = false; }} {{
			compact = 0 ... {last_compact}, extended = {extended}
		}} id;
		variant <id> {{
			struct {{
				integer {{ size = {time_bits}; align = 1; {time} }} timestamp;
			}} compact;
			struct {{
				integer {{ size = 32; align = 8; signed = false; }} id;
				integer {{ size = 64; align = 8; {time} }} timestamp;
			}} extended;
		}} v;
	}} align(8);
{contexts}}};
"""

_EVENT = """
event {{
	name = "{name}";
	id = {id};
	stream_id = {stream};
	loglevel = {level};
	fields := struct {{ {fields} }};
}};
"""


def metadata_head(  # noqa: PLR0913 - facts of a recording, by name
    uuid: str,
    rate: ClockRate,
    options: RecordingOptions,
    name: str,
    *,
    is_counter: bool,
    call_cost: int | None = None,
    created: float | None = None,
    host: str | None = None,
    is_damaged: bool = False,
) -> str:
    """Write what the metadata begins with: all that a recording learns as it goes on.

    Args:
        uuid: The UUID of the trace, which is in each packet.
        rate: How clock values become times.
        options: What the recording holds.
        name: The name of the recording.
        is_counter: Whether the clock is the time-stamp counter.
        call_cost: What a call costs that is recorded, nanoseconds, if it is known.
        created: When the recording began, in seconds since 1970; ``None`` is now.
        host: The name of the machine then; ``None`` is its name now.
        is_damaged: Whether programs have damaged its memory.

    Returns:
        The beginning of the text, always of the same length.
    """
    return _HEAD.format(
        uuid=uuid,
        byte_order="le" if sys.byteorder == "little" else "be",
        environment="".join(
            environment_lines(_environment(name, created, host, options))
        )
        + _cost_line(call_cost)
        + (DAMAGED_LINE if is_damaged else UNDAMAGED_LINE),
        clock=_clock_name(is_counter=is_counter),
        # The kernel's trace has the same, and readers compare all of it.
        # So has the monotonic clock of LTTng, with which it is compared, too.
        boot=(
            f'\tuuid = "{boot_id()}";\n'
            if options.is_kernel_recorded or not is_counter
            else ""
        ),
        description=_description(is_counter=is_counter),
        frequency=rate.frequency,
        offset=rate.offset,
        header="".join(f"\t\t{one}\n" for one in PACKET_HEADER),
    )


def metadata_rest(
    options: RecordingOptions, *, is_counter: bool, has_cpu_rings: bool = False
) -> str:
    """Write what comes after the beginning: the classes that each recording has.

    Args:
        options: What the recording holds.
        is_counter: Whether the clock is the time-stamp counter.
        has_cpu_rings: Whether the threads on a CPU share a data stream.

    Returns:
        The rest of the text.
    """
    clock = _clock_name(is_counter=is_counter)
    parts = [*_stream(STREAM_CLASS, PACKET_CONTEXT, clock, options)]
    if has_cpu_rings:
        parts += _stream(STREAM_CLASS_OF_CPUS, PACKET_CONTEXT_OF_CPUS, clock, options)
    return "".join(parts)


def _clock_name(*, is_counter: bool) -> str:
    return "counter" if is_counter else "monotonic"


def _description(*, is_counter: bool) -> str:
    return "time-stamp counter" if is_counter else "CLOCK_MONOTONIC"


def clock_names(clock: RecordingClock) -> tuple[str, str]:
    """Return the name of a recording's clock in metadata, and its description.

    Args:
        clock: The clock.
    """
    is_counter = clock.is_counter
    return _clock_name(is_counter=is_counter), _description(is_counter=is_counter)


def boot_id() -> str:
    """Return the UUID of this boot of the machine, see random(4)."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _stream(
    stream: int, packet_context: Iterable[str], clock: str, options: RecordingOptions
) -> Iterable[str]:
    """Yield a stream class, and the event classes that each recording has."""
    chosen = [one.field for one in context_classes(options.contexts)]
    contexts = f"\tevent.context := struct {{ {' '.join(chosen)} }};\n"
    yield _STREAM.format(
        context="".join(
            f"\t\t{one.replace('{clock}', clock)}\n" for one in packet_context
        ),
        stream=stream,
        class_bits=HEADER_CLASS_BITS,
        last_compact=HEADER_EXTENDED - 1,
        extended=HEADER_EXTENDED,
        time_bits=HEADER_TIME_BITS,
        time=f"signed = false; map = clock.{clock}.value;",
        contexts=contexts if chosen else "",
    )
    for number, (event, level, fields) in enumerate(_events(options)):
        yield _EVENT.format(
            name=event, id=number, stream=stream, level=level, fields=fields
        )


def _events(options: RecordingOptions) -> Iterable[tuple[str, int, str]]:
    more = FIELDS_WITH_ARGUMENTS if options.python_arguments else {}
    for name, level, _, fields in EVENTS:
        yield name, level, f"{fields} {more[name]}" if name in more else fields


def event_names() -> list[str]:
    """Return the names of all event classes.

    Returns:
        The names, in the order of the IDs.
    """
    return [name for name, _, _, _ in EVENTS]


def _environment(
    name: str, created: float | None, host: str | None, options: RecordingOptions
) -> Mapping[str, str | int]:
    major, minor, patch = (int(part) for part in __version__.split(".")[:3])
    return {
        "hostname": os.uname().nodename if host is None else host,
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
        **({} if options.patch is None else {"tracer_patches_functions": 1}),
    }


def _cost_line(call_cost: int | None) -> str:
    """Return a line that is as long with the number as without it."""
    line = f"\ttracer_call_cost_ns = {call_cost or 0:<8};\n"
    return " " * (len(line) - 1) + "\n" if call_cost is None else line
