"""The metadata of traces of LTTng-UST programs, in TSDL (CTF 1.8.3)."""

from __future__ import annotations

import os
import uuid as uuids
from collections.abc import Mapping, Sequence

from .clock import Clock
from .fields import quoted

__all__ = ["event_text", "state_stream_text", "stream_text", "trace_text"]


def _integer(size: int, clock: Clock | None = None) -> str:
    mapping = "" if clock is None else f" map = clock.{clock.name}.value;"
    return f"integer {{ size = {size}; align = 8; signed = 0;{mapping} }}"


def trace_text(uuid: bytes, domain: Mapping[str, str | int], clock: Clock) -> str:
    """Return what begins the metadata.

    Args:
        uuid: The trace.
        domain: What the environment says beyond host and tracer.
        clock: What times are read from.
    """
    environment = {
        "hostname": os.uname().nodename,
        "domain": "ust",
        "tracer_name": "lttng-ust",
        "tracer_major": 2,
        "tracer_minor": 13,
        **domain,
        "architecture_bit_width": 64,
    }
    lines = "".join(
        f"\t{name} = {value if isinstance(value, int) else quoted(value)};\n"
        for name, value in environment.items()
    )
    name = uuids.UUID(bytes=uuid)
    return (
        "/* CTF 1.8 */\n\n"
        f'trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "{name}";\n'
        "\tbyte_order = le;\n\tpacket.header := struct {\n"
        f"\t\t{_integer(32)} magic;\n\t\t{_integer(8)} uuid[16];\n"
        f"\t\t{_integer(32)} stream_id;\n\t\t{_integer(64)} stream_instance_id;\n"
        f"\t}};\n}};\n\nenv {{\n{lines}}};\n\n"
        f'clock {{\n\tname = "{clock.name}";\n\tuuid = "{clock.uuid}";\n'
        f"\tdescription = {quoted(clock.description)};\n"
        f"\tfreq = {clock.frequency};\n\toffset = {clock.offset()};\n}};\n\n"
    )


def stream_text(number: int, contexts: Sequence[str], clock: Clock) -> str:
    """Return the data stream class of a channel.

    Args:
        number: Its ID.
        contexts: The declarations of its contexts.
        clock: What times are read from.
    """
    context = ""
    if contexts:
        inside = "".join(f"\t\t{one}\n" for one in contexts)
        context = f"\tevent.context := struct {{\n{inside}\t}};\n"
    return (
        f"stream {{\n\tid = {number};\n\tevent.header := struct {{\n"
        f"\t\tenum : {_integer(16)} {{ compact = 0 ... 65534, extended = 65535 }} id;\n"
        "\t\tvariant <id> {\n"
        f"\t\t\tstruct {{ {_integer(32, clock)} timestamp; }} compact;\n"
        f"\t\t\tstruct {{ {_integer(32)} id; "
        f"{_integer(64, clock)} timestamp; }} extended;\n"
        f"\t\t}} v;\n\t}} align(8);\n{_packet_context(clock)}"
        f"\t\t{_integer(32)} cpu_id;\n\t}};\n{context}}};\n\n"
    )


def _packet_context(clock: Clock) -> str:
    """Return what begins the context of each packet."""
    return (
        "\tpacket.context := struct {\n"
        f"\t\t{_integer(64, clock)} timestamp_begin;\n"
        f"\t\t{_integer(64, clock)} timestamp_end;\n"
        f"\t\t{_integer(64)} content_size;\n\t\t{_integer(64)} packet_size;\n"
        f"\t\t{_integer(64)} packet_seq_num;\n\t\t{_integer(64)} events_discarded;\n"
    )


def state_stream_text(number: int, clock: Clock) -> str:
    """Return the data stream class of state dumps that the daemon writes.

    Args:
        number: Its ID.
        clock: What times are read from.
    """
    signed = "integer { size = 32; align = 8; signed = 1; }"
    return (
        f"stream {{\n\tid = {number};\n\tevent.header := struct {{\n"
        f"\t\t{_integer(8)} id;\n\t\t{_integer(64, clock)} timestamp;\n"
        f"\t}} align(8);\n{_packet_context(clock)}\t}};\n"
        f"\tevent.context := struct {{\n\t\t{_integer(64)} _ip;\n"
        f"\t\t{signed} _vpid;\n\t}};\n}};\n\n"
    )


def event_text(  # noqa: PLR0913 - all of an event
    name: str,
    number: int,
    stream: int,
    *,
    level: int,
    fields: Sequence[str],
    uri: str,
) -> str:
    """Return an event record class.

    Args:
        name: Its full name.
        number: Its ID.
        stream: The ID of its data stream class.
        level: Its log level.
        fields: The declarations of its fields.
        uri: Where it is described; empty for nowhere.
    """
    inside = "".join(f"\t\t{one}\n" for one in fields)
    where = f"\tmodel.emf.uri = {quoted(uri)};\n" if uri else ""
    return (
        f"event {{\n\tname = {quoted(name)};\n\tid = {number};\n"
        f"\tstream_id = {stream};\n\tloglevel = {level};\n{where}"
        f"\tfields := struct {{\n{inside}\t}};\n}};\n\n"
    )
