"""Each archive and each snapshot names all addresses alone, from its first event on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live_sessions import SECONDS, begin, daemon_for_programs
from support.named_addresses import named
from support.session_daemon import SessionDaemon, say
from support.soak_programs import build_soaked
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


def written(trace: Path) -> int:
    """Return how many bytes of event records a trace has."""
    return sum(one.stat().st_size for one in trace.rglob("c_*"))


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


def goes_on(program: subprocess.Popen[bytes]) -> None:
    """Wait until a program has recorded thousands of events more."""

    def ticks() -> int:
        status = Path(f"/proc/{program.pid}/stat").read_text()
        return sum(map(int, status.rpartition(")")[2].split()[11:13]))

    end = ticks() + 1
    wait_until(lambda: ticks() > end, "it records", SECONDS)


def resolved(place: Path) -> int:
    """Check that both readers name all addresses of a trace; return how many."""
    found = named(place, "soaked:tick")
    assert not found.damage
    assert (found.unnamed, found.unplaced) == (0, 0), (place, found)
    return found.events


def chunks(output: Path) -> list[Path]:
    """Return the archives in order, and what is not archived."""
    found = [*(output / "archives").iterdir()]
    found.sort(key=lambda one: int(one.name.rpartition("-")[2]))
    present = output / "ust"
    return [*found, *([present] if any(present.rglob("metadata")) else [])]


def ended(daemon: SessionDaemon, output: Path) -> list[int]:
    """End the session; return how many events of each chunk have names, all of them."""
    say(daemon, "stop")
    say(daemon, "destroy")
    return [resolved(one) for one in chunks(output)]


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize(
    "options", ["", "--subbuf-size=16k --overwrite", "--subbuf-size=64k --buffers-pid"]
)
def test_archives(daemon, built, tmp_path, tracer, options):
    """Cut while threads record, also of a program that is killed between two."""
    start(daemon, tmp_path, options)
    with (
        hurried(daemon, built[tracer]) as one,
        hurried(daemon, built[tracer], 1) as other,
    ):
        for number in range(4):
            goes_on(one)
            say(daemon, "rotate")
            if number == 2:
                other.kill()
        goes_on(one)
    counts = ended(daemon, tmp_path)
    assert len(counts) == 5
    assert all(counts)


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_program_that_stands_still(daemon, built, tmp_path, tracer):
    """It is not asked, and records as soon as it goes on."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]) as one:
        goes_on(one)
        one.send_signal(signal.SIGSTOP)
        say(daemon, "rotate")
        one.send_signal(signal.SIGCONT)
        goes_on(one)
        say(daemon, "rotate")
    assert [count > 0 for count in ended(daemon, tmp_path)][:2] == [True, True]


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize("is_cut", [False, True])
def test_a_program_that_joins_late(daemon, built, tmp_path, tracer, is_cut):
    """It stood still when the session was started again."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]) as one:
        goes_on(one)
        for words in ("stop", "rotate"):
            say(daemon, words)
        one.send_signal(signal.SIGSTOP)
        say(daemon, "start")
        if is_cut:
            say(daemon, "rotate")
        one.send_signal(signal.SIGCONT)
        goes_on(one)
    assert [count > 0 for count in ended(daemon, tmp_path)] == [
        True,
        *([False] if is_cut else []),
        True,
    ]


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_session_that_goes_on_in_another_chunk(daemon, built, tmp_path, tracer):
    """It was rotated, or cleared, while it was stopped; or its rules were disabled."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]) as one:
        goes_on(one)
        for words in ("stop", "rotate", "start"):
            say(daemon, words)
        goes_on(one)
        for words in ("rotate", "disable-event -u --all-events -c c", "rotate"):
            assert daemon.lttng(*words.split()).status == 0
        for words in (DUMPS, TICKS):
            assert daemon.lttng(*words.split()).status == 0
        goes_on(one)
        for words in ("stop", "rotate", "clear", "start"):
            say(daemon, words)
        goes_on(one)
    counts = ended(daemon, tmp_path)
    assert len(counts) == 5
    assert all(counts)


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_program_that_ends_while_another_is_waited_for(
    daemon, built, tmp_path, tracer
):
    """It goes on in another chunk, where what it has is told after that."""
    start(daemon, tmp_path)
    program = built[tracer]
    with hurried(daemon, program, 1) as still, hurried(daemon, program, 1) as one:
        for words in ("stop", "rotate"):
            say(daemon, words)
        still.send_signal(signal.SIGSTOP)
        words = [sys.executable, "-m", "vestige", "lttng", "start"]
        environment = {**os.environ, **daemon.environment}
        with subprocess.Popen(words, env=environment) as command:
            wait_until(lambda: written(tmp_path / "ust"), "it records", SECONDS)
            one.kill()
            one.wait(SECONDS)
            assert command.poll() is None
        still.send_signal(signal.SIGCONT)
    assert ended(daemon, tmp_path)[-1]


@pytest.mark.parametrize("tracer", TRACERS)
def test_what_follows_a_clear(daemon, built, tmp_path, tracer):
    """Of programs that go on meanwhile."""
    start(daemon, tmp_path)
    with hurried(daemon, built[tracer]) as one:
        for _ in range(3):
            goes_on(one)
            say(daemon, "clear")
        goes_on(one)
        say(daemon, "regenerate statedump")
        goes_on(one)
    say(daemon, "stop")
    say(daemon, "destroy")
    assert resolved(tmp_path) > 0


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize("size", ["256k", "4k"])
def test_snapshots(daemon, built, tmp_path, tracer, size):
    """At once, after a while, after a clear, of programs that are gone, and stopped."""
    start(daemon, tmp_path, f"--subbuf-size={size}", "--snapshot")
    with (
        hurried(daemon, built[tracer]) as one,
        hurried(daemon, built[tracer], 1) as other,
    ):
        goes_on(one)
        say(daemon, "snapshot record")
        goes_on(one)
        say(daemon, "snapshot record")
        say(daemon, "clear")
        goes_on(one)
        say(daemon, "snapshot record")
        other.kill()
        other.wait(SECONDS)
        say(daemon, "snapshot record")
        say(daemon, "regenerate statedump")
        say(daemon, "snapshot record")
        for words in ("stop", "snapshot record", "clear", "start"):
            say(daemon, words)
        goes_on(one)
        say(daemon, "snapshot record")
    say(daemon, "destroy")
    found = [*tmp_path.glob("snapshot-*")]
    assert len(found) == 7
    assert all(resolved(one) > 0 for one in found)


@pytest.mark.parametrize("channels", ["c", "cd"])
@pytest.mark.parametrize("is_cleared", [True, False])
def test_snapshots_of_programs_that_a_killed_daemon_knew(
    daemon, built, tmp_path, is_cleared, channels
):
    """They end before the next one comes; what they have recorded is still there."""
    commands = [
        f"{words[:-1]}{name}{size}"
        for name in channels
        for words, size in (
            ("enable-channel -u c", " --num-subbuf=16 --subbuf-size=4k"),
            *((rule, "") for rule in (CONTEXTS, DUMPS, TICKS)),
        )
    ]
    begin(daemon, tmp_path, *commands, options="--snapshot")
    with hurried(daemon, built["own"]) as one:
        goes_on(one)
        if is_cleared:
            say(daemon, "clear")
            goes_on(one)
        daemon.end(signal.SIGKILL)
    assert daemon.start().returncode == 0
    say(daemon, "snapshot record")
    say(daemon, "destroy")
    [found] = tmp_path.glob("snapshot-*")
    assert resolved(found) > 0
    assert sum(one.name in {*channels} for one in found.rglob("*")) == len(channels)
