"""Recording event rules in session configurations (``session.xsd`` of LTTng 2.13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import RULE_TYPES, EventRule
from .xml_tree import Element, element

__all__ = ["place_element", "read_rule", "write_rule"]

_IN_PROGRAMS = {
    "function": ("ELF", {"function": "function_name"}),
    "tracepoint": ("SDT", {"provider": "provider_name", "probe": "probe_name"}),
}
"""By types of places in programs: how they are looked up, and their members besides
the path with the elements that hold them."""


def write_rule(rule: EventRule) -> Element:
    """Return a rule as an element.

    Args:
        rule: The rule.
    """
    exclusions = [element("exclusion", one) for one in rule.exclusions]
    place = rule.location
    return element(
        "event",
        element("name", rule.name),
        element("enabled", rule.enabled),
        element("type", rule.type),
        element("loglevel_type", rule.level_type),
        element("loglevel", rule.level) if rule.level_type != "ALL" else None,
        None if rule.filter is None else element("filter", rule.filter),
        element("exclusions", *exclusions) if exclusions else None,
        None if place is None else element("attributes", place_element(place)),
    )


def place_element(place: Mapping[str, Any]) -> Element:
    """Return where a probe is as an element.

    Args:
        place: The place.
    """
    if place["type"] == "address":
        return element("probe_attributes", element("address", place["address"]))
    if place["type"] == "symbol":
        offset = place["offset"]
        return element(
            "probe_attributes",
            element("symbol_name", place["name"]),
            element("offset", offset) if offset else None,
        )
    lookup, members = _IN_PROGRAMS[place["type"]]
    return element(
        f"userspace_probe_{place['type']}_attributes",
        element("lookup_method", lookup),
        element("binary_path", place["path"]),
        *(element(name, place[member]) for member, name in members.items()),
    )


def read_rule(one: Element, *, is_kernel: bool = False) -> list[EventRule]:
    """Return the rules that an element describes.

    Args:
        one: The element.
        is_kernel: Whether it is of the kernel's domain: there, all events are two.

    Raises:
        ValueError: It describes none.
    """
    kind = one.value("type") or ("ALL" if is_kernel else "TRACEPOINT")
    if is_kernel and kind not in {"ALL", *RULE_TYPES}:
        expected = ", ".join(RULE_TYPES)
        raise ValueError(f"no event type '{kind}': expected {expected} or ALL")
    if not is_kernel and kind not in {"ALL", "TRACEPOINT"}:
        raise ValueError(f"no event type '{kind}' in user space: expected TRACEPOINT")
    types = [kind]
    if kind == "ALL":
        types = ["TRACEPOINT", "SYSCALL"] if is_kernel else ["TRACEPOINT"]
    return [_read_rule(one, of_type) for of_type in types]


def _read_rule(one: Element, kind: str) -> EventRule:
    return EventRule(
        one.text_of("name") or "*",
        enabled=one.value("enabled", "true") == "true",
        level_type=one.value("loglevel_type", "ALL"),
        level=one.number("loglevel", -1),
        filter=one.text_of("filter") or None,
        exclusions=[one.text or "" for one in one.all("exclusions/exclusion")],
        type=kind,
        location=_read_place(one),
    )


def _read_place(one: Element) -> dict[str, Any] | None:
    if (found := one.find("attributes/probe_attributes")) is not None:
        name = found.text_of("symbol_name")
        number = found.number("offset" if name else "address", 0 if name else -1)
        if number < 0:
            raise ValueError("expected a symbol and an offset from 0, or an address")
        if not name:
            return {"type": "address", "address": number}
        return {"type": "symbol", "name": name, "offset": number}
    for kind, (_, members) in _IN_PROGRAMS.items():
        found = one.find(f"attributes/userspace_probe_{kind}_attributes")
        if found is not None:
            path = found.text_of("binary_path")
            others = {one: found.text_of(name) for one, name in members.items()}
            return {"type": kind, "path": path, **others}
    return None
