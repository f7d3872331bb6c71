"""Metadata in packets, as viewers of live sessions need them.

Babeltrace 2 takes what is added to metadata in plain text for metadata of its own,
which have no signature, and ends.
"""

from __future__ import annotations

import re
import struct

__all__ = ["is_plain", "packetised"]

SIGNATURE = b"/* CTF 1.8 */"
MAGIC = 0x75D11D57
MOST_TEXT = 1 << 19
"""About how many bytes of text a packet has at most: it is sent in one message."""
END = b"\n};\n"
"""With this, a declaration ends."""

_HEAD = "I16sIIIBBBBB"
"""Magic, UUID, checksum, content and packet in bits, schemes, version."""
_UUID = re.compile(rb'\n\tuuid = "([0-9a-f-]{36})";')
_ORDER = re.compile(rb"\n\tbyte_order = ([bl])e;")


def is_plain(raw: bytes) -> bool:
    """Tell whether metadata are plain text.

    Args:
        raw: Their beginning.
    """
    return raw.startswith(SIGNATURE)


def packetised(raw: bytes, start: int) -> tuple[list[bytes], int]:
    """Make packets of what was added to metadata in plain text.

    Args:
        raw: All of them.
        start: Where the part begins.

    Returns:
        The packets, and where the next part begins: behind the last declaration that is
        there as a whole.
    """
    head = _Head(raw)
    packets = []
    last = raw.rfind(END, start)
    end = start if last < 0 else last + len(END)
    while start < end:
        # A viewer may ask between any two messages.
        stop = raw.rfind(END, start, min(end, start + MOST_TEXT))
        stop = raw.find(END, start) if stop < 0 else stop
        text = raw[start : stop + len(END)]
        packets.append(head.before(text) + text)
        start += len(text)
    return packets, end


class _Head:
    """What is before the text of each packet.

    Args:
        raw: The metadata.
    """

    def __init__(self, raw: bytes) -> None:
        uuid, order = _UUID.search(raw), _ORDER.search(raw)
        self._uuid = bytes(16) if uuid is None else _octets(uuid[1])
        is_big = order is not None and order[1] == b"b"
        self._form = struct.Struct(f"{'>' if is_big else '<'}{_HEAD}")

    def before(self, text: bytes) -> bytes:
        """Return it for a text."""
        bits = (self._form.size + len(text)) * 8
        return self._form.pack(MAGIC, self._uuid, 0, bits, bits, 0, 0, 0, 1, 8)


def _octets(uuid: bytes) -> bytes:
    digits = uuid.replace(b"-", b"").decode()
    return bytes.fromhex(digits) if len(digits) == 2 * 16 else bytes(16)
