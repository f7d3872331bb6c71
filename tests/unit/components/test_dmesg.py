"""Messages of a kernel as events."""

from __future__ import annotations

import os
import subprocess
import sys

from support.vestige_command import vestige
from vestige.components.sources.dmesg_line import parsed_line


def shown(path, *params):
    """Return the arguments that show a file."""
    given = ",".join([f'path="{path}"', *params])
    return "--clock-seconds", "-c", "source.text.dmesg", "-p", given


def test_lines_of_a_pipe_come_at_once():
    """Before it ends."""
    read, write = os.pipe()
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "vestige",
            "convert",
            "-c",
            "source.text.dmesg",
            "--clock-seconds",
        ],
        stdin=read,
        stdout=subprocess.PIPE,
    ) as process:
        os.close(read)
        os.write(write, b"[1.0] first\n[2.0] sec")
        assert b"first" in process.stdout.readline()
        os.write(write, b"ond\n")
        assert b'"second"' in process.stdout.readline()
        os.close(write)
        assert process.wait(60) == 0


def test_lines_without_a_time_and_times_that_go_back(tmp_path):
    """They have the time of the line before; the latter are reported."""
    path = tmp_path / "kernel.txt"
    path.write_text("[2.000000] one\ncontinued\n[1.000000] back\n")
    done = vestige("convert", *shown(path))
    assert [line.partition(" ")[0] for line in done.stdout.decode().splitlines()] == (
        ["[2.000000000]"] * 3
    )
    assert done.status == 1
    assert "'back' is before that of the line before" in done.stderr.decode()


def test_what_is_no_file_is_refused(tmp_path):
    """With one line."""
    done = vestige("convert", *shown(tmp_path))
    assert done.status != 0
    assert "not a regular file" in done.stderr.decode()


def test_a_line_is_a_text_of_c():
    """What is behind a null character is not there."""
    line = parsed_line(b"[1.2] a\0b", reads_time=True)
    assert (line.time, line.text) == (1_000_002_000, "a")
    assert parsed_line(b"[1.2", reads_time=True).time is None


def test_numbers_that_are_no_times(tmp_path):
    """They are told, or are text, however long they are."""
    path = tmp_path / "kernel.txt"
    long = "9" * 5000
    path.write_text(
        f"[9999999999999.1] late\n[{long}.1] long\n[{long}-1-1 1:1:1.1] x\n"
    )
    done = vestige("convert", *shown(path))
    assert done.status == 1
    assert b"9.1] long" in done.stdout
    assert b"9-1-1 1:1:1.1] x" in done.stdout
    assert "the time of 'late' is too late" in done.stderr.decode()


def test_lines_are_in_no_packets(tmp_path):
    """As a text of details tells; the packets that lines are kept in are ours."""
    path = tmp_path / "kernel.txt"
    path.write_text("[1.000000] first\n[2.000000] second\n")
    done = vestige("convert", *shown(path)[1:], "-c", "sink.text.details")
    text = done.stdout.decode()
    assert "    Supports packets: No\n" in text
    assert text.count("Event `string`") == 2
    assert "Packet beginning" not in text
    assert "Packet end" not in text
