"""Chunks of sessions are archived and cleared while programs record."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support.own_programs import build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SECONDS, SessionDaemon, change_kept, say
from support.surroundings import Surroundings, UnavailableError
from support.waiting import wait_until
from vestige.daemon.chunks import archive_chunk

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
STAMP = r"\d{8}T\d{6}[+-]\d{4}"
RULE = "enable-event -u ordered:*"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def archives(output: Path) -> list[Path]:
    """Return the archives of a session, by their numbers."""
    found = [*(output / "archives").glob("*")]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def begin(daemon: SessionDaemon, output: Path, *more: str) -> None:
    """Start a session that writes to a directory."""
    say(daemon, f"create s --output={output}", *more, RULE, "start")


def test_a_rotation_says_what_it_did(daemon: SessionDaemon, tmp_path: Path):
    """Texts and statuses are those of LTTng; one rotation after a stop, no more."""
    say(daemon, f"create s --output={tmp_path}", RULE)
    assert daemon.lttng("rotate") == (
        1,
        "",
        "Error: Session needs to be started once\n",
    )
    say(daemon, "start")
    done = daemon.lttng("rotate")
    assert done.status == 0
    assert re.fullmatch(
        "Waiting for rotation to complete...\n"
        "Trace chunk archive for session s is now readable at "
        rf"{tmp_path}/archives/{STAMP}-{STAMP}-0\n",
        done.out,
    )
    assert daemon.lttng("rotate", "--no-wait").out == "Rotation ongoing for session s\n"
    say(daemon, "stop", "rotate")
    assert [one.name[-2:] for one in archives(tmp_path)] == ["-0", "-1", "-2"]
    refusal = "Error: Session was already rotated once since it became inactive\n"
    assert daemon.lttng("rotate", "s") == (1, "", refusal)
    assert daemon.lttng("rotate", "nosuch") == (
        1,
        "",
        "Error: Session name not found\n",
    )
    say(daemon, "destroy")
    assert len(archives(tmp_path)) == 3
    assert not (tmp_path / "ust").exists()


def test_each_event_is_in_one_chunk(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Of threads that go on, too; each chunk describes all, and what is loaded."""
    begin(daemon, tmp_path)
    with ordered(daemon, program) as one:
        one.do("100")
        say(daemon, "rotate")
        one.do("20")
        one.do("t30")
        say(daemon, "rotate")
        one.do("3")
        say(daemon, "stop")
        one.end()
    destroyed = daemon.lttng("destroy")
    chunks = archives(tmp_path)
    assert f"is now readable at {chunks[-1]}\n" in destroyed.out
    assert [steps(one).total() for one in chunks] == [100, 80, 3]
    assert steps(tmp_path).total() == 183
    for chunk in chunks:
        assert steps(chunk, ["lttng_ust_statedump:bin_info"]).total() > 2
        assert not [*chunk.rglob(".arena*")]


