"""Unmodified programs of LTTng-UST are recorded by sessions of ours as by LTTng's.

The programs run as they were built; Babeltrace 2 reads what was written.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from support.live_sessions import (
    SECONDS,
    begin,
    daemon_for_programs,
    end,
    launch,
    lines,
    our_lines,
    run,
)
from support.lttng import Channel, Program
from support.paused_programs import kill_in_pause
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say, session_daemon, stop_process
from support.vestige_command import convert
from support.waiting import wait_until
from vestige.daemon.client import Client
from vestige.daemon.run_paths import run_paths

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]


def test_a_program_is_recorded(daemon: SessionDaemon, workshop: Workshop, tmp_path):
    """With contexts, and into one trace through several starts."""
    begin(
        *(daemon, tmp_path),
        "enable-event -u greeting:*",
        "add-context -u -t procname",
    )
    run(daemon, workshop.program("greeting"), "you")
    assert end(daemon) == ""
    assert lines(tmp_path) == [
        'greeting:said: { procname = "greeting" }, { number = -1, text = "good morning" }',
        'greeting:said: { procname = "greeting" }, { number = 1, text = "you" }',
        'greeting:said: { procname = "greeting" }, { number = 4, text = "good night" }',
    ]
    daemon.lttng("start")
    run(daemon, workshop.program("greeting"))
    end(daemon)
    assert len(lines(tmp_path)) == 5
    assert sorted(
        str(one.relative_to(tmp_path)) for one in tmp_path.rglob("metadata")
    ) == [f"ust/uid/{os.getuid()}/64-bit/metadata"]


def test_all_fields_are_those_that_lttng_records(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Integers, reals, arrays, sequences, strings, enumerations."""
    program = workshop.program("fields")
    theirs = tmp_path / "theirs"
    channel = Channel(events=("fields:*",))
    workshop.lttng.record(theirs, [Program([program])], [channel])
    ours = tmp_path / "ours"
    begin(daemon, ours, "enable-event -u fields:*")
    run(daemon, program)
    end(daemon)
    # What Babeltrace 2.0.4 prints of a text with a zero in it depends on what it has
    # printed before.
    assert our_lines(ours) == our_lines(theirs)


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ("greeting:said", ["good morning", "you", "good night"]),
        ("g*d", ["good morning", "you", "good night"]),
        ("* -x greeting:*", []),
        ("g* --loglevel=WARNING", []),
        ("g* --loglevel=INFO", ["good morning", "you", "good night"]),
        ("g* --loglevel-only=DEBUG", []),
        ("g* -f number==4", ["good night"]),
        ("g* -f number<0||number==1", ["good morning", "you"]),
        ('g* -f text=="good*"', ["good morning", "good night"]),
        ('g* -f text!="*ni*t"&&number>0', ["you"]),
        ("g* -f !(number&1)", ["good night"]),
        ("g* -f -number>=1", ["good morning"]),
        ("g* -f number<<1==8", ["good night"]),
        ("g* -f ~number==0", ["good morning"]),
        ("g* -f number>0.5&&number<1.5", ["you"]),
        ('g* -f $ctx.procname=="greeting"', ["good morning", "you", "good night"]),
        ('g* -f $ctx.procname=="other"', []),
        ("g* -f nofield==1", []),
    ],
)
def test_rules_choose_events(
    daemon: SessionDaemon, workshop: Workshop, tmp_path, options, texts
):
    """By name, exclusion, level and filter, in the program itself."""
    begin(daemon, tmp_path, f"enable-event -u {options}", "enable-event -u no:event")
    run(daemon, workshop.program("greeting"), "you")
    end(daemon)
    events = [one for one in lines(tmp_path) if one.startswith("greeting:")]
    assert [one.split('"')[1] for one in events] == texts


