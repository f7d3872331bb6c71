"""What kernels keep of the names of threads."""

from __future__ import annotations

__all__ = ["kept_name"]

LONGEST = 15
"""Bytes of a name that kernels keep (``TASK_COMM_LEN``)."""


def kept_name(name: str) -> str:
    """Return what kernels keep of a name.

    Args:
        name: The name.
    """
    return name.encode(errors="replace")[:LONGEST].decode(errors="replace")
