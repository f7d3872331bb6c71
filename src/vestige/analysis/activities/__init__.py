"""What goes on while its thread does other things, too: spans and coroutines."""

from __future__ import annotations

from .activity import Activity, Times
from .lives import LongActivity, Wait

__all__ = ["Activity", "LongActivity", "Times", "Wait"]
