"""Copies of traces: the same event records, packets and losses, in either version."""

from __future__ import annotations

import struct
import sys

import pytest

import vestige
from support.ctf_writer import Event, Packet, Trace, numbered
from support.peers import run_peer
from support.random_classes import write_random
from support.recordings import DATA
from support.vestige_command import vestige as command
from vestige import core, ctf
from vestige.components.sinks.ctf_fs import CopyParams, CtfFsSink
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import GraphError
from vestige.graph import Graph, LostNotice, Selection, merges, notices_of

BEGINNINGS = {"1.8": b"/* CTF 1.8 */", "2": b"\x1e{"}
"""How the metadata of each version begin."""


def copy(source, target, selection=None, **params):
    """Copy a trace; return the directory of the copy."""
    inputs = CtfFsSource([source])
    target.mkdir()
    sink = CtfFsSink(target, inputs.streams, CopyParams(quiet=True, **params))
    assert Graph([inputs], sink, selection=selection).run() == []
    return target


def plain(value):
    """Return a value without what one version alone has a type for."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, bytes | list | tuple):
        return [plain(one) for one in value]
    return int(value) if isinstance(value, bool) else value


def read(directory):
    """Return what each event record of a trace has."""
    return [
        (
            event.timestamp,
            event.name,
            *(
                plain(scope.to_dict())
                for scope in (event.context, event.specific_context, event.payload)
            ),
        )
        for event in vestige.open(directory, strict=True)
    ]


def packets(directory):
    """Return when each packet begins and ends, cycles."""
    found = []
    for merge in merges(
        CtfFsSource([directory]).streams, boundaries=True, tell=lambda _: None
    ):
        found += [one[2:4] for one in merge.notices if one[2].startswith("packet-")]
    return found


@pytest.mark.parametrize(
    ("source", "target"), [("1.8", "1.8"), ("1.8", "2"), ("2", "2")]
)
@pytest.mark.parametrize("seed", range(6))
def test_any_classes_are_copied(tmp_path, seed, source, target):
    """Whatever the field classes are, their alignment and their byte order."""
    write_random(tmp_path / "trace", seed, source)

    copied = copy(tmp_path / "trace", tmp_path / "copy", version=target)

    assert read(copied) == read(tmp_path / "trace")
    [metadata] = copied.rglob("metadata")
    assert metadata.read_bytes().startswith(BEGINNINGS[target])


def write_new_classes(directory):
    """Write a trace with what CTF 1.8 has no class for."""
    fields = {
        "truth": ctf.boolean(8),
        "bits": ctf.bit_array(5),
        "flags": ctf.bit_map(8, {"read": 0}),
        "wide": ctf.integer(128),
        "leb": ctf.variable_length_integer(signed=True),
        "text": ctf.string(encoding="utf-16le"),
        "blob": bytes,
        "maybe": ctf.optional("u32"),
        "choice": ctf.variant({"int": "u16", "_x y": str}),
        "struct": ctf.structure({"a b": "u64"}, alignment=64),
    }
    with ctf.Writer(directory, version="2") as writer:
        stream = writer.stream("s")
        event = writer.event_class("all", fields)
        common = {"truth": True, "bits": 21, "flags": 1, "wide": 1 << 100, "leb": -5}
        common |= {"text": "grüße", "blob": b"\0\xff", "struct": {"a b": 7}}
        stream.write(event, 10, maybe=9, choice=("int", 3), **common)
        stream.write(event, 20, maybe=None, choice=("_x y", "no"), **common)
    return directory


def test_classes_of_ctf_2_become_what_ctf_1_8_has(tmp_path):
    """With a comment that says what they were."""
    trace = write_new_classes(tmp_path / "trace")

    copied = copy(trace, tmp_path / "copy", version="1.8")

    text = (copied / "trace" / "metadata").read_text()
    for comment in ("boolean", "bit array", "bit map", "optional field", "utf-16le"):
        assert f"/* {comment} */" in text
    first, second = (one[-1] for one in read(copied))
    assert (first["truth"], first["bits"], first["flags"]) == (1, 21, 1)
    assert first["wide"] == [*(1 << 100).to_bytes(16, "little")]
    assert (first["leb"], first["text"]) == (-5, "grüße")
    assert first["blob"] == [0, 255]
    assert (first["maybe"], second["maybe"]) == (9, {})
    assert (first["choice"], second["choice"]) == (3, "no")
    assert first["struct"] == {"a_b": 7}


def test_an_integer_that_no_number_of_ctf_1_8_holds_is_an_error(tmp_path):
    """Nothing is cut off."""
    with ctf.Writer(tmp_path / "trace", version="2") as writer:
        event = writer.event_class("e", {"leb": ctf.variable_length_integer()})
        writer.stream("s").write(event, 1, leb=1 << 64)

    with pytest.raises(vestige.TraceFormatError, match="more than 64 bits"):
        copy(tmp_path / "trace", tmp_path / "copy", version="1.8")


def lossy_trace(directory):
    """Write a trace that lost event records and packets, with an empty packet."""
    first, second = numbered(3), numbered(3, start=10)
    return Trace(
        streams={
            "s": [
                Packet(first, end=1_005_000),
                Packet(second, discarded=5, sequence=3, end=1_015_000),
                Packet(
                    begin=1_016_000, end=1_020_000, discarded=5, sequence=4, padding=64
                ),
            ]
        }
    ).write(directory)


def losses(directory):
    """Return the kinds and the numbers of losses."""
    return [
        (notice.kind, notice.count)
        for merge in merges(CtfFsSource([directory]).streams, tell=lambda _: None)
        for notice in notices_of(merge)
        if isinstance(notice, LostNotice)
    ]


@pytest.mark.parametrize("version", ["1.8", "2"])
def test_packets_and_losses_are_those_of_the_trace(tmp_path, version):
    """Also packets without event records."""
    trace = lossy_trace(tmp_path / "trace")

    copied = copy(trace, tmp_path / "copy", version=version)

    assert losses(copied) == losses(trace) == [("events", 5), ("packets", 2)]
    assert packets(copied) == packets(trace)
    assert len(packets(copied)) == 6


def test_losses_can_be_left_out(tmp_path):
    """For readers that stumble over them."""
    trace = lossy_trace(tmp_path / "trace")

    copied = copy(
        trace, tmp_path / "copy", discarded_events=False, discarded_packets=False
    )

    assert losses(copied) == []
    assert read(copied) == read(trace)


def test_what_is_not_selected_is_not_copied(tmp_path):
    """A range of time cuts packets."""
    trace = Trace(streams={"s": [Packet(numbered(4)), Packet(numbered(4, start=4))]})
    source = trace.write(tmp_path / "trace")
    times = [event.timestamp for event in vestige.open(source)]

    selection = Selection(begin=times[2], end=times[5])
    copied = copy(source, tmp_path / "copy", selection)

    assert read(copied) == read(source)[2:6]


def test_what_filters_add_is_written(tmp_path):
    """Events of another class than those with addresses stay as they are."""
    words = ("-o", "ctf", "--output", tmp_path / "copy", "--debug-info-dir=/none")
    assert command("convert", DATA / "threads-pid", *words).status == 0

    lines = [
        command("convert", *options, trace).stdout
        for trace, options in (
            (DATA / "threads-pid", ["--debug-info-dir=/none"]),
            (tmp_path / "copy", []),
        )
    ]
    assert b"debug_info" in lines[0]
    assert lines[1] == lines[0]


def test_data_streams_and_classes_may_come_later(tmp_path):
    """As those of a live session."""
    events = numbered(40_000)  # More than one merge.
    source = Trace(streams={"s": [Packet(events)]}).write(tmp_path / "trace")
    inputs = CtfFsSource([source])
    (tmp_path / "copy").mkdir()
    sink = CtfFsSink(tmp_path / "copy", [], CopyParams(quiet=True))
    grown = Trace(("uint32_t value;", "string later;")).metadata()

    for merge in merges(inputs.streams, boundaries=True, tell=lambda _: None):
        sink.consume(merge)
        inputs.streams[0].trace.learn(core.TraceClass.parse(grown.encode()))
    sink.finish()

    [metadata] = (tmp_path / "copy").rglob("metadata")
    assert "string later;" in metadata.read_text()
    assert sum(1 for _ in vestige.open(tmp_path / "copy", strict=True)) == len(events)


def test_a_packet_of_many_megabytes_is_copied_in_parts(tmp_path):
    """What is written before the packet ends is completed then."""
    fields = ("uint32_t length; uint8_t bytes[length];",)
    payload = struct.pack("<I", 50_000) + bytes(50_000)
    events = [Event(1_000_000 + index, payload) for index in range(40)]
    source = Trace(fields, streams={"s": [Packet(events)]}).write(tmp_path / "trace")

    assert read(copy(source, tmp_path / "copy")) == read(source)


def test_event_records_of_no_packet_are_in_some_of_four_mebibytes(tmp_path):
    """As Babeltrace has it: one ends before the next record."""
    text = tmp_path / "kernel.txt"
    lines = [f"[{number}.000000] {'x' * 900_000}\n" for number in range(7)]
    text.write_text("".join(lines))
    words = ["-c", "source.text.dmesg", "-p", f'path="{text}"']

    done = command("convert", *words, "-o", "ctf", "--output", tmp_path / "copy")

    assert done.status == 0
    trace = vestige.open(tmp_path / "copy")
    packets = trace.streams[0].handle.packet_times
    assert [size // 900_000 for _, _, size in packets] == [5, 2]
    assert trace.events().count() == len(lines)


def test_a_length_in_a_header_cannot_be_copied(tmp_path):
    """The header is another one; the error names the field."""
    trace = Trace(("uint8_t text[stream.event.header.id];",), streams={"s": [Packet()]})
    source = trace.write(tmp_path / "trace")

    with pytest.raises(GraphError, match="its length or selector is in a header"):
        copy(source, tmp_path / "copy")
    assert not list((tmp_path / "copy").iterdir())


def test_a_directory_that_is_no_directory_is_an_error(tmp_path):
    """One line, and no trace."""
    source = lossy_trace(tmp_path / "trace")
    (tmp_path / "file").touch()

    done = command("convert", source, "-o", "ctf", "--output", tmp_path / "file" / "x")

    assert done.status == 1
    assert done.stderr.count(b"\n") == 1
    assert b"cannot write: Not a directory" in done.stderr


def test_a_single_trace_needs_a_path_of_its_own(tmp_path):
    """Nothing that is there is written over."""
    source = lossy_trace(tmp_path / "trace")
    params = f'path="{tmp_path / "copy"}",assume-single-trace=yes'
    words = ("convert", source, "-c", "sink.ctf.fs", "-p", params)

    first, second = command(*words), command(*words)

    assert first.stdout.decode() == f"Created CTF trace `{tmp_path / 'copy'}`.\n"
    assert sorted(one.name for one in (tmp_path / "copy").iterdir()) == [
        "metadata",
        "s",
    ]
    assert second.status == 1
    assert b"needs a path that does not exist" in second.stderr


def test_a_full_disk_is_told_with_what_is_not_complete(tmp_path):
    """A limit of the size of files stands for the disk."""
    source = Trace(
        streams={"s": [Packet(numbered(5000)), Packet(numbered(5000, start=5000))]}
    ).write(tmp_path / "trace")
    program = (
        "import resource, sys\n"
        "from vestige.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = python(program, "convert", source, "-o", "ctf", "-w", tmp_path / "copy")

    assert done.status == 1
    assert b"cannot write: File too large; not complete: " in done.stderr
    assert len(read(tmp_path / "copy")) == 5000


def python(program, *words):
    """Run a program of Python."""
    return run_peer([sys.executable, "-c", program, *map(str, words)])
