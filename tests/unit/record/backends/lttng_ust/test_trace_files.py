"""Files of a trace stay whole while there is no room for more."""

from __future__ import annotations

import os
import struct
from pathlib import Path

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
HEADER_BITS = 8 * HEADER_SIZE
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

    def writev(file, parts):
        return write(file, b"".join(parts))

    proxy = type("Proxy", (), {"__getattr__": lambda _, name: getattr(os, name)})()
    proxy.write, proxy.writev = write, writev
    monkeypatch.setattr(trace_files, "os", proxy)
    return room


def packet(number=0, lost=0):
    """Return a packet."""
    facts = (1, 2, 800, 8 * SIZE, number, lost)
    header = struct.pack("=I16sIQQQQQQQI", 0xC1FC1FC1, UUID, 0, 0, *facts, 0)
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


def entries(folder):
    """Return the packets of an index: place, sizes, times, losses, number."""
    raw = (folder / "index" / "c_0.idx").read_bytes()[INDEX_HEADER.size :]
    return [(*row[:6], row[8]) for row in INDEX_ENTRY.iter_unpack(raw)]


@pytest.mark.parametrize("way", ["cut", "clear"])
def test_a_chunk_begins_with_what_was_lost_before(files, tmp_path, way):
    """An empty packet says it, where a reader could not know."""
    file = DataStreamFile(files, str(tmp_path), "c_0", (0, 0))
    file.write(packet(4, 7))
    getattr(file, way)(*([packet(5, 8)] if way == "clear" else []))
    last = (5, 8) if way == "clear" else (4, 7)
    file.cut()
    assert way == "cut" or not (tmp_path / "c_0").exists()
    file.write(packet(6, 9))
    file.write(packet(7, 9))
    file.close()
    assert entries(tmp_path) == [
        (0, HEADER_BITS + 32, HEADER_BITS, 1, 1, last[1], last[0]),
        (HEADER_SIZE + 4, 8 * SIZE, 800, 1, 2, 9, 6),
        (HEADER_SIZE + 4 + SIZE, 8 * SIZE, 800, 1, 2, 9, 7),
    ]
    raw = (tmp_path / "c_0").read_bytes()
    assert len(raw) == HEADER_SIZE + 4 + 2 * SIZE
    assert raw[:20] == raw[HEADER_SIZE + 4 :][:20] == packet().header[:20]


def test_a_chunk_without_losses_has_no_such_packet(files, tmp_path):
    """Nor one whose files have no room for it."""
    file = DataStreamFile(files, str(tmp_path), "c_0", (0, 0))
    file.write(packet(4))
    file.cut()
    file.write(packet(5))
    file.close()
    assert [row[-1] for row in entries(tmp_path)] == [5]
    file = DataStreamFile(files, str(tmp_path), "d_0", (SIZE, 0))
    file.write(packet(4, 1))
    file.cut()
    file.write(packet(5, 1))
    file.close()
    assert (tmp_path / "d_0_0").stat().st_size == SIZE


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("room", [0, 10, HEADER_SIZE, HEADER_SIZE + 1, SIZE])
def test_a_packet_has_the_header_that_was_checked(files, tmp_path, room):
    """Whatever a program writes over it meanwhile, and in how many parts it goes."""
    file = DataStreamFile(files, str(tmp_path), "c_0", (0, 0), has_index=False)
    one = packet()
    scribbled = one._replace(data=memoryview(b"?" * HEADER_SIZE + one.data[84:]))
    write, sizes = trace_files.os.write, [room]

    def write_part(file, raw):
        return write(file, raw[: sizes.pop()] if sizes else raw)

    trace_files.os.write = write_part
    trace_files.os.writev = lambda file, parts: write_part(file, b"".join(parts))
    file.write(scribbled)
    file.close()
    assert (tmp_path / "c_0").read_bytes() == bytes(one.data)


@pytest.mark.parametrize("limits", [(0, 0), (SIZE, 0), (3 * SIZE, 2)])
def test_a_packet_can_be_taken_back(files, tmp_path, limits):
    """And others come in its place."""
    file = DataStreamFile(files, str(tmp_path), "c_0", limits, has_index=False)
    file.write(packet())
    file.write(packet())
    file.take_back(packet())
    last = packet()._replace(data=memoryview(b"y" * SIZE))
    file.write(last)
    file.close()
    assert file.chunk_size == 2 * SIZE
    written = b"".join(
        one.read_bytes() for one in sorted(tmp_path.iterdir()) if one.is_file()
    )
    assert written == bytes(packet().data) + last.header + b"y" * (SIZE - HEADER_SIZE)


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


class Watched(OwnerFiles):
    """Files of which it is noted how large data and index are, one by one."""

    def open(self, path, *, is_continued=False):
        """Open one, and look."""
        found = super().open(path, is_continued=is_continued)
        check_index(self.folder)
        return found


def check_index(folder):
    """No index lists packets of a file that has none."""
    for index in Path(folder, "index").glob("*.idx"):
        data = Path(folder, index.stem)
        there = data.exists() and data.stat().st_size
        assert there or index.stat().st_size <= INDEX_HEADER.size


def test_an_index_goes_before_the_file_that_is_replaced(tmp_path):
    """Who reads meanwhile would miss packets."""
    files = Watched(str(tmp_path), os.getuid(), os.getgid())
    file = DataStreamFile(files, str(tmp_path), "c_0", (SIZE, 2))
    for number in range(5):
        file.write(packet(number))
    file.close()
    names = sorted(one.name for one in (tmp_path / "index").iterdir())
    assert names == ["c_0_0.idx", "c_0_1.idx"]


def test_an_index_is_cleared_before_its_file(files, tmp_path, monkeypatch):
    """Who reads meanwhile would miss packets."""
    file = DataStreamFile(files, str(tmp_path), "c_0", (0, 0))
    file.write(packet())
    unlink = Path.unlink

    def look(path, *, missing_ok=False):
        unlink(path, missing_ok=missing_ok)
        check_index(tmp_path)

    monkeypatch.setattr(Path, "unlink", look)
    file.clear()
    assert not (tmp_path / "c_0").exists()
