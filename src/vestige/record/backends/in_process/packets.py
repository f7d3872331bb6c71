"""The packet header and packet context that the tracer writes, and its file names."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

from ..._agreement import (
    LOST_STREAM,
    OPEN_SUFFIX,
    PACKET_FORMAT,
    PACKET_MAGIC,
    RING_PREFIX,
)

__all__ = ["LOST_STREAM", "MAGIC", "OPEN_SUFFIX", "ORDER", "PACKET", "is_stream_file"]

MAGIC = PACKET_MAGIC
ORDER = "<" if sys.byteorder == "little" else ">"
PACKET = struct.Struct(ORDER + PACKET_FORMAT)
"""Magic number, UUID, stream class, stream instance; begin, end, content size, packet
size, sequence number, lost records, process, thread, its name."""
_NAME = re.compile(
    rf"\d+-\d+(\.\d+)?(@\w+|{re.escape(OPEN_SUFFIX)})?|{RING_PREFIX}\d+|{LOST_STREAM}"
)


def is_stream_file(path: Path) -> bool:
    """Tell whether the name is that of a data stream file.

    A program may write its own files into the directory of its trace.

    Args:
        path: A file in the directory of a trace.

    Returns:
        Whether the tracer or the recorder made it, by its name.
    """
    return _NAME.fullmatch(path.name) is not None
