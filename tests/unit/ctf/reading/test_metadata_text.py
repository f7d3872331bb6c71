"""The text of metadata, in packets and without."""

from __future__ import annotations

from struct import pack

import pytest

from vestige.ctf.reading.metadata_text import metadata_text
from vestige.errors import TraceFormatError

HEADER = 37


def packet(text, order="<", *, size=64, magic=0x75D11D57):
    """Return a metadata packet."""
    used = (HEADER + len(text)) * 8
    head = pack(f"{order}I16sIIIBBBBB", magic, bytes(16), 0, used, size * 8, *bytes(5))
    return (head + text).ljust(size, b"\0")


@pytest.mark.parametrize("order", ["<", ">"])
def test_packets_are_joined(tmp_path, order):
    """Each has as much text as it says."""
    parts = packet(b"/* CTF 1.8 */", order) + packet(b" trace {};", order, size=48)
    (tmp_path / "metadata").write_bytes(parts)

    assert metadata_text(tmp_path) == ("/* CTF 1.8 */ trace {};", True)


def test_text_alone_is_the_text(tmp_path):
    """As tracers write it that need no packets."""
    (tmp_path / "metadata").write_text("/* CTF 1.8 */")

    assert metadata_text(tmp_path) == ("/* CTF 1.8 */", False)


@pytest.mark.parametrize(
    ("content", "offset"),
    [
        (packet(b"x") + b"short", 64),
        (packet(b"x") + packet(b"x", magic=1), 64),
        (packet(b"x")[:50], 0),
        (packet(bytes(60)), 0),
        (packet(b"x", size=0), 0),
    ],
)
def test_a_packet_that_contradicts_itself_is_an_error(tmp_path, content, offset):
    """Told with its place in the file."""
    (tmp_path / "metadata").write_bytes(content)

    with pytest.raises(TraceFormatError) as caught:
        metadata_text(tmp_path)

    assert caught.value.offset == offset
