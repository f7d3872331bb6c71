"""The sink that decodes everything and shows nothing."""

from __future__ import annotations

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA, NAMES
from vestige.components.sinks.dummy import DummySink
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Graph


@pytest.mark.parametrize("name", NAMES)
def test_good_traces_pass_in_silence(name, capfd):
    """All of their fields can be decoded; no loss is reported."""
    damage = Graph([CtfFsSource([DATA / name])], DummySink()).run()

    assert not DummySink.looks_at_records
    assert damage == []
    assert capfd.readouterr() == ("", "")


def test_a_field_that_cannot_be_decoded_is_damage(tmp_path):
    """Although nobody asked for it."""
    events = [*numbered(3), Event(9_000_000, b"no end", id=1)]
    trace = Trace(("uint32_t value;", "string text;"), streams={"s": [Packet(events)]})
    [error] = Graph([CtfFsSource([trace.write(tmp_path)])], DummySink()).run()

    assert "past the end of its packet's content" in str(error)
    assert error.path == str(tmp_path / "s")
