"""Processes with the same ID in several PID namespaces are told apart."""

from __future__ import annotations

import struct
import uuid

import pytest

import vestige
from support.call_traces import call_metadata, enter, leave, packet, state
from support.ctf_writer import UUID, write_trace
from vestige.analysis import call_tree
from vestige.analysis.debug_info import examine_debug_info
from vestige.components.sources.ctf_fs import CtfFsSource

OTHER = bytes(range(16))
UUID_TEXT, OTHER_TEXT = (str(uuid.UUID(bytes=one)).encode() for one in (UUID, OTHER))
HEADER = 24
BASE = 0x1000
FUNCTION = BASE + 0x10
VPID = 77


def in_namespace(data, namespace, vtid):
    """Return a packet with the ID that our tracer gives its data stream."""
    sizes = [size + 64 for size in struct.unpack_from("<QQ", data, HEADER)]
    stream = VPID << 42 | namespace << 32 | vtid << 10
    head = data[:HEADER] + struct.pack("<QQQ", stream, *sizes)
    return head + data[HEADER + 16 :]


def calls(time, path, *, vtid=1):
    """Return a packet of a thread that tells of an object, if any, and calls into it."""
    dump = [state(time, "start"), state(time + 1, "bin_info", BASE, path)]
    made = [enter(time + 20, FUNCTION), leave(time + 30)]
    events = [*(dump if path else ()), *made]
    return packet(events, vtid=vtid, vpid=VPID).encode(), vtid


def write(directory, streams, tracer="vestige"):
    """Write a trace of packets and the numbers of their namespaces; return its path."""
    text = call_metadata(tracer=tracer)
    head = "uint32_t stream_id; }"
    assert head in text
    files = {
        str(number): in_namespace(data, namespace, vtid)
        for number, ((data, vtid), namespace) in enumerate(streams)
    }
    text = text.replace(head, "uint32_t stream_id; uint64_t stream_instance_id; }")
    return write_trace(directory, text, files)


def objects(path):
    """Return the objects of each process, with the number of events in each."""
    report = examine_debug_info(CtfFsSource([path]))
    return [
        {one.mapping.path: one.events for one in process.objects if one.events}
        for process in report.processes
    ]


def test_each_process_has_its_own_objects(tmp_path):
    """Threads of one process share them."""
    streams = [
        (calls(10, "/alpha"), 0),
        (calls(11, "/bravo"), 1),
        (calls(12, "", vtid=2), 0),
        (calls(13, "", vtid=2), 1),
        (calls(14, "", vtid=3), 1),
    ]
    path = write(tmp_path / "trace", streams)
    seen = [
        (event.stream.name, event.debug_info.binary.mapping.path)
        for event in vestige.open(path).events("*:func_entry")
    ]

    assert objects(path) == [{"/alpha": 4}, {"/bravo": 6}]
    assert seen == [
        ("0", "/alpha"),
        ("1", "/bravo"),
        ("2", "/alpha"),
        ("3", "/bravo"),
        ("4", "/bravo"),
    ]


def test_call_trees_name_the_functions_of_each(tmp_path):
    """Although their addresses are the same."""
    path = write(
        tmp_path / "trace", [(calls(10, "/alpha"), 0), (calls(11, "/bravo"), 1)]
    )
    tree = call_tree(vestige.open(path))
    found = {one.function.object: one.calls for one in tree.functions()}

    assert found == {"/alpha": 1, "/bravo": 1}
    assert [(one.vpid, one.vtid) for one in tree.threads] == [(77, 1), (77, 1)]


@pytest.mark.parametrize("namespace", [0, 1, 1023])
def test_in_one_namespace_an_id_is_that_of_one_process(tmp_path, namespace):
    """After exec(), a process has another data stream and another state dump."""
    streams = [
        (calls(10, "/alpha"), namespace),
        (calls(110, "/bravo", vtid=2), namespace),
    ]

    assert objects(write(tmp_path / "trace", streams)) == [{"/alpha": 2, "/bravo": 2}]


def test_ids_of_other_tracers_say_nothing(tmp_path):
    """They number their data streams as they like."""
    streams = [(calls(10, "/alpha"), 0), (calls(110, "/bravo"), 1)]
    path = write(tmp_path / "trace", streams, tracer="other")

    assert objects(path) == [{"/alpha": 2, "/bravo": 2}]


def test_traces_are_told_apart_too(tmp_path):
    """Whatever namespaces they have."""
    one = write(
        tmp_path / "all/1", [(calls(10, "/alpha"), 1), (calls(11, "/bravo"), 2)]
    )
    other = write(
        tmp_path / "all/2", [(calls(12, "/kilo"), 2), (calls(13, "/lima"), 1)]
    )
    for path in other.iterdir():
        data = path.read_bytes()
        path.write_bytes(data.replace(UUID, OTHER).replace(UUID_TEXT, OTHER_TEXT))

    assert objects(one) == [{"/alpha": 2}, {"/bravo": 2}]
    found = objects(tmp_path / "all")
    assert sorted(path for process in found for path in process) == [
        "/alpha",
        "/bravo",
        "/kilo",
        "/lima",
    ]
    assert len(found) == 4