def test_many_rotations_lose_nothing(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """A program records meanwhile; no descriptor of the daemon is left open."""
    begin(daemon, tmp_path)
    with ordered(daemon, program) as one:
        one.do("1")
        say(daemon, "rotate")
        files = Path(f"/proc/{daemon.pid}/fd")
        before = len([*files.iterdir()])
        for _ in range(200):
            one.do("10")
            say(daemon, "rotate")
        assert len([*files.iterdir()]) <= before + 2
        say(daemon, "stop")
        one.end()
    say(daemon, "destroy")
    chunks = archives(tmp_path)
    assert [steps(one).total() for one in chunks[1:4]] == [10, 10, 10]
    assert steps(tmp_path).total() == 1 + 200 * 10


def test_what_was_cleared_after_a_stop_is_no_archive(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """There is nothing in it, and nothing else is left."""
    begin(daemon, tmp_path)
    with ordered(daemon, program) as one:
        one.do("5")
        say(daemon, "rotate")
        one.do("6")
        say(daemon, "stop", "clear")
        one.end()
    assert "archive" not in daemon.lttng("destroy").out
    assert [steps(one).total() for one in archives(tmp_path)] == [5]
    assert not (tmp_path / "ust").exists()


def test_clear_throws_away_what_was_recorded(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Also what is not in a file yet; archives stay, and recording goes on."""
    begin(daemon, tmp_path)
    with ordered(daemon, program) as one:
        one.do("100")
        say(daemon, "rotate")
        one.do("t20")
        done = daemon.lttng("clear")
        assert done.out == ('Waiting for clear of session "s"..\nSession "s" cleared\n')
        one.do("3")
        say(daemon, "stop")
        assert steps(tmp_path / "ust").total() == 3
        assert steps(tmp_path / "ust", ["lttng_ust_statedump:bin_info"]).total() > 2
        assert daemon.lttng("clear").out == 'Session "s" cleared\n'
        refusal = "Error: Session was already cleared since it became inactive\n"
        assert daemon.lttng("rotate") == (1, "", refusal)
        say(daemon, "start")
        one.do("7")
        say(daemon, "stop")
        assert steps(tmp_path / "ust").total() == 7
        one.end()
    say(daemon, "destroy")
    assert [steps(one).total() for one in archives(tmp_path)] == [100, 7]


def test_clear_without_sessions_is_no_error(daemon: SessionDaemon):
    """As with LTTng."""
    too_many = (1, "", "Error: Unknown argument: x\n")
    assert daemon.lttng("clear", "--all", "x") == too_many
    assert daemon.lttng("clear", "--all").out == "No session found, nothing to do.\n"
    missing = (23, "", "Error: Session name nosuch not found\n")
    assert daemon.lttng("clear", "nosuch") == missing


def test_buffers_of_processes_are_in_their_chunks(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Those of a process that has ended are not in the chunk after that."""
    begin(daemon, tmp_path, "enable-channel -u --buffers-pid channel0")
    with ordered(daemon, program) as one:
        one.do("5")
        one.end()
    wait_until(
        lambda: str(one.process.pid) not in daemon.lttng("list", "-u").out,
        "it is gone",
        SECONDS,
    )
    say(daemon, "rotate")
    with ordered(daemon, program) as one:
        one.do("6")
        say(daemon, "rotate")
        one.end()
    say(daemon, "destroy")
    chunks = archives(tmp_path)
    assert [steps(one).total() for one in chunks] == [5, 6, 0]
    assert len([*chunks[1].glob("ust/pid/*")]) == 1


def test_a_removed_directory_is_made_again(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """What comes after a rotation is recorded there."""
    output = tmp_path / "out"
    begin(daemon, output)
    with ordered(daemon, program) as one:
        one.do("5")
        shutil.rmtree(output)
        say(daemon, "rotate")
        one.do("6")
        daemon.lttng("stop")
        one.end()
    # What found no file is there, too.
    assert steps(output / "ust").total() in {6, 11}
    daemon.lttng("destroy")


def test_archives_that_are_a_link_are_refused(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Nothing is moved, and recording goes on."""
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    begin(daemon, output)
    (output / "archives").symlink_to(elsewhere)
    with ordered(daemon, program) as one:
        one.do("5")
        done = daemon.lttng("rotate")
        assert done.status == 1
        assert "Rotation rename failure on consumer" in done.err
        one.do("6")
        say(daemon, "stop")
        one.end()
    assert not [*elsewhere.iterdir()]
    assert steps(output / "ust").total() == 11
    daemon.lttng("destroy")


def test_a_file_in_place_of_the_output_is_refused(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """The daemon answers at once, and the chunk goes on where its directory is."""
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    begin(daemon, output)
    with ordered(daemon, program) as one:
        one.do("5")
        output.rename(elsewhere)
        output.touch()
        done = daemon.lttng("rotate")
        assert done.status == 1
        assert "Not a directory" in done.err
        output.unlink()
        elsewhere.rename(output)
        one.do("6")
        say(daemon, "rotate", "stop")
        one.end()
    say(daemon, "destroy")
    assert [steps(one).total() for one in archives(output)] == [11, 0]


def test_a_full_disk_leaves_the_chunk_as_it_is(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It is no archive, and goes on; nothing is lost once there is room."""
    with disk_of(tmp_path, 3000) as disk:
        output = disk.directory / "out"
        begin(daemon, output)
        with ordered(daemon, program) as one:
            one.do("500")
            say(daemon, "rotate")
            one.do("6")
            fill(disk.directory / "filler")
            done = daemon.lttng("rotate")
            assert done.status == 1
            assert "Rotation rename failure on consumer" in done.err
            assert len(archives(output)) == 1
            one.do("7")
            disk.make_room()
            say(daemon, "rotate")
            one.do("8")
            daemon.lttng("stop")
            one.end()
        say(daemon, "destroy")
        assert [steps(one).total() for one in archives(output)] == [500, 13, 8]


def test_clear_makes_room_on_a_full_disk(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It removes before it writes."""
    with disk_of(tmp_path, 3000) as disk:
        output = disk.directory / "out"
        begin(daemon, output)
        with ordered(daemon, program) as one:
            one.do("1000")
            fill(disk.directory / "filler")
            one.do("1000")
            daemon.lttng("clear")
            disk.make_room()
            one.do("3")
            daemon.lttng("stop")
            one.end()
        assert steps(output).total() == 3
        say(daemon, "destroy")


@contextmanager
def disk_of(folder: Path, kilobytes: int) -> Iterator[Surroundings]:
    """Have a small disk."""
    disk = Surroundings("disk", kilobytes, folder)
    try:
        disk.__enter__()
    except UnavailableError as error:
        pytest.skip(str(error))
    with ExitStack() as stack:
        stack.push(disk)
        yield disk


def fill(filler: Path) -> None:
    """Leave no room on a disk."""
    size = 4096
    with filler.open("wb", buffering=0) as file:
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


def test_schedules_are_set_and_shown(daemon: SessionDaemon, tmp_path: Path):
    """Texts and statuses are those of LTTng."""
    say(daemon, f"create s --output={tmp_path}", RULE)
    for words, status, text in (
        ("enable-rotation", 1, "No session rotation schedule parameter provided."),
        ("enable-rotation --timer=0", 1, "Invalid value for periodic option"),
        (
            "enable-rotation --timer=18446744073709551615",
            1,
            "Invalid value for periodic option",
        ),
        ("enable-rotation --timer=x", 1, "Invalid value for --timer option: x"),
        (
            "enable-rotation --timer=10s",
            0,
            "Enabled periodic rotations every 10000000 us on session s",
        ),
        (
            "enable-rotation --timer=9",
            1,
            "A periodic rotation schedule is already set on session s",
        ),
        (
            "enable-rotation --size=4M",
            0,
            "Enabled size-based rotations every 4194304 bytes written on session s",
        ),
        ("disable-rotation", 1, "No session rotation schedule type provided."),
    ):
        done = daemon.lttng(*words.split())
        assert done.status == status
        assert text in done.out + done.err
    shown = daemon.lttng("list", "s").out
    assert shown.startswith(
        f"Recording session s: [inactive]\n    Trace output: {tmp_path}\n\n"
        "Automatic rotation schedules:\n    timer period: 10000000 us\n"
        "    size threshold: 4194304 bytes\n\n=== Domain"
    )
    say(daemon, f"save s -o {tmp_path / 'saved'}", "destroy")
    say(daemon, f"load s -i {tmp_path / 'saved'}")
    assert daemon.lttng("list", "s").out == shown
    out = daemon.lttng("--mi", "xml", "disable-rotation", "--size").out
    assert "<size_threshold><bytes>4194304</bytes></size_threshold>" in out
    for kind, word in (("timer", "periodic"), ("size", "size-based")):
        if kind == "timer":
            say(daemon, "disable-rotation --timer")
        done = daemon.lttng("disable-rotation", f"--{kind}")
        assert done.status == 1
        assert f"No {word} rotation schedule active on session s" in done.err


def test_a_killed_daemon_leaves_chunks_to_the_next(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """What was recorded meanwhile is in the chunk that the next daemon archives."""
    assert home.start().returncode == 0
    begin(home, tmp_path)
    with ordered(home, program) as one:
        one.do("100")
        say(home, "rotate")
        one.do("20")
        home.end(signal.SIGKILL)
        one.do("3")
        assert home.start().returncode == 0
        wait_for_listed(home, one)
        one.do("4")
        say(home, "rotate")
        one.do("5")
        say(home, "stop", "destroy")
        one.end()
    assert [steps(one).total() for one in archives(tmp_path)] == [100, 27, 5]


def test_a_daemon_that_was_killed_between_two_chunks(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The chunk was moved, and the next had not begun: the next daemon goes on."""
    assert home.start().returncode == 0
    begin(home, tmp_path)
    with ordered(home, program) as one:
        one.do("100")
        home.end(signal.SIGKILL)
        name = "20261126T120000+0000-20261126T120100+0000-0"
        archive_chunk(str(tmp_path), name)
        change_kept(home, moving_to=name)
        one.do("3")
        assert home.start().returncode == 0
        wait_for_listed(home, one)
        one.do("4")
        say(home, "rotate")
        one.do("5")
        say(home, "stop", "destroy")
        one.end()
    assert [steps(one).total() for one in archives(tmp_path)] == [107, 5]


def test_a_program_that_is_stopped_stays_in_the_session(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It is not waited for, however often; it describes its state when it goes on."""
    begin(daemon, tmp_path)
    with ordered(daemon, program) as one:
        one.do("5")
        one.process.send_signal(signal.SIGSTOP)
        say(daemon, "rotate", "rotate", "rotate")
        one.process.send_signal(signal.SIGCONT)
        one.do("6")
        say(daemon, "stop")
        one.end()
    say(daemon, "destroy")
    chunks = archives(tmp_path)
    assert [steps(one).total() for one in chunks] == [5, 0, 0, 6]
    assert steps(chunks[-1], ["lttng_ust_statedump:bin_info"]).total() > 2


def test_a_full_journal_ends_no_schedule(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """A chunk that cannot be noted is not moved; later ones are, when there is room."""
    with disk_of(tmp_path, 3000) as disk:
        home.run_folder.mkdir()
        journal = disk.directory / "journal"
        journal.mkdir()
        mount = ["mount", "--bind", str(journal), str(home.run_folder)]
        subprocess.run(mount, check=True)
        try:
            assert home.start().returncode == 0
            output = tmp_path / "out"
            begin(home, output, "enable-rotation --timer=50ms")
            with ordered(home, program) as one:
                one.do("10")
                wait_until(lambda: len(archives(output)) > 1, "it is done", SECONDS)
                fill(disk.directory / "filler")
                # The last block of the journal may have room for some changes.
                done = home.lttng("rotate")
                while done.status == 0:
                    done = home.lttng("rotate")
                assert "No space left on device" in done.err
                # Each attempt makes it, and leaves it if it cannot be written.
                [unwritten] = journal.glob("*.new")
                unwritten.unlink()
                wait_until(unwritten.exists, "the schedule tries, too", SECONDS)
                one.do("7")
                disk.make_room()
                count = len(archives(output))
                wait_until(lambda: len(archives(output)) > count, "it goes on", SECONDS)
                one.do("3")
                assert "No space left on device" in home.lttng("stop").err
                one.end()
            say(home, "destroy")
            assert steps(output).total() == 20
            home.end()
        finally:
            home.end()
            subprocess.run(["umount", str(home.run_folder)], check=True)


def test_a_timer_archives_chunks(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """Again and again, until it is unset."""
    begin(daemon, tmp_path, "enable-rotation --timer=50ms")
    with ordered(daemon, program) as one:
        one.do("10")
        # A chunk may be on its way, and have been cut before that.
        before = len(archives(tmp_path))
        wait_until(
            lambda: len(archives(tmp_path)) > before + 3,
            "chunks are archived",
            SECONDS,
        )
        say(daemon, "disable-rotation --timer")
        count = len(archives(tmp_path))
        one.do("20")
        say(daemon, "stop")
        one.end()
    say(daemon, "destroy")
    chunks = archives(tmp_path)
    assert len(chunks) == count + 1
    assert (steps(tmp_path).total(), steps(chunks[-1]).total()) == (30, 20)


def test_a_size_archives_chunks(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """As soon as one has so many bytes."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u channel0 --subbuf-size=4k --num-subbuf=8",
        "enable-rotation --size=64k",
    )
    with ordered(daemon, program) as one:

        def has_three() -> bool:
            one.do("100")
            return len(archives(tmp_path)) > 2

        wait_until(has_three, "chunks are archived", SECONDS)
        say(daemon, "stop")
        one.end()
    sizes = [
        sum(file.stat().st_size for file in one.rglob("channel0_*"))
        for one in archives(tmp_path)
    ]
    assert all(size >= 64 << 10 for size in sizes[:3])
    say(daemon, "destroy")
