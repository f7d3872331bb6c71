"""A recording that is read while it is written."""

from __future__ import annotations

import pytest

from support.ctf_writer import Packet, Trace, numbered
from vestige.cli.main import main
from vestige.components.sources.recording import (
    GRACE,
    LIVE,
    LIVE_FORM,
    LIVE_MAGIC,
    REGISTER,
    RecordingSource,
)
from vestige.components.sources.recording_parts import ARCHIVES
from vestige.errors import NotATraceError
from vestige.graph import Selection
from vestige.graph.mux import merges


def packet(start, sequence=0):
    """Return the bytes of a packet of three events."""
    return Packet(numbered(3, start=start), sequence=sequence).encode()


class Recording:
    """A directory that is written between looks at it."""

    def __init__(self, directory):
        self.directory = directory
        Trace().write(directory)
        (directory / REGISTER).touch()
        self.steps = []

    def append(self, name, data):
        """Add to a file at the next look."""

        def write():
            with (self.directory / name).open("ab") as file:
                file.write(data)

        self.steps.append(write)

    def tell(self, until, magic=LIVE_MAGIC, mirrored=0):
        """Tell until when all is in files, cycles."""
        data = LIVE_FORM.pack(magic, until, until ^ mirrored ^ ((1 << 64) - 1))
        self.steps.append(lambda: (self.directory / LIVE).write_bytes(data))

    def end(self):
        """End the recording at the next look."""
        self.steps.append((self.directory / REGISTER).unlink)

    def read(self, **options):
        """Return the values of all events, and the damage."""
        damage = []
        source = RecordingSource(str(self.directory), **options)
        look = source.poll

        def poll(hungry):
            if self.steps:
                self.steps.pop(0)()
            return look(hungry)

        source.poll = poll
        values = [
            event["value"]
            for merge in merges(
                [],
                feeds={source: Selection()},
                retry_duration=0,
                tell=damage.append,
                tell_damage=damage.append,
            )
            for event in merge.events()
        ]
        return values, damage


@pytest.fixture
def recording(tmp_path):
    """A recording that has just begun."""
    return Recording(tmp_path / "rec")


@pytest.mark.parametrize("grace", [0, 2 * 10**18])
def test_packets_and_files_that_come_later(recording, monkeypatch, grace):
    """A packet is read when it is there as a whole, and in order if it is waited for."""
    monkeypatch.setattr("vestige.components.sources.recording.GRACE", grace)
    first, second = packet(0), packet(10, 1)
    recording.append("a", first + second[:50])
    recording.append("a", second[50:])
    recording.append("b", packet(5)[:10])
    recording.append("b", packet(5)[10:])
    recording.end()
    values, damage = recording.read()
    ordered = [0, 1, 2, 5, 6, 7, 10, 11, 12]
    assert (sorted(values), damage) == (ordered, [])
    assert values == ordered or not grace


def test_what_is_cut_at_the_end_is_damage(recording):
    """When nobody will write the rest."""
    recording.append("a", packet(0) + packet(10, 1)[:100])
    recording.end()
    values, damage = recording.read()
    assert values[:3] == [0, 1, 2]
    assert len(damage) == 1


def test_metadata_that_become_more(recording):
    """Classes that come with a program that begins later."""
    more = Trace(event_fields=("uint32_t value;", "uint32_t value;"))
    later = Packet([numbered(1, start=9)[0].__class__(2_000_000, b"\7\0\0\0", 1)])
    recording.append("a", packet(0))
    text = more.metadata()
    path = recording.directory / "metadata"
    recording.steps.append(lambda: path.write_text(text))
    recording.append("b", later.encode())
    recording.end()
    assert recording.read() == ([0, 1, 2, 7], [])


def test_a_recorder_that_was_killed(recording, monkeypatch):
    """What is in files is read, and then it ends."""
    monkeypatch.setattr("vestige.components.sources.recording.LONGEST_QUIET", 0)
    recording.append("a", packet(0))
    asked = []

    def is_abandoned(directory):
        asked.append(directory)
        return len(asked) > 5

    values, damage = recording.read(is_abandoned=is_abandoned)
    assert values == [0, 1, 2]
    assert "was killed" in str(damage[0])


def test_a_path_without_a_trace(tmp_path):
    """It is refused before anything is shown."""
    with pytest.raises(NotATraceError):
        RecordingSource(str(tmp_path))


def test_what_is_younger_than_two_seconds_waits():
    """So much later a packet is in its file, says the format of recordings."""
    assert GRACE == 2_000_000_000


