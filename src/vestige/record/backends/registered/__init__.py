"""Recording programs that have Vestige's own tracer, and register with a daemon."""

from __future__ import annotations

__all__: list[str] = []
