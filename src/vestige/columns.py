"""Event records as columns: :class:`EventColumns`, which other libraries read."""

from __future__ import annotations

from .trace.columns import (
    ColumnKeywords,
    ColumnOptions,
    EventColumns,
    column_layout,
    require_extra,
)

__all__ = [
    "ColumnKeywords",
    "ColumnOptions",
    "EventColumns",
    "column_layout",
    "require_extra",
]
