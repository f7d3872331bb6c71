"""What `docs/differences.md` says about metadata, UUIDs and paths."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.ctf_writer import Packet, Trace, numbered, packetised_metadata, write_trace


def convert(*paths: Path) -> tuple[int, str, list[str]]:
    """Run ``vestige convert``; return exit status, text and errors."""
    done = subprocess.run(
        [sys.executable, "-m", "vestige", "convert", *map(str, paths)],
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr.splitlines()


def values(text: str) -> list[int]:
    """Return the values of the printed events of :class:`Trace`."""
    return [int(value) for value in re.findall(r"\{ value = (\d+) \}", text)]


def write(directory: Path, change: tuple[str, str] = ("", ""), **packet: bytes) -> Path:
    """Write a trace of three events, whose metadata are changed."""
    trace = Trace(streams={"stream": [Packet(numbered(3), **packet)]})
    trace.write(directory)
    text = trace.metadata()
    assert change[0] in text
    (directory / "metadata").write_text(text.replace(*change, 1))
    return directory


def refused(directory: Path) -> str:
    """Return the error about the metadata of a trace of which no event can be read."""
    status, text, errors = convert(directory)
    assert (status, text) == (1, ""), (status, text, errors)
    assert str(directory / "metadata") in errors[0]
    return errors[0]


def test_a_stream_with_another_uuid_is_read(tmp_path):
    """Everything else says that the metadata describe it; one line says what does not."""
    status, text, errors = convert(write(tmp_path, uuid=bytes(16)))
    assert status == 1
    assert values(text) == [0, 1, 2]
    assert len(errors) == 1
    assert f"{tmp_path / 'stream'}, byte " in errors[0]
    assert "UUID" in errors[0]


@pytest.mark.parametrize(
    "change",
    [("/* CTF 1.8 */\n", ""), ("major = 1;\n", ""), ("minor = 8;\n", "")],
    ids=["signature", "major", "minor"],
)
def test_a_trace_that_does_not_state_its_version_is_read(tmp_path, change):
    """Neither the signature nor the version of the trace has to be there."""
    status, text, errors = convert(write(tmp_path, change))
    assert (status, values(text), errors) == (0, [0, 1, 2], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("CTF 1.8", "CTF 1.9"), "line 1: metadata of another version"),
        (("major = 1", "major = 2"), "attribute 'major': expected 1"),
        (("minor = 8", "minor = 9"), "attribute 'minor': expected 8"),
    ],
)
def test_another_version_is_refused(tmp_path, change, message):
    """Nobody knows its rules."""
    assert message in refused(write(tmp_path, change))


def test_the_byte_order_is_required(tmp_path):
    """Also where the packets of the metadata have one."""
    lines = Trace().metadata().splitlines()
    expected = f"line {lines.index('trace {') + 1}: the trace block has no byte_order"
    assert expected in refused(write(tmp_path / "text", ("byte_order = le;", "")))
    text = Trace(order="be").metadata().replace("byte_order = be;", "")
    write_trace(tmp_path / "packets", packetised_metadata(text, "be"), {})
    assert "the trace block has no byte_order" in refused(tmp_path / "packets")


def test_the_byte_order_is_that_of_the_metadata_packets(tmp_path):
    """A trace of the other byte order would be read wrongly, or the metadata lie."""
    text = Trace(order="le").metadata()
    write_trace(tmp_path, packetised_metadata(text, "be"), {})
    assert "contradicts the metadata packets" in refused(tmp_path)


def test_two_clocks_of_one_name_are_refused(tmp_path):
    """A reference to the name would have two meanings."""
    clock = 'clock { name = "monotonic"; freq = 1000000000; };\n'
    error = refused(write(tmp_path, (clock, clock * 2)))
    assert re.search(r"line \d+: clock 'monotonic' stands twice", error)


def test_two_fields_of_one_name_are_refused(tmp_path):
    """The message names the line and the field."""
    error = refused(
        write(tmp_path, ("uint32_t value;", "uint32_t value;\nint32_t value;"))
    )
    assert re.search(r"line \d+: field 'value' stands twice", error)


def test_a_path_without_a_trace_is_an_error_beside_others(tmp_path):
    """Who names a path wants it read."""
    write(tmp_path / "trace")
    (tmp_path / "empty").mkdir()
    status, _, errors = convert(tmp_path / "trace", tmp_path / "empty")
    assert status == 1
    assert any(str(tmp_path / "empty") in error for error in errors)


def test_labels_of_lttng_may_lie_outside_of_their_container(tmp_path):
    """Other tracers' may not."""
    label = ("uint32_t value;", "uint32_t value; enum : uint8_t { BIG = 4000 } e;")
    assert "outside of its container" in refused(write(tmp_path / "other", label))
    environment = 'env { tracer_name = "lttng-ust"; };\nclock {'
    directory = write(tmp_path / "lttng", label)
    text = (directory / "metadata").read_text().replace("clock {", environment, 1)
    write_trace(directory, text, {"stream": b""})
    assert convert(directory) == (0, "", [])
