"""Sessions that are read while they are recorded: senders, relays and readers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support.child_relay import child_relay
from support.live_sessions import daemon_for_programs, launch
from support.lttng import LttngEnvironment
from support.own_programs import build_ordered, ordered
from support.recipes import Workshop
from support.relay_daemon import RunningRelay
from support.session_daemon import SessionDaemon, say
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.buffers import possible_cpus

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer", "relay_peer"),
]
SECONDS = 60.0
OF_LTTNG_UST = 1 + possible_cpus()
"""Streams of a trace: metadata, and data of all processors from the beginning."""
BOTH = OF_LTTNG_UST + 2
"""With those of a program with our tracer that records on one processor."""
READERS = {
    "ours": [sys.executable, "-m", "vestige", "convert"],
    "theirs": ["stdbuf", "--output=L", "babeltrace2"],
}


class Reader:
    """A reader of a live session.

    Args:
        words: Its command.
        url: The session.
    """

    def __init__(self, words: list[str], url: str) -> None:
        self.lines: list[str] = []
        self._told = tempfile.TemporaryFile("w+")  # noqa: SIM115 - end() closes it
        self._process = subprocess.Popen(
            [*words, "-i", "lttng-live", url],
            stdout=subprocess.PIPE,
            stderr=self._told,
            text=True,
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.lines += iter(self._process.stdout.readline, "")

    def wait_for(self, name: str, count: int) -> None:
        """Wait until so many events of a name are there."""

        def are_there() -> bool:
            if sum(f" {name}: " in one for one in [*self.lines]) >= count:
                return True
            assert self._thread.is_alive(), self.told
            return False

        wait_until(are_there, f"{count} events {name}", SECONDS)

    @property
    def told(self) -> str:
        """What it has said on standard error."""
        self._told.seek(0)
        return self._told.read()

    @property
    def events(self) -> list[str]:
        """All lines, without the time since the one before."""
        return [re.sub(r" \([^)]*\) ", " ", one) for one in self.lines]

    def end(self) -> int:
        """Wait for its end; return the exit status."""
        self._thread.join(SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._told.close()
        return self._process.wait(SECONDS)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self.end()


@contextmanager
def relay_of(kind: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Have a relay daemon: where sessions are sent to, and the port of viewers."""
    if kind == "theirs":
        with child_relay(folder) as one:
            yield one.url, one.live
        return
    ours = RunningRelay(folder)
    try:
        yield f"net://127.0.0.1:{ours.control}:{ours.data}", ours.live
    finally:
        ended = ours.end()
    assert ended == (0, "")


