"""A daemon's pipe for text of any user, which is where the kernel can be recorded."""

from __future__ import annotations

import fcntl
import stat
import struct
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

import vestige
from support.kernel_tracer import why_not
from support.recorded import record_command
from support.session_daemon import SECONDS, SessionDaemon, session_daemon
from support.waiting import wait_until

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def waiting(file: IO[bytes]) -> int:
    """Return how many bytes of a pipe nobody has read."""
    count = struct.pack("i", -1)
    return struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, count))[0]


@pytest.fixture
def daemon() -> Iterator[SessionDaemon]:
    """A home without a daemon."""
    with session_daemon() as one:
        yield one


def test_text_comes_into_any_recording_of_the_kernel(
    daemon: SessionDaemon, tmp_path: Path
) -> None:
    """Whoever records; and the pipe is there as long as the daemon."""
    assert daemon.start().returncode == 0
    pipe, output = daemon.run_folder / "lttng-logger", tmp_path / "trace"
    command = record_command(
        output, ["sh", "-c", "echo ready; read line"], "--kernel=lttng_logger"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, stderr=subprocess.DEVNULL) as recorder:
        assert recorder.stdout.readline() == b"ready\n"
        with pipe.open("wb", buffering=0) as file:
            for text in (b"one text\n", b"two"):
                file.write(text)
                wait_until(lambda: waiting(file) == 0, "it is read", SECONDS)
        # By the time that it answers, it has passed it on.
        daemon.lttng("list")
        recorder.communicate(b"\n", timeout=60)
    mode = pipe.stat().st_mode
    daemon.end()

    texts = [
        event.payload["msg"]
        for event in vestige.open(output / "kernel")
        if event.name == "lttng_logger"
    ]
    assert texts == ["one text", "two"]
    assert (stat.S_ISFIFO(mode), stat.S_IMODE(mode)) == (True, 0o622)
    assert not pipe.exists()


def test_a_daemon_that_records_nothing_of_the_kernel_has_none(
    daemon: SessionDaemon,
) -> None:
    """As it was told."""
    assert daemon.start("--no-kernel").returncode == 0
    assert not (daemon.run_folder / "lttng-logger").exists()


def test_text_comes_from_a_path_that_was_asked_for(daemon: SessionDaemon) -> None:
    """Beside the usual one; what is passed on is the same, and nothing is left."""
    device, output = daemon.home / "device", daemon.home / "trace"
    assert daemon.start(f"--kernel-logger={device}").returncode == 0
    for words in (
        f"create s --output={output}",
        "enable-event -k lttng_logger",
        "start",
    ):
        assert daemon.lttng(*words.split()).status == 0
    for one in (device, daemon.run_folder / "lttng-logger"):
        with one.open("wb", buffering=0) as file:
            file.write(one.name.encode())
            wait_until(lambda file=file: waiting(file) == 0, "it is read", SECONDS)
    daemon.lttng("destroy", "s")
    daemon.end()
    events = vestige.open(output)
    texts = [one["msg"] for one in events if one.name == "lttng_logger"]
    assert texts == ["device", "lttng-logger"]
    assert not device.exists()


def test_a_path_that_cannot_be_is_told(daemon: SessionDaemon) -> None:
    """A relative one ends the daemon; of another one there is a warning."""
    started = daemon.start("--kernel-logger=here")
    assert started.returncode == 1
    assert started.stderr == "Error: kernel-logger = here: expected an absolute path\n"
    started = daemon.start("--kernel-logger=/no/such/place")
    assert started.returncode == 0
    why = "no text from /no/such/place: No such file or directory"
    assert started.stderr == f"Warning: {why}\n"


def test_another_file_there_stays(daemon: SessionDaemon) -> None:
    """The daemon does without."""
    daemon.run_folder.mkdir(parents=True, exist_ok=True)
    other = daemon.run_folder / "lttng-logger"
    other.write_text("mine")
    assert daemon.start().returncode == 0
    daemon.end()
    assert other.read_text() == "mine"


def test_the_commands_of_the_document_write_into_a_session(
    daemon: SessionDaemon, tmp_path: Path
) -> None:
    """With the pipe where it names a device; each line is an event."""
    assert daemon.start().returncode == 0
    pipe, output = daemon.run_folder / "lttng-logger", tmp_path / "trace"
    for words in (
        ("create", "my-session", f"--output={output}"),
        ("enable-event", "--kernel", "lttng_logger"),
        ("start",),
    ):
        assert daemon.lttng(*words).status == 0
    lines = ["echo 'Hello, World!'", "df --human-readable --print-type /"]
    script = "\n".join(f"{one} > {pipe}" for one in lines)
    subprocess.run(["sh", "-c", script], check=True, timeout=SECONDS)
    assert daemon.lttng("destroy").status == 0

    first, *table = [
        str(event["msg"])
        for event in vestige.open(output)
        if event.name == "lttng_logger"
    ]
    assert first == "Hello, World!"
    assert table[0].startswith("Filesystem ")
    assert len(table) == 2
