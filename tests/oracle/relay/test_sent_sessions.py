"""Sessions that are sent to LTTng's relay daemon and ours, and read by both readers."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.child_relay import LTTNG, OURS, ChildRelay, child_relay
from support.live_sessions import daemon_for_programs, launch, lines, run
from support.own_programs import build_ordered, ordered
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer", "relay_peer"),
]

SECONDS = 60.0


@pytest.fixture(scope="module")
def running() -> Iterator[SessionDaemon]:
    """A daemon whose application socket is where programs of its home look."""
    with daemon_for_programs() as daemon:
        yield daemon


@pytest.fixture
def daemon(running: SessionDaemon) -> SessionDaemon:
    """That daemon, without sessions."""
    running.lttng("destroy", "--all")
    return running


@pytest.fixture(scope="module", params=[LTTNG, OURS], ids=["lttng", "ours"])
def relay(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChildRelay]:
    """A relay daemon, LTTng's and ours."""
    with child_relay(tmp_path_factory.mktemp("relay"), request.param) as one:
        yield one


def count(found: list[str], name: str) -> int:
    """Return how many events of a name there are."""
    return sum(one.startswith(f"{name}:") for one in found)


def test_programs_of_both_kinds_lose_nothing(
    daemon: SessionDaemon, relay: ChildRelay, workshop: Workshop, tmp_path: Path
):
    """Chunks are archived and thrown away on the relay daemon, as they would be here."""
    program, flood = build_ordered(tmp_path), workshop.program("flood")
    say(
        daemon,
        f"create s --set-url={relay.url}",
        "enable-event -u ordered:*",
        "enable-event -u flood:*",
        "start",
    )
    with ordered(daemon, program) as one:
        one.do("5000")
        run(daemon, flood, 3000)
        done = daemon.lttng("rotate")
        [first] = relay.sessions("s")
        # Ours says where in that the archive is.
        assert f"tcp://127.0.0.1/{first.relative_to(relay.output)}" in done.out
        # What the programs have at the begin of the next chunk is on its way.
        [archive] = (first / "archives").iterdir()
        found = lines(archive)
        assert (count(found, "ordered:step"), count(found, "flood:drop")) == (
            5000,
            3000,
        )
        one.do("20")
        say(daemon, "clear")
        one.do("30")
        run(daemon, flood, 40)
        say(daemon, "regenerate metadata", "stop")
        one.end()
    done = daemon.lttng("destroy")
    archives = sorted((first / "archives").iterdir())
    assert f"{archives[1].relative_to(relay.output)} [" in done.out
    assert len(archives) == 2
    found = lines(archives[1])
    assert (count(found, "ordered:step"), count(found, "flood:drop")) == (30, 40)
    assert [*first.iterdir()] == [first / "archives"]


def test_buffers_of_processes_and_limits_of_files(
    daemon: SessionDaemon, relay: ChildRelay, workshop: Workshop, tmp_path: Path
):
    """The relay daemon keeps as many files of a stream as the channel says."""
    program, flood = build_ordered(tmp_path), workshop.program("flood")
    say(
        daemon,
        f"create s --set-url={relay.url}/some/dir",
        "enable-channel -u --buffers-pid --tracefile-size 8192 --tracefile-count 2 "
        "--subbuf-size 4096 --num-subbuf 64 c",
        "enable-event -u -c c ordered:*",
        "enable-event -u -c c flood:*",
        "start",
    )
    with ordered(daemon, program) as one:
        one.do("2000")
        one.end()
    run(daemon, flood, 3000)
    say(daemon, "stop", "destroy")
    [trace] = relay.output.glob("*/some/dir")
    folders = [one.parent for one in trace.rglob("metadata")]
    assert len(folders) == 2
    for folder in folders:
        files = [one for one in folder.iterdir() if one.is_file()]
        sizes = [one.stat().st_size for one in files if one.name != "metadata"]
        assert max(sizes) <= 8192 * 2, sizes
        streams = {one.name.rpartition("_")[0] for one in files}
        assert len(sizes) <= 2 * len(streams - {""})
    assert lines(trace)


def test_snapshots_are_read(
    daemon: SessionDaemon, relay: ChildRelay, workshop: Workshop, tmp_path: Path
):
    """Programs of both kinds; the events stay in the buffers for the next one."""
    program, flood = build_ordered(tmp_path), workshop.program("flood")
    say(
        daemon,
        f"create s --snapshot --set-url={relay.url}/sn",
        "enable-event -u ordered:*",
        "enable-event -u flood:*",
        "start",
    )
    with ordered(daemon, program) as one:
        one.do("50")
        run(daemon, flood, 60)
        say(daemon, "snapshot record", "snapshot record -n other")
        one.end()
    say(daemon, "destroy")
    [place] = relay.output.glob("*/sn")
    names = sorted(one.name.split("-")[0] for one in place.iterdir())
    assert names == ["other", "snapshot"]
    for folder in place.iterdir():
        found = lines(folder)
        assert (count(found, "ordered:step"), count(found, "flood:drop")) == (50, 60)


