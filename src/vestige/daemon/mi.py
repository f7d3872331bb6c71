"""The machine interface: answers as XML, as ``lttng --mi xml`` prints them.

The documents are those of ``mi-lttng-4.1.xsd``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .places import shown_output
from .xml_tree import Element, element

__all__ = [
    "channel_element",
    "context_element",
    "document",
    "event_element",
    "program_element",
    "schedule_element",
    "schedules_element",
    "session_element",
    "trackers_element",
]

_SPACE = "https://lttng.org/xml/ns/lttng-mi"
_SCHEMA = "https://lttng.org/xml/schemas/lttng-mi/4/lttng-mi-4.1.xsd"
_BEGIN = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<command xmlns="{_SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    f'xsi:schemaLocation="{_SPACE} {_SCHEMA}" schemaVersion="4.1">'
)
NO_LIVE_TIMER = (1 << 32) - 1

Values = Mapping[str, Any]
"""What the daemon tells of something."""


def document(command: str, output: Element, *, is_success: bool | None) -> str:
    """Return the document of a command.

    Args:
        command: Its name.
        output: The element ``output``.
        is_success: What ``success`` says; ``None`` for none.
    """
    success = "" if is_success is None else element("success", is_success).line()
    name = element("name", command).line()
    return f"{_BEGIN}{name}{output.line()}{success}</command>"


def session_element(session: Values, *children: Element | None) -> Element:
    """Return a session.

    Args:
        session: What the daemon tells of it.
        children: What else is told.
    """
    return element(
        "session",
        element("name", session["name"]),
        element("path", shown_output(session) or ""),
        element("enabled", session["active"]),
        element("snapshot_mode", int(session["is_snapshot"])),
        element("live_timer_interval", session.get("live_timer", 0)),
        *children,
    )


def schedule_element(kind: str, value: int | None) -> Element:
    """Return a schedule of rotations.

    Args:
        kind: ``timer`` or ``size``.
        value: Microseconds, or bytes; ``None``: there is none.
    """
    place, unit = ("periodic", "time_us") if kind == "timer" else _BY_SIZE
    return element(place, None if value is None else element(unit, value))


_BY_SIZE = ("size_threshold", "bytes")


def schedules_element(session: Values) -> Element | None:
    """Return the schedules of a session, if it has some.

    Args:
        session: What the daemon tells of it.
    """
    found = [
        schedule_element(kind, session[f"rotation_{kind}"])
        for kind in ("timer", "size")
        if session[f"rotation_{kind}"]
    ]
    return element("rotation_schedules", *found) if found else None


def channel_element(
    channel: Values, *children: Element | None, live_timer: int = 0
) -> Element:
    """Return a channel with its attributes.

    Args:
        channel: What the daemon tells of it.
        children: What else is told.
        live_timer: What the live timer is given as.
    """
    attributes = channel["attributes"]
    return element(
        "channel",
        element("name", channel["name"]),
        element("enabled", channel["enabled"]),
        element(
            "attributes",
            element(
                "overwrite_mode", "OVERWRITE" if attributes["overwrite"] else "DISCARD"
            ),
            element("subbuffer_size", attributes["subbuf_size"]),
            element("subbuffer_count", attributes["num_subbuf"]),
            element("switch_timer_interval", attributes["switch_timer"]),
            element("read_timer_interval", attributes["read_timer"]),
            element("monitor_timer_interval", attributes["monitor_timer"]),
            element("blocking_timeout", attributes["blocking_timeout"]),
            element("output_type", attributes["output"].upper()),
            element("tracefile_size", attributes["tracefile_size"]),
            element("tracefile_count", attributes["tracefile_count"]),
            element("live_timer_interval", live_timer),
            element("discarded_events", channel["discarded_events"]),
            element("lost_packets", channel["lost_packets"]),
        ),
        *children,
    )


def event_element(
    rule: Values,
    level_name: str,
    *children: Element | None,
    is_domain_of_levels: bool = True,
) -> Element:
    """Return a recording event rule, or a tracepoint.

    Args:
        rule: What the daemon tells of it.
        level_name: Its log level; empty for none.
        children: What else is told.
        is_domain_of_levels: Whether its level is told.
    """
    exclusions = rule.get("exclusions") or []
    return element(
        "event",
        element("name", rule["name"]),
        element("type", "TRACEPOINT"),
        element("enabled", rule.get("enabled", True)),
        None
        if rule.get("filter") is None
        else element("filter_expression", rule["filter"]),
        *(
            (
                element("loglevel", level_name),
                element("loglevel_type", rule.get("level_type", "ALL")),
            )
            if is_domain_of_levels
            else ()
        ),
        element("exclusions", *(element("exclusion", one) for one in exclusions)),
        *children,
    )


def context_element(kind: str, symbol: str, *children: Element | None) -> Element:
    """Return a context of a plain type.

    Args:
        kind: Its type.
        symbol: Its name on the command line.
        children: What else is told.
    """
    return element(
        "context", element("type", kind), element("symbol", symbol), *children
    )


def trackers_element(trackers: Mapping[str, list[str] | None]) -> Element:
    """Return inclusion sets, without those that are full.

    Args:
        trackers: Their values.
    """
    return element(
        "process_attr_trackers",
        *(
            tracker_element(attribute, [(one, None) for one in values])
            for attribute, values in trackers.items()
            if values is not None
        ),
    )


def tracker_element(
    attribute: str, values: Iterable[tuple[str | None, bool | None]]
) -> Element:
    """Return an inclusion set.

    Args:
        attribute: Which.
        values: Numbers and names, ``None`` for all; whether each was done.
    """
    return element(
        f"{attribute}_process_attr_tracker",
        element(
            "process_attr_values",
            *(
                element(
                    attribute,
                    element("type", _tracked(value)),
                    None if is_done is None else element("success", is_done),
                )
                for value, is_done in values
            ),
        ),
    )


def _tracked(value: str | None) -> Element:
    if value is None:
        return element("all", "true")
    return element("id" if value.isdecimal() else "name", value)


def program_element(pid: int, name: str, events: Iterable[Element]) -> Element:
    """Return a program with its tracepoints.

    Args:
        pid: Its process ID.
        name: Its name.
        events: Its tracepoints.
    """
    return element(
        "pid",
        element("id", pid),
        element("name", name),
        element("events", *events),
    )
