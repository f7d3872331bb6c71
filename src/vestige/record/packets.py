"""The packet header and the packet context that the tracer writes, and its file names.

``tracer/src/packet.h`` has the same layout in C, ``metadata.py`` in TSDL, and
``tracer/src/files.c`` makes the names.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

__all__ = ["LOST_STREAM", "MAGIC", "OPEN_SUFFIX", "ORDER", "PACKET", "is_stream_file"]

MAGIC = 0xC1FC1FC1
ORDER = "<" if sys.byteorder == "little" else ">"
PACKET = struct.Struct(f"{ORDER}I16sIQQQQQQQII16s")
"""Magic number, UUID, stream class, stream instance; begin, end, content size, packet
size, sequence number, lost records, process, thread, its name."""
OPEN_SUFFIX = ".open"
LOST_STREAM = "lost"
"""The data stream file of what no other could tell."""
_NAME = re.compile(r"\d+-\d+(\.\d+)?(@\w+|\.open)?|ring-\d+|" + LOST_STREAM)


def is_stream_file(path: Path) -> bool:
    """Tell whether the name is that of a data stream file.

    A program may write its own files into the directory of its trace.

    Args:
        path: A file in the directory of a trace.

    Returns:
        Whether the tracer or the recorder made it, by its name.
    """
    return _NAME.fullmatch(path.name) is not None
