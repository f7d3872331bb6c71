"""The command as a whole: verbs, help, exit statuses, signals."""

from __future__ import annotations

import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import vestige
from support.recordings import DATA
from vestige.cli.commands import load_commands
from vestige.cli.main import EXIT_STATUSES, entry_point

VESTIGE = [sys.executable, "-m", "vestige"]
COMMANDS = load_commands([])
VERBS = [command.name for command in COMMANDS]
DEADLINE = 20


@contextmanager
def started(*words, **streams):
    """Start the command in a process of its own, which ends with the block at the latest."""
    with subprocess.Popen(
        [*VESTIGE, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **streams,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def interruptible():
    """Let children be interrupted; a shell that runs tests in the background forbids it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_for(condition):
    """Wait until a condition holds ten times in a row."""
    end = time.monotonic() + DEADLINE
    in_a_row = 0
    while in_a_row < 10:
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)
        in_a_row = in_a_row + 1 if condition() else 0


def sleeps(process):
    """Tell whether a process waits for something."""
    stat = Path(f"/proc/{process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "S"


def test_the_verbs_are_listed_with_their_summaries(run):
    """In their order, and examples too."""
    status, text, errors = run("--help")
    lines = text.splitlines()

    assert (status, errors) == (0, "")
    reading = "view convert check repair export report debuginfo symbolize"
    assert ["record", "list", *reading.split(), "config", "gen-tp", "demo"] == VERBS
    for command in COMMANDS:
        assert f"    {command.name:12} {command.summary}" in lines
    assert (
        "  vestige convert TRACE              the text of 'babeltrace2 TRACE'" in lines
    )
    assert text.endswith(EXIT_STATUSES)


@pytest.mark.parametrize("command", COMMANDS, ids=VERBS)
def test_the_help_of_a_verb_shows_examples_and_exit_statuses(run, command):
    """At the end, as they were written."""
    status, text, errors = run(command.name, "--help")

    assert (status, errors) == (0, "")
    assert text.startswith(f"usage: vestige {command.name} ")
    statuses = getattr(command, "exit_statuses", EXIT_STATUSES)
    assert text.endswith(f"\n\n{command.examples}\n{statuses}")
    assert command.examples.startswith("examples:\n  ")
    assert f"vestige {command.name}" in command.examples
    for number in (0, 1, 2, 130):
        assert f"\n  {number:<4} " in EXIT_STATUSES


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version(run, option):
    """The name and the number."""
    assert run(option) == (0, f"vestige {vestige.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["play"], "invalid choice: 'play'"),
        (["record"], "the following arguments are required: PROGRAM"),
        (["convert"], "the following arguments are required: PATH"),
        (["view"], "the following arguments are required: PATH"),
        (["demo", "path"], "unrecognized arguments: path"),
        (["convert", "--wrong", "path"], "unrecognized arguments: --wrong"),
        (["convert", "-o", "json", "path"], "invalid choice: 'json'"),
        (["convert", "-i", "lttng-live", "path"], "invalid choice: 'lttng-live'"),
        (["view", "--color=sometimes", "path"], "invalid choice: 'sometimes'"),
    ],
)
def test_wrong_usage_is_status_2(run, words, message):
    """With the usage and one line of what is wrong."""
    status, text, errors = run(*words)

    assert (status, text) == (2, "")
    assert errors.startswith("usage: vestige")
    assert message in errors.splitlines()[-1]


@pytest.mark.parametrize("verb", ["convert", "view"])
def test_a_path_without_a_trace_is_status_1(run, verb, tmp_path):
    """One line, with the path."""
    missing = tmp_path / "missing"

    assert run(verb, missing) == (
        1,
        "",
        f"vestige: error: {missing}: no such file or directory\n",
    )
    assert run(verb, DATA / "hello", missing)[0] == 1


@pytest.mark.parametrize("verb", ["convert", "view", "demo"])
def test_output_that_cannot_be_written_is_status_1(verb):
    """One line, and no traceback, also from the last flush of Python."""
    paths = [] if verb == "demo" else [DATA / "hello"]
    with (
        Path("/dev/full").open("w") as full,
        started(verb, *paths, stdout=full) as process,
    ):
        _, errors = process.communicate(timeout=DEADLINE)

    assert "No space left on device" in errors
    assert "Traceback" not in errors
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("words", "status", "errors"),
    [
        ("symbolize -e /proc/self/exe 10 >&-", 1, "Bad file descriptor"),
        ("symbolize -e /proc/self/exe <&-", 1, "Bad file descriptor"),
        (f"convert {DATA / 'hello'} >&-", 1, "Bad file descriptor"),
        (f"convert {DATA / 'hello'} <&-", 0, ""),
        ("symbolize -e /nothing 10 2>&-", 1, ""),
    ],
)
def test_a_closed_standard_stream_is_no_traceback(words, status, errors):
    """Python has no object for a stream that was closed before it started."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m vestige {words}', sys.executable],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert errors in done.stderr
    assert errors or done.stderr == ""
    assert "error" not in done.stdout


@pytest.mark.parametrize("verb", ["convert", "view"])
def test_a_reader_that_goes_away_is_no_error(verb):
    """`vestige convert | head -1` leaves neither a traceback nor a message."""
    paths = [DATA / name for name in ("reload", "fields", "threads-pid")]
    with started(verb, *paths, stdout=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        status = process.wait(DEADLINE)

    assert first.startswith("[")
    assert (status, errors) == (128 + signal.SIGPIPE, "")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_status_130(tmp_path):
    """Ctrl-C while it waits for a reader of its output: no traceback."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started(
        "convert", "-w", pipe, DATA / "hello", stdout=subprocess.PIPE
    ) as process:
        wait_for(lambda: sleeps(process))
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=DEADLINE)

    assert (process.returncode, text, errors) == (130, "", "")


def bytes_waiting(pipe):
    """Return how many bytes nobody has read from a pipe yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_reader_sleeps_is_status_130():
    """Ctrl-C when the pipe is full, as behind a stopped pager."""
    paths = [DATA / "lost", DATA / "fields"]
    with started("convert", *paths, stdout=subprocess.PIPE) as process:
        wait_for(lambda: sleeps(process) and bytes_waiting(process.stdout) > 60_000)
        process.send_signal(signal.SIGINT)
        assert process.wait(1) == 130


def test_the_installed_command_is_the_same():
    """`vestige` and `python -m vestige`."""
    [point] = entry_points(group="console_scripts", name="vestige")

    assert point.load() is entry_point
