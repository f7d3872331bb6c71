"""The metadata of the kernel's trace, in TSDL (CTF 1.8.3) and LTTng's layout.

Readers of LTTng's kernel traces choose by ``tracer_name`` and its version what fields
they expect, so these say which layout it is; who wrote it is in other entries.
"""

from __future__ import annotations

import os
import time

from ...._typing import TYPE_CHECKING, NamedTuple
from ...._version import __version__
from ..environment_text import environment_lines
from .event_classes import CONTEXT
from .kernel_names import kernel_identity

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "FEW",
    "LAYOUT",
    "ClockFacts",
    "DeclaredClass",
    "StreamText",
    "classes_text",
    "metadata_text",
]

FEW = 31
"""Classes up to which headers of records are compact."""
LAYOUT = (2, 13, 0)
"""The version of LTTng whose layout it is."""

_HEAD = """\
/* CTF 1.8 */

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = le;
	packet.header := struct {{
		integer {{ size = 32; align = 8; signed = 0; base = 16; }} magic;
		integer {{ size = 8; align = 8; signed = 0; }} uuid[16];
		integer {{ size = 32; align = 8; signed = 0; }} stream_id;
		integer {{ size = 64; align = 8; signed = 0; }} stream_instance_id;
	}};
}};

env {{
{environment}}};

clock {{
	name = "{clock}";
	uuid = "{boot}";
	description = "{description}";
	freq = {frequency:<20};
	offset = {offset:<20};
	absolute = true;
}};
"""

_STREAM = """
stream {{
	id = {stream};
	packet.context := struct {{
		{stamp} timestamp_begin;
		{stamp} timestamp_end;
		integer {{ size = 64; align = 8; signed = 0; }} content_size;
		integer {{ size = 64; align = 8; signed = 0; }} packet_size;
		integer {{ size = 64; align = 8; signed = 0; }} packet_seq_num;
		integer {{ size = 64; align = 8; signed = 0; }} events_discarded;
		integer {{ size = 32; align = 8; signed = 0; }} cpu_id;
	}};
	event.header := struct {{
		enum : integer {{ size = {id_bits}; align = {align}; signed = 0; }} {{
			compact = 0 ... {last}, extended = {extended}
		}} id;
		variant <id> {{
			struct {{
				integer {{ size = {time_bits}; align = {align}; {map} }} timestamp;
			}} compact;
			struct {{
				integer {{ size = 32; align = 8; signed = 0; }} id;
				{stamp} timestamp;
			}} extended;
		}} v;
	}} align(8);
	event.context := struct {{ {context} }};
}};
"""

_EVENT = """
event {{
	name = "{name}";
	id = {id};
	stream_id = {stream};
	fields := struct {{ {fields} }};
}};
"""


class ClockFacts(NamedTuple):
    """The clock that both domains of a recording share."""

    name: str
    description: str
    boot: str
    """The UUID of this boot, which is that of the clock."""

    frequency: int
    """Values in a second."""

    offset: int
    """What is added to each value for that since the Unix epoch."""

    begin: int = 0
    """Its value when the recording began."""

    is_counter: bool = False
    """Whether it is the time-stamp counter; else it is ``CLOCK_MONOTONIC``."""


class DeclaredClass(NamedTuple):
    """An event as the metadata have it."""

    id: int
    """Unique in its stream class."""

    name: str
    fields: str
    """In TSDL."""


class StreamText(NamedTuple):
    """A channel as the metadata have it."""

    id: int
    is_compact: bool
    """Whether there are never more than :data:`FEW` classes of events."""

    classes: Iterable[DeclaredClass]
    context: str = CONTEXT
    """The fields that each event record has besides, in TSDL."""


def metadata_text(
    uuid: str,
    name: str,
    clock: ClockFacts,
    streams: Iterable[StreamText],
    *,
    is_followed: bool = False,
) -> str:
    """Write the metadata.

    Args:
        uuid: The UUID of the trace.
        name: The name of the recording.
        clock: Its clock.
        streams: Its channels.
        is_followed: Whether events of a program and what it starts are all that there
            are.

    Returns:
        The text.
    """
    environment = _environment(name)
    if is_followed:
        environment["kernel_of"] = "program"
    head = _HEAD.format(
        uuid=uuid,
        environment="".join(environment_lines(environment)),
        clock=clock.name,
        boot=clock.boot,
        description=clock.description,
        frequency=clock.frequency,
        offset=clock.offset,
    )
    texts = [_stream(one, clock) + classes_text(one.id, one.classes) for one in streams]
    return head + "".join(texts)


def classes_text(stream: int, classes: Iterable[DeclaredClass]) -> str:
    """Write what metadata say of events.

    Args:
        stream: The stream class.
        classes: The events.
    """
    return "".join(
        _EVENT.format(name=one.name, id=one.id, stream=stream, fields=one.fields)
        for one in classes
    )


def _stream(stream: StreamText, clock: ClockFacts) -> str:
    mapped = f"signed = 0; map = clock.{clock.name}.value;"
    is_compact = stream.is_compact
    return _STREAM.format(
        stream=stream.id,
        stamp=f"integer {{ size = 64; align = 8; {mapped} }}",
        id_bits=5 if is_compact else 16,
        align=1 if is_compact else 8,
        last=30 if is_compact else 65534,
        extended=31 if is_compact else 65535,
        time_bits=27 if is_compact else 32,
        map=mapped,
        context=stream.context,
    )


def _environment(name: str) -> dict[str, str | int]:
    system = os.uname()
    return {
        "hostname": system.nodename,
        "domain": "kernel",
        "sysname": system.sysname,
        "kernel_release": system.release,
        "kernel_version": system.version,
        **kernel_identity(),
        "tracer_name": "lttng-modules",
        "tracer_major": LAYOUT[0],
        "tracer_minor": LAYOUT[1],
        "tracer_patchlevel": LAYOUT[2],
        "kernel_source": "tracefs",
        "vestige_version": __version__,
        "trace_name": name,
        "trace_creation_datetime": time.strftime("%Y%m%dT%H%M%S%z"),
    }