def listed(port: int) -> str:
    """Return what is said of live sessions."""
    words = [*READERS["ours"], "-i", "lttng-live", f"net://127.0.0.1:{port}"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def url_of(port: int) -> str:
    """Return the URL of the one session of a relay, once it is there."""
    # With its metadata and a data stream: else Babeltrace 2 waits for ever.
    wait_until(lambda: "2 stream" in listed(port), "a live session", SECONDS)
    [line] = listed(port).splitlines()
    assert "timer = 20000" in line
    return line.split(" ")[0]


@pytest.fixture(scope="module")
def daemon() -> Iterator[SessionDaemon]:
    """A daemon whose application socket is where programs of its home look."""
    with daemon_for_programs() as running:
        yield running


@pytest.fixture
def one_processor() -> Iterator[None]:
    """Let programs of the test have no data stream of another processor later on.

    LTTng's relay daemon tells of one with the next packet of another stream only, and
    Babeltrace 2 refuses what is older than its last message then.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize(
    ("relay", "readers"),
    [
        ("theirs", ["ours"]),
        ("theirs", ["theirs"]),
        ("ours", ["ours"]),
        ("ours", ["ours", "theirs"]),
    ],
)
def test_events_are_read_while_programs_wait(
    daemon: SessionDaemon,
    workshop: Workshop,
    tmp_path: Path,
    relay: str,
    readers: list[str],
):
    """Of programs of both kinds: nothing fills a packet, and none ends."""
    program, flood = build_ordered(tmp_path), workshop.program("flood")
    with relay_of(relay, tmp_path / "relay") as (url, port):
        say(
            daemon,
            f"create s --live=20ms --set-url={url}",
            "enable-event -u ordered:*",
            "enable-event -u flood:*",
            "start",
        )
        with ordered(daemon, program) as one, ExitStack() as ending:
            session = url_of(port)
            if relay == "theirs" or "theirs" in readers:
                # LTTng's relay daemon never tells of data of a trace whose metadata it
                # got alone, and Babeltrace 2 refuses a trace that is new where what has
                # begun in it is told of a moment too late.
                assert launch(daemon, flood, 1).wait(SECONDS) == 0
                wait_until(lambda: f"{BOTH} stream" in listed(port), "both", SECONDS)
            reading = [Reader(READERS[name], session) for name in readers]
            for each in reading:
                ending.callback(each.kill)
            # They read what comes from then on.
            clients = f"{len(readers)} client"
            wait_until(lambda: clients in listed(port), "the viewers", SECONDS)
            one.do("5")
            for each in reading:
                each.wait_for("ordered:step", 5)
            assert launch(daemon, flood, 30).wait(SECONDS) == 0
            # LTTng's relay daemon tells of data streams that are new with a packet.
            one.do("7")
            for each in reading:
                each.wait_for("flood:drop", 30)
                each.wait_for("ordered:step", 12)
            one.end()
            ending.pop_all()
        say(daemon, "stop", "destroy s")
        wait_until(lambda: not listed(port), "the end of the session", SECONDS)
        for name, each in zip(readers, reading, strict=True):
            if name == "ours":
                assert each.end() == 0
            else:
                # It looks for another session of that name, for ever.
                each.kill()
            assert len(each.lines) == 42
        assert len({tuple(each.events) for each in reading}) == 1


@pytest.mark.usefixtures("one_processor")
def test_what_a_program_has_left_is_there_at_once(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """However rarely buffers are sent: LTTng's own tests attach when it has ended."""
    with relay_of("ours", tmp_path / "relay") as (url, port):
        say(
            daemon,
            f"create s --live=3600s --set-url={url}",
            "enable-event -u ordered:*",
            "enable-event -u flood:*",
            "start",
        )
        assert launch(daemon, workshop.program("flood"), 5).wait(SECONDS) == 0
        wait_until(
            lambda: f" {OF_LTTNG_UST} stream" in listed(port), "its data", SECONDS
        )
        with ordered(daemon, build_ordered(tmp_path)) as one:
            one.do("5")
            one.end()
        wait_until(lambda: f" {BOTH} stream" in listed(port), "of the other", SECONDS)
        say(daemon, "destroy s")


@pytest.mark.usefixtures("one_processor")
def test_both_readers_follow_what_lttng_sends(
    lttng: LttngEnvironment, workshop: Workshop, tmp_path: Path
):
    """LTTng's session daemon and consumer, our relay daemon."""
    flood = workshop.program("flood")
    with relay_of("ours", tmp_path / "relay") as (url, port), ExitStack() as ending:
        lttng.run(["lttng", "create", "s", "--live=20000", f"--set-url={url}"])
        lttng.run(["lttng", "enable-event", "-u", "flood:*"])
        lttng.run(["lttng", "start"])
        lttng.run([flood, "1"])
        wait_until(lambda: " stream" in listed(port), "a live session", SECONDS)
        [line] = listed(port).splitlines()
        reading = [Reader(words, line.split(" ")[0]) for words in READERS.values()]
        for each in reading:
            ending.callback(each.kill)
        wait_until(lambda: "2 client" in listed(port), "the viewers", SECONDS)
        lttng.run([flood, "3000"])
        for each in reading:
            each.wait_for("flood:drop", 3000)
        lttng.run(["lttng", "destroy", "s"])
        wait_until(lambda: not listed(port), "the end of the session", SECONDS)
        ending.pop_all()
        ours, theirs = reading
        assert ours.end() == 0
        theirs.kill()
        assert ours.events == theirs.events
