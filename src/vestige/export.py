"""Writing selections to files for others: Parquet, Arrow IPC, CSV, JSON Lines."""

from __future__ import annotations

from .trace.export import FORMATS, Format, Progress, export, export_each

__all__ = ["FORMATS", "Format", "Progress", "export", "export_each"]
