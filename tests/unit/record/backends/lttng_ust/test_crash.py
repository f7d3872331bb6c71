"""Rings of crashed sessions are read as far as they make sense, and are not changed."""

from __future__ import annotations

import os
import random
import struct

import pytest

from vestige.errors import RecordError
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.crash import extract
from vestige.record.backends.lttng_ust.crash_header import (
    CRASH_HEADER_SIZE,
    read_crash_header,
)
from vestige.record.backends.lttng_ust.overwriting_ring import OverwritingRing
from vestige.record.backends.lttng_ust.ring import Ring, RingIdentity, RingShape

UUID = bytes(range(16))
NOBODY = 65534
SEEDS = range(60)


@pytest.fixture(params=[False, True])
def source(request, tmp_path):
    """A directory with the metadata and one ring, whose first packet is open."""
    shape = RingShape(4096, 4, is_overwriting=request.param)
    kind = OverwritingRing if request.param else Ring
    folder = tmp_path / "shm" / "trace"
    folder.mkdir(parents=True)
    (folder / "metadata").write_bytes(b"/* CTF 1.8 */")
    ring = kind(str(folder / "c_0"), 0, shape, RingIdentity(1, UUID, Clock()))
    hot = 640
    for place in (128, hot, hot + 8):
        ring.set(place, ring.word(place) + 100)
    ring.close()
    return tmp_path / "shm"


def test_the_open_packet_is_written(source, tmp_path):
    """Into a directory as in the source; the ring is as it was."""
    before = (source / "trace" / "c_0").read_bytes()
    made, damage = extract(str(source), str(tmp_path / "out"))
    assert (made, damage) == ([tmp_path / "out" / "trace"], [])
    packet = (tmp_path / "out" / "trace" / "c_0").read_bytes()
    assert len(packet) == 4096
    assert struct.unpack_from("=Q", packet, 48)[0] == (84 + 100) * 8
    assert (source / "trace" / "c_0").read_bytes() == before
    assert sorted(one.name for one in made[0].iterdir()) == ["c_0", "metadata"]


def test_a_ring_says_how_it_is_laid_out(source):
    """And only one that is laid out so is read."""
    raw = (source / "trace" / "c_0").read_bytes()[:CRASH_HEADER_SIZE]
    header = read_crash_header(raw)
    assert header is not None
    assert (header.subbuf_size, header.num_subbuf) == (4096, 4)
    assert header.pack() == raw
    for place in (24, 26, 30, 32, 76, 84):
        wrong = bytearray(raw)
        wrong[place] ^= 1
        with pytest.raises(ValueError, match="expected a ring buffer of LTTng"):
            read_crash_header(bytes(wrong))
    assert read_crash_header(b"/* CTF 1.8 */".ljust(200)) is None
    assert read_crash_header(raw[:-1]) is None


@pytest.mark.parametrize(
    ("place", "value"), [(96, 1 << 50), (104, 1 << 50), (104, 5), (112, 0), (48, 1)]
)
def test_a_ring_of_another_layout_is_one_error(source, tmp_path, place, value):
    """It names the file."""
    file = source / "trace" / "c_0"
    raw = bytearray(file.read_bytes())
    struct.pack_into("=Q", raw, place, value)
    file.write_bytes(raw)
    _, damage = extract(str(source), str(tmp_path / "out"))
    assert len(damage) == 1
    assert damage[0].startswith(f"{file}: left out: expected")
    assert (tmp_path / "out" / "trace" / "metadata").exists()


def damaged(source, tmp_path, change):
    """Return what is said of the ring after a change of its bytes, and of another."""
    file = source / "trace" / "c_0"
    raw = bytearray(file.read_bytes())
    (source / "trace" / "c_1").write_bytes(raw)
    change(raw)
    file.write_bytes(raw)
    found = extract(str(source), str(tmp_path / "out"))
    assert (found.traces[0] / "c_1").stat().st_size == 4096
    assert all(one.startswith(f"{file}: ") for one in found.damage)
    return [one.removeprefix(f"{file}: ") for one in found.damage]


