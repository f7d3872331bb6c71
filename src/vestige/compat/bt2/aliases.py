"""The modules that ``bt2`` is made of, for scripts that import from these."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["submodule"]

SUBMODULES: dict[str, tuple[str, ...]] = {
    "clock_class": ("trace_ir",),
    "clock_snapshot": ("trace_ir",),
    "error": ("errors",),
    "event": ("messages",),
    "event_class": ("trace_ir",),
    "field": ("fields",),
    "field_class": ("field_classes",),
    "integer_range_set": ("integer_ranges",),
    "message": ("messages",),
    "packet": ("trace_ir",),
    "plugin": ("plugins",),
    "query_executor": ("query",),
    "stream": ("trace_ir",),
    "stream_class": ("trace_ir",),
    "trace": ("trace_ir",),
    "trace_class": ("trace_ir",),
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
