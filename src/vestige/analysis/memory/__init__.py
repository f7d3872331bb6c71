"""Which memory is never freed, who asks for most, and what is freed twice."""

from __future__ import annotations

from .found import DoubleFree, Memory, MemoryCounts, MemorySite, ProcessMemory
from .reader import read_memory

__all__ = [
    "DoubleFree",
    "Memory",
    "MemoryCounts",
    "MemorySite",
    "ProcessMemory",
    "read_memory",
]
