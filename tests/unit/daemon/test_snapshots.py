"""Snapshots: what buffers hold is written when it is asked for, and stays there."""

from __future__ import annotations

import re
import resource
import shutil
import signal
from pathlib import Path

import pytest

import vestige
from support.own_programs import (
    STEP,
    build_ordered,
    ordered,
    steps,
    wait_for_listed,
)
from support.session_daemon import (
    SECONDS,
    SessionDaemon,
    change_kept,
    session_daemon,
    stopped,
)
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.channel_memory import possible_cpus

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def run(daemon: SessionDaemon, *commands: str) -> str:
    """Run session verbs that succeed; return what they say."""
    said = ""
    for words in commands:
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err
        said += done.out + done.err
    return said


def begin(daemon: SessionDaemon, output: Path, channel: str = "") -> None:
    """Start a session of snapshots with one channel."""
    run(
        daemon,
        f"create s --snapshot --output={output}",
        f"enable-channel -u c {channel}",
        f"enable-event -u -c c {STEP}",
        "start",
    )


def snapshots(output: Path) -> list[Path]:
    """Return the snapshots in a directory by their numbers."""
    return sorted(output.iterdir(), key=lambda one: int(one.name.rpartition("-")[2]))


def numbers(trace: Path) -> list[int]:
    """Return what the steps of a trace have counted, in order."""
    return [one.payload["number"] for one in vestige.open(trace) if one.name == STEP]


def test_nothing_is_written_until_a_snapshot_is_taken(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Then what there is, and once more what is there still."""
    output = tmp_path / "o"
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, output)
        one.do("10")
        assert not output.exists()
        said = run(daemon, "snapshot record")
        assert said == "Snapshot recorded successfully for session s\n"
        one.do("3")
        run(daemon, "snapshot record --name=mine", "stop", "snapshot record")
        one.end()
    first, second, third = snapshots(output)
    assert re.fullmatch(r"snapshot-1-\d{8}-\d{6}-0", first.name)
    assert re.fullmatch(r"mine-\d{8}-\d{6}-1", second.name)
    assert numbers(first) == [*range(10)]
    assert numbers(second) == numbers(third) == [*range(10), *range(3)]


def test_what_a_program_left_is_in_snapshots(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It has ended; its buffers are those of the user."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path)
        one.do("t5")
        one.do("7")
        one.end()
    run(daemon, "snapshot record")
    assert sorted(numbers(snapshots(tmp_path)[0])) == sorted(
        [*range(5)] * 2 + [*range(7)]
    )


def test_the_newest_are_kept(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """Of a small buffer, the end; the daemon is not asked for that."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "--subbuf-size=4k --num-subbuf=4")
        with stopped(daemon):
            one.do("50000")
        run(daemon, "snapshot record")
        one.end()
    found = numbers(snapshots(tmp_path)[0])
    assert found == [*range(50_000 - len(found), 50_000)]
    assert len(found) >= 3 * 200


def test_a_size_keeps_the_newest(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """As many sub-buffers as have room; an output can have a limit, too."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "--subbuf-size=4k --num-subbuf=8")
        one.do("50000")
        size = 2 * 4096 * possible_cpus()
        run(daemon, "snapshot record", f"snapshot record --max-size={size}")
        refused = daemon.lttng("snapshot", "record", "-m", "1k")
        one.end()
    assert (refused.status, refused.out) == (1, "")
    assert refused.err == (
        "Error: Invalid snapshot size. Cannot fit at least one packet per stream.\n"
        "Error: Snapshot max size is invalid\n"
    )
    all_of_them, newest = map(numbers, snapshots(tmp_path))
    assert 0 < len(newest) < len(all_of_them)
    assert newest == all_of_them[-len(newest) :]


def test_a_size_is_for_all_threads(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """With more threads than there is room for, those that recorded last are there."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "--subbuf-size=4k --num-subbuf=4")
        for _ in range(20):
            one.do("t2000")
        one.do("7")
        size = 4096 * possible_cpus()
        run(daemon, f"snapshot record --max-size={size}")
        one.end()
    (found,) = snapshots(tmp_path)
    files = [*found.rglob("*-*")]
    data = [one for one in files if re.fullmatch(r"\d+-\d+(\.\d+)?", one.name)]
    assert 0 < sum(one.stat().st_size for one in data) <= size
    assert numbers(found)[-7:] == [*range(7)]


def test_what_cannot_be_written_leaves_nothing(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """On a full disk, say; the session goes on, and so does the daemon."""
    assert daemon.pid is not None
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path / "o")
        one.do("30000")
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (65536, hard))
        failed = daemon.lttng("snapshot", "record")
        assert (failed.status, failed.out) == (1, "")
        assert failed.err.startswith(f"Error: Snapshot record failed: {tmp_path}/o/")
        assert "File too large" in failed.err
        assert [*(tmp_path / "o").iterdir()] == []
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (hard, hard))
        run(daemon, "snapshot record")
        one.end()
    assert numbers(snapshots(tmp_path / "o")[0]) == [*range(30_000)]


