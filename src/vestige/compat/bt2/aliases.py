"""The modules that ``bt2`` is made of, for scripts that import from these."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["submodule"]

SUBMODULES: dict[str, tuple[str, ...]] = {
    "clock_class": ("trace_ir", "builders"),
    "component": ("component_classes", "ports", "user_components"),
    "connection": ("ports",),
    "clock_snapshot": ("trace_ir",),
    "error": ("errors",),
    "event": ("messages", "made_messages"),
    "event_class": ("trace_ir", "builders"),
    "field": ("fields", "made_fields"),
    "field_class": ("field_classes", "made_field_classes"),
    "integer_range_set": ("integer_ranges",),
    "message": ("messages", "made_messages"),
    "packet": ("trace_ir", "builders"),
    "plugin": ("plugins",),
    "port": ("ports", "user_components"),
    "query_executor": ("query",),
    "stream": ("trace_ir", "builders"),
    "stream_class": ("trace_ir", "builders"),
    "trace": ("trace_ir", "builders"),
    "trace_class": ("trace_ir", "builders"),
    "trace_collection_message_iterator": ("component_specs", "iterator"),
    "value": ("values",),
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
