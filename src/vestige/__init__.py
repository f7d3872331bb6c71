"""Vestige: read traces, with every event at the source line it came from."""

from __future__ import annotations

__version__ = "0.1.0"
