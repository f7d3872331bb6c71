"""Filter expressions: from text to byte code of a stack machine.

The tracer runs it at each event, and the core at each event record that is read. The
language is that of lttng-enable-event(1), "Event payload and context filter condition".
"""

from __future__ import annotations

from .compiler import compile_filter

__all__ = ["compile_filter"]
