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

__all__ = ["ctf_fs"]


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
                "babeltrace.support-info": {
                    "input": Parameter(STRING, is_required=True),
                    "type": Parameter(
                        STRING, ("directory", "file", "string"), is_required=True
                    ),
                },
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
