"""Recordings without a daemon are seen while they go on, with the numbers of the end."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import vestige
from support.own_programs import Ordered, build_ordered
from support.session_daemon import SECONDS
from support.waiting import wait_until
from vestige.analysis.check import examine
from vestige.control import recordings as module
from vestige.control.recordings import QUESTION, Recorded, Recordings
from vestige.control.watching import Watch, WatchedRecording

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A trace with a name that no other recording here has."""
    return tmp_path / f"t-{secrets.token_hex(8)}"


@contextmanager
def recorded(program: Path, output: Path, *words: str) -> Iterator[Ordered]:
    """Record the program; `process` is the one that records."""
    command = [sys.executable, "-m", "vestige", "record", "-q", "-o", str(output)]
    process = subprocess.Popen(
        [*command, *words, "--", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Ordered(process)
        finally:
            process.kill()


def seen(
    watch: Watch, output: Path, is_so: Callable[[WatchedRecording], bool]
) -> WatchedRecording:
    """Look until something is seen of a recording."""
    found: list[WatchedRecording] = []

    def look() -> bool:
        every = watch.look().recordings
        found[:] = [one for one in every if one.output == str(output)]
        return bool(found) and is_so(found[0])

    wait_until(look, "it is seen", SECONDS)
    return found[0]


def test_events_are_those_of_the_trace(program: Path, output: Path):
    """With the program that records them; nothing is left when it has ended."""
    watch = Watch(None, Recordings())
    with recorded(program, output) as one:
        one.do("3000")
        last = seen(
            watch,
            output,
            lambda it: it.counts.is_exact and (it.counts.events or 0) >= 3000,
        )
        look = watch.look().only(output.name)
        assert [it.output for it in look.recordings] == [str(output)]
        (its,) = look.programs
        assert (its["uid"], its["name"], its["sessions"]) == (
            os.geteuid(),
            str(program),
            [],
        )
        assert its["recording"] == str(output)
        assert Path(f"/proc/{its['pid']}/exe").readlink() == program
        assert (last.pid, last.uid) == (one.process.pid, os.geteuid())
        assert last.counts.discarded_events == 0
        assert last.counts.buffer_size > 0
        one.end()
    files = [path for path in output.iterdir() if path.name != "metadata"]
    assert last.counts.bytes == sum(path.stat().st_size for path in files)
    assert last.counts.events == sum(1 for _ in vestige.open(output))
    assert not watch.look().only(output.name).recordings


def test_losses_are_told(program: Path, output: Path):
    """As the trace tells them at the end."""
    watch = Watch(None, Recordings())
    with recorded(program, output, "--mode=discard", "--buffer-size=128k") as one:
        lost = 0
        while not lost:
            one.do("500000")
            lost = seen(watch, output, lambda _: True).counts.discarded_events
        last = seen(watch, output, lambda it: it.counts.is_exact)
        one.end()
    trace = vestige.open(output)
    streams = [one for each in examine(trace).traces for one in each.streams]
    assert last.counts.discarded_events == sum(one.lost_events for one in streams)
    assert last.counts.events == sum(1 for _ in trace)


def test_archives_belong_to_their_recording(program: Path, output: Path):
    """The directory is that of all of it, and events that were moved count once."""
    watch = Watch(None, Recordings())
    with recorded(program, output, "--rotate=1k") as one:
        for number in range(1, 4):
            one.do("3000")
            wait_until(
                lambda wanted=number: len([*output.glob("archives/*")]) >= wanted,
                "a chunk is archived",
                SECONDS,
            )
            seen(
                watch,
                output,
                lambda it, least=3000 * number: (it.counts.events or 0) >= least,
            )
        last = seen(watch, output, lambda it: it.counts.is_exact)
        one.end()
    # What processes have told of their state is in each of them.
    chunks = [path.parent for path in output.rglob("metadata")]
    assert last.counts.events == sum(1 for it in chunks for _ in vestige.open(it))


def test_who_was_stopped_is_shown_as_it_was(program: Path, output: Path):
    """And nobody waits for it long, however often it was asked."""
    watch = Watch(None, Recordings())
    with recorded(program, output) as one:
        one.do("30")
        before = seen(
            watch,
            output,
            lambda it: it.counts.is_exact and (it.counts.events or 0) >= 30,
        )
        os.kill(one.process.pid, signal.SIGSTOP)
        stopped = seen(watch, output, lambda it: not it.is_answering)
        assert stopped.counts.events == before.counts.events
        os.kill(one.process.pid, signal.SIGCONT)
        assert seen(watch, output, lambda it: it.is_answering)
        one.end()


class Impostor:
    """Listens as a collector does, and says something else."""

    def __init__(self, answer: bytes) -> None:
        self.name = f"vestige-{secrets.token_hex(16)}"
        self.asked: list[bytes] = []
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(f"\0{self.name}")
        self._listener.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # Who has heard enough reads no more.
            with connection, suppress(OSError):
                self.asked.append(connection.recv(100))
                connection.sendall(self._answer)

    def close(self) -> None:
        """Listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def right_answer(directory: bytes) -> bytes:
    """Return what a collector might say."""
    numbers = b"rotated bytes lost lost_packets unwritten fullest ring rings".split()
    words = [b"directory=" + directory, *(one + b"=0" for one in numbers)]
    words.append(b"process=7,1,it, it")
    return b"".join(one + b"\0" for one in words)


def known(recordings: Recordings, directory: str) -> list[Recorded]:
    """Return what is known of a directory."""
    return [one for one in recordings.look() if one.directory == directory]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff" * 5000,
        right_answer(b"relative"),
        right_answer(b"/x").replace(b"bytes=0", b"bytes=-1"),
        right_answer(b"/x").replace(b"lost=0", b"lost=1e9"),
        right_answer(b"/x").replace(b"ring=0\0", b""),
        right_answer(b"/x").replace(b"process=7,", b"process="),
        b"directory=/x\0" * 200_000,
    ],
)
def test_what_makes_no_sense_is_no_recording(answer: bytes):
    """Its socket is not asked again."""
    impostor = Impostor(answer)
    recordings = Recordings()
    try:
        assert known(recordings, "/x") == []
        assert known(recordings, "/x") == []
    finally:
        impostor.close()
    assert impostor.asked == [QUESTION]


def test_processes_of_other_namespaces_have_no_id_here():
    """Their names may have any character."""
    impostor = Impostor(right_answer(b"/some/where"))
    try:
        (found,) = known(Recordings(), "/some/where")
    finally:
        impostor.close()
    assert found.processes == ((0, "it, it"),)
    assert (found.pid, found.uid) == (os.getpid(), os.geteuid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is told by others")
@pytest.mark.parametrize("is_theirs", [True, False])
def test_users_name_their_own_directories_only(tmp_path: Path, *, is_theirs: bool):
    """Root would look through all of another one."""
    if is_theirs:
        os.chown(tmp_path, 65_534, 65_534)
    # Who listens is who has said so.
    os.seteuid(65_534)
    try:
        impostor = Impostor(right_answer(os.fsencode(tmp_path)))
    finally:
        os.seteuid(0)
    try:
        found = known(Recordings(), str(tmp_path))
    finally:
        impostor.close()
    assert [one.uid for one in found] == [65_534] * is_theirs


def test_other_users_are_not_believed(monkeypatch: pytest.MonkeyPatch):
    """Nor even asked, but by root."""
    impostor = Impostor(right_answer(b"/some/where"))
    try:
        monkeypatch.setattr(module.os, "geteuid", lambda: os.getuid() + 1)
        assert known(Recordings(), "/some/where") == []
    finally:
        impostor.close()
    assert impostor.asked in ([], [b""])
