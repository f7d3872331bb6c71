"""The filters that are built in."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...graph.component_class import (
    ARRAY_OF_STRINGS,
    BOOLEAN,
    INTEGER,
    STRING,
    TIME,
    ComponentClass,
    Parameter,
)
from ..entry import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...graph.component_class import MakeFilter
    from ...graph.growing import Feed
    from ...graph.message_component import Flow
    from ...graph.plan import ComponentSpec
    from ...graph.selection import Selection
    from ...graph.stream import Stream

__all__ = ["call_marks", "calls", "debug_info", "events", "muxer", "trimmer"]

DEBUG_INFO_NAME = "debug_info"
"""How debug-info filters call what they add, if nobody says otherwise."""


def _check_times(spec: ComponentSpec) -> None:
    from ..filters.trimmer import check_times  # noqa: PLC0415 - see above

    check_times(spec)


def _trim_flow(spec: ComponentSpec, flow: Flow) -> Flow:
    from ..filters.trimmer import trim_flow  # noqa: PLC0415 - see above

    return trim_flow(spec, flow)


def _split_events(
    spec: ComponentSpec,
    added: frozenset[str],
    incoming: Mapping[Stream | Feed, Selection],
) -> tuple[ComponentSpec, MakeFilter | None]:
    from ..filters.events import split_events  # noqa: PLC0415 - see above

    return split_events(spec, added, incoming)


def _select_flow(spec: ComponentSpec, flow: Flow) -> Flow:
    from ..filters.events import select_flow  # noqa: PLC0415 - see above

    return select_flow(spec, flow)


def _debug_info_name(spec: ComponentSpec) -> str:
    return str(spec.params.get("debug-info-field-name", DEBUG_INFO_NAME))


def muxer() -> Entry:
    """Describe ``filter.utils.muxer``."""
    return Entry(
        ComponentClass(
            "filter.utils.muxer",
            "Merge what comes in by time.",
            {},
            has_many_inputs=True,
        )
    )


def trimmer() -> Entry:
    """Describe ``filter.utils.trimmer``."""
    return Entry(
        ComponentClass(
            "filter.utils.trimmer",
            "Leave out what is before or after a range of time.",
            {
                "begin": Parameter(TIME),
                "end": Parameter(TIME),
                "gmt": Parameter(BOOLEAN),
            },
            is_pushed_down=True,
            check=_check_times,
            on_flow=_trim_flow,
        ),
        "filters.trimmer",
        "trim",
    )


def events() -> Entry:
    """Describe ``filter.vestige.events``."""
    return Entry(
        ComponentClass(
            "filter.vestige.events",
            "Leave out events by their names, fields, threads or processes.",
            {
                "names": Parameter(ARRAY_OF_STRINGS),
                "expressions": Parameter(ARRAY_OF_STRINGS),
                "recorder-events": Parameter(BOOLEAN),
                "threads": Parameter(ARRAY_OF_STRINGS),
                "processes": Parameter(ARRAY_OF_STRINGS),
            },
            is_pushed_down=True,
            behind=_split_events,
            on_flow=_select_flow,
        ),
        "filters.events",
        "choose_events",
    )


def debug_info() -> Entry:
    """Describe ``filter.lttng-utils.debug-info``."""
    return Entry(
        ComponentClass(
            "filter.lttng-utils.debug-info",
            "Add object, function and source line to events.",
            {
                "debug-info-dir": Parameter(STRING),
                "debug-info-field-name": Parameter(STRING),
                "full-path": Parameter(BOOLEAN),
                "target-prefix": Parameter(STRING),
                "target-prefixes": Parameter(ARRAY_OF_STRINGS),
                "debuginfod": Parameter(BOOLEAN),
                "demangle": Parameter(BOOLEAN),
            },
            added_field=_debug_info_name,
        ),
        "filters.debug_info",
        "make_debug_info",
    )


def calls() -> Entry:
    """Describe ``filter.vestige.calls``."""
    return Entry(
        ComponentClass(
            "filter.vestige.calls",
            "Hide function calls that are short.",
            {"least-ns": Parameter(INTEGER, is_required=True)},
        ),
        "filters.call_duration",
        "make_call_duration",
    )


def call_marks() -> Entry:
    """Describe ``filter.vestige.call-marks``."""
    return Entry(
        ComponentClass(
            "filter.vestige.call-marks",
            "Tell sink.vestige.short how long calls took, and how deep events are in "
            "calls.",
            {"indent": Parameter(BOOLEAN)},
        ),
        "filters.call_marks",
        "make_call_marks",
    )
