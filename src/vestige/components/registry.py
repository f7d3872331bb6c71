"""The component classes that there are, by their names.

What each takes is known at once. What it takes to run one is imported when one is made:
a plan is checked, and printed, without it.
"""

from __future__ import annotations

from importlib import import_module

from .._typing import TYPE_CHECKING, Protocol
from ..errors import GraphError
from ..graph.plan_check import check_params
from .entry import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..graph.component_class import ComponentClass
    from ..graph.plan import ComponentSpec

__all__ = ["BUILT_IN", "PLUGINS", "Plugins", "Registry", "full_class_name"]

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


def _built_in(module: str, function: str) -> Callable[[], Entry]:
    """Return what describes a class, of which nothing is imported before it is used."""

    def describe() -> Entry:
        described = import_module(f".built_in.{module}", __package__)
        entry: Entry = getattr(described, function)()
        return entry

    return describe


BUILT_IN: dict[str, Callable[[], Entry]] = {
    "source.ctf.fs": _built_in("sources", "ctf_fs"),
    "source.ctf.lttng-live": _built_in("sources", "lttng_live"),
    "source.text.dmesg": _built_in("sources", "dmesg"),
    "source.vestige.recording": _built_in("sources", "recording"),
    "filter.utils.muxer": _built_in("filters", "muxer"),
    "filter.utils.trimmer": _built_in("filters", "trimmer"),
    "filter.vestige.events": _built_in("filters", "events"),
    "filter.vestige.call-marks": _built_in("filters", "call_marks"),
    "filter.lttng-utils.debug-info": _built_in("filters", "debug_info"),
    "filter.vestige.calls": _built_in("filters", "calls"),
    "sink.ctf.fs": _built_in("sinks", "ctf_fs"),
    "sink.text.pretty": _built_in("sinks", "text_pretty"),
    "sink.text.details": _built_in("sinks", "text_details"),
    "sink.vestige.short": _built_in("sinks", "short"),
    "sink.utils.counter": _built_in("sinks", "counter"),
    "sink.utils.dummy": _built_in("sinks", "dummy"),
}
"""What describes the classes that are built in, by their names."""


class Plugins(Protocol):
    """Component classes that others bring."""

    @property
    def names(self) -> Iterable[str]:
        """The names of all classes."""

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """

    def user_class(self, name: str) -> type | None:
        """Return the Python class of a name, or ``None``.

        Args:
            name: The name.
        """

    def make(self, spec: ComponentSpec, *arguments: Any) -> Any:
        """Make a component, as :meth:`Registry.make` does.

        Args:
            spec: What is wanted.
            arguments: What its kind needs.
        """

    def query(self, name: str, question: str, params: Mapping[str, Any]) -> Any:
        """Ask a component class, as :meth:`Registry.query` does.

        Args:
            name: The name of the class.
            question: What is asked.
            params: The parameters of the question.
        """


class Registry:
    """Component classes: those that are built in, and those that others bring.

    Args:
        described: What describes the classes, by their names.
        plugins: Those of others. A class that is built in is found first.
    """

    def __init__(
        self,
        described: Mapping[str, Callable[[], Entry]] = BUILT_IN,
        plugins: Plugins | None = None,
    ) -> None:
        self._described = described
        self._plugins = plugins
        self._entries: dict[str, Entry] = {}

    @property
    def names(self) -> list[str]:
        """The names of all classes."""
        others = () if self._plugins is None else self._plugins.names
        return [*dict.fromkeys((*self._described, *others))]

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        entry = self._entry(name)
        if entry is not None:
            return entry.component_class
        return None if self._plugins is None else self._plugins.find(name)

    @property
    def has_user_sources(self) -> bool:
        """Whether a plugin has a source in Python."""
        others = () if self._plugins is None else self._plugins.names
        return any(one.startswith("source.") for one in others)

    def user_class(self, name: str) -> type | None:
        """Return the Python class of a name that a plugin has, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        if self._plugins is None or name in self._described:
            return None
        return self._plugins.user_class(name)

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
        if entry is None and self._plugins is not None:
            return self._plugins.make(spec, *arguments)
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
            if self._plugins is not None and self._plugins.find(name) is not None:
                return self._plugins.query(name, question, params)
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
