"""The session verbs of ``vestige lttng``.

They are not among the other verbs, whose parser takes longer to import than a session
verb takes to run.
"""

from __future__ import annotations

__all__: list[str] = []
