"""Opening the files of traces and joining them into data streams."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from support.ctf_writer import UUID_TEXT, Packet, Trace, numbered
from support.lttng_index import INDEX_ENTRY, INDEX_HEADER
from support.recordings import DATA, NAMES, copy_trace, leaf
from vestige.cli.main import main
from vestige.ctf import find_traces, open_traces
from vestige.ctf.reading import trace_files as module
from vestige.errors import TraceFormatError

NONSENSE = "/* CTF 1.8 */\ntrace {\n  nonsense\n"


def open_all(path):
    """Open the traces at or below a path, all of which have usable metadata."""
    opened, unusable = open_traces(find_traces(path))
    assert unusable == []
    return opened


def two_traces(root):
    """Write a good trace and one with metadata that cannot be used."""
    Trace(streams={"stream": [Packet(numbered(2))]}).write(root / "good")
    Trace(streams={"stream": [Packet(numbered(3))]}).write(root / "bad")
    (root / "bad" / "metadata").write_text(NONSENSE)


def events_of(path):
    """Return what event records say, whatever file they come from."""
    return [
        (event.timestamp, event.name, repr(event.payload), repr(event.packet_context))
        for event in vestige.open(path, debug_info=False)
    ]


def stream_facts(trace):
    """Return class, ID and file names of the data streams of a trace."""
    return [
        (
            stream.stream_class,
            stream.id,
            [Path(file.path).name for file in stream.files],
        )
        for stream in trace.streams
    ]


class TestOpening:
    """What is found in a directory."""

    @pytest.mark.parametrize("place", ["gone", "empty", "directory", "loop"])
    def test_a_file_that_only_its_index_knows_is_reported(self, tmp_path, place):
        """LTTng's index tells that a data stream was there."""
        copied = tmp_path / "trace"
        directory = leaf(shutil.copytree(DATA / "hello", copied))
        index = max((directory / "index").iterdir(), key=lambda one: one.stat().st_size)
        file = directory / index.stem
        file.unlink()
        if place == "empty":
            file.touch()
        elif place == "directory":
            file.mkdir()
        elif place == "loop":
            file.symlink_to(file)
        [trace] = open_all(copied)

        assert str(file) in {str(damaged.path) for damaged in trace.damaged}
        assert "its index lists packets" in str(trace.damaged[0].error)
        assert main(["check", str(copied)]) > 0

    def test_each_file_of_lttng_is_a_data_stream(self):
        """Joined by stream class and ID, in the order of their paths."""
        [trace] = open_all(DATA / "lost")

        assert sorted(stream_facts(trace), key=lambda facts: facts[2]) == stream_facts(
            trace
        )
        assert [(facts[1], facts[2]) for facts in stream_facts(trace)] == [
            (0, ["discarding_0"]),
            (1, ["discarding_1"]),
            (0, ["overwriting_0"]),
            (1, ["overwriting_1"]),
        ]
        assert trace.streams[0].name == str(leaf(DATA / "lost") / "discarding_0")

    def test_a_trace_is_named_by_host_and_path(self):
        """As in the text of its events."""
        [below] = open_all(DATA / "hello")
        [itself] = open_all(leaf(DATA / "hello"))

        assert below.name == "demo/ust/uid/0/64-bit"
        assert itself.name == "demo"

    def test_a_trace_of_which_nothing_is_known_has_no_name(self, tmp_path):
        """Neither host nor path."""
        [trace] = open_all(Trace().write(tmp_path))

        assert trace.name == ""

    def test_a_file_without_an_instance_id_is_a_stream_of_its_own(self, tmp_path):
        """Although the stream class is the same."""
        packets = [Packet(numbered(1))]
        [trace] = open_all(Trace(streams={"b": packets, "a": packets}).write(tmp_path))

        assert stream_facts(trace) == [(0, None, ["a"]), (0, None, ["b"])]

    def test_a_file_that_is_no_data_stream_is_listed_as_damaged(self, tmp_path):
        """The others are opened."""
        directory = copy_trace("hello", tmp_path / "trace")
        (directory / "notes").write_bytes(b"x" * 100)
        [trace] = open_all(directory)

        [damaged] = trace.damaged
        assert damaged.path == directory / "notes"
        assert (damaged.error.path, damaged.error.offset) == (
            str(directory / "notes"),
            0,
        )
        assert len(trace.streams) == 2

    def test_a_pipe_among_data_streams_is_damage_and_never_opened(self, tmp_path):
        """Opening it would wait for a writer; directories are no data streams."""
        directory = Trace(streams={"stream": [Packet(numbered(2))]}).write(tmp_path)
        os.mkfifo(directory / "pipe")
        (directory / "linked").symlink_to("pipe")
        (directory / "folder").mkdir()
        [trace] = open_all(directory)

        assert [(found.path.name, found.error.message) for found in trace.damaged] == [
            ("linked", "not a regular file; expected a data stream file"),
            ("pipe", "not a regular file; expected a data stream file"),
        ]
        assert trace.damaged[0].error.damage.kind == "stream-unreadable"
        assert [facts[2] for facts in stream_facts(trace)] == [["stream"]]

    def test_a_socket_among_data_streams_is_damage(self, tmp_path, monkeypatch):
        """As a session daemon would leave one."""
        directory = Trace(streams={"stream": [Packet(numbered(2))]}).write(tmp_path)
        monkeypatch.chdir(directory)
        with socket.socket(socket.AF_UNIX) as left:
            left.bind("socket")
            [trace] = open_all(directory)

        assert [found.path.name for found in trace.damaged] == ["socket"]


