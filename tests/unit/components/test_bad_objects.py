"""A process with objects that are no objects, from its state dump to the text."""

from __future__ import annotations

import os
import shutil
import struct

import pytest

import vestige
from support.ctf_writer import Event, Packet, Trace, write_trace
from support.separate_debug_files import BASE, MISSING, PATH, Target
from vestige import DebugInfoOptions
from vestige.cli.main import main

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

VPID = 42
STEP = 0x100000
BIN_INFO = (
    "uint64_t baddr; uint64_t memsz; string { encoding = UTF8; } path; uint8_t is_pic;"
)


def trace_of(directory, paths, offset):
    """Write a trace of a process with these objects; an event for each calls it."""
    metadata = (
        Trace(event_fields=("uint8_t unused;", BIN_INFO, "uint8_t object;"))
        .metadata()
        .replace(
            "event.header :=",
            "event.context := struct { uint64_t ip; int32_t vpid; };\n\tevent.header :=",
        )
        .replace("event_0", "lttng_ust_statedump:start")
        .replace("event_1", "lttng_ust_statedump:bin_info")
        .replace("event_2", "app:called")
    )
    bases = [BASE + index * STEP for index in range(len(paths))]
    events = [Event(1, _context(0) + b"\0", 0)]
    for base, path in zip(bases, paths, strict=True):
        mapped = struct.pack("<QQ", base, STEP) + os.fsencode(path) + b"\0\1"
        events.append(Event(len(events) + 1, _context(0) + mapped, 1))
    for index, base in enumerate(bases):
        called = _context(base + offset) + bytes([index])
        events.append(Event(len(events) + 1, called, 2))
    return write_trace(directory, metadata, {"stream": Packet(events).encode()})


def _context(ip):
    return struct.pack("<Qi", ip, VPID)


@pytest.fixture
def target(tmp_path):
    """A machine with one library."""
    (tmp_path / "target").mkdir()
    return Target(tmp_path / "target")


def test_each_bad_object_has_its_reason_and_the_good_ones_resolve(target, tmp_path):
    """Nothing waits, nothing is raised, no order matters."""
    folder = target.object.parent
    os.mkfifo(folder / "fifo")
    (folder / "empty").touch()
    (folder / "directory").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "text").write_text("text")
    odd = os.fsdecode(b"odd\xff\nname")
    shutil.copy(target.object, folder / odd)
    cut = target.object.read_bytes()
    (folder / "cut").write_bytes(cut[: len(cut) // 2])
    names = ["fifo", "empty", "directory", "loop", "text", "cut", "missing", odd, "ls"]
    paths = [f"/usr/bin/{name}" for name in names]
    assert paths[-1] == PATH
    trace = trace_of(tmp_path / "trace", paths, target.twice + 4)
    options = DebugInfoOptions(
        debug_directories=(), target_prefixes=(("/", target.root),)
    )

    with_places = vestige.open(trace, debug_info=options)
    places = {
        names[event["object"]]: event.debug_info
        for event in with_places.events("app:called")
    }

    assert {name: place.line for name, place in places.items()} == {
        **dict.fromkeys(names[:-2]),
        odd: 2,
        "ls": 2,
    }
    for name in names[:-2]:
        assert f"/usr/bin/{name}" in str(places[name].shortfall)
    assert places["missing"].shortfall.reason.value == "file missing"


def test_a_name_of_any_bytes_can_be_printed(target, tmp_path, capfd):
    """As text of the filter, where what is no UTF-8 is replaced."""
    path = os.fsdecode(b"/usr/bin/odd\xff")
    shutil.copy(target.object, target.path(path))
    trace = trace_of(tmp_path / "trace", [path], target.twice + 4)

    status = main(
        [
            "convert",
            f"--debug-info-target-prefix={target.root}",
            str(trace),
        ]
    )

    assert status == 0
    text = capfd.readouterr().out.splitlines()[-1]
    assert f'bin = "odd\ufffd+{target.twice + 4:#x}", func = "twice+0x4"' in text
