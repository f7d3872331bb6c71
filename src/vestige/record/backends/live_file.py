"""The file by which a trace says up to when all of it is in its files."""

from __future__ import annotations

import struct

__all__ = ["LIVE", "LIVE_FILE", "LIVE_MAGIC", "live_words"]

LIVE_FILE = ".live"
"""Its name in the directory of the trace."""
LIVE_MAGIC, LIVE = b"VESTLIV1", struct.Struct("=8sQQ")
"""Magic, a time, and its complement."""
_LARGEST_TIME = (1 << 64) - 1


def live_words(time: int) -> bytes:
    """Return what is in it.

    Args:
        time: By the clock of the trace.
    """
    return LIVE.pack(LIVE_MAGIC, time, time ^ _LARGEST_TIME)
