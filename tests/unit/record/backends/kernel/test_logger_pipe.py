"""The pipe through which any user's text becomes events, which only root can make."""

from __future__ import annotations

import os
import stat
import subprocess

import pytest

import vestige
from support.kernel_tracer import why_not
from support.public_folder import public_folder
from support.recorded import record_command
from vestige.record.backends.kernel.logger_pipe import LONGEST, LoggerPipe, messages

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
LONG = "x" * 2 * LONGEST + "end"
OTHER_USER = 65534
WRITES = """
printf 'first\\nsecond\\n\\n' > "$1"
setpriv --reuid={user} --clear-groups sh -c 'printf "of another user" > "$0"' "$1"
printf '%s\\n' {long} > "$1"
"""


class NoInstances:
    """As a file system of tracing in which nobody records."""

    @staticmethod
    def names(path):
        """Return the names in a directory."""
        assert path == "instances"
        return []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"one\ntwo\n", [b"one", b"two"]),
        (b"without an end", [b"without an end"]),
        (b"x" * LONGEST + b"\n", [b"x" * LONGEST]),
        (b"x" * (LONGEST + 1) + b"\ny", [b"x" * LONGEST, b"x", b"y"]),
    ],
)
def test_lines_are_events(data, expected):
    """Empty ones are none, long ones are several."""
    assert messages(data, is_more=False) == (expected, b"")


def test_a_line_that_goes_on_waits_for_its_end():
    """Unless it is too long for one event anyway."""
    assert messages(b"one\ntw", is_more=True) == ([b"one"], b"tw")
    assert messages(b"y" * LONGEST, is_more=True) == ([b"y" * LONGEST], b"")


def test_anybody_may_write_and_it_is_gone_at_the_end(tmp_path):
    """Nobody but its owner reads."""
    path = tmp_path / "logger"
    pipe = LoggerPipe(NoInstances(), str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o622
    with path.open("wb", buffering=0) as file:
        file.write(b"one\n\ntwo")
    assert pipe.pass_on() == 2
    assert pipe.pass_on() == 0
    pipe.close()
    assert not path.exists()


def test_who_writes_a_lot_keeps_nobody_from_other_work(tmp_path):
    """Not all of it is passed on at once; but all of it in the end."""
    path = tmp_path / "logger"
    pipe = LoggerPipe(NoInstances(), str(path))
    count = 20_000
    with path.open("wb", buffering=0) as file:
        file.write(b"x\n" * count)
    found = [pipe.pass_on()]
    while found[-1]:
        found.append(pipe.pass_on())
    pipe.close()

    assert max(found) < count / 2
    assert sum(found) == count


def test_what_is_not_ours_stays(tmp_path):
    """Another file, or a pipe that somebody reads; one without a reader is replaced."""
    path = tmp_path / "logger"
    path.write_text("text")
    with pytest.raises(FileExistsError, match="there is another file"):
        LoggerPipe(NoInstances(), str(path))
    assert path.read_text() == "text"
    path.unlink()
    first = LoggerPipe(NoInstances(), str(path))
    with pytest.raises(FileExistsError, match="somebody reads it already"):
        LoggerPipe(NoInstances(), str(path))
    path.rename(tmp_path / "moved")
    second = LoggerPipe(NoInstances(), str(path))
    first.close()
    assert path.exists()
    second.close()
    os.mkfifo(path)
    LoggerPipe(NoInstances(), str(path)).close()
    assert not path.exists()


@needs_tracer
def test_text_of_any_user_is_in_the_trace():
    """In its order, and also what was written right before the end."""
    writes = WRITES.format(user=OTHER_USER, long=LONG)
    with public_folder() as folder:
        path, output = folder / "logger", folder / "trace"
        program = ["sh", "-ec", writes, "sh", str(path)]
        done = subprocess.run(
            record_command(output, program, "--kernel-logger", str(path)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not path.exists()
        found = [
            event.payload["msg"]
            for event in vestige.open(output / "kernel")
            if event.name == "lttng_logger"
        ]

    whole = "".join(found[2:])
    assert found[:2] == ["first", "second"]
    assert whole == f"of another user{LONG}"
    assert max(map(len, found)) == LONGEST