def test_a_directory_above_recordings(tmp_path, capfd):
    """All that are there are followed, and shown in order."""
    for name, start in (("one", 0), ("two", 1)):
        packet = Packet(numbered(2, start=start, step=2000))
        Trace(streams={"s": [packet]}).write(tmp_path / "session" / name)
    words = ["view", "--follow", "--layout=babeltrace", "--no-debug-info"]

    assert main([*words, str(tmp_path / "session")]) == 0
    text = capfd.readouterr().out
    assert [line.rpartition("= ")[2] for line in text.splitlines()] == (
        ["0 }", "1 }", "1 }", "2 }"]
    )
    assert main([*words, str(tmp_path / "nothing")]) != 0


ENOUGH = 4
"""Merges without events, one after another: nothing is to come."""


class Watched(Recording):
    """A live recording, of which it is known what a viewer has seen so far."""

    def watch(self):
        """Begin to watch."""
        source = RecordingSource(str(self.directory))
        self.merges = merges(
            [], feeds={source: Selection()}, retry_duration=None, tell=print
        )
        return self

    def look(self):
        """Do what is to be done before the next look; return the values that it finds."""
        while self.steps:
            self.steps.pop(0)()
        values = []
        empty = 0
        for merge in self.merges:
            values += [event["value"] for event in merge.events()]
            # There is one for what has no events, too.
            empty = 0 if len(merge) else empty + 1
            if empty == ENOUGH:
                break
        return values


def time_of(value):
    """Return a time behind the event of a value, as a collector would tell it."""
    return numbered(1, start=value)[0].timestamp + 1


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A recording of which nothing would be seen without the file that tells."""
    monkeypatch.setattr("vestige.components.sources.recording.GRACE", 2 * 10**18)
    made = Watched(tmp_path / "rec" / "present")
    made.tell(0)
    return made.watch()


def test_what_is_told_is_seen_at_once(watched):
    """And what is not, waits: a data stream that nobody knows yet may come before it."""
    assert watched.look() == []
    watched.append("a", packet(0))
    assert watched.look() == []
    watched.tell(time_of(1))
    assert watched.look() == [0, 1]
    watched.append("b", packet(2))
    watched.append("a", packet(4, 1))
    watched.tell(time_of(10))
    assert watched.look() == [2, 2, 3, 4, 4, 5, 6]
    watched.end()
    assert watched.look() == []


@pytest.mark.parametrize(
    "rubbish", [{"magic": b"VESTLIV2"}, {"mirrored": 1}, {"mirrored": 1 << 63}]
)
def test_a_file_that_is_being_written_tells_nothing(watched, rubbish):
    """What was told before holds."""
    watched.append("a", packet(0))
    watched.tell(time_of(0))
    assert watched.look() == [0]
    watched.tell(time_of(2), **rubbish)
    assert watched.look() == []
    watched.steps.append(lambda: (watched.directory / LIVE).write_bytes(b"x"))
    assert watched.look() == []
    watched.tell(time_of(2))
    assert watched.look() == [1, 2]


def test_files_that_are_moved_into_an_archive(watched):
    """What nobody has read of them is read there, and then what has their name now."""
    watched.append("a", packet(0))
    watched.append("b", packet(0))
    watched.tell(time_of(0))
    assert watched.look() == [0, 0]
    archive = watched.directory.parent / ARCHIVES / "1"
    watched.append("a", packet(3, 1))
    watched.append("b", packet(3, 1))
    watched.steps.append(lambda: archive.mkdir(parents=True))
    for name in ("a", "b"):
        watched.steps.append(
            lambda name=name: (watched.directory / name).rename(archive / name)
        )
    watched.append("a", packet(8, 2))
    watched.tell(time_of(20))
    found = watched.look() + watched.look()
    watched.tell(time_of(21))
    found += watched.look()
    assert found == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 8, 9, 10]


def test_several_parts_that_have_ended_meanwhile(watched):
    """In their order; what each says once more of the beginning is not said again."""
    watched.append("a", packet(0))
    watched.append("state", packet(0))
    watched.tell(time_of(5))
    assert watched.look() == [0, 0, 1, 1, 2, 2]
    for number in ("2", "10"):
        archive = watched.directory.parent / ARCHIVES / f"x-{number}"
        archive.mkdir(parents=True)
        while watched.steps:
            watched.steps.pop(0)()
        for name in ("a", "state"):
            (watched.directory / name).rename(archive / name)
        watched.append("a", packet(int(number) * 3, int(number)))
        watched.append("state", packet(0))
        watched.append("state-of-new", packet(0))
    watched.tell(time_of(60))
    found = []
    for _ in range(8):
        found += watched.look()

    assert found == [6, 7, 8, 30, 31, 32]
