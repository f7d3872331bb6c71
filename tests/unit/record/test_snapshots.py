"""Snapshots of a recording in overwrite mode, without a session daemon."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.waiting import wait_until
from vestige.cli.main import main
from vestige.record.rules.options import RecordingOptions

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
SECONDS = 60.0


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with functions that are recorded."""
    path = tmp_path_factory.mktemp("last") / "last_moments"
    words = ["gcc", "-g", "-finstrument-functions", str(PROGRAMS / "last_moments.c")]
    run_tool([*words, "-o", str(path)])
    return path


@contextmanager
def recorded(program: Path, trace: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Record the program while it waits for what it is to do."""
    command = [sys.executable, "-m", "vestige", "record", "--mode=overwrite", *more]
    with subprocess.Popen(
        [*command, "-o", str(trace), "--", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        try:
            yield recorder
        finally:
            recorder.kill()


def do(recorder: subprocess.Popen[str], line: str) -> None:
    """Let the program do something, and wait until it is done."""
    assert recorder.stdin is not None
    assert recorder.stdout is not None
    recorder.stdin.write(f"{line}\n")
    recorder.stdin.flush()
    assert recorder.stdout.readline() == f"{line}\n"


def end(recorder: subprocess.Popen[str], last: str = "") -> tuple[int, str]:
    """Let the program end; return the exit status and the errors."""
    _, err = recorder.communicate(last, timeout=SECONDS)
    return recorder.returncode, err


def calls(trace: Path) -> int:
    """Return how many calls a trace has; it has no damage."""
    opened = vestige.open(trace)
    found = sum(one.name.endswith("func_entry") for one in opened)
    assert not opened.damage
    return found


def test_a_snapshot_is_what_there_was(program: Path, tmp_path: Path, capsys):
    """All up to then, with what is still in memory; the recording goes on."""
    trace = tmp_path / "trace"
    with recorded(program, trace) as recorder:
        do(recorder, "100")
        assert main(["snapshot", str(trace), "-o", str(tmp_path / "first")]) == 0
        do(recorder, "11")
        assert main(["snapshot", str(trace)]) == 0
        status, err = end(recorder)
    first, second = map(Path, capsys.readouterr().out.split())
    assert status == 0
    assert first == tmp_path / "first"
    assert second.name.startswith("trace-snapshot-")
    # main() is one of them.
    assert [*map(calls, (first, second, trace))] == [101, 112, 112]
    assert f"snapshot in {first}" in err
    assert not [one for one in first.iterdir() if one.name.startswith(".")]
    assert not (trace / ".recorder").exists()


def test_a_signal_takes_one(program: Path, tmp_path: Path):
    """It goes to the recorder, and not on to the program, which it would end."""
    trace = tmp_path / "trace"
    with recorded(program, trace) as recorder:
        do(recorder, "5")
        os.kill(recorder.pid, signal.SIGUSR2)
        taken = "trace-snapshot-*/metadata"
        wait_until(lambda: [*tmp_path.glob(taken)], "it is taken", SECONDS)
        do(recorder, "2")
        assert end(recorder)[0] == 0
    (found,) = tmp_path.glob("trace-snapshot-*")
    assert (calls(found), calls(trace)) == (6, 8)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_crash_takes_one_if_that_is_wanted(
    program: Path, tmp_path: Path, is_wanted: bool
):
    """With the last moments; the program ends as it would."""
    trace = tmp_path / "trace"
    more = ["--snapshot-on-crash"] if is_wanted else []
    with recorded(program, trace, *more) as recorder:
        do(recorder, "7")
        status, err = end(recorder, "crash\n")
    assert status == 128 + signal.SIGSEGV
    found = [*tmp_path.glob("trace-crash-*")]
    assert [*map(calls, found)] == ([8] if is_wanted else [])
    assert ("snapshot in" in err) is is_wanted


def children(process: int) -> set[int]:
    """Return the children of a process."""
    words = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return {int(one) for one in words}


def watched(recorder: subprocess.Popen[str]) -> set[int]:
    """Return the processes that a recorder has descriptors of, see pidfd_open(2)."""
    found = set()
    for one in Path(f"/proc/{recorder.pid}/fdinfo").iterdir():
        with suppress(OSError):
            found |= {int(pid) for pid in re.findall(r"Pid:\t(\d+)", one.read_text())}
    return found


def wait_for_child(recorder: subprocess.Popen[str], before: set[int]) -> int:
    """Wait until a child of the program is watched, which was not there before."""
    [program] = children(recorder.pid)
    seen: set[int] = set()

    def is_there() -> bool:
        seen.update((children(program) & watched(recorder)) - before)
        return bool(seen)

    wait_until(is_there, "the child is watched", SECONDS)
    return seen.pop()


def end_child(
    recorder: subprocess.Popen[str], how: str, number: signal.Signals
) -> None:
    """Let the program begin a child, and end that by a signal."""
    assert recorder.stdin is not None
    assert recorder.stdout is not None
    [program] = children(recorder.pid)
    before = children(program)
    recorder.stdin.write(f"{how}\n")
    recorder.stdin.flush()
    os.kill(wait_for_child(recorder, before), number)
    assert recorder.stdout.readline() == f"{how}\n"


def skip_where_ends_are_not_told() -> None:
    """Skip a test whose process has a parent that waits for it."""
    release = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if release < (6, 15):
        pytest.skip("Linux before 6.15 does not tell how the children of others ended")


@pytest.mark.parametrize("how", ["child", "orphan"])
def test_a_child_that_crashes_is_seen(program: Path, tmp_path: Path, how: str):
    """Whether its parent waits for it or not; the program goes on. It has no other."""
    if how == "child":
        skip_where_ends_are_not_told()
    trace = tmp_path / "t"
    with recorded(program, trace, "--snapshot-on-crash") as recorder:
        do(recorder, "3")
        end_child(recorder, how, signal.SIGSEGV)
        taken = "t-crash-*/metadata"
        wait_until(lambda: [*tmp_path.glob(taken)], "it is taken", SECONDS)
        do(recorder, "5")
        _, err = recorder.communicate(timeout=SECONDS)
    [place] = tmp_path.glob("t-crash-*")
    assert recorder.returncode == 0
    assert f"vestige: snapshot in {place}\n" in err
    # main() and begin_child() are among them, and the child's own.
    assert (calls(place), calls(trace)) == (6, 11)


def test_a_crash_in_another_pid_namespace_is_seen(program: Path, tmp_path: Path):
    """What the memory says of the process is its number there."""
    skip_where_ends_are_not_told()
    inside = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*inside, "true"], check=False).returncode:
        pytest.skip("needs unshare(1), and the right to use it")
    # The first process there is not ended by such signals.
    first = tmp_path / "first"
    first.write_text(f"#!/bin/sh\n{program}\ncat > {tmp_path}/rest\n")
    first.chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text(f"#!/bin/sh\nexec {' '.join(inside)} {first}\n")
    shell.chmod(0o755)
    with recorded(shell, tmp_path / "t", "--snapshot-on-crash") as recorder:
        do(recorder, "3")
        process = recorder.pid
        for _ in ("unshare", "first", "program"):
            [process] = children(process)
        wait_until(lambda: process in watched(recorder), "it is watched", SECONDS)
        os.kill(process, signal.SIGSEGV)
        wait_until(lambda: [*tmp_path.glob("t-crash-*/metadata")], "taken", SECONDS)
        recorder.communicate(timeout=SECONDS)
    [place] = tmp_path.glob("t-crash-*")
    assert calls(place) == 4


def test_of_crashes_in_a_row_the_first_is_kept(program: Path, tmp_path: Path):
    """One that crashes whenever it is started again does not fill the disk."""
    with recorded(program, tmp_path / "t", "--snapshot-on-crash") as recorder:
        do(recorder, "3")
        for _ in range(3):
            end_child(recorder, "orphan", signal.SIGABRT)
        wait_until(lambda: not watched_children(recorder), "all are seen", SECONDS)
        _, err = recorder.communicate(timeout=SECONDS)
    assert len([*tmp_path.glob("t-crash-*")]) == 1
    assert "since another had one less than 10 s before: 2\n" in err


def watched_children(recorder: subprocess.Popen[str]) -> set[int]:
    """Return the children of the program that a recorder has descriptors of."""
    [program] = children(recorder.pid)
    return children(program) & watched(recorder)


def test_a_child_that_is_killed_has_not_crashed(program: Path, tmp_path: Path):
    """Whoever has started it may end it so."""
    with recorded(program, tmp_path / "t", "--snapshot-on-crash") as recorder:
        do(recorder, "3")
        end_child(recorder, "child", signal.SIGKILL)
        recorder.communicate(timeout=SECONDS)
    assert not [*tmp_path.glob("t-crash-*")]


def test_an_end_in_order_takes_none(program: Path, tmp_path: Path):
    """Only the trace is there."""
    with recorded(program, tmp_path / "trace", "--snapshot-on-crash") as recorder:
        assert end(recorder)[0] == 0
    assert [one.name for one in tmp_path.iterdir()] == ["trace"]


def test_the_newest_are_in_it(program: Path, tmp_path: Path):
    """Of a recording that has its full size many times over, while it runs on."""
    trace = tmp_path / "trace"
    with recorded(program, trace, "--max-size=1M") as recorder:
        do(recorder, "1000000")
        for number in range(20):
            place = tmp_path / f"s{number}"
            recorder.stdin.write("100000\n")
            recorder.stdin.flush()
            assert main(["snapshot", str(trace), "-o", str(place)]) == 0
        for _ in range(20):
            assert recorder.stdout.readline() == "100000\n"
        assert end(recorder)[0] == 0
    for number in range(20):
        place = tmp_path / f"s{number}"
        assert calls(place) > 1000
        assert main(["check", str(place)]) == 0
        size = sum(one.stat().st_size for one in place.iterdir())
        assert size < 2 << 20


@pytest.mark.parametrize("is_there", [True, False])
def test_nobody_who_records_is_an_error(tmp_path: Path, capsys, is_there: bool):
    """A directory without a recorder, and none at all."""
    trace = tmp_path / "trace"
    if is_there:
        trace.mkdir()
    assert main(["snapshot", str(trace)]) == 1
    assert "no recording with --mode=overwrite goes on here" in capsys.readouterr().err


def test_a_place_that_cannot_be_is_an_error(program: Path, tmp_path: Path):
    """Nothing is written over; the recording goes on."""
    trace = tmp_path / "trace"
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    with recorded(program, trace) as recorder:
        do(recorder, "1")
        for place in ("full", "full/mine"):
            assert main(["snapshot", str(trace), "-o", str(tmp_path / place)]) == 1
        do(recorder, "1")
        assert end(recorder)[0] == 0
    assert [one.name for one in (tmp_path / "full").iterdir()] == ["mine"]
    assert calls(trace) == 3


@pytest.mark.parametrize(
    "request_",
    [b"[" * 16000 + b"\n", b"\n", b"\xff\n", b'{"output": "/a\\u0000"}\n', b""],
)
def test_a_request_that_makes_no_sense_ends_nothing(
    program: Path, tmp_path: Path, request_: bytes
):
    """Nor does one that ends in the middle; the next one is answered."""
    trace = tmp_path / "t"
    with recorded(program, trace) as recorder:
        do(recorder, "3")
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(SECONDS)
            asking.connect(str(trace / ".recorder"))
            asking.sendall(request_)
            asking.shutdown(socket.SHUT_WR)
            assert b'"path"' not in asking.recv(4096)
        assert main(["snapshot", str(trace), "-o", str(tmp_path / "s")]) == 0
        assert end(recorder)[0] == 0
    assert calls(tmp_path / "s") == 4
    assert sorted(one.name for one in tmp_path.iterdir()) == ["s", "t"]


def test_a_crash_is_of_overwrite_mode():
    """Else all is kept in any case."""
    with pytest.raises(vestige.SelectionError, match="expected with mode=overwrite"):
        RecordingOptions(snapshot_on_crash=True)
