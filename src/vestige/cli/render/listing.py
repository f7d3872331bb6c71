"""What can be recorded of a program, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..._typing import TYPE_CHECKING
from ...inspect import Field, FoundObject, Listing, Tracepoint

if TYPE_CHECKING:
    from typing import Any

__all__ = ["listing_json", "listing_lines"]

TRACER_PROVIDERS = ("lttng_ust_tracef", "lttng_ust_tracelog")
"""Providers that the tracer brings into each program."""


def listing_lines(listing: Listing, *, with_fields: bool) -> Iterator[str]:
    """Write a listing for people.

    Args:
        listing: What was found.
        with_fields: Whether fields are told.

    Yields:
        Lines.
    """
    empty = 0
    for found in listing.objects:
        if not found.tracepoints and not found.instrumented:
            empty += 1
            continue
        yield found.path
        for point in found.tracepoints:
            yield f"  {_heading(point)}"
            if with_fields:
                yield from (f"      {_field(field)}" for field in point.fields or ())
        for way in found.instrumented:
            count = "functions" if way.functions is None else _count(way.functions)
            note = "" if way.is_recorded else "; these are not recorded"
            yield f"  {count} compiled with {way.option}{note}"
    if empty == len(listing.objects):
        yield f"no tracepoints and no instrumented functions in {_objects(empty)}"
    elif empty:
        yield f"nothing in {_objects(empty, 'other ')}"


def _heading(point: Tracepoint) -> str:
    name = f"{point.provider}:{point.name}"
    if not point.has_provider and point.provider in TRACER_PROVIDERS:
        return f"{name} (recorded: the tracer is its provider)"
    if not point.is_recorded:
        return f"{name} ({_why_not(point)})"
    if not point.has_provider:
        return f"{name} (no provider here)"
    level = point.log_level_text or "unknown level"
    if point.log_level is not None and level != str(point.log_level):
        level += f" ({point.log_level})"
    uri = f", {point.model_emf_uri}" if point.model_emf_uri else ""
    return f"{name}, {level}{uri}"


def _why_not(point: Tracepoint) -> str:
    if point.signature is None:
        return "not recorded: headers of LTTng-UST before 2.13"
    return f"not recorded: the provider takes other arguments than {point.signature}"


def _field(field: Field) -> str:
    text = {
        "string": f"string {field.name}",
        "array": f"{field.type} {field.name}[{field.detail}]",
        "sequence": f"{field.type} {field.name}[], length {field.detail}",
        "enum": f"enum {field.detail} {field.name}, {field.type}",
    }.get(field.kind, f"{field.type} {field.name}")
    return ", ".join([text, *field.flags])


def _count(number: int) -> str:
    return f"{number:,} function{'' if number == 1 else 's'}"


def _objects(number: int, kind: str = "") -> str:
    return f"{number} {kind}object{'' if number == 1 else 's'}"


def listing_json(listing: Listing) -> str:
    """Write a listing for programs.

    Args:
        listing: What was found.

    Returns:
        JSON with ``objects`` and ``notes``.
    """
    facts = {"objects": list(map(_object, listing.objects)), "notes": listing.notes}
    return json.dumps(facts, indent=2)


def _object(found: FoundObject) -> dict[str, Any]:
    return {
        "path": found.path,
        "tracepoints": [_point(point) for point in found.tracepoints],
        "instrumented": [way._asdict() for way in found.instrumented],
    }


def _point(point: Tracepoint) -> dict[str, Any]:
    fields = point.fields
    return {
        **point._asdict(),
        "fields": None if fields is None else [field._asdict() for field in fields],
    }