class TestSeveralTraces:
    """One trace with unusable metadata among others."""

    def test_it_does_not_hide_the_others(self, tmp_path):
        """It is reported as damage, and they are read."""
        two_traces(tmp_path)
        with pytest.warns(vestige.TraceDamageWarning, match="expected '='") as caught:
            trace = vestige.open(tmp_path, debug_info=False)

        assert len(caught) == 1
        [damage] = trace.damage
        assert (damage.path, damage.kind, damage.lost_records) == (
            str(tmp_path / "bad" / "metadata"),
            "metadata-unusable",
            None,
        )
        assert len(trace) == 2

    def test_strict_reading_refuses_it(self, tmp_path):
        """As any other damage."""
        two_traces(tmp_path)
        with pytest.raises(TraceFormatError, match="expected '='") as caught:
            vestige.open(tmp_path, debug_info=False, strict=True)

        assert caught.value.damage.kind == "metadata-unusable"

    @pytest.mark.parametrize("command", ["convert", "check"])
    def test_the_command_line_prints_it_and_reads_on(self, command, tmp_path, capfd):
        """One line on standard error, exit status 1; one error with --strict."""
        two_traces(tmp_path)

        assert main([command, str(tmp_path)]) == 1
        printed = capfd.readouterr()
        assert printed.err.startswith(f"vestige: error: {tmp_path}/bad/metadata")
        assert printed.err.count("\n") == 1
        assert printed.out
        assert main([command, "--strict", str(tmp_path)]) != 0
        assert "expected '='" in capfd.readouterr().err

    def test_repair_leaves_it_out(self, tmp_path, capfd):
        """What is written is sound."""
        two_traces(tmp_path / "in")

        assert main(["repair", str(tmp_path / "in"), str(tmp_path / "out")]) == 1
        assert "bad/metadata" in capfd.readouterr().err
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["good"]
        assert len(vestige.open(tmp_path / "out", debug_info=False)) == 2

    def test_when_none_is_usable_the_first_is_the_error(self, tmp_path):
        """There is nothing to read."""
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "metadata").write_text(NONSENSE)
        with pytest.raises(TraceFormatError, match="expected '='") as caught:
            open_traces(find_traces(tmp_path))

        assert caught.value.path == str(tmp_path / "one" / "metadata")
        assert caught.value.contexts == ["reading the metadata"]


