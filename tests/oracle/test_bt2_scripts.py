"""Scripts for Babeltrace 2's Python module print the same with Vestige's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.recordings import DATA

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SCRIPT = """
import sys, bt2

def time(snapshot):
    return (snapshot.value, snapshot.ns_from_origin)

def labels(field):
    try:
        return sorted(field.labels)
    except AssertionError:  # of bt2 2.0.4, where a value has none
        return []

def show(field):
    kind = type(field).__name__
    if isinstance(field, bt2._StructureFieldConst):
        return kind, {name: show(field[name]) for name in field}
    if isinstance(field, bt2._ArrayFieldConst):
        return kind, [show(one) for one in field]
    if isinstance(field, bt2._VariantFieldConst):
        return kind, field.selected_option_index, show(field.selected_option)
    if isinstance(field, bt2._EnumerationFieldConst):
        return kind, int(field), labels(field)
    return kind, repr(field), type(field.cls).__name__

for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    kind = type(message)
    if kind is bt2._EventMessageConst:
        event = message.event
        scopes = (event.payload_field, event.specific_context_field,
                  event.common_context_field, event.packet.context_field)
        print(event.name, event.id, event.cls.log_level, event.cls.emf_uri,
              time(message.default_clock_snapshot),
              [None if one is None else show(one) for one in scopes])
    elif kind in (bt2._DiscardedEventsMessageConst, bt2._DiscardedPacketsMessageConst):
        print(kind.__name__, message.count, time(message.beginning_default_clock_snapshot),
              time(message.end_default_clock_snapshot))
    elif kind in (bt2._PacketBeginningMessageConst, bt2._PacketEndMessageConst):
        print(kind.__name__, show(message.packet.context_field),
              time(message.default_clock_snapshot))
    else:
        stream = message.stream
        clock = stream.cls.default_clock_class
        print(kind.__name__, stream.id, stream.name, stream.cls.id, len(stream.cls),
              stream.trace.name, stream.trace.uuid, dict(stream.trace.environment),
              type(message.default_clock_snapshot).__name__,
              clock.name, clock.frequency, clock.offset.seconds, clock.offset.cycles,
              clock.origin_is_unix_epoch, clock.uuid)
"""
PEER = "/usr/bin/python3"


def printed(words, script, trace):
    """Return what a script prints."""
    run = subprocess.run(
        [*words, script, trace], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize("trace", ["fields", "lost", "threads-pid"])
def test_all_there_is_to_read(trace: str, tmp_path: Path) -> None:
    """Messages of all types, fields of all classes, in the same order."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    ours = [sys.executable, "-m", "vestige.compat.bt2"]

    lines = printed(ours, script, DATA / trace)

    assert lines == printed([PEER], script, DATA / trace)
