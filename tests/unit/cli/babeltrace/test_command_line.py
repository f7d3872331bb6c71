"""``babeltrace2``: its words, its errors, and where it stops."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA
from vestige.cli.babeltrace.command_line import run, split_words
from vestige.cli.parser import CommandParser


@pytest.fixture
def babeltrace(capfd, monkeypatch):
    """Run a command line; return status, output and errors."""
    monkeypatch.setattr(CommandParser, "refusal", None)

    def call(*words):
        status = run([str(word) for word in words])
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["query", "a"], ([], "query", ["a"])),
        (["a"], ([], "convert", ["a"])),
        (["-v", "run", "-x"], (["-v"], "run", ["-x"])),
        (["-l", "W", "help", "a"], (["-l", "W"], "help", ["a"])),
        (["--log-level=W", "a"], (["--log-level=W"], "convert", ["a"])),
        (
            ["--plugin-path", "p", "-d", "query"],
            (["--plugin-path", "p", "-d"], "query", []),
        ),
        (["--clock-gmt", "run"], ([], "convert", ["--clock-gmt", "run"])),
    ],
)
def test_general_options_stand_before_the_command(words, split):
    """What is none of them ends them; without a command it converts."""
    assert split_words(words) == split


def test_general_options_of_all_commands(babeltrace):
    """They are taken by those that have no use for them, too."""
    for words in (["help", "ctf"], ["list-plugins"], ["convert", DATA / "hello"]):
        status, text, errors = babeltrace("-v", "--log-level", "I", "-d", *words)
        assert (status, errors) == (0, "")
        assert text


CLI = "[Babeltrace CLI]"
USAGE = f"\nERROR:    {CLI}\n  Command-line error: retcode=1\nCAUSED BY {CLI}\n  "


@pytest.mark.parametrize(
    ("words", "errors"),
    [
        (["--nosuch"], f"{USAGE}unknown option '--nosuch'"),
        (["query", "src.ctf.fs", "x", "-p", "a=3,"], f"{USAGE}Invalid format for --params option's argument:\n"),
        (["query", "src.a.b", "x"], 'Cannot find component class: plugin-name="a", comp-cls-name="b", comp-cls-type=1'),
        (["help"], "Missing plugin name or component class descriptor."),
        (["help", "ctf", "fs"], "Extraneous command-line argument specified to `help` command: `fs`."),
        (["help", "zigotos"], 'Cannot find plugin: plugin-name="zigotos"'),
        (["help", "src.bob.fs"], 'Cannot find plugin: plugin-name="bob"'),
        (["/nonexist"], "CAUSED BY [source.ctf.fs]\n  /nonexist: no such file"),
    ],
)  # fmt: skip
def test_errors_are_stacks(babeltrace, words, errors):
    """In the words that scripts look for, each in one line, and with status 1."""
    status, text, told = babeltrace(*words)

    assert (status, text) == (1, "")
    assert told.startswith(f"\nERROR:    {CLI}\n  ")
    assert errors in told


def test_a_record_of_an_unknown_class_is_told_in_their_words(babeltrace, tmp_path):
    """The innermost error names its class; what is in front of it is printed."""
    others = Packet(numbered(3, start=10_000))
    packet = Packet([*numbered(2), Event(9_000_000, b"", id=99)])
    Trace(streams={"s": [packet], "t": [others]}).write(tmp_path)

    status, text, told = babeltrace(tmp_path)

    assert status == 1
    assert text.count("\n") == 2
    assert told.endswith(
        "No event class with ID of event class ID to use in stream class: "
        "stream-class-id=0, event-class-id=99\n"
    )


def test_help_of_a_class_that_is_not_there(babeltrace):
    """The plugin is described all the same."""
    status, text, told = babeltrace("help", "sink.ctf.bob")

    assert status == 1
    assert "Description: CTF input and output" in text
    assert told.rstrip().endswith(
        'plugin-name="ctf", comp-cls-name="bob", comp-cls-type=4'
    )


def test_packets_are_looked_at_before_anything_is_printed(babeltrace, tmp_path):
    """One is cut: nothing is read; ``vestige convert`` goes on."""
    trace = tmp_path / "trace"
    shutil.copytree(DATA / "hello", trace)
    [stream] = [one for one in trace.rglob("*_0") if one.stat().st_size]
    stream.write_bytes(stream.read_bytes()[:-1])

    status, text, told = babeltrace(trace)
    whole = babeltrace(DATA / "hello")[1]
    assert (status, text) == (1, "")
    assert f"Failed to index CTF stream file '{stream}'" in told
    done = subprocess.run(
        [sys.executable, "-m", "vestige", "convert", trace],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith(whole[:80])
    assert "CAUSED BY" not in done.stderr


def test_damage_above_a_component_in_python(babeltrace, tmp_path):
    """Taken as everywhere: the UUID of another trace is none, a record ends it."""
    python = [f"--plugin-path={DATA / 'plugins'}", "-c", "flt.sample.Passing"]
    other = Packet(numbered(2), uuid=bytes(16))
    Trace(streams={"s": [other]}).write(tmp_path / "other")
    assert (
        babeltrace(*python, tmp_path / "other")[1:]
        == babeltrace(tmp_path / "other")[1:]
    )

    broken = Packet([*numbered(2), Event(9_000_000, b"", id=99)])
    later = Packet(numbered(3, start=10_000))
    Trace(streams={"s": [broken], "t": [later]}).write(tmp_path / "broken")
    status, text, told = babeltrace(*python, tmp_path / "broken")
    assert (status, text.count("\n")) == (1, 2)
    assert "Traceback" not in told
    assert "event-class-id=99" in told