class TestMetadata:
    """Metadata that cannot be used."""

    def test_an_error_says_what_was_done(self, tmp_path):
        """With file, line and context."""
        (tmp_path / "metadata").write_text(NONSENSE)
        with pytest.raises(TraceFormatError) as caught:
            open_all(tmp_path)

        assert caught.value.contexts == ["reading the metadata"]
        assert caught.value.path == str(tmp_path / "metadata")
        assert "line 4: expected '='" in caught.value.message

    def test_metadata_of_endless_size_are_not_read(self, tmp_path):
        """The file is sparse: nothing of it would fit the memory."""
        (tmp_path / "metadata").touch()
        os.truncate(tmp_path / "metadata", 1 << 40)
        with pytest.raises(TraceFormatError, match="more than 64 MiB"):
            open_all(tmp_path)

    def test_metadata_that_may_not_be_read(self, unprivileged):
        """The reason is the system's."""
        Trace().write(unprivileged)
        (unprivileged / "metadata").chmod(0)
        with pytest.raises(
            TraceFormatError, match="cannot read the metadata: Permission"
        ):
            open_all(unprivileged)

    def test_a_file_name_that_is_no_text_is_an_error(self, tmp_path):
        """The core takes names as UTF-8."""
        directory = Trace(streams={"stream": [Packet(numbered(2))]}).write(tmp_path)
        (directory / "stream").rename(directory / os.fsdecode(b"stream\xff"))
        [trace] = open_all(directory)

        assert [damaged.error.message for damaged in trace.damaged] == [
            "cannot open: the path is no UTF-8 text"
        ]


