"""Contexts of the kernel's records: both languages have the same names, in one order."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import vestige
from support.kernel_tracer import page
from vestige.record._kernel import Collector
from vestige.record.backends.kernel.contexts import (
    CONTEXTS,
    context_fields,
    context_operations,
    host,
)
from vestige.record.backends.kernel.metadata import (
    ClockFacts,
    DeclaredClass,
    StreamText,
    metadata_text,
)
from vestige.record.backends.kernel.proc_facts import IDS, NAMESPACES, ThreadFacts

UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f11"
CLOCK = ClockFacts("monotonic", "CLOCK_MONOTONIC", UUID, 10**9, 0)
THREAD = 7
SPACES = tuple(range(300, 300 + len(NAMESPACES)))
FACTS = ThreadFacts(
    11, 12, (13, 14, 15), b"app", tuple(range(100, 100 + len(IDS))), SPACES, False
)
"""No two of them are alike."""
EXPECTED = {
    "pid": 11,
    "ppid": 12,
    "vpid": 13,
    "vtid": 14,
    "vppid": 15,
    "procname": "app",
    **{name: 100 + place for place, name in enumerate(IDS)},
    **{f"{name}_ns": 300 + place for place, name in enumerate(NAMESPACES)},
}


def test_what_is_known_of_a_thread_comes_into_the_context_of_its_name(
    tmp_path: Path,
) -> None:
    """The collector takes names and lists that Python has, too."""
    stream = StreamText(
        0, True, [DeclaredClass(0, "seen", "")], context_fields([*CONTEXTS])
    )
    text = metadata_text(UUID, "test", CLOCK, [stream])
    (tmp_path / "metadata").write_text(text)
    readable, writable = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    record = struct.pack("<HBBi", 3, 0, 0, THREAD)
    os.write(writable, page(2000, [(5, record)]))
    os.close(writable)
    (tmp_path / "stats").touch()
    statistics = os.open(tmp_path / "stats", os.O_RDONLY)
    (tmp_path / "stats").unlink()
    pair = tuple(
        os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT, 0o600)
        for name in ("data", ".index")
    )

    collector = Collector(4096)
    collector.follow(host(), ([], []))
    name = FACTS.name.decode()
    collector.know([(THREAD, 1, (*FACTS[:3], name, *FACTS[4:]))])
    operations = [("copy", 4, 4), *context_operations([*CONTEXTS], "sched")]
    collector.add(
        (bytes.fromhex(UUID.replace("-", "")), 0, True, 1000),
        [(3, 0, operations, None)],
        [(5, readable, statistics)],
        [pair],
    )
    [[outcome]] = collector.end(9000)
    (tmp_path / ".index").unlink()

    assert (outcome.records, outcome.damaged) == (1, 0)
    [event] = vestige.open(tmp_path)
    found = {one: event.context[one] for one in EXPECTED}
    assert found == EXPECTED
    assert {"tid", *CONTEXTS} <= {
        one.replace("callstack_", "callstack-") for one in event.context
    }