def test_a_ring_without_its_beginning_is_reported(source, tmp_path):
    """Also one that is empty; the others are read."""

    def spoil(raw):
        raw[3] ^= 1

    (said,) = damaged(source, tmp_path, spoil)
    assert said.startswith("left out: its ")
    assert said.endswith("expected 128 bytes that say how it is laid out")


def test_a_ring_that_was_cut_is_reported(source, tmp_path):
    """What is there of it is read."""

    def cut(raw):
        del raw[9000:]

    (said,) = damaged(source, tmp_path, cut)
    assert said.startswith("it ends after 9000 of ")


def test_a_packet_that_makes_no_sense_is_reported(source, tmp_path):
    """It is left out."""

    def spoil(raw):
        # Committed, with more content than the sub-buffer has.
        struct.pack_into("=Q", raw, 128, 4096 + 84)
        struct.pack_into("=Q", raw, 640 + 4 * 128, 4096)
        struct.pack_into("=Q", raw, 4096 + 48, 1 << 40)

    (said,) = damaged(source, tmp_path, spoil)
    assert "make no sense" in said


def test_counters_that_make_no_sense_are_reported(source, tmp_path):
    """As where more was consumed than was ever reserved."""

    def spoil(raw):
        struct.pack_into("=Q", raw, 152, 1 << 40)

    (said,) = damaged(source, tmp_path, spoil)
    assert "its counters make no sense, so packets may be missing" in said


def test_damage_ends_nobody(source, tmp_path):
    """Whatever is in a ring, as much as it can hold is written at most."""
    file = source / "trace" / "c_0"
    whole = file.read_bytes()
    for seed in SEEDS:
        chance = random.Random(seed)  # noqa: S311 - damage is no secret
        raw = bytearray(whole[: chance.choice([len(whole), 9000, 700, 200])])
        for _ in range(chance.randrange(1, 40)):
            place = chance.randrange(CRASH_HEADER_SIZE, len(raw))
            raw[place] = chance.randrange(256)
        file.write_bytes(raw)
        target = tmp_path / str(seed)
        extract(str(source), str(target))
        written = (target / "trace" / "c_0").stat().st_size
        assert written <= 5 * 4096


def test_a_directory_without_rings_gives_nothing(tmp_path):
    """And one that is not there is an error."""
    assert extract(str(tmp_path), str(tmp_path / "out")) == ([], [])
    with pytest.raises(RecordError, match="expected a directory of ring buffers"):
        extract(str(tmp_path / "none"), str(tmp_path / "out"))


def test_a_directory_with_files_is_left_as_it_is(source, tmp_path):
    """It may be a trace; an empty one is taken."""
    target = tmp_path / "out"
    target.mkdir()
    extract(str(source), str(target))
    kept = target / "trace" / "c_0"
    kept.write_bytes(b"mine")
    with pytest.raises(RecordError, match="expected a new or an empty directory"):
        extract(str(source), str(target))
    assert kept.read_bytes() == b"mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a link of another user")
@pytest.mark.parametrize("name", ["metadata", "c_0"])
@pytest.mark.parametrize("is_theirs", [False, True])
def test_nobody_is_led_to_files_of_others(source, tmp_path, name, is_theirs):
    """Root reads the rings of users, and copies no more than what is theirs."""
    file, elsewhere = source / "trace" / name, tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    os.lchown(file, NOBODY, NOBODY)
    if is_theirs:
        os.chown(elsewhere, NOBODY, NOBODY)
    target = tmp_path / "out"
    if name == "metadata" and not is_theirs:
        with pytest.raises(RecordError, match="expected a file, not somebody's link"):
            extract(str(source), str(target))
    else:
        extract(str(source), str(target))
    assert (target / "trace" / name).exists() == is_theirs
