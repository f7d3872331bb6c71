"""The sinks that are built in."""

from __future__ import annotations

from ...graph.component_class import (
    BOOLEAN,
    COUNT,
    STRING,
    ComponentClass,
    Parameter,
)
from ..entry import Entry

__all__ = [
    "TEXT_SWITCHES",
    "counter",
    "ctf_fs",
    "dummy",
    "short",
    "text_details",
    "text_pretty",
]

TEXT_SWITCHES = (
    "no-delta",
    "clock-cycles",
    "clock-date",
    "clock-gmt",
    "clock-seconds",
    "verbose",
    "name-payload",
    "name-context",
    "name-header",
    "name-scope",
    "field-trace",
    "field-trace:hostname",
    "field-trace:domain",
    "field-trace:procname",
    "field-trace:vpid",
    "field-loglevel",
    "field-emf",
    "field-callsite",
)
"""Parameters of ``sink.text.pretty`` that are booleans."""


def short() -> Entry:
    """Describe ``sink.vestige.short``."""
    return Entry(
        ComponentClass(
            "sink.vestige.short",
            "Write events as short lines.",
            {
                name: Parameter(BOOLEAN)
                for name in TEXT_SWITCHES
                if name.startswith(("no-delta", "clock-"))
            }
            | {"indent": Parameter(BOOLEAN)},
        ),
        "sinks.text_short",
        "make_text_short",
    )


def text_pretty() -> Entry:
    """Describe ``sink.text.pretty``."""
    shown = Parameter(STRING, ("show", "hide"))
    return Entry(
        ComponentClass(
            "sink.text.pretty",
            "Write events as text, a line each.",
            {
                "path": Parameter(STRING),
                "color": Parameter(STRING, ("never", "auto", "always")),
                "name-default": shown,
                "field-default": shown,
                **dict.fromkeys(TEXT_SWITCHES, Parameter(BOOLEAN)),
            },
        ),
        "sinks.text_pretty_params",
        "make_text_pretty",
    )


def text_details() -> Entry:
    """Describe ``sink.text.details``."""
    switches = (
        "compact",
        "with-data",
        "with-metadata",
        "with-stream-class-name",
        "with-stream-name",
        "with-time",
        "with-trace-name",
        "with-uuid",
    )
    return Entry(
        ComponentClass(
            "sink.text.details",
            "Write everything that a trace holds as text.",
            {
                "color": Parameter(STRING, ("never", "auto", "always")),
                **dict.fromkeys(switches, Parameter(BOOLEAN)),
            },
        ),
        "sinks.text_details",
        "make_text_details",
    )


def counter() -> Entry:
    """Describe ``sink.utils.counter``."""
    return Entry(
        ComponentClass(
            "sink.utils.counter",
            "Count messages of each type.",
            {"hide-zero": Parameter(BOOLEAN), "step": Parameter(COUNT)},
        ),
        "sinks.counter",
        "make_counter",
    )


def dummy() -> Entry:
    """Describe ``sink.utils.dummy``."""
    return Entry(
        ComponentClass("sink.utils.dummy", "Decode everything and drop it.", {}),
        "sinks.dummy",
        "make_dummy",
    )


def ctf_fs() -> Entry:
    """Describe ``sink.ctf.fs``."""
    return Entry(
        ComponentClass(
            "sink.ctf.fs",
            "Write CTF traces to the file system.",
            {
                "path": Parameter(STRING, is_required=True),
                "assume-single-trace": Parameter(BOOLEAN),
                "ctf-version": Parameter(STRING, ("1", "2")),
                "ignore-discarded-events": Parameter(BOOLEAN),
                "ignore-discarded-packets": Parameter(BOOLEAN),
                "quiet": Parameter(BOOLEAN),
            },
        ),
        "sinks.ctf_fs",
        "make_ctf_fs",
    )