def test_an_output_that_was_removed_is_made_again(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """And one that is a file now is an error."""
    output = tmp_path / "o"
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, output)
        one.do("3")
        run(daemon, "snapshot record")
        shutil.rmtree(output)
        run(daemon, "snapshot record")
        assert numbers(snapshots(output)[0]) == [*range(3)]
        shutil.rmtree(output)
        output.touch()
        failed = daemon.lttng("snapshot", "record")
        why = f"{output}: File exists"
        assert failed == (1, "", f"Error: Create directory failed: {why}\n")
        one.end()


def test_many_snapshots_leave_nothing_open(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Two hundred in a row, while a program records; each has its number."""
    files = Path(f"/proc/{daemon.pid}/fd")
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "--subbuf-size=4k --num-subbuf=4")
        one.do("t5000")
        run(daemon, "snapshot record")
        # The connection of the last command may not be closed yet.
        before = len([*files.iterdir()])
        for _ in range(200):
            run(daemon, "snapshot record")
            one.do("50")
        wait_until(
            lambda: len([*files.iterdir()]) <= before, "files are closed", SECONDS
        )
        one.end()
    found = snapshots(tmp_path)
    assert [one.name.rpartition("-")[2] for one in found] == [*map(str, range(201))]
    assert numbers(found[-1])[-50:] == [*range(50)]


def test_buffers_outlive_a_daemon(program: Path, tmp_path: Path):
    """One that is killed, and with it nothing that programs with our tracer record."""
    with session_daemon() as daemon:
        assert daemon.start().returncode == 0
        with ordered(daemon, program) as one:
            wait_for_listed(daemon, one)
            begin(daemon, tmp_path)
            one.do("5")
            daemon.end(signal.SIGKILL)
            one.do("6")
            assert daemon.start().returncode == 0
            one.do("7")
            run(daemon, "snapshot record -s s")
            one.end()
    (found,) = snapshots(tmp_path)
    assert numbers(found) == [*range(5), *range(6), *range(7)]


def test_clear_empties_buffers(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """A snapshot after it has what came after it; those before stay."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path)
        one.do("30")
        run(daemon, "snapshot record", "clear", "snapshot record")
        one.do("4")
        run(daemon, "snapshot record")
        one.end()
    assert [len(numbers(one)) for one in snapshots(tmp_path)] == [30, 0, 4]


def test_buffers_that_were_cleared_are_filled_anew(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """With what is in the first chunk before the clear, nothing later is left out."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "--subbuf-size=4k --num-subbuf=4")
        one.do("30")
        run(daemon, "clear")
        one.do("50000")
        run(daemon, "snapshot record")
        one.end()
    found = numbers(snapshots(tmp_path)[0])
    assert found == [*range(50_000 - len(found), 50_000)]
    assert len(found) >= 3 * 200


def test_threads_are_in_snapshots_after_clear_and_stop(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Those that go on: each begins a chunk, with less in it than was cleared."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path)
        one.do("300")
        run(daemon, "clear", "stop", "start")
        one.do("4")
        run(daemon, "snapshot record")
        one.end()
    assert numbers(snapshots(tmp_path)[0]) == [*range(4)]


def test_a_program_that_stood_still_describes_itself_after_clear(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It owed an answer to a rotation then; what it had told before is thrown away."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        run(
            daemon,
            f"create r --output={tmp_path / 'r'}",
            "enable-channel -u c",
            f"enable-event -u -c c {STEP}",
            "start",
        )
        begin(daemon, tmp_path / "s")
        one.process.send_signal(signal.SIGSTOP)
        try:
            run(daemon, "rotate r", "clear s")
        finally:
            one.process.send_signal(signal.SIGCONT)
        one.do("4")

        def is_described() -> bool:
            run(daemon, "snapshot record -s s")
            newest = snapshots(tmp_path / "s")[-1]
            assert numbers(newest) == [*range(4)]
            return steps(newest, ["lttng_ust_statedump:bin_info"]).total() > 2

        wait_until(is_described, "its state is told", SECONDS)
        one.end()


def test_a_snapshot_of_a_killed_daemon_is_whole_or_none(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """It has its name when it is complete; what was begun, the next daemon removes."""
    assert home.start().returncode == 0
    output = tmp_path / "o"
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        begin(home, output)
        one.do("3")
        run(home, "snapshot record")
        home.end(signal.SIGKILL)
        begun = output / ".snapshot-1-20261126-120000-1"
        (begun / "ust").mkdir(parents=True)
        change_kept(home, snapshot_at=str(begun))
        assert home.start().returncode == 0
        [whole] = output.iterdir()
        assert numbers(whole) == [*range(3)]
        one.end()
