"""The text of metadata, also where it is cut into packets."""

from __future__ import annotations

from pathlib import Path
from struct import Struct

from ..._typing import NamedTuple
from ...errors import TraceFormatError
from .discovery import METADATA
from .trace_files import metadata_content

__all__ = ["MetadataText", "metadata_text"]

MAGIC = 0x75D11D57
"""What a metadata packet begins with (CTF 1.8, section 7.1)."""
HEADER = {order: Struct(f"{order}I16sIIIBBBBB") for order in "<>"}
"""Its header: magic number, UUID, checksum, sizes in bits, five bytes of versions."""


class MetadataText(NamedTuple):
    """The text of the metadata of a trace."""

    text: str
    """The text."""
    is_packetized: bool
    """Whether the file has it in packets."""


def metadata_text(directory: Path) -> MetadataText:
    """Read the metadata of a trace.

    Args:
        directory: The trace directory.

    Raises:
        TraceFormatError: The file cannot be read, or a packet has no valid header.
    """
    path = directory / METADATA
    content = metadata_content(path)
    for order, header in HEADER.items():
        if content[:4] == Struct(f"{order}I").pack(MAGIC):
            return MetadataText(_joined(path, content, header), is_packetized=True)
    return MetadataText(content.decode(errors="replace"), is_packetized=False)


def _joined(path: Path, content: bytes, header: Struct) -> str:
    """Join what the packets hold."""
    text = b""
    at = 0
    while at < len(content):
        if at + header.size > len(content):
            raise TraceFormatError(
                "a metadata packet ends in its header", path=path, offset=at
            )
        magic, _, _, used, size, *_ = header.unpack_from(content, at)
        used, size = used // 8, size // 8
        if magic != MAGIC or not header.size <= used <= size <= len(content) - at:
            raise TraceFormatError(
                "a metadata packet has no valid header", path=path, offset=at
            )
        text += content[at + header.size : at + used]
        at += size
    return text.decode(errors="replace")
