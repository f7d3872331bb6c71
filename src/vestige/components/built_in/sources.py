"""The sources that are built in."""

from __future__ import annotations

from ...graph.component_class import (
    ARRAY_OF_STRINGS,
    BOOLEAN,
    INTEGER,
    STRING,
    ComponentClass,
    Parameter,
)
from ..entry import Entry

__all__ = ["ctf_fs", "dmesg", "lttng_live", "recording"]

SUPPORT = {
    "input": Parameter(STRING, is_required=True),
    "type": Parameter(STRING, ("directory", "file", "string"), is_required=True),
}
"""The parameters of the question whether an input is one of a source."""


def ctf_fs() -> Entry:
    """Describe ``source.ctf.fs``."""
    parameters = {
        "inputs": Parameter(ARRAY_OF_STRINGS, is_required=True),
        "clock-class-offset-s": Parameter(INTEGER),
        "clock-class-offset-ns": Parameter(INTEGER),
        "force-clock-class-origin-unix-epoch": Parameter(BOOLEAN),
        "trace-name": Parameter(STRING),
    }
    return Entry(
        ComponentClass(
            "source.ctf.fs",
            "Read CTF traces from the file system.",
            parameters,
            queries={
                "babeltrace.support-info": SUPPORT,
                "babeltrace.trace-infos": parameters,
                "metadata-info": {"path": Parameter(STRING, is_required=True)},
            },
        ),
        "sources.ctf_fs",
        "make_ctf_fs",
        {
            "babeltrace.support-info": "sources.ctf_fs_queries:support_info",
            "babeltrace.trace-infos": "sources.ctf_fs_queries:trace_infos",
            "metadata-info": "sources.ctf_fs_queries:metadata_info",
        },
    )


def lttng_live() -> Entry:
    """Describe ``source.ctf.lttng-live``."""
    return Entry(
        ComponentClass(
            "source.ctf.lttng-live",
            "Read a live session of LTTng while it is recorded.",
            {
                "inputs": Parameter(ARRAY_OF_STRINGS, is_required=True),
                "session-not-found-action": Parameter(
                    STRING, ("continue", "fail", "end")
                ),
            },
            output="out",
            queries={
                "babeltrace.support-info": SUPPORT,
                "sessions": {"url": Parameter(STRING, is_required=True)},
            },
        ),
        "sources.lttng_live",
        "make_lttng_live",
        {
            "babeltrace.support-info": "sources.lttng_live_queries:support_info",
            "sessions": "sources.lttng_live_queries:sessions",
        },
    )


def recording() -> Entry:
    """Describe ``source.vestige.recording``."""
    return Entry(
        ComponentClass(
            "source.vestige.recording",
            "Read a recording while it is made.",
            {
                "path": Parameter(STRING, is_required=True),
                "trace-name": Parameter(STRING),
                "read-parts": Parameter(STRING),
            },
            output="out",
        ),
        "sources.recording",
        "make_recording",
    )


def dmesg() -> Entry:
    """Describe ``source.text.dmesg``."""
    return Entry(
        ComponentClass(
            "source.text.dmesg",
            "Read the messages of a kernel, as dmesg prints them.",
            {
                "path": Parameter(STRING),
                "no-extract-timestamp": Parameter(BOOLEAN),
            },
            output="out",
        ),
        "sources.dmesg",
        "make_dmesg",
    )
