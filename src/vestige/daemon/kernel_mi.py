"""The machine interface of the kernel's domain: its rules and what can be recorded."""

from __future__ import annotations

import os

from .mi import Values
from .saved_rules import place_element
from .xml_tree import Element, element

__all__ = ["kernel_event_element"]


def kernel_event_element(rule: Values, *children: Element | None) -> Element:
    """Return a recording event rule of the kernel, or something that can be recorded.

    Args:
        rule: What the daemon tells of it: its ``name`` and ``type``.
        children: What else is told.
    """
    filtered = rule.get("filter")
    place = rule.get("location")
    # LTTng shows the level of 0 with all tracepoints of the kernel.
    level = (
        element("loglevel", "TRACE_EMERG"),
        element("loglevel_type", "ALL"),
        element("exclusions"),
    )
    return element(
        "event",
        element("name", rule["name"]),
        element("type", rule["type"]),
        element("enabled", rule.get("enabled", True)),
        None if filtered is None else element("filter_expression", filtered),
        *(level if rule["type"] == "TRACEPOINT" else ()),
        None if place is None else element("attributes", _place(place)),
        *children,
    )


def _place(place: Values) -> Element:
    if "path" in place:
        # What a link leads to is shown, and the link is saved.
        return place_element({**place, "path": os.path.realpath(place["path"])})
    if place["type"] != "symbol":
        return place_element(place)
    return element(
        "probe_attributes",
        element("offset", place["offset"]),
        element("symbol_name", place["name"]),
    )