class TestIndexes:
    """LTTng's index files only save time."""

    @pytest.mark.parametrize("name", NAMES)
    def test_without_them_the_events_are_the_same(self, name, tmp_path):
        """The headers of the packets are read instead."""
        shutil.copytree(DATA / name, tmp_path / name)
        for index in (tmp_path / name).rglob("index"):
            shutil.rmtree(index)

        assert events_of(tmp_path / name) == events_of(DATA / name)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda _: b"",
            lambda data: data[:-1],
            lambda data: data[:24],
            lambda data: bytes(len(data)),
            lambda data: b"\xff" * len(data),
            lambda data: data[:24] + bytes(8) + data[32:],
            lambda data: data[:40] + b"\x7f" + data[41:],
            lambda data: data + data[16:],
            lambda data: data[::-1],
        ],
        ids=[
            "empty",
            "cut",
            "header only",
            "zeros",
            "ones",
            "offset zero",
            "odd size",
            "doubled",
            "reversed",
        ],
    )
    def test_a_damaged_one_changes_nothing(self, damage, tmp_path):
        """One that does not describe its file exactly is not used."""
        shutil.copytree(DATA / "lost", tmp_path / "lost")
        for index in (tmp_path / "lost").rglob("*.idx"):
            index.write_bytes(damage(index.read_bytes()))

        assert events_of(tmp_path / "lost") == events_of(DATA / "lost")

    @pytest.mark.parametrize(
        ("number", "value"),
        [(3, 0), (3, 1 << 40), (4, 0), (4, 1 << 40), (5, 0), (5, 1 << 40)],
    )
    def test_times_and_counts_of_a_damaged_one_change_nothing(
        self, number, value, tmp_path
    ):
        """Also of a packet that is not looked at before an index is believed."""
        packets = [
            Packet(numbered(2, start=2 * one), discarded=one // 3, sequence=one)
            for one in range(300)
        ]
        directory = Trace(streams={"stream": packets}).write(tmp_path / "whole")
        entries, place = [], 0
        for packet in packets:
            times = [event.timestamp for event in packet.events]
            bits = 8 * len(packet.encode())
            facts = (*times, packet.discarded, 0, 0, packet.sequence)
            entries.append([place, bits, bits, *facts])
            place += bits // 8
        expected = events_of(directory)
        (directory / "index").mkdir()
        index = directory / "index" / "stream.idx"

        for is_damaged in (False, True):
            if is_damaged:
                entries[101][number] = value
            written = b"".join(INDEX_ENTRY.pack(*entry) for entry in entries)
            index.write_bytes(INDEX_HEADER + written)
            opened = vestige.open(directory, debug_info=False)
            assert len([*opened]) == 600
            assert not opened.damage
            assert events_of(directory) == expected

    def test_that_of_another_file_changes_nothing(self, tmp_path):
        """Two files with the same number of packets and other times."""
        shutil.copytree(DATA / "lost", tmp_path / "lost")
        folder = leaf(tmp_path / "lost") / "index"
        for one, other in (
            ("discarding_1", "overwriting_1"),
            ("discarding_0", "discarding_1"),
        ):
            shutil.copyfile(
                leaf(DATA / "lost") / "index" / f"{other}.idx", folder / f"{one}.idx"
            )

        assert events_of(tmp_path / "lost") == events_of(DATA / "lost")

    def test_what_is_no_regular_file_is_not_opened(self, tmp_path):
        """A pipe would never end."""
        directory = Trace(streams={"stream": [Packet(numbered(2))]}).write(tmp_path)
        (directory / "index").mkdir()
        os.mkfifo(directory / "index" / "stream.idx")

        assert module._read_index(directory, "stream") is None
        assert len(events_of(directory)) == 2


class TestJoining:
    """Files that are parts of one data stream, directories that are parts of one trace."""

    def test_a_copy_of_a_file_adds_no_events(self, tmp_path):
        """A packet that stands in two files is read once."""
        directory = copy_trace("lost", tmp_path / "trace")
        expected = events_of(directory)
        shutil.copyfile(directory / "discarding_1", directory / "another")
        [trace] = open_all(directory)

        assert events_of(directory) == expected
        assert [facts[2] for facts in stream_facts(trace)] == [
            ["another", "discarding_1"],
            ["discarding_0"],
            ["overwriting_0"],
            ["overwriting_1"],
        ]

    def test_a_file_in_pieces_is_one_stream(self, tmp_path):
        """As LTTng cuts them with --tracefile-size; names do not matter, times do."""
        directory = copy_trace("lost", tmp_path / "trace")
        expected = events_of(directory)
        data = (directory / "discarding_1").read_bytes()
        (directory / "discarding_1").unlink()
        for number, name in enumerate("zxyba"):
            (directory / name).write_bytes(data[number * 4096 : (number + 1) * 4096])
        [trace] = open_all(directory)

        assert len(data) == 5 * 4096
        assert events_of(directory) == expected
        # Found by its piece "a", the stream is named and ordered by its first one.
        assert stream_facts(trace)[-1][1:] == (1, list("zxyba"))
        assert trace.streams[-1].name == str(directory / "z")

    def test_directories_with_one_uuid_are_one_trace(self, tmp_path):
        """As after a rotation; it has no path of its own then."""
        first = copy_trace("lost", tmp_path / "archives" / "1")
        expected = events_of(first)
        data = (first / "discarding_1").read_bytes()
        second = tmp_path / "archives" / "2"
        second.mkdir()
        shutil.copyfile(first / "metadata", second / "metadata")
        (first / "discarding_1").write_bytes(data[: 2 * 4096])
        (second / "discarding_1").write_bytes(data[2 * 4096 :])
        [trace] = open_all(tmp_path)

        assert trace.directories == [first, second]
        assert trace.name == "demo"
        assert events_of(tmp_path) == expected

    def test_a_whole_copy_beside_adds_no_events(self, tmp_path):
        """Every packet is known already."""
        copy_trace("fields", tmp_path / "one")
        copy_trace("fields", tmp_path / "two")

        assert events_of(tmp_path) == events_of(DATA / "fields")

    def test_the_metadata_with_the_most_classes_describes_the_joined_trace(
        self, tmp_path
    ):
        """A later part knows events that the first one did not have yet."""
        fields = ("uint32_t value;", "uint32_t value;")
        packets = {"s": [Packet(numbered(1))]}
        Trace(fields[:1], streams=packets).write(tmp_path / "1")
        Trace(fields, streams=packets).write(tmp_path / "2")
        Trace(fields[:1], streams=packets).write(tmp_path / "3")
        [trace] = open_all(tmp_path)

        assert trace.trace_class.class_count == 3

    def test_directories_without_a_uuid_stay_apart(self, tmp_path):
        """Nothing tells that they belong together."""
        trace = Trace()
        text = trace.metadata().replace(f'uuid = "{UUID_TEXT}";', "")
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "metadata").write_text(text)
        found = open_all(tmp_path)

        assert [trace.trace_class.uuid for trace in found] == [None, None]
        assert [trace.name for trace in found] == ["a", "b"]


def test_more_streams_than_files_may_be_open(tmp_path):
    """The soft limit is raised as far as it is needed and allowed."""
    streams = {
        f"s{number}": [Packet(numbered(1, start=number))] for number in range(300)
    }
    directory = Trace(streams=streams).write(tmp_path)
    command = f"ulimit -Sn 200; exec {sys.executable} -m vestige convert {directory}"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 300
