"""Event records of files that grow are counted, each packet once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.recordings import DATA, leaf
from vestige.control.written_events import WHOLE, Written, WrittenEvents
from vestige.core import Verifier

FILE = "discarding_1"
CHANNEL = "discarding"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace of which one file of a channel is there as far as a test writes it."""
    folder = tmp_path / "trace"
    source = leaf(DATA / "lost")
    folder.mkdir()
    shutil.copy(source / "metadata", folder)
    return folder


def data(name: str) -> bytes:
    """Return a data stream file."""
    return (leaf(DATA / "lost") / name).read_bytes()


def packets(name: str) -> list[tuple[int, int]]:
    """Return where each packet of a file begins, and its bytes."""
    (stream,) = (
        one for one in vestige.open(DATA / "lost").streams if one.path.endswith(name)
    )
    sizes = [size for _, _, size in stream.handle.packet_times]
    return [(sum(sizes[:number]), size) for number, size in enumerate(sizes)]


def all_events(name: str) -> int:
    """Return how many event records a file has."""
    streams = [
        one for one in vestige.open(DATA / "lost").streams if one.path.endswith(name)
    ]
    verifier = Verifier([one.handle for one in streams])
    while verifier.step():
        pass
    assert verifier.records
    return verifier.records


def test_a_file_that_grows_is_counted_once(trace: Path):
    """Packets that are not complete are left for the next look."""
    content = data(FILE)
    assert len(packets(FILE)) > 1
    written = WrittenEvents(str(trace))
    assert written.look([CHANNEL]) == {}
    found = []
    for end in range(0, len(content) + 1000, 1000):
        (trace / FILE).write_bytes(content[:end])
        found.append(written.look([CHANNEL]).get(CHANNEL, Written()))
    assert found[-1] == Written(all_events(FILE), len(content), 0)
    assert found == sorted(found)
    ends = {0, *(begin + size for begin, size in packets(FILE))}
    assert {one.counted for one in found} <= ends
    assert written.look([CHANNEL])[CHANNEL] == found[-1]


def test_of_much_only_the_last_packets_are_read(trace: Path):
    """What was passed is known by its bytes."""
    content = data(FILE)
    (trace / FILE).write_bytes(content)
    least = sum(size for _, size in packets(FILE)[-2:])
    found = WrittenEvents(str(trace), most_bytes=least).look([CHANNEL])[CHANNEL]
    assert found.counted == least
    assert found.passed == len(content) - least
    assert 0 < found.events < all_events(FILE)


def test_a_file_that_is_moved_is_the_same(trace: Path, tmp_path: Path):
    """As when a trace is rotated; one that is made anew is another."""
    (trace / FILE).write_bytes(data(FILE))
    written = WrittenEvents(str(tmp_path))
    before = written.look([CHANNEL])
    trace.rename(tmp_path / "archive")
    assert written.look([CHANNEL]) == before
    (tmp_path / "archive" / FILE).write_bytes(b"")
    written.look([CHANNEL])
    (tmp_path / "archive" / FILE).write_bytes(data(FILE))
    again = written.look([CHANNEL])[CHANNEL]
    assert again.events == 2 * before[CHANNEL].events


def test_a_file_in_the_place_of_another_is_another(trace: Path):
    """Its inode says nothing: that of a file that was removed is soon used again."""
    content = data(FILE)
    (_, first), (begin, size) = packets(FILE)[:2]
    assert size >= first
    written = WrittenEvents(str(trace))
    (trace / FILE).write_bytes(content[:first])
    one = written.look([CHANNEL])[CHANNEL]
    (trace / FILE).write_bytes(content[begin:])
    both = written.look([CHANNEL])[CHANNEL]
    assert both.counted - one.counted == len(content) - begin
    assert both.events == all_events(FILE)


def test_archives_that_are_gone_are_forgotten(trace: Path, tmp_path: Path):
    """However many there were."""
    (trace / FILE).write_bytes(data(FILE))
    written = WrittenEvents(str(tmp_path))
    for number in range(9):
        shutil.copytree(trace, tmp_path / f"archive-{number}")
        written.look([CHANNEL])
        shutil.rmtree(tmp_path / f"archive-{number}")
    assert len(written._files) <= 5
    assert len(written._metadata) <= 2


def test_a_trace_without_channels_is_counted_whole(trace: Path):
    """As that of a recording is."""
    (trace / FILE).write_bytes(data(FILE))
    found = WrittenEvents(str(trace)).look(None)
    assert found == {WHOLE: Written(all_events(FILE), len(data(FILE)), 0)}


def test_what_is_damaged_is_passed(trace: Path):
    """Nobody knows how many records there are."""
    content = bytearray(data(FILE))
    begin, _ = packets(FILE)[1]
    content[begin + 200 : begin + 300] = bytes(100 * [255])
    (trace / FILE).write_bytes(content)
    found = WrittenEvents(str(trace)).look([CHANNEL])[CHANNEL]
    assert (found.events, found.passed) == (0, len(content))


def test_files_of_no_channel_are_left_alone(trace: Path):
    """Such as those of a session before."""
    (trace / FILE).write_bytes(data(FILE))
    (trace / "notes").write_bytes(b"notes")
    assert WrittenEvents(str(trace)).look(["other"]) == {}
    assert list(WrittenEvents(str(trace)).look([CHANNEL])) == [CHANNEL]


def test_a_packet_tells_how_large_records_are(trace: Path):
    """One that is in no file; if its trace is known, and it can be read."""
    content = data(FILE)
    begin, size = packets(FILE)[0]
    packet = content[begin : begin + size]
    written = WrittenEvents(str(trace))
    assert written.density(packet) is None
    (trace / FILE).write_bytes(packet)
    (found,) = written.look([CHANNEL]).values()
    assert found.events > 0
    assert written.density(packet) == found.events / size
    assert written.density(packet[:100]) is None
    assert written.density(packet[:4] + bytes(16) + packet[20:]) is None
