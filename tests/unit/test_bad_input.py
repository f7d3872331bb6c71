# ruff: noqa: D102 - the name of a test says what it shows; a docstring adds a reason
"""Traces that are damaged, hostile or none: what the reader says and what it keeps.

Each case runs the command line in a process of its own, with 2 GiB of address space and
10 seconds: one clear line on standard error with file and place, the events before the
damage on standard output, exit status 1, never a traceback.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import vestige
from support.ctf_writer import (
    EVENT_HEADER_BYTES,
    PACKET_HEAD_BYTES,
    BitWriter,
    Event,
    Packet,
    Trace,
    numbered,
    packetised_metadata,
    write_trace,
)

ADDRESS_SPACE = 2 << 30
CPU_SECONDS = 10
DEADLINE = 120.0

RECORD_BYTES = EVENT_HEADER_BYTES + 4
GOOD = 5
"""Event records in front of the damage."""
FIRST_PACKET = PACKET_HEAD_BYTES + GOOD * RECORD_BYTES
"""Size of a packet with these."""
TEST_DATA = Path(__file__).resolve().parent.parent / "data"

BARE = """\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
"""
"""Metadata in front of one event; its stream has neither header nor context."""


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    status: int
    text: str
    errors: list[str]

    @property
    def values(self) -> list[int]:
        """The values of the printed events of class 0 of :class:`Trace`."""
        return [int(value) for value in re.findall(r"\{ value = (\d+) \}", self.text)]

    def only_error(self) -> str:
        """The one error, once it is certain that the command failed as it should."""
        assert self.status == 1, (self.status, self.errors)
        assert len(self.errors) == 1, self.errors
        return self.errors[0]


def limit_memory() -> None:
    """Give this process no more memory and time than an honest trace needs."""
    # Not of the clock on the wall: other processes may be busy.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def convert(*paths: Path | str, options: Sequence[str] = ()) -> Result:
    """Run ``vestige convert`` within its limits."""
    words = [sys.executable, "-m", "vestige", "convert", *options, *map(str, paths)]
    done = subprocess.run(
        words,
        capture_output=True,
        check=False,
        timeout=DEADLINE,
        preexec_fn=limit_memory,
        stdin=subprocess.DEVNULL,
    )
    return Result(
        done.returncode,
        done.stdout.decode(errors="replace"),
        done.stderr.decode(errors="replace").splitlines(),
    )


def assert_damage(
    directory: Path, message: str, *, byte: int, good: int, name: str = "stream"
) -> None:
    """Check the error of a trace, its place, and the events before it."""
    result = convert(directory)
    error = result.only_error()
    assert error.startswith(f"vestige: error: {directory / name}, byte {byte}: "), error
    assert message in error
    assert result.values == list(range(good))


def good_packet(**changes: object) -> Packet:
    """Return a packet with five good events."""
    return Packet(numbered(GOOD), **changes)


def write(directory: Path, *packets: Packet | bytes, **trace: object) -> Path:
    """Write a trace of one data stream file, of packets and raw bytes."""
    whole = Trace(**trace)
    data = b"".join(
        packet if isinstance(packet, bytes) else packet.encode(whole.order)
        for packet in packets
    )
    return write_trace(directory, whole.metadata(), {"stream": data})


def write_fields(directory: Path, fields: str, data: bytes, before: str = "") -> Path:
    """Write a trace without packet header, whose only event has some fields."""
    event = f'{before}event {{ name = "e"; fields := struct {{ {fields} }}; }};\n'
    return write_trace(directory, BARE + event, {"stream": data})


class TestPaths:
    """Paths that are no traces."""

    def test_a_path_that_does_not_exist(self, tmp_path: Path) -> None:
        path = tmp_path / "nothing"
        error = convert(path).only_error()
        assert error == f"vestige: error: {path}: no such file or directory"

    def test_a_path_that_is_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("no trace")
        error = convert(path).only_error()
        assert error.startswith(f"vestige: error: {path}: not a directory")

    def test_a_directory_without_a_trace(self, tmp_path: Path) -> None:
        error = convert(tmp_path).only_error()
        assert error.startswith(
            f"vestige: error: {tmp_path}: no CTF trace here or below"
        )

    def test_one_path_of_several_is_no_trace(self, tmp_path: Path) -> None:
        trace = write(tmp_path / "trace", good_packet())
        error = convert(trace, tmp_path / "nothing").only_error()
        assert "nothing: no such file or directory" in error

    def test_the_api_raises_what_the_command_line_prints(self, tmp_path: Path) -> None:
        with pytest.raises(vestige.NotATraceError, match="no such file") as raised:
            vestige.open(tmp_path / "nothing")
        assert raised.value.path == str(tmp_path / "nothing")

    @pytest.mark.parametrize("kind", ["directory", "fifo"])
    def test_metadata_that_is_no_file(self, tmp_path: Path, kind: str) -> None:
        metadata = tmp_path / "metadata"
        metadata.mkdir() if kind == "directory" else os.mkfifo(metadata)
        assert "no CTF trace here or below" in convert(tmp_path).only_error()

    def test_a_file_name_that_is_no_text(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        shutil.copy(tmp_path / "stream", tmp_path / os.fsdecode(b"\xff"))
        result = convert(tmp_path)
        assert "the path is no UTF-8 text" in result.only_error()
        assert result.values == list(range(GOOD))

    def test_a_directory_name_that_is_no_text(self, tmp_path: Path) -> None:
        trace = write(tmp_path / os.fsdecode(b"\xff"), good_packet())
        assert "the path is no UTF-8 text" in convert(trace).only_error()


class TestMetadata:
    """Metadata that is damaged or hostile."""

    def refused(self, directory: Path, metadata: str | bytes) -> str:
        """Return the error of some metadata, which must name the file."""
        write_trace(directory, metadata, {"stream": good_packet().encode()})
        result = convert(directory)
        assert result.status == 1, result.errors
        # What the metadata no longer tell may be missed in the data stream.
        error = result.errors[0]
        assert str(directory / "metadata") in error
        assert result.text == ""
        return error

    def test_empty(self, tmp_path: Path) -> None:
        assert "the metadata is empty" in self.refused(tmp_path, b"")

    def test_a_syntax_error_has_its_line(self, tmp_path: Path) -> None:
        text = Trace().metadata()
        line = text.splitlines().index("stream {") + 1
        error = self.refused(tmp_path, text.replace("stream {", "stream ["))
        assert f"line {line}: expected '{{', found '['" in error

    def test_the_api_has_the_place_as_attributes(self, tmp_path: Path) -> None:
        write_trace(tmp_path, "trace { major = ; };", {})
        with pytest.raises(vestige.TraceFormatError, match="line 1") as raised:
            vestige.open(tmp_path)
        assert raised.value.path == str(tmp_path / "metadata")

    def test_a_syntax_error_in_packets_has_its_line(self, tmp_path: Path) -> None:
        text = Trace(order="be").metadata()
        text = text.replace("event.header", "event/header")
        line = next(n for n, row in enumerate(text.splitlines(), 1) if "event/" in row)
        error = self.refused(tmp_path, packetised_metadata(text, "be", packet_text=99))
        assert f"line {line}: " in error

    def test_packets_that_are_cut_have_their_offset(self, tmp_path: Path) -> None:
        whole = packetised_metadata(Trace().metadata(), packet_text=500)
        second = 37 + 500 + 64
        error = self.refused(tmp_path, whole[: second + 20])
        assert f"byte {second}: metadata packet header cut" in error

    @pytest.mark.parametrize(
        "content",
        [
            b"\0" * 4096,
            b"\xff" * 4096,
            b"\x7fELF\x02\x01\x01",
            b"}" * 100,
            b"\n" * 9999,
        ],
        ids=["zeros", "ones", "ELF", "braces", "newlines"],
    )
    def test_bytes_that_are_no_metadata(self, tmp_path: Path, content: bytes) -> None:
        self.refused(tmp_path, content)

    def test_real_metadata_cut_anywhere(self, tmp_path: Path) -> None:
        """Every cut is an error or leaves a trace class; nothing else happens."""
        real = next((TEST_DATA / "fields").rglob("metadata")).read_bytes()
        for length in range(0, len(real), 97):
            write_trace(tmp_path, real[:length], {})
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", vestige.TraceDamageWarning)
                    vestige.open(tmp_path)
            except vestige.TraceFormatError as error:
                assert error.path == str(tmp_path / "metadata")  # noqa: PT017

    def test_an_enumeration_without_container(self, tmp_path: Path) -> None:
        error = self.refused(tmp_path, Trace(["enum { one, two } number;"]).metadata())
        assert "enum without a container" in error
        assert "line " in error

    def test_deep_nesting(self, tmp_path: Path) -> None:
        deep = "struct { " * 5000 + "uint8_t value; " + "} s; " * 5000
        assert "nested more than 260 deep" in self.refused(
            tmp_path, Trace([deep]).metadata()
        )

    def test_deep_nesting_through_names(self, tmp_path: Path) -> None:
        chain = "".join(f"typedef t{n} t{n + 1}[1];\n" for n in range(20_000))
        trace = Trace(declarations=f"typedef uint8_t t0[1];\n{chain}")
        assert "nested more than 260 deep" in self.refused(tmp_path, trace.metadata())

    def test_types_that_double_sixty_times(self, tmp_path: Path) -> None:
        double = "".join(
            f"typedef struct {{ t{n} a; t{n} b; }} t{n + 1};\n" for n in range(60)
        )
        trace = Trace(["t60 value;"], declarations=f"typedef uint8_t t0;\n{double}")
        assert "more than a million fields" in self.refused(tmp_path, trace.metadata())

    def test_a_selector_that_does_not_exist(self, tmp_path: Path) -> None:
        trace = Trace(["variant <nothing> { uint8_t a; } v;"])
        assert "'nothing' names no field" in self.refused(tmp_path, trace.metadata())

    def test_very_large_metadata(self, tmp_path: Path) -> None:
        write_trace(tmp_path, Trace().metadata(), {})
        os.truncate(tmp_path / "metadata", 1 << 40)
        assert "metadata has more than 64 MiB" in convert(tmp_path).only_error()


class TestPackets:
    """Packet headers and contexts that are wrong."""

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"packet_bits": 0, "content_bits": 0}, "packet size of 0 bits"),
            ({"packet_bits": FIRST_PACKET * 8 + 1}, "expected whole bytes"),
            (
                {"content_bits": PACKET_HEAD_BYTES * 8 - 8},
                "content size of 568 bits is less",
            ),
            ({"content_bits": FIRST_PACKET * 8 + 8}, "greater than the packet size"),
            (
                {"packet_bits": 64, "content_bits": 64},
                "content size of 64 bits is less",
            ),
        ],
        ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
    )
    @pytest.mark.parametrize("good", [0, GOOD], ids=["first", "second"])
    def test_a_packet_that_lies(
        self, tmp_path: Path, changes: dict[str, int], message: str, good: int
    ) -> None:
        before = [good_packet()] if good else []
        write(tmp_path, *before, good_packet(**changes))
        result = convert(tmp_path)
        error = result.only_error()
        assert message in error
        offset = re.search(
            re.escape(f"{tmp_path / 'stream'}, byte ") + r"(\d+): ", error
        )
        assert offset is not None
        # The field that is wrong lies in the header of the damaged packet.
        begin = FIRST_PACKET if good else 0
        assert begin <= int(offset[1]) <= begin + PACKET_HEAD_BYTES
        assert result.values == list(range(good))

    @pytest.mark.parametrize(
        ("changes", "start", "message"),
        [
            ({"magic": 0xC1FC1FC0}, 0, "expected the magic number 0xc1fc1fc1"),
            ({"magic": 0}, 0, "found 0x0"),
            ({"uuid": bytes(16)}, 4, "another UUID than the metadata"),
            ({"stream_id": 9}, 20, "stream_id 9 is no stream of the metadata"),
        ],
        ids=["magic", "no magic", "uuid", "stream_id"],
    )
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_a_packet_with_one_wrong_mark(
        self,
        tmp_path: Path,
        changes: dict[str, int],
        start: int,
        message: str,
        place: int,
    ) -> None:
        """It costs its own bytes and no event."""
        packets = [
            Packet(
                numbered(GOOD, start=number * GOOD),
                sequence=number,
                **(changes if number == place else {}),
            )
            for number in range(3)
        ]
        write(tmp_path, *packets)
        result = convert(tmp_path)
        error = result.only_error()
        assert message in error
        assert f", byte {place * FIRST_PACKET + start}: " in error
        assert result.values == list(range(3 * GOOD))

    def test_the_only_packet_with_a_stream_id_that_nobody_knows(
        self, tmp_path: Path
    ) -> None:
        """Nothing else tells of which class its events are."""
        write(tmp_path, good_packet(stream_id=9))
        assert_damage(tmp_path, "stream_id 9 is no stream", byte=0, good=0)

    def test_content_larger_than_the_file(self, tmp_path: Path) -> None:
        lie = good_packet(packet_bits=1 << 50, content_bits=1 << 50)
        write(tmp_path, lie)
        assert_damage(tmp_path, "packet cut", byte=FIRST_PACKET, good=GOOD)

    @pytest.mark.parametrize("bits", [FIRST_PACKET * 8 + 8, 1 << 50, (1 << 64) - 8])
    def test_padding_larger_than_the_file(self, tmp_path: Path, bits: int) -> None:
        write(tmp_path, good_packet(packet_bits=bits))
        assert_damage(tmp_path, "packet cut", byte=FIRST_PACKET, good=GOOD)

    def test_content_that_ends_inside_a_record(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet(content_bits=FIRST_PACKET * 8 - 24))
        last = FIRST_PACKET - RECORD_BYTES
        message = "past the end of its packet's content"
        assert_damage(tmp_path, message, byte=last, good=GOOD - 1)

    def test_a_context_that_claims_a_huge_array(self, tmp_path: Path) -> None:
        before = "stream { packet.context := struct { u64 n; u8 tags[n]; }; };\n"
        write_fields(tmp_path, "u8 a;", struct.pack("<Q", 1 << 60) + bytes(100), before)
        assert "byte 0: packet header cut" in convert(tmp_path).only_error()


class TestTruncation:
    """Files that end too early, or too late."""

    @pytest.mark.parametrize(
        ("where", "length", "good"),
        [
            ("magic", 2, 0),
            ("uuid", 10, 0),
            ("stream ID", 22, 0),
            ("packet context", 60, 0),
        ],
    )
    def test_in_the_first_header(
        self, tmp_path: Path, where: str, length: int, good: int
    ) -> None:
        write(tmp_path, good_packet().encode()[:length])
        assert_damage(tmp_path, "packet header cut", byte=0, good=good)
        assert where

    @pytest.mark.parametrize("where", [2, 10, 22, 60])
    def test_in_a_later_header(self, tmp_path: Path, where: int) -> None:
        write(tmp_path, good_packet(), good_packet().encode()[:where])
        assert_damage(tmp_path, "packet header cut", byte=FIRST_PACKET, good=GOOD)

    @pytest.mark.parametrize(
        ("length", "good"),
        [
            (PACKET_HEAD_BYTES, 0),
            (PACKET_HEAD_BYTES + 1, 0),
            (PACKET_HEAD_BYTES + EVENT_HEADER_BYTES, 0),
            (PACKET_HEAD_BYTES + RECORD_BYTES - 1, 0),
            (PACKET_HEAD_BYTES + RECORD_BYTES, 1),
            (FIRST_PACKET - 1, GOOD - 1),
            (FIRST_PACKET, GOOD),
            (FIRST_PACKET + 10, GOOD),
        ],
        ids=[
            "behind the context",
            "event ID",
            "behind the event header",
            "payload",
            "between records",
            "last record",
            "behind the content",
            "padding",
        ],
    )
    def test_in_the_content_or_padding(
        self, tmp_path: Path, length: int, good: int
    ) -> None:
        write(tmp_path, good_packet(padding=100).encode()[:length])
        # What is lost begins behind the last good record.
        lost = PACKET_HEAD_BYTES + good * RECORD_BYTES
        assert_damage(tmp_path, "packet cut", byte=lost, good=good)

    def test_between_packets_is_no_damage(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        result = convert(tmp_path)
        assert (result.status, result.errors) == (0, [])
        assert result.values == list(range(GOOD))

    def test_an_empty_file_is_a_stream_without_events(self, tmp_path: Path) -> None:
        write(tmp_path, b"")
        result = convert(tmp_path)
        assert (result.status, result.errors, result.text) == (0, [], "")

    @pytest.mark.parametrize(
        "tail",
        [
            bytes(4096),
            bytes(3),
            b"\xff" * 512,
            b"garbage of some length, but no packet",
        ],
        ids=["zeros", "few zeros", "ones", "text"],
    )
    def test_bytes_behind_the_last_packet(self, tmp_path: Path, tail: bytes) -> None:
        write(tmp_path, good_packet(), tail)
        message = "bytes that are no packet" if any(tail) else "bytes of zero where"
        assert_damage(tmp_path, message, byte=FIRST_PACKET, good=GOOD)

    def test_other_streams_are_read_whole(self, tmp_path: Path) -> None:
        late = Packet(numbered(3, start=100))
        trace = Trace(streams={"a": [good_packet()], "b": [late]}).write(tmp_path)
        os.truncate(trace / "a", FIRST_PACKET - 1)
        result = convert(trace)
        assert (
            f"/a, byte {FIRST_PACKET - RECORD_BYTES}: packet cut" in result.only_error()
        )
        assert result.values == [0, 1, 2, 3, 100, 101, 102]

    def test_a_real_recording_cut_in_the_middle(self, tmp_path: Path) -> None:
        """Its index no longer fits; what is there is printed as before."""
        whole = TEST_DATA / "fields"
        shutil.copytree(whole, tmp_path / "cut")
        stream = next((tmp_path / "cut").rglob("channel0_1"))
        os.truncate(stream, 5000)
        result = convert(tmp_path / "cut")
        assert f"{stream}, byte 4920: packet cut" in result.only_error()
        expected = convert(whole).text
        assert result.text
        assert set(result.text.splitlines()) <= set(expected.splitlines())


class TestRecords:
    """Event records that cannot be."""

    def assert_bad_record(self, directory: Path, event: Event, message: str) -> None:
        """Check that an event behind five good ones is refused."""
        fields = (
            "uint32_t value;",
            "uint64_t n; uint8_t list[n];",
            "uint8_t list[0x1000000000000000];",
            "enum : uint8_t { one = 1 } tag; variant <tag> { uint8_t one; } v;",
            "string text;",
            "uint64_t n; struct { } list[n][n][n];",
        )
        packet = Packet([*numbered(GOOD), event], padding=64)
        write(directory, packet, event_fields=fields)
        assert_damage(directory, message, byte=FIRST_PACKET, good=GOOD)

    def test_an_unknown_class(self, tmp_path: Path) -> None:
        event = Event(9_000_000, bytes(8), id=99)
        message = "class 99, which the metadata does not declare"
        self.assert_bad_record(tmp_path, event, message)

    @pytest.mark.parametrize("count", [1 << 60, 1 << 61, (1 << 64) - 1, 65])
    def test_a_sequence_longer_than_the_packet(
        self, tmp_path: Path, count: int
    ) -> None:
        event = Event(9_000_000, struct.pack("<Q", count) + bytes(64), id=1)
        self.assert_bad_record(tmp_path, event, "past the end of its packet's content")

    def test_an_array_longer_than_the_packet(self, tmp_path: Path) -> None:
        event = Event(9_000_000, bytes(64), id=2)
        self.assert_bad_record(tmp_path, event, "past the end of its packet's content")

    def test_a_selector_that_selects_nothing(self, tmp_path: Path) -> None:
        event = Event(9_000_000, b"\x07\x01", id=3)
        self.assert_bad_record(tmp_path, event, "value 7 of 'tag' selects no option")

    def test_a_string_without_its_end(self, tmp_path: Path) -> None:
        event = Event(9_000_000, b"no end", id=4)
        self.assert_bad_record(tmp_path, event, "past the end of its packet's content")

    def test_elements_without_a_bit(self, tmp_path: Path) -> None:
        event = Event(9_000_000, struct.pack("<Q", 60), id=5)
        self.assert_bad_record(tmp_path, event, "elements of no size")

    def test_the_api_gives_the_good_events_and_a_warning(self, tmp_path: Path) -> None:
        write(tmp_path, Packet([*numbered(GOOD), Event(9_000_000, b"", id=99)]))
        trace = vestige.open(tmp_path)
        with pytest.warns(vestige.TraceDamageWarning, match=f"byte {FIRST_PACKET}"):
            events = list(trace)
        assert [event["value"] for event in events] == list(range(GOOD))
        [damage] = trace.damage
        assert (damage.path, damage.start) == (str(tmp_path / "stream"), FIRST_PACKET)

    def test_the_strict_api_raises(self, tmp_path: Path) -> None:
        write(tmp_path, Packet([*numbered(GOOD), Event(9_000_000, b"", id=99)]))
        with pytest.raises(vestige.TraceFormatError, match="class 99"):
            list(vestige.open(tmp_path, strict=True))

    def test_decoding_only_finds_the_same(self, tmp_path: Path) -> None:
        write(tmp_path, Packet([*numbered(GOOD), Event(9_000_000, b"", id=99)]))
        result = convert(tmp_path, options=["-o", "dummy"])
        assert "class 99" in result.only_error()
        assert result.text == ""

    def test_big_endian_damage_has_the_same_place(self, tmp_path: Path) -> None:
        events = [
            Event(1_000_000 + number, BitWriter("be").integer(number).getvalue())
            for number in range(GOOD)
        ]
        write(tmp_path, Packet([*events, Event(9_000_000, b"", id=99)]), order="be")
        assert_damage(tmp_path, "class 99", byte=FIRST_PACKET, good=GOOD)


class TestSpecialFiles:
    """What stands beside or in place of data stream files."""

    def test_a_fifo_in_place_of_a_stream(self, tmp_path: Path) -> None:
        """It is reported and never opened."""
        write(tmp_path, good_packet())
        os.mkfifo(tmp_path / "waiting")
        result = convert(tmp_path)
        assert (result.status, result.values) == (1, list(range(GOOD)))
        [line] = result.errors
        assert "waiting: not a regular file" in line

    def test_a_directory_in_place_of_a_stream(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        (tmp_path / "another").mkdir()
        result = convert(tmp_path)
        assert (result.status, result.values) == (0, list(range(GOOD)))

    def test_a_link_to_nowhere_or_to_itself(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        (tmp_path / "dangling").symlink_to("nowhere")
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
        result = convert(tmp_path)
        assert (result.status, result.values) == (0, list(range(GOOD)))

    @pytest.mark.parametrize("kind", ["fifo", "directory", "garbage", "huge"])
    def test_an_index_that_is_none(self, tmp_path: Path, kind: str) -> None:
        """An index only saves time: without one the packet headers are read."""
        write(tmp_path, good_packet())
        index = tmp_path / "index" / "stream.idx"
        index.parent.mkdir()
        match kind:
            case "fifo":
                os.mkfifo(index)
            case "directory":
                index.mkdir()
            case "garbage":
                index.write_bytes(bytes(range(256)))
            case _:
                index.write_bytes(b"")
                os.truncate(index, 1 << 40)
        result = convert(tmp_path)
        assert (result.status, result.values) == (0, list(range(GOOD)))

    def test_a_file_that_is_no_data_stream(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        (tmp_path / "notes.txt").write_text(
            "These are my notes about this trace.\n" * 9
        )
        assert_damage(
            tmp_path, "no packet begins here", byte=0, good=GOOD, name="notes.txt"
        )


class TestBounds:
    """Memory and time stay bounded, whatever the trace asks for."""

    def test_a_stream_of_long_records(self, tmp_path: Path) -> None:
        """Far more bytes of records than the address space holds."""
        text = b"x" * (1 << 20) + b"\0"
        write_fields(tmp_path, "string text;", b"")
        with (tmp_path / "stream").open("wb") as stream:
            for _ in range(300):
                stream.write(text)
        result = convert(tmp_path, options=["-w", str(tmp_path / "text")])
        assert (result.status, result.errors) == (0, [])
        assert (tmp_path / "text").stat().st_size == 300 * (
            (1 << 20) + len('e: { "" }\n') + 7
        )

    def test_a_terabyte_of_nothing_behind_a_packet(self, tmp_path: Path) -> None:
        write(tmp_path, good_packet())
        os.truncate(tmp_path / "stream", 1 << 40)
        message = "bytes of zero where a packet is expected"
        assert_damage(tmp_path, message, byte=FIRST_PACKET, good=GOOD)

    def test_a_record_that_claims_a_terabyte(self, tmp_path: Path) -> None:
        write_fields(tmp_path, "u64 n; u8 list[n];", struct.pack("<Q", 1 << 39))
        os.truncate(tmp_path / "stream", 1 << 40)
        assert (
            "byte 0: event record runs past the end" in convert(tmp_path).only_error()
        )

    def test_many_elements_without_a_bit(self, tmp_path: Path) -> None:
        write_fields(tmp_path, "struct { } none[4096]; u8 value;", bytes(2000))
        result = convert(tmp_path, options=["-w", str(tmp_path / "text")])
        assert (result.status, result.errors) == (0, [])

    def test_a_name_of_a_megabyte(self, tmp_path: Path) -> None:
        write_fields(tmp_path, f"u8 {'n' * (1 << 20)};", bytes(1000))
        result = convert(tmp_path, options=["-w", os.devnull])
        assert (result.status, result.errors) == (0, [])

    def test_many_members_labels_and_options(self, tmp_path: Path) -> None:
        labels = ",".join(f"l{n} = {n}" for n in range(10_000))
        options = "".join(f"u8 l{n};" for n in range(10_000))
        members = "".join(f"u8 m{n}; u8 s{n}[m{n}];" for n in range(2_000))
        fields = (
            f"enum : u64 {{ {labels} }} t; variant <t> {{ {options} }} v; {members}"
        )
        write_fields(tmp_path, fields, bytes(2 * 2009))
        result = convert(tmp_path)
        assert (result.status, result.errors) == (0, [])
