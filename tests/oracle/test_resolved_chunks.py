"""Each archive and each snapshot names all addresses alone, from its first event on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import vestige
from support.live_sessions import SECONDS, begin, daemon_for_programs
from support.session_daemon import SessionDaemon, say
from support.soak_programs import EMITTERS, build_soaked
from support.waiting import wait_until

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
]

TRACERS = ["own"]
CONTEXTS = "add-context -u -t ip -t vpid -t vtid -c c"
DUMPS = "enable-event -u lttng_ust_statedump:* -c c"
TICKS = "enable-event -u soaked:tick -c c"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program, for each tracer."""
    return build_soaked(tmp_path_factory.mktemp("built"), "hurried")


@pytest.fixture
def daemon() -> Iterator[SessionDaemon]:
    """A daemon that runs."""
    with daemon_for_programs() as one:
        yield one


@contextmanager
def hurried(
    daemon: SessionDaemon, program: Path, threads: int = 2
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the program until the end of the block, or until it is killed."""
    environment = {**os.environ, **daemon.environment}
    with subprocess.Popen(
        [program, str(threads)], stdin=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        try:
            wait_until(
                lambda: f"PID: {process.pid} " in daemon.lttng("list", "-u").out,
                "it",
                SECONDS,
            )
            yield process
        finally:
            process.stdin.close()
            process.wait(SECONDS)


def start(
    daemon: SessionDaemon, output: Path, channel: str = "", options: str = ""
) -> None:
    """Start a session with a channel."""
    begin(
        *(daemon, output),
        f"enable-channel -u c --num-subbuf=16 {channel or '--subbuf-size=256k'}",
        *(CONTEXTS, DUMPS, TICKS),
        options=options,
    )


def pass_some_events(daemon: SessionDaemon) -> None:
    """Wait until programs have recorded for some commands' time."""
    for _ in range(2):
        daemon.lttng("list")


def names(text: str, pattern: str) -> Counter[str]:
    """Count what a reader calls the functions of events; "" is none."""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        if " soaked:tick: " in line:
            name = re.search(pattern, line)
            found[name[1] if name else ""] += 1
    return found


def resolved(place: Path) -> int:
    """Check that both readers name all addresses of a trace; return how many."""
    ours: Counter[str] = Counter()
    for event in vestige.open(place):
        if event.name == "soaked:tick":
            info = event.debug_info
            name = str(getattr(info, "function", None) or "")
            ours[name.partition("+")[0]] += 1
    done = subprocess.run(
        ["babeltrace2", "--debug-info", place],
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )
    theirs = names(done.stdout.decode(), r'func = "(\w+)\+')
    assert ours == theirs, place
    assert {*ours} <= {*EMITTERS}, (place, ours)
    return ours.total()


def chunks(output: Path) -> list[Path]:
    """Return the archives in order, and what is not archived."""
    found = [*(output / "archives").iterdir()]
    found.sort(key=lambda one: int(one.name.rpartition("-")[2]))
    present = output / "ust"
    return [*found, *([present] if any(present.rglob("metadata")) else [])]


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize(
    "options", ["", "--subbuf-size=16k --overwrite", "--subbuf-size=64k --buffers-pid"]
)
def test_archives(daemon, built, tmp_path, tracer, options):
    """Cut while threads record, also of a program that is killed between two."""
    start(daemon, tmp_path, options)
    with hurried(daemon, built[tracer]), hurried(daemon, built[tracer], 1) as other:
        for number in range(6):
            say(daemon, "rotate")
            if number == 3:
                other.kill()
        pass_some_events(daemon)
    say(daemon, "stop")
    say(daemon, "destroy")
    counts = [resolved(one) for one in chunks(tmp_path)]
    assert len(counts) == 7
    assert sum(map(bool, counts)) > 3


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_program_that_stands_still(daemon, built, tmp_path, tracer):
    """It is not asked, and records as soon as it goes on."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]) as one:
        one.send_signal(signal.SIGSTOP)
        say(daemon, "rotate")
        one.send_signal(signal.SIGCONT)
        pass_some_events(daemon)
        say(daemon, "rotate")
    say(daemon, "stop")
    say(daemon, "destroy")
    assert [resolved(one) > 0 for one in chunks(tmp_path)][:2] == [True, True]


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_session_that_goes_on_in_another_chunk(daemon, built, tmp_path, tracer):
    """It was rotated, or cleared, while it was stopped; or its rules were disabled."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]):
        pass_some_events(daemon)
        for words in ("stop", "rotate", "start"):
            say(daemon, words)
        pass_some_events(daemon)
        for words in ("rotate", "disable-event -u --all-events -c c", "rotate"):
            assert daemon.lttng(*words.split()).status == 0
        for words in (DUMPS, TICKS):
            assert daemon.lttng(*words.split()).status == 0
        pass_some_events(daemon)
        for words in ("stop", "rotate", "clear", "start"):
            say(daemon, words)
        pass_some_events(daemon)
    say(daemon, "stop")
    say(daemon, "destroy")
    counts = [resolved(one) for one in chunks(tmp_path)]
    assert len(counts) == 5
    assert all(counts)


@pytest.mark.parametrize("tracer", TRACERS)
def test_what_follows_a_clear(daemon, built, tmp_path, tracer):
    """Of programs that go on meanwhile."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]):
        for _ in range(3):
            pass_some_events(daemon)
            say(daemon, "clear")
        pass_some_events(daemon)
        say(daemon, "regenerate statedump")
        pass_some_events(daemon)
    say(daemon, "stop")
    say(daemon, "destroy")
    assert resolved(tmp_path) > 0


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize("size", ["256k", "4k"])
def test_snapshots(daemon, built, tmp_path, tracer, size):
    """At once, after a while, after a clear, of programs that are gone, and stopped."""
    start(daemon, tmp_path, f"--subbuf-size={size}", "--snapshot")
    with hurried(daemon, built[tracer]), hurried(daemon, built[tracer], 1) as other:
        say(daemon, "snapshot record")
        pass_some_events(daemon)
        say(daemon, "snapshot record")
        say(daemon, "clear")
        say(daemon, "snapshot record")
        other.kill()
        other.wait(SECONDS)
        say(daemon, "snapshot record")
        say(daemon, "regenerate statedump")
        say(daemon, "snapshot record")
        for words in ("stop", "snapshot record", "clear", "start"):
            say(daemon, words)
        pass_some_events(daemon)
        say(daemon, "snapshot record")
    say(daemon, "destroy")
    found = [*tmp_path.glob("snapshot-*")]
    assert len(found) == 7
    assert all(resolved(one) > 0 for one in found)
