"""The component classes that there are, by their names.

What each takes is known at once. What it takes to run one is imported when one is made:
a plan is checked, and printed, without it.
"""

from __future__ import annotations

from importlib import import_module

from .._typing import TYPE_CHECKING
from ..errors import GraphError
from ..graph.component_class import (
    ARRAY_OF_STRINGS,
    BOOLEAN,
    INTEGER,
    STRING,
    TIME,
    ComponentClass,
    Parameter,
)
from ..graph.plan_check import check_params

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..graph.plan import ComponentSpec

__all__ = ["BUILT_IN", "PLUGINS", "TEXT_SWITCHES", "Registry", "full_class_name"]

SHORT_KINDS = {"src": "source", "flt": "filter"}
"""Other names of the kinds of component classes."""

PLUGINS = {
    "ctf": "CTF input and output",
    "lttng-utils": "What LTTng's traces need",
    "text": "Text output",
    "utils": "What graphs are made of",
    "vestige": "What only Vestige has",
}
"""The plugins, by their names; each stands for component classes of one purpose."""

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


class Entry:
    """A component class, and where one of its components is made.

    Args:
        component_class: What is known of it.
        module: The module, below this package; empty where none is needed.
        function: The function there that makes a component of what is wanted.
        queries: The module and the function that answer each question.
    """

    def __init__(
        self,
        component_class: ComponentClass,
        module: str = "",
        function: str = "",
        queries: Mapping[str, str] | None = None,
    ) -> None:
        self.component_class = component_class
        self.module = module
        self.function = function
        self.queries = queries or {}


def _check_times(spec: ComponentSpec) -> None:
    from .filters.trimmer import check_times  # noqa: PLC0415 - see above

    check_times(spec)


def _source_ctf_fs() -> Entry:
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


def _filter_muxer() -> Entry:
    return Entry(
        ComponentClass(
            "filter.utils.muxer",
            "Merge what comes in by time.",
            {},
            has_many_inputs=True,
        )
    )


def _filter_trimmer() -> Entry:
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
        ),
        "filters.trimmer",
        "trim",
    )


def _filter_events() -> Entry:
    return Entry(
        ComponentClass(
            "filter.vestige.events",
            "Leave out events by their names or fields.",
            {
                "names": Parameter(ARRAY_OF_STRINGS),
                "expressions": Parameter(ARRAY_OF_STRINGS),
                "recorder-events": Parameter(BOOLEAN),
            },
            is_pushed_down=True,
        ),
        "filters.events",
        "choose_events",
    )


def _filter_debug_info() -> Entry:
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
        ),
        "filters.debug_info",
        "make_debug_info",
    )


def _filter_calls() -> Entry:
    return Entry(
        ComponentClass(
            "filter.vestige.calls",
            "Hide function calls that are short.",
            {"least-ns": Parameter(INTEGER, is_required=True)},
        ),
        "filters.call_duration",
        "make_call_duration",
    )


def _sink_short() -> Entry:
    return Entry(
        ComponentClass(
            "sink.vestige.short",
            "Write events as short lines.",
            {
                name: Parameter(BOOLEAN)
                for name in TEXT_SWITCHES
                if name.startswith(("no-delta", "clock-"))
            },
        ),
        "sinks.text_short",
        "make_text_short",
    )


def _sink_text_pretty() -> Entry:
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


def _sink_counter() -> Entry:
    return Entry(
        ComponentClass(
            "sink.utils.counter",
            "Count messages of each type.",
            {"hide-zero": Parameter(BOOLEAN), "step": Parameter(INTEGER)},
            needs_packets=True,
        ),
        "sinks.counter",
        "make_counter",
    )


def _sink_dummy() -> Entry:
    return Entry(
        ComponentClass("sink.utils.dummy", "Decode everything and drop it.", {}),
        "sinks.dummy",
        "make_dummy",
    )


BUILT_IN: dict[str, Callable[[], Entry]] = {
    "source.ctf.fs": _source_ctf_fs,
    "filter.utils.muxer": _filter_muxer,
    "filter.utils.trimmer": _filter_trimmer,
    "filter.vestige.events": _filter_events,
    "filter.lttng-utils.debug-info": _filter_debug_info,
    "filter.vestige.calls": _filter_calls,
    "sink.text.pretty": _sink_text_pretty,
    "sink.vestige.short": _sink_short,
    "sink.utils.counter": _sink_counter,
    "sink.utils.dummy": _sink_dummy,
}
"""What describes the classes that are built in, by their names."""


class Registry:
    """Component classes: those that are built in.

    Args:
        described: What describes the classes, by their names.
    """

    def __init__(self, described: Mapping[str, Callable[[], Entry]] = BUILT_IN) -> None:
        self._described = described
        self._entries: dict[str, Entry] = {}

    @property
    def names(self) -> list[str]:
        """The names of all classes."""
        return [*self._described]

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        entry = self._entry(name)
        return None if entry is None else entry.component_class

    def _entry(self, name: str) -> Entry | None:
        if name not in self._entries and name in self._described:
            self._entries[name] = self._described[name]()
        return self._entries.get(name)

    def make(self, spec: ComponentSpec, *arguments: Any) -> Any:
        """Make a component.

        Args:
            spec: What is wanted, already checked.
            arguments: What its kind needs: a source, the number of traces before its
                own; a filter, its sources and what is read; one that is pushed down,
                what is read so far; a sink, what is closed after it, and the data
                streams.

        Raises:
            GraphError: It cannot be.
        """
        entry = self._entry(spec.class_name)
        if entry is None or not entry.function:
            raise GraphError(f"component '{spec.name}' is nothing that is made")
        module = import_module(f".{entry.module}", __package__)
        return getattr(module, entry.function)(spec, *arguments)

    def query(self, name: str, question: str, params: Mapping[str, Any]) -> Any:
        """Ask a component class.

        Args:
            name: The name of the class.
            question: What is asked, such as ``metadata-info``.
            params: The parameters of the question.

        Raises:
            GraphError: There is no such class, it does not know the question, or the
                parameters are wrong.
        """
        entry = self._entry(name)
        if entry is None:
            raise GraphError(f"there is no class '{name}'")
        known = entry.component_class.queries
        if question not in known:
            there = ", ".join(known)
            raise GraphError(
                f"{name} does not know the object '{question}'; "
                + (f"it knows {there}" if there else "it knows none")
            )
        check_params(f"{name}: {question}", known[question], params)
        module, _, function = entry.queries[question].partition(":")
        answer = getattr(import_module(f".{module}", __package__), function)
        return answer(params)


def full_class_name(text: str) -> str | None:
    """Return the name of a class without abbreviation, or ``None`` for no name.

    Args:
        text: Such as ``src.ctf.fs``; each part may be in single quotes.
    """
    parts = text.replace("'", "").split(".")
    if len(parts) != 3 or "" in parts:  # noqa: PLR2004 - kind, plugin, class
        return None
    kind = SHORT_KINDS.get(parts[0], parts[0])
    if kind not in {"source", "filter", "sink"}:
        return None
    return ".".join([kind, *parts[1:]])
