"""The modules that ``bt2`` is made of, for scripts that import from these."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["submodule"]

SUBMODULES: dict[str, tuple[str, ...]] = {
    "clock_class": ("traces.trace_ir", "traces.builders"),
    "component": ("plugins.component_classes", "graphs.ports", "user.components"),
    "connection": ("graphs.ports",),
    "clock_snapshot": ("traces.trace_ir",),
    "error": ("errors",),
    "event": ("messages.message", "messages.made_messages"),
    "event_class": ("traces.trace_ir", "traces.builders"),
    "field": ("fields.field", "fields.made_fields"),
    "field_class": ("fields.field_classes", "fields.made_field_classes"),
    "graph": ("graphs.graph",),
    "field_path": ("fields.field_paths",),
    "integer_range_set": ("values.integer_ranges",),
    "message": ("messages.message", "messages.made_messages"),
    "mip": ("graphs.mip",),
    "packet": ("traces.trace_ir", "traces.builders"),
    "plugin": ("plugins.plugin",),
    "port": ("graphs.ports", "user.components"),
    "query_executor": ("plugins.query",),
    "stream": ("traces.trace_ir", "traces.builders"),
    "stream_class": ("traces.trace_ir", "traces.builders"),
    "trace": ("traces.trace_ir", "traces.builders"),
    "trace_class": ("traces.trace_ir", "traces.builders"),
    "trace_collection_message_iterator": (
        "reading.component_specs",
        "reading.iterator",
    ),
    "value": ("values.value",),
}
"""For each module of ``bt2`` those here that have its names."""


def submodule(name: str) -> ModuleType:
    """Return what stands for a module of ``bt2``.

    Args:
        name: Its name, without that of the package.

    Raises:
        AttributeError: There is none.
    """
    if name not in SUBMODULES:
        raise AttributeError(f"module 'bt2' has no attribute {name!r}")
    made = ModuleType(f"{__package__}.{name}", f"``bt2.{name}``.")
    for part in SUBMODULES[name]:
        found = import_module(f".{part}", __package__)
        made.__dict__.update(
            (key, value)
            for key, value in vars(found).items()
            if not key.startswith("__")
        )
    return made
