"""What the scheduler did to threads: when they ran, and what they waited for."""

from .about import is_about
from .found import (
    BLOCKED,
    RUNNABLE,
    RUNNING,
    UNKNOWN,
    Shares,
    ThreadTurns,
    Turn,
    Turns,
)
from .reader import has_turns, read_turns

__all__ = [
    "BLOCKED",
    "RUNNABLE",
    "RUNNING",
    "UNKNOWN",
    "Shares",
    "ThreadTurns",
    "Turn",
    "Turns",
    "has_turns",
    "is_about",
    "read_turns",
]
