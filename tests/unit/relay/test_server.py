"""What a relay daemon writes of what peers send."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import struct
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from support.relay_daemon import RunningRelay
from support.relay_peer import INVALID_PROTOCOL, NO_STREAM, OK, SECONDS, UNKNOWN
from support.waiting import wait_until
from vestige.live import LiveUrl, Viewer

FOLDER = "ust/uid/0/64-bit"
NAMES = (f"s{number}" for number in count())
ARCHIVE, DELETE = 0, 2
HEAD = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72)


def entries(path):
    """Return offset, size in bits and number of each entry of an index file."""
    whole = path.read_bytes()
    assert whole[:16] == HEAD
    words = [struct.unpack_from(">9Q", whole, at) for at in range(16, len(whole), 72)]
    return [(one[0], one[1], one[8]) for one in words]


@pytest.fixture
def session(relay):
    """Connections of a peer with a session, and its directory."""
    control, data = relay.connect()
    name = next(NAMES)
    _, status, path = control.create_session(name)
    assert (status, path) == (OK, f"host/{name}")
    assert control.create_chunk(0) == OK
    return control, data, relay.output / path


def send(control, data, stream, sequence, **members):
    """Send a packet and what is to be known of it."""
    data.send(stream, sequence, bytes([sequence]) * 4096, **members)
    assert control.add_index(stream, sequence) == OK
    wait_until(lambda: control.is_pending(stream, sequence) == 0, "the packet", SECONDS)


def test_packets_and_their_index_are_in_files(session):
    """In the order in which they came, with the zeros that were not sent."""
    control, data, folder = session
    stream, status = control.add_stream()
    assert status == OK
    metadata, status = control.add_stream("metadata")
    assert status == OK
    control.send_metadata(metadata, b"/* CTF 1.8 */")
    assert control.is_pending(stream, 0) == 1
    data.send(stream, 0, b"a" * 100, padding=28)
    assert control.add_index(stream, 0, size=128) == OK
    send(control, data, stream, 1)
    assert control.close_stream(stream, 1) == OK
    assert control.ask(9, struct.pack(">Q", metadata)) == (OK,)

    written = folder / FOLDER
    assert (written / "channel0_0").read_bytes() == (
        b"a" * 100 + bytes(28) + b"\1" * 4096
    )
    index = entries(written / "index/channel0_0.idx")
    assert index == [(0, 1024, 0), (128, 32768, 1)]
    assert (written / "metadata").read_bytes() == b"/* CTF 1.8 */"


def test_an_index_may_come_before_its_packet(session):
    """And a stream that was closed gets what is on its way."""
    control, data, folder = session
    stream, _ = control.add_stream()
    for sequence in (0, 1):
        assert control.add_index(stream, sequence) == OK
    assert control.close_stream(stream, 1) == OK
    assert control.is_pending(stream, 1) == 1
    for sequence in (0, 1):
        data.send(stream, sequence, bytes(4096))
    wait_until(lambda: control.is_pending(stream, 1) != 1, "the packets", SECONDS)

    assert len(entries(folder / FOLDER / "index/channel0_0.idx")) == 2


def test_data_files_have_a_size_and_a_count(session):
    """The oldest is replaced, and its index with it."""
    control, data, folder = session
    stream, _ = control.add_stream(file_bytes=8192, file_count=2)
    for sequence in range(5):
        send(control, data, stream, sequence)

    written = folder / FOLDER
    assert (written / "channel0_0_0").read_bytes() == b"\4" * 4096
    assert (written / "channel0_0_1").read_bytes() == b"\2" * 4096 + b"\3" * 4096
    numbers = [entries(written / f"index/channel0_0_{one}.idx") for one in (0, 1)]
    assert numbers == [[(0, 32768, 4)], [(0, 32768, 2), (4096, 32768, 3)]]


def test_a_rotation_moves_packets_that_came_too_early(session):
    """Packets of the next trace chunk may be here before the command."""
    control, data, folder = session
    stream, _ = control.add_stream()
    metadata, _ = control.add_stream("metadata")
    control.send_metadata(metadata, b"old")
    send(control, data, stream, 0)
    data.send(stream, 1, b"\1" * 4096)
    data.send(stream, 2, b"\2" * 4096)
    assert control.create_chunk(1, time=1_700_000_100) == OK
    assert control.rotate(1, [(stream, 1), (metadata, 0)]) == OK
    control.send_metadata(metadata, b"new")
    for sequence in (1, 2):
        assert control.add_index(stream, sequence) == OK
    wait_until(lambda: control.is_pending(stream, 2) == 0, "the packets", SECONDS)
    status, path = control.close_chunk(0, time=1_700_000_100, action=ARCHIVE)
    assert status == OK
    wait_until(lambda: not control.has_chunk(0), "the archive", SECONDS)

    old = folder.parent.parent / path / FOLDER
    assert "archives" in path
    assert (old / "channel0_0").read_bytes() == bytes(4096)
    assert (old / "metadata").read_bytes() == b"old"
    assert entries(old / "index/channel0_0.idx") == [(0, 32768, 0)]
    [new] = [one for one in folder.iterdir() if one.name != "archives"]
    assert new.name.endswith("-1")
    assert (new / FOLDER / "channel0_0").read_bytes() == b"\1" * 4096 + b"\2" * 4096
    assert (new / FOLDER / "metadata").read_bytes() == b"new"
    moved = entries(new / FOLDER / "index/channel0_0.idx")
    assert moved == [(0, 32768, 1), (4096, 32768, 2)]


def test_a_session_is_cleared(session):
    """What was there goes; the next trace chunk takes its place."""
    control, data, folder = session
    stream, _ = control.add_stream()
    send(control, data, stream, 0)
    assert control.create_chunk(1) == OK
    assert control.rotate(1, [(stream, 1)]) == OK
    status, path = control.close_chunk(0, action=DELETE)
    assert (status, path) == (OK, f"host/{folder.name}")
    wait_until(lambda: not control.has_chunk(0), "the end of the chunk", SECONDS)
    send(control, data, stream, 1)

    assert [one.name for one in folder.iterdir()] == ["ust"]
    assert (folder / FOLDER / "channel0_0").read_bytes() == b"\1" * 4096


def test_metadata_comes_anew(session):
    """The file is another one, so that who reads the old one has all of it."""
    control, _, folder = session
    metadata, _ = control.add_stream("metadata")
    control.send_metadata(metadata, b"a long one")
    assert control.ask(17, struct.pack(">QQ", metadata, 1)) == (OK,)
    control.send_metadata(metadata, b"new", padding=1)
    assert control.ask(9, struct.pack(">Q", metadata)) == (OK,)

    assert (folder / FOLDER / "metadata").read_bytes() == b"new\0"


@pytest.mark.parametrize(
    ("name", "host", "base"),
    [
        ("..", "host", ""),
        (".hidden", "host", ""),
        ("a/b", "host", ""),
        ("s", "../up", ""),
        ("s", "host", "a/../../b"),
        ("s", "host", ".."),
        ("n" * 256, "host", ""),
    ],
)
def test_names_of_sessions_lead_nowhere_else(relay, name, host, base):
    """The session is refused, and the connection ends."""
    control, _ = relay.connect()
    session, status, path = control.create_session(name, host, base)

    assert (session, status, path) == (0, 25, "")
    assert control.is_closed()


@pytest.mark.parametrize(
    ("channel", "path"),
    [
        ("../x", FOLDER),
        (".x", FOLDER),
        ("x", "../../up"),
        ("x", "a/.."),
        ("n" * 300, FOLDER),
    ],
)
def test_names_of_streams_lead_nowhere_else(session, channel, path):
    """They are refused; the session goes on."""
    control, _, folder = session

    assert control.add_stream(channel, path) == (NO_STREAM, UNKNOWN)
    assert control.add_stream()[1] == OK
    assert [one.name for one in folder.iterdir()] == ["ust"]


def test_a_link_is_no_directory(session, tmp_path):
    """Whoever can write to the output leads the relay nowhere."""
    control, _, folder = session
    (folder / "ust").symlink_to(tmp_path)

    assert control.add_stream() == (NO_STREAM, UNKNOWN)
    assert list(tmp_path.iterdir()) == []


def test_streams_of_another_session_are_none(session, relay):
    """Not for commands, and not for packets on a connection with others."""
    control, data, folder = session
    stream, _ = control.add_stream()
    send(control, data, stream, 0)
    stranger, packets = relay.connect()
    stranger.create_session(next(NAMES), number=2)
    assert stranger.create_chunk(0) == OK
    own, _ = stranger.add_stream()

    assert stranger.close_stream(stream, 0) == UNKNOWN
    assert stranger.rotate(None, [(stream, 0)]) != OK
    packets.send(own, 0, b"x")
    packets.send(stream, 1, b"x")
    assert packets.is_closed()
    send(control, data, stream, 1)
    assert len((folder / FOLDER / "channel0_0").read_bytes()) == 8192


def test_a_packet_that_was_cut_is_not_in_the_file(session):
    """Whoever sent it is gone."""
    control, data, folder = session
    stream, _ = control.add_stream()
    send(control, data, stream, 0)
    head = struct.pack(">QQQII", 0, stream, 1, 4096, 0)
    data.socket.sendall(head + b"half")
    path = folder / FOLDER / "channel0_0"
    wait_until(lambda: path.stat().st_size > 4096, "the half", SECONDS)
    data.close()

    wait_until(lambda: path.stat().st_size == 4096, "the packet is cut off", SECONDS)


def test_the_output_may_be_removed(relay):
    """The next session makes it again."""
    shutil.rmtree(relay.output)
    control, _ = relay.connect()
    name = next(NAMES)

    assert control.create_session(name)[1] == OK
    assert (relay.output / "host" / name).is_dir()


def test_a_stream_has_one_file(session):
    """A second stream of the same name is refused."""
    control, _, _ = session
    control.add_stream()

    assert control.add_stream() == (NO_STREAM, UNKNOWN)


@pytest.mark.parametrize(
    ("command", "payload"),
    [
        (7, b"short"),
        (2, bytes(62)),
        (18, struct.pack(">IB7xQ", 9, 1, 0)),
        (6, struct.pack(">QI", 99, 0)),
    ],
    ids=["cut", "no-uuid", "rotation-without-streams", "metadata-of-nothing"],
)
def test_what_makes_no_sense_ends_the_connection(session, command, payload):
    """And nothing else."""
    control, _, _ = session
    control.send(command, payload)

    assert control.is_closed()


def test_commands_that_are_not_known_are_answered(session):
    """As newer peers expect."""
    control, _, _ = session

    assert control.ask(99) == (UNKNOWN,)
    assert control.ask(22, struct.pack(">Q", 0), ">IQ") == (OK, 1)
    assert control.ask(22, struct.pack(">Q", 5), ">IQ")[0] == INVALID_PROTOCOL


def test_a_session_that_breaks_off_keeps_what_it_has(session):
    """In the midst of a rotation, too: both trace chunks are where people look."""
    control, data, folder = session
    stream, _ = control.add_stream()
    send(control, data, stream, 0)
    assert control.create_chunk(1) == OK
    assert control.rotate(1, [(stream, 1)]) == OK
    send(control, data, stream, 1)
    control.close()
    data.close()

    def are_both_there():
        """Whether each is found, which they may not be while they are moved."""
        files = [
            f"{os.path.relpath(place, folder)}/{name}"
            for place, _, names in os.walk(folder)  # takes folders that go away
            for name in names
        ]
        names = [one for one in files if "channel" in one and not one.endswith(".idx")]
        is_hidden = any(name.startswith(".") for name in names)
        archived = sorted("archives" in one for one in names)
        return not is_hidden and archived == [False, True]

    wait_until(are_both_there, "the end", SECONDS)


def test_a_chunk_that_was_closed_takes_no_stream(relay):
    """Its streams may go on; others, in it or in a session of its number, do not."""
    control, _ = relay.connect()
    control.create_session(next(NAMES), number=71)
    assert control.create_chunk(0) == OK
    stream, _ = control.add_stream()
    assert control.close_chunk(0)[0] == OK
    assert control.has_chunk(0)
    assert control.rotate(0, [(stream, 0)]) != OK
    other, _ = relay.connect()
    other.create_session(next(NAMES), number=71)
    assert other.create_chunk(0) == OK
    assert other.add_stream()[1] == OK


@pytest.mark.parametrize("time", [1 << 40, (1 << 63) - 1, (1 << 64) - 1])
def test_times_without_a_date_are_refused(relay, time):
    """The connection goes on."""
    control, _ = relay.connect()
    control.create_session(next(NAMES), number=72)
    assert control.create_chunk(0, time) == INVALID_PROTOCOL
    assert control.create_chunk(0) == OK
    assert control.close_chunk(0, time)[0] == UNKNOWN
    assert control.close_chunk(0)[0] == OK
    first, _ = relay.connect()
    assert first.create_session(next(NAMES), created=time)[1] != OK


def test_a_first_command_is_short(relay):
    """Whoever has no session takes no memory."""
    control, _ = relay.connect()
    control.socket.sendall(struct.pack(">QQII", 0, 1 << 20, 6, 0))
    assert control.is_closed()


def test_directories_of_streams_that_have_ended_are_closed(session, relay):
    """Each program of a session has one of its own, and programs come and go."""
    control, _, _ = session
    files = Path(f"/proc/{relay.process.pid}/fd")

    def count_open():
        return len(list(files.iterdir()))

    before = count_open()
    for number in range(50):
        stream, status = control.add_stream(path=f"ust/pid/p{number}")
        assert status == OK
        assert control.close_stream(stream, NO_STREAM) == OK
    wait_until(lambda: count_open() < before + 10, "closed directories", SECONDS)


def test_files_of_a_session_that_was_seen_are_closed(relay):
    """Nobody need ask once more for sessions that a viewer has seen."""
    control, data = relay.connect()
    _, _, path = control.create_session(next(NAMES), live_timer=1_000_000)
    assert control.create_chunk(0) == OK
    metadata, _ = control.add_stream("metadata", FOLDER)
    control.send_metadata(metadata, b"text")
    stream, _ = control.add_stream()
    assert control.ask(16, b"") == (OK,)
    send(control, data, stream, 0)
    viewer = Viewer(LiveUrl.parse(f"net://127.0.0.1:{relay.live}"))
    [seen] = viewer.sessions()
    assert seen.streams == 2
    viewer.close()
    relay.disconnect()

    def open_files():
        found = []
        for one in Path(f"/proc/{relay.process.pid}/fd").iterdir():
            # One that is closed meanwhile is not there to be read.
            with suppress(FileNotFoundError):
                found.append(str(one.readlink()))
        return [one for one in found if path in one]

    wait_until(lambda: not open_files(), "closed files", SECONDS)


def test_who_reads_a_session_waits_for_its_first_metadata(relay):
    """It is listed with its data streams before that: LTTng's own viewer counts them."""
    control, _ = relay.connect()
    control.create_session(next(NAMES), live_timer=1_000_000)
    assert control.create_chunk(0) == OK
    metadata, _ = control.add_stream("metadata", FOLDER)
    control.add_stream()
    assert control.ask(16, b"") == (OK,)
    viewer = Viewer(LiveUrl.parse(f"net://127.0.0.1:{relay.live}"))
    [seen] = viewer.sessions()
    assert seen.streams == 2

    later = threading.Timer(0.1, control.send_metadata, (metadata, b"text"))
    later.start()
    viewer.begin()
    found = viewer.attach(seen.id)
    later.join()

    assert len(found) == 2
    viewer.close()
    relay.disconnect()


