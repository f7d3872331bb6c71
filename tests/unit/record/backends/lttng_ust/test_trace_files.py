"""Files of a trace stay whole while there is no room for more."""

from __future__ import annotations

import os
import struct

import pytest

from vestige.record.backends.lttng_ust import trace_files
from vestige.record.backends.lttng_ust.ring import HEADER_SIZE, Packet
from vestige.record.backends.lttng_ust.trace_files import (
    INDEX_ENTRY,
    INDEX_HEADER,
    DataStreamFile,
    MetadataFile,
    OwnerFiles,
)

SIZE = 4096
UUID = bytes(16)


@pytest.fixture
def files(tmp_path):
    """The directory of a trace."""
    return OwnerFiles(str(tmp_path), os.getuid(), os.getgid())


@pytest.fixture
def disk(monkeypatch):
    """A disk with so much room, if any limit is set."""
    room = {}

    def write(file, raw):
        if "left" in room:
            if not room["left"]:
                raise OSError(28, "No space left on device")
            raw = memoryview(raw)[: room["left"]]
            room["left"] -= len(raw)
        return os.write(file, raw)

    proxy = type("Proxy", (), {"__getattr__": lambda _, name: getattr(os, name)})()
    proxy.write = write
    monkeypatch.setattr(trace_files, "os", proxy)
    return room


def packet():
    """Return a packet."""
    header = struct.pack(
        "=I16sIQQQQQQQI", 0xC1FC1FC1, UUID, 0, 0, 1, 2, 800, *[8 * SIZE], 0, 0, 0
    )
    assert len(header) == HEADER_SIZE
    return Packet(header, memoryview(header.ljust(SIZE, b"x")))


@pytest.mark.parametrize("left", [0, 100, SIZE, SIZE + 10])
def test_a_packet_without_room_leaves_nothing_and_the_next_is_written(
    files, disk, tmp_path, left
):
    """Data and index agree."""
    file = DataStreamFile(files, str(tmp_path), "c_0", (0, 0))
    file.write(packet())
    disk["left"] = left
    with pytest.raises(OSError, match="No space left"):
        file.write(packet())
    disk.clear()
    file.write(packet())
    file.close()
    assert (tmp_path / "c_0").stat().st_size == 2 * SIZE
    index = (tmp_path / "index" / "c_0.idx").read_bytes()[INDEX_HEADER.size :]
    assert [row[0] for row in INDEX_ENTRY.iter_unpack(index)] == [0, SIZE]


def test_metadata_without_room_is_written_once_there_is_some(files, disk, tmp_path):
    """Nothing of it is lost, and the failure is told meanwhile."""
    metadata = MetadataFile(files, str(tmp_path), UUID)
    metadata.add("first")
    disk["left"] = 10
    metadata.add("second")
    assert metadata.failure is not None
    disk.clear()
    metadata.write()
    assert metadata.failure is None
    metadata.add("third")
    metadata.close()
    raw = (tmp_path / "metadata").read_bytes()
    assert [raw.count(one) for one in (b"first", b"second", b"third")] == [1, 1, 1]
    assert raw.count(struct.pack("=I", 0x75D11D57)) == 3