@pytest.mark.parametrize("command", [LTTNG, OURS], ids=["lttng", "ours"])
def test_a_relay_that_is_killed_and_comes_back(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path, command: tuple[str, ...]
):
    """Three times, also after a rotation: each event is there once, or was counted."""
    program, flood = build_ordered(tmp_path), workshop.program("flood")
    output = tmp_path / "relay"
    with child_relay(output, command) as relay:
        say(
            daemon,
            f"create s --set-url={relay.url}",
            "enable-channel -u c --subbuf-size 16384 --num-subbuf 16",
            "enable-event -u -c c ordered:*",
            "enable-event -u -c c flood:*",
            "start",
        )
        with ordered(daemon, program) as one:
            for turn in range(3):
                if turn == 1:
                    say(daemon, "rotate")
                flooding = launch(daemon, flood, 20000)
                one.do("20000")
                relay.kill()
                one.do("20000")
                relay.start()
                assert flooding.wait(SECONDS) == 0
            one.do("100")
            one.end()
        done = daemon.lttng("stop")
        assert done.status == 0, done.err
        lost = re.search(r"Warning: (\d+) events were discarded", done.out + done.err)
        done = daemon.lttng("destroy")
        assert (done.status, done.err) == (0, "")
        [trace] = relay.sessions("s")
        assert {*trace.iterdir()} == {trace / "archives"}
        found = lines(trace)
    kept = count(found, "ordered:step") + count(found, "flood:drop")
    assert kept + (int(lost[1]) if lost else 0) == 3 * 60000 + 100


@pytest.mark.parametrize("command", [LTTNG, OURS], ids=["lttng", "ours"])
def test_live_sessions_and_limits_of_files_go_on_where_they_were(
    daemon: SessionDaemon, tmp_path: Path, command: tuple[str, ...]
):
    """When the relay daemon was killed; what was cleared before does not come back."""
    with child_relay(tmp_path / "relay", command) as relay:
        say(
            daemon,
            f"create live --live --set-url={relay.url}",
            "enable-event -u ordered:*",
            "start",
            f"create limited --set-url={relay.url}",
            # Without a count, LTTng's relay daemon divides by zero.
            "enable-channel -u --tracefile-size 8192 --tracefile-count 64 "
            "--subbuf-size 4096 c",
            "enable-event -u -c c ordered:*",
            "start",
        )
        with ordered(daemon, build_ordered(tmp_path)) as one:
            one.do("40")
            say(daemon, "clear live")
            for _ in range(2):
                one.do("100")
                relay.kill()
                one.do("100")
                relay.start()
            one.do("5")
            one.end()
        say(daemon, "stop live", "stop limited", "destroy --all")
        for name, made in (("live", 405), ("limited", 445)):
            [trace] = relay.sessions(name)
            assert count(lines(trace), "ordered:step") == made


def test_a_session_that_is_stopped_goes_on_where_it_was(
    daemon: SessionDaemon, relay: ChildRelay, tmp_path: Path
):
    """What has come is in memory no more then."""
    say(daemon, f"create on --set-url={relay.url}", "enable-event -u ordered:*")
    with ordered(daemon, build_ordered(tmp_path)) as one:
        for _ in range(3):
            say(daemon, "start")
            one.do("500")
            say(daemon, "stop")
        one.end()
    say(daemon, "destroy")
    [trace] = relay.sessions("on")
    assert count(lines(trace), "ordered:step") == 1500
    # A data stream that begins anew has a file of its own.
    names = [one.name for one in trace.rglob("channel0_*") if one.suffix != ".idx"]
    assert {name.partition(".")[2] for name in names} == {""}


def test_a_program_without_a_session(relay: ChildRelay, tmp_path: Path):
    """What it records is all there."""
    program = build_ordered(tmp_path)
    words = ["--to", relay.url, "-e", "ordered:*", "--", str(program)]
    done = subprocess.run(
        [sys.executable, "-m", "vestige", "record", *words],
        input="700\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no events lost" in done.stderr
    [trace] = relay.sessions("ordered")
    assert f"trace in {trace.relative_to(relay.output)} at {relay.url}" in done.stderr
    assert count(lines(trace), "ordered:step") == 700


def test_a_daemon_that_is_killed(relay: ChildRelay, tmp_path: Path):
    """The next one goes on with what was in memory, as another trace."""
    program = build_ordered(tmp_path)
    with daemon_for_programs() as daemon:
        say(
            daemon,
            f"create killed --set-url={relay.url}",
            "enable-event -u ordered:*",
            "start",
        )
        with ordered(daemon, program) as one:
            one.do("1000")
            daemon.end(signal.SIGKILL)
            one.do("2000")
            assert daemon.start().returncode == 0
            one.do("30")
            say(daemon, "rotate")
            one.do("4")
            say(daemon, "stop")
            one.end()
        say(daemon, "destroy")
    found = [line for one in relay.sessions("killed") for line in lines(one)]
    # A trace without packets has no data streams, either.
    assert count(found, "ordered:step") == 3034