def test_rules_take_effect_in_a_running_program(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """New ones and disabled ones, while it records."""
    begin(daemon, tmp_path, "enable-event -u no:event")
    # It waits in each of many bursts for 20 ms.
    program = launch(daemon, workshop.program("flood"), 1, 100_000, 20_000)
    try:
        listed = "flood:drop (loglevel: "
        wait_until(
            lambda: listed in daemon.lttng("list", "-u").out, "it registers", SECONDS
        )
        assert daemon.lttng("enable-event", "-u", "flood:drop").status == 0
        run(daemon, workshop.program("flood"), 1, 10, 1000)
        assert daemon.lttng("disable-event", "-u", "flood:drop").status == 0
        run(daemon, workshop.program("flood"), 10)
        end(daemon)
    finally:
        program.kill()
        program.wait()
    others = [one for one in lines(tmp_path) if not one.startswith("flood:drop")]
    assert others == []
    assert len(lines(tmp_path)) >= 10


def test_each_process_can_have_buffers_of_its_own(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """A trace for each, complete when it has ended."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u --buffers-pid c",
        "enable-event -u -c c greeting:*",
    )
    for _ in range(2):
        run(daemon, workshop.program("greeting"))
    end(daemon)
    assert len(lines(tmp_path)) == 4
    folders = sorted((tmp_path / "ust" / "pid").iterdir())
    assert len(folders) == 2
    assert all(re.fullmatch(r"greeting-\d+-\d+-\d+", one.name) for one in folders)


def test_only_tracked_processes_record(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Others leave no trace at all."""
    begin(daemon, tmp_path, "enable-event -u greeting:*", "track -u --vuid=61234")
    run(daemon, workshop.program("greeting"))
    assert daemon.lttng("track", "-u", f"--vuid={os.getuid()}").status == 0
    run(daemon, workshop.program("greeting"), "again")
    end(daemon)
    assert len(lines(tmp_path)) == 3


def test_a_program_is_free_of_a_session_that_has_left_it(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """It has no buffers of it any more, and is there for the next session."""
    program = launch(daemon, workshop.program("flood"), 1, 1_000_000, 1000)
    files, maps = (Path(f"/proc/{program.pid}") / one for one in ("fd", "maps"))

    def is_listed() -> bool:
        return f"PID: {program.pid} " in daemon.lttng("list", "-u").out

    try:
        wait_until(is_listed, "it registers", SECONDS)
        before = len([*files.iterdir()])
        begin(daemon, tmp_path / "first", "enable-event -u flood:drop")
        for _ in range(2):
            assert daemon.lttng("untrack", "-u", "--vpid", "--all").status == 0
            assert is_listed()
            assert len([*files.iterdir()]) == before
            assert daemon.lttng("track", "-u", "--vpid", "--all").status == 0
            assert len([*files.iterdir()]) > before
        assert daemon.lttng("destroy").status == 0
        assert len([*files.iterdir()]) == before
        assert "vestige-rings" not in maps.read_text()
        # The same socket serves the next one: it need not come again.
        begin(daemon, tmp_path / "second", "enable-event -u flood:drop")
        assert is_listed()
        end(daemon)
    finally:
        program.kill()
        program.wait()
    assert lines(tmp_path / "second")


def test_losses_are_told_and_are_in_the_trace(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """What was recorded and what was lost is all there was."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u c --subbuf-size=4k --num-subbuf=2",
        "enable-event -u -c c flood:*",
    )
    run(daemon, workshop.program("flood"), 200_000)
    said = end(daemon)
    lost = re.match(r"Warning: (\d+) events were discarded", said)
    assert lost is not None
    assert len(lines(tmp_path)) + int(lost[1]) == 200_000
    assert b"discarded" in babeltrace(tmp_path).stderr
    assert f"Discarded events: {lost[1]}" in daemon.lttng("list", "s").out


def test_files_are_limited_in_size_and_number(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """The oldest is overwritten; indexes have the same names."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u c --subbuf-size=4k --tracefile-size=8k --tracefile-count=2",
        "enable-event -u -c c flood:*",
    )
    run(daemon, workshop.program("flood"), 500, 20, 2000)
    end(daemon)
    folder = tmp_path / "ust" / "uid" / str(os.getuid()) / "64-bit"
    files = [one for one in folder.iterdir() if re.fullmatch(r"c_\d+_[01]", one.name)]
    assert files
    assert all(one.stat().st_size <= 8192 for one in files)
    for one in files:
        assert (folder / "index" / f"{one.name}.idx").stat().st_size >= 16 + 72
    assert lines(tmp_path)


def test_a_killed_program_disturbs_nobody(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """What it has committed is read, and others go on in the same buffers.

    What follows a record that it has not committed, up to the end of the packet, is told
    as lost.
    """
    begin(daemon, tmp_path, "enable-event -u flood:*", "enable-event -u greeting:*")
    for _ in range(5):
        program = launch(daemon, workshop.program("flood"), 100, 1_000_000)
        wait_until(
            lambda: "flood" in daemon.lttng("list", "-u").out, "it registers", SECONDS
        )
        program.send_signal(signal.SIGKILL)
        program.wait()
    run(daemon, workshop.program("greeting"), "meanwhile")
    said = end(daemon)
    if said == "":
        assert '"meanwhile"' in "".join(lines(tmp_path))
    say(daemon, "start")
    run(daemon, workshop.program("greeting"), "later")
    assert end(daemon) == ""
    texts = re.findall('greeting:said: .*"(.*)"', "\n".join(lines(tmp_path)))
    assert texts[-3:] == ["good morning", "later", "good night"]


def test_tracepoints_of_running_programs_are_listed(
    daemon: SessionDaemon, workshop: Workshop
):
    """With levels and fields."""
    program = launch(daemon, workshop.program("flood"), 1, 100_000, 20_000)
    try:
        wait_until(
            lambda: "flood:drop" in daemon.lttng("list", "-u").out, "it is", SECONDS
        )
        shown = daemon.lttng("list", "-u", "-f").out
        name = workshop.program("flood")
        assert f"PID: {program.pid} - Name: {name}\n" in shown
        assert (
            "flood:drop (loglevel: TRACE_DEBUG_LINE (13)) (type: tracepoint)" in shown
        )
    finally:
        program.kill()
        program.wait()


def test_a_program_lives_through_the_end_of_the_daemon(workshop: Workshop, tmp_path):
    """Its trace is complete when the daemon was ended by a signal."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        daemon.start()
        begin(
            *(daemon, tmp_path),
            "enable-channel -u c --subbuf-size=4k",
            "enable-event -u -c c flood:*",
        )
        program = launch(daemon, workshop.program("flood"), 500, 100_000, 20_000)
        try:
            wait_until(lambda: any(tmp_path.rglob("c_*")), "it records", SECONDS)
            daemon.end()
            assert program.poll() is None
        finally:
            program.kill()
            program.wait()
    assert lines(tmp_path)


def test_after_a_kill_what_was_committed_is_read(workshop: Workshop, tmp_path):
    """The next daemon finds it in the rings, and goes on with the program."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        daemon.start()
        begin(daemon, tmp_path, "enable-event -u greeting:*")
        run(daemon, workshop.program("greeting"), *"abc")
        daemon.end(signal.SIGKILL)
        assert daemon.start().returncode == 0
        run(daemon, workshop.program("greeting"), "d")
        end(daemon)
        with mock.patch.dict(os.environ, daemon.environment):
            rings = Path(run_paths(is_root=os.geteuid() == 0).rings)
        assert rings.is_dir()
        daemon.end()
        assert not rings.exists()
    assert len(lines(tmp_path)) == 5 + 3


@pytest.mark.parametrize("kills", [1, 2])
@pytest.mark.parametrize("where", ["", "shm"])
def test_what_a_killed_daemon_missed_is_told(
    workshop: Workshop, tmp_path, where, kills
):
    """What was lost in its rings, and when nothing was recorded, once."""
    with daemon_for_programs() as daemon:
        options = f"--shm-path={tmp_path}/{where}" if where else ""
        begin(
            daemon,
            tmp_path / "out",
            "enable-channel -u c --subbuf-size=4k --num-subbuf=2",
            "enable-event -u -c c flood:*",
            options=options,
        )
        before = int(time.time())
        run(daemon, workshop.program("flood"), 20_000)
        for _ in range(kills):
            daemon.end(signal.SIGKILL)
            assert daemon.start().returncode == 0
        said = end(daemon)
        gap = re.search(r"recorded nothing from (.*) to (.*)\.", said)
        lost = re.search(r"(\d+) events were discarded", said)
        assert gap is not None
        assert lost is not None
        first, last = (
            time.mktime(time.strptime(one, "%Y-%m-%d %H:%M:%S")) for one in gap.groups()
        )
        assert before <= first <= last <= time.time()
        assert len(lines(tmp_path / "out")) + int(lost[1]) == 20_000
        daemon.lttng("start")
        assert end(daemon) == ""


def test_a_gap_ends_when_a_program_records_again(workshop: Workshop, tmp_path):
    """Not before: that there is a daemon does not record anything."""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path, "enable-event -u greeting:*")
        times = []
        for text in ("before", "between", "after"):
            times.append(time.time())
            run(daemon, workshop.program("greeting"), text)
            times.append(time.time())
            if text != "after":
                daemon.end(signal.SIGKILL)
                assert daemon.start().returncode == 0
        client = Client.connect(folder=str(daemon.run_folder))
        [session] = client.sessions()
        first, second = client.stop(session["name"])["gaps"]
        client.close()
    begins, ends = zip(first, second, strict=True)
    assert times[0] < begins[0] < times[1]
    assert times[2] < ends[0] < begins[1] < times[3]
    assert times[4] < ends[1] < times[5]


@contextmanager
def stopped_programs(
    workshop: Workshop, timeout: str
) -> Iterator[tuple[SessionDaemon, list[subprocess.Popen[bytes]]]]:
    """Have a daemon with three programs that are registered, two of them stopped."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        daemon.environment["LTTNG_APP_SOCKET_TIMEOUT"] = timeout
        assert daemon.start().returncode == 0
        programs = [
            launch(daemon, workshop.program("flood"), 1, 100_000, 20_000)
            for _ in range(3)
        ]
        try:
            wait_until(lambda: listed(daemon) == 3, "they register", SECONDS)
            for one in programs[:2]:
                stop_process(one.pid)
            yield daemon, programs
        finally:
            for one in programs:
                one.kill()
                one.wait()


def listed(daemon: SessionDaemon) -> int:
    """Return how many programs there are."""
    return daemon.lttng("list", "-u").out.count("PID:")


def test_a_program_that_is_stopped_is_let_go(workshop: Workshop, tmp_path):
    """After as long as the daemon is told."""
    with stopped_programs(workshop, "2") as (daemon, _):
        begin(daemon, tmp_path, "enable-event -u flood:*")
        wait_until(lambda: listed(daemon) == 1, "they are let go", SECONDS)
        end(daemon)
    assert lines(tmp_path)


def test_a_program_that_is_stopped_does_not_hold_start(workshop: Workshop, tmp_path):
    """The daemon waits for ever for it; it records once it goes on."""
    with stopped_programs(workshop, "-1") as (daemon, programs):
        begin(
            *(daemon, tmp_path),
            "enable-channel -u c --switch-timer=50ms",
            "add-context -u -c c -t vpid",
            "enable-event -u -c c flood:*",
        )
        # The one that runs is recorded, and the daemon serves others.
        wait_until(lambda: recorded(tmp_path) == 1, "one is recorded", SECONDS)
        assert daemon.lttng("list").status == 0
        for one in programs:
            one.send_signal(signal.SIGCONT)
        wait_until(lambda: recorded(tmp_path) == 3, "all are recorded", SECONDS)
        assert end(daemon) == ""


def test_those_that_are_stopped_are_named(workshop: Workshop, tmp_path):
    """Nobody waits for ever for them, as the daemon does."""
    with stopped_programs(workshop, "-1") as (daemon, programs):
        begin(daemon, tmp_path, "enable-event -u flood:*")
        own = {str(one.pid) for one in programs[:2]}
        done = daemon.lttng("list", "-u", "-f")
        assert named_as_silent(done.err) == own
        assert done.out.count("PID:") == 1
        assert named_as_silent(daemon.lttng("regenerate", "statedump").err) == own
        assert named_as_silent(daemon.lttng("stop").err) == own
        for one in programs[:2]:
            one.send_signal(signal.SIGCONT)
        wait_until(lambda: listed(daemon) == 3, "they answer", SECONDS)
        assert daemon.lttng("destroy").err == ""


def named_as_silent(warnings: str) -> set[str]:
    """Return the process IDs of programs that are said not to answer."""
    return set(re.findall(r"PID: (\d+) - Name: \S+ does not answer: ", warnings))


def recorded(trace: Path) -> int:
    """Return how many processes are in a trace, while it is written."""
    text = convert(trace).stdout.decode(errors="replace")
    return len(set(re.findall(r"vpid = (\d+)", text)))


def test_rings_lie_where_they_are_wanted(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """As LTTng lays them out, until the session is destroyed."""
    shm = tmp_path / "shm"
    daemon.lttng("create", "s", f"--output={tmp_path}/out", f"--shm-path={shm}")
    daemon.lttng("enable-event", "-u", "greeting:*")
    daemon.lttng("start")
    run(daemon, workshop.program("greeting"))
    [session] = shm.iterdir()
    folder = session / "ust" / "uid" / str(os.getuid()) / "64-bit"
    assert (folder / "channel0_0").stat().st_size > 4 * 524288
    daemon.lttng("destroy")
    assert list(shm.iterdir()) == []
    assert len(lines(tmp_path / "out")) == 2


def test_a_disk_that_is_full_is_told(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """The program goes on, and stop says why the trace lacks something."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u c --subbuf-size=4k",
        "enable-event -u -c c flood:*",
    )
    # It needs no disk of its own: a link to where nothing can be written.
    run(daemon, workshop.program("flood"), 1)
    folder = tmp_path / "ust" / "uid" / str(os.getuid()) / "64-bit"
    # Also those that this process has not, and others that there might be.
    for cpu in range(os.sysconf("SC_NPROCESSORS_CONF")):
        (folder / f"c_{cpu}").symlink_to("/dev/full")
    run(daemon, workshop.program("flood"), 5000)
    done = daemon.lttng("stop")
    assert "A part of the trace could not be written: " in done.err
    assert done.status == 1


def test_a_switch_timer_writes_what_there_is(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """While the session is active, and long before a sub-buffer is full."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u c --switch-timer=50ms",
        "enable-event -u -c c flood:*",
    )
    program = launch(daemon, workshop.program("flood"), 1, 100_000, 5_000)
    try:
        wait_until(
            lambda: any(
                # An empty packet may be first: it has a page.
                one.stat().st_size > 4096
                for one in tmp_path.rglob("c_[0-9]*")
            ),
            "it is written",
            SECONDS,
        )
    finally:
        kill_in_pause(program)
        program.wait()
    assert end(daemon) == ""
    assert lines(tmp_path)