@pytest.mark.parametrize("is_ignored", [False, True])
def test_a_terminal_that_goes_away_is_an_end(tmp_path, is_ignored):
    """Half a packet is cut off then; ``nohup`` has the relay daemon go on."""
    wanted = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    before = signal.signal(signal.SIGHUP, wanted)
    try:
        relay = RunningRelay(tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    control, data = relay.connect()
    control.create_session("s")
    assert control.create_chunk() == OK
    stream, _ = control.add_stream()
    data.socket.sendall(struct.pack(">QQQII", 0, stream, 0, 4096, 0) + b"x" * 100)
    [file] = relay.output.rglob("channel0_0")
    wait_until(lambda: file.stat().st_size == 100, "half a packet", SECONDS)
    relay.process.send_signal(signal.SIGHUP)
    if is_ignored:
        assert control.close_stream(stream, NO_STREAM) == OK
        relay.end()
    else:
        relay.process.communicate(timeout=SECONDS)
        assert relay.process.returncode == 0
        assert file.stat().st_size == 0
    relay.disconnect()


@pytest.mark.parametrize("minor", [1, 2, 4, 7, 8, 10])
def test_older_peers_are_served(relay, minor):
    """They send the whole path with each stream; before 2.4, there are no indexes."""
    control, data = relay.connect(minor)
    name = next(NAMES)
    assert control.create_session(name)[1:] == (OK, "")
    stream, status = control.add_stream(path=f"host/{name}-1/ust/uid/0/64-bit")
    assert status == OK
    data.send(stream, 0, b"x" * 64)
    if minor >= 4:
        assert control.add_index(stream, 0, size=64) == OK
    wait_until(lambda: control.is_pending(stream, 0) == 0, "the packet", SECONDS)
    assert control.close_stream(stream, 0) == OK

    written = relay.output / f"host/{name}-1" / FOLDER
    assert (written / "channel0_0").read_bytes() == b"x" * 64
    index = written / "index/channel0_0.idx"
    sizes = {1: 0, 2: 0, 4: 56, 7: 56, 8: 72, 10: 72}
    assert (index.stat().st_size - 16 if index.exists() else 0) == sizes[minor]


def test_another_protocol_is_told_which_one_it_would_be(relay):
    """And the connection ends: so does lttng-relayd."""
    with socket.create_connection(("127.0.0.1", relay.control), SECONDS) as peer:
        peer.sendall(struct.pack(">QQIIII", 0, 8, 5, 0, 3, 0))
        assert peer.recv(8, socket.MSG_WAITALL) == struct.pack(">II", 2, 13)
        assert peer.recv(1) == b""


def test_packets_for_which_there_is_no_space_are_counted(tmp_path):
    """The session goes on: its metadata come, and what finds space again is written."""
    relay = RunningRelay(tmp_path)
    _, most = resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE)
    control, data = relay.connect()
    control.create_session("full")
    assert control.create_chunk() == OK
    stream, _ = control.add_stream()
    metadata, _ = control.add_stream("metadata")
    send(control, data, stream, 0)
    resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE, (6000, most))
    data.send(stream, 1, bytes(3000), padding=1096)
    data.send(stream, 2, bytes(4096))
    for sequence in (1, 2):
        assert control.add_index(stream, sequence) == OK
    wait_until(lambda: control.is_pending(stream, 2) == 0, "the packets", SECONDS)
    control.send_metadata(metadata, b"/* CTF 1.8 */")
    resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE, (most, most))
    send(control, data, stream, 3)
    assert control.close_stream(stream, 3) == OK
    assert control.close_stream(metadata, 0) == OK
    relay.disconnect()
    status, said = relay.end()

    assert status == 0
    [name] = relay.output.rglob("channel0_0")
    path = name.relative_to(relay.output)
    assert said.splitlines() == [
        f"Warning: {path}: there is no space: packets are left out",
        f"Warning: {path}: no space: 2 packets, 8192 bytes, left out",
    ]
    assert name.read_bytes() == bytes(4096) + b"\3" * 4096
    index = entries(name.parent / "index/channel0_0.idx")
    assert index == [(0, 32768, 0), (4096, 32768, 3)]
    [text] = relay.output.rglob("metadata")
    assert text.read_bytes() == b"/* CTF 1.8 */"
    assert text.stat().st_blocks * 512 <= 4096
