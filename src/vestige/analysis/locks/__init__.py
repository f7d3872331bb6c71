"""Who waited for which mutex, how long, and who held it meanwhile."""

from __future__ import annotations

from .found import Blocking, Lock, LockCounts, Locks, LockSite, LongWait
from .reader import read_locks

__all__ = [
    "Blocking",
    "Lock",
    "LockCounts",
    "LockSite",
    "Locks",
    "LongWait",
    "read_locks",
]
