"""Sessions record the kernel, alone and beside programs; only root can have them."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.kernel_tracer import instances, why_not
from support.own_programs import build_ordered, ordered, wait_for_listed
from support.recorded import build_program
from support.session_daemon import SECONDS, SessionDaemon, stop_process
from support.waiting import wait_until
from vestige.daemon.client import Client
from vestige.daemon.kernel_backend import CLEARED
from vestige.record.process_stat import stat_words

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]
GETPRIORITY = 140
"""The number of the system call."""
CALL = "enable-event -k --syscall getpriority"
ENTRY, EXIT = "syscall_entry_getpriority", "syscall_exit_getpriority"
COUNT = 2000
RARE = {"sched_rr_get_interval": 148, "sched_getparam": 143}
"""Numbers of calls that no other program makes."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that makes a system call as often as it is told."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


def say(daemon: SessionDaemon, *commands: str) -> str:
    """Type commands, all of which do what they say; return what they print."""
    said = ""
    for words in commands:
        done = daemon.lttng(*words.split())
        assert done.status == 0, (words, done)
        said += done.out + done.err
    return said


def begin(daemon: SessionDaemon, output: Path, *commands: str) -> None:
    """Start a session that writes to a directory."""
    say(daemon, f"create s --output={output}", *commands, "start")


def call(program: str, count: int, number: int = GETPRIORITY) -> int:
    """Make so many system calls; return the process."""
    with subprocess.Popen([program, str(count), str(number)]) as process:
        assert process.wait(SECONDS) == 0
    return process.pid


def calls(trace: Path, process: int) -> Counter[str]:
    """Count the events of a thread, by name."""
    return Counter(
        one.name for one in vestige.open(trace) if one.context.get("tid") == process
    )


def instances_of(daemon: SessionDaemon) -> set[str]:
    """Return the instances of a daemon's session; others may have some, too."""
    found = {name for name in instances() if name.startswith("vestige-")}
    return {
        name
        for name in found
        if stat_words(int(name.split("-")[1]))[1:2] == [str(daemon.pid)]
    }


def recorder_of(daemon: SessionDaemon) -> int:
    """Return the process that has the rights, of a daemon's session."""
    [recorder] = {int(one.split("-")[1]) for one in instances_of(daemon)}
    return recorder


def reader_of(daemon: SessionDaemon) -> int:
    """Return the process that reads the buffers of a daemon's session."""
    recorder = recorder_of(daemon)
    children = Path(f"/proc/{recorder}/task/{recorder}/children").read_text()
    [reader] = map(int, children.split())
    return reader


def opened_by(process: int) -> int:
    """Count the descriptors of a process."""
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


@contextmanager
def reader_stopped(daemon: SessionDaemon) -> Iterator[None]:
    """Let nobody read the buffers of a daemon's session: they overflow for certain."""
    reader = reader_of(daemon)
    stop_process(reader)
    try:
        yield
    finally:
        os.kill(reader, signal.SIGCONT)


def lost(trace: Path) -> int:
    """Return how many events a trace says were lost."""
    opened = vestige.open(trace)
    assert list(opened)
    return sum(one.count for one in opened.losses)


def test_both_domains_are_in_order_by_one_clock(daemon: SessionDaemon, tmp_path: Path):
    """Each call is between the two events of the program that are around it."""
    with ordered(daemon, build_ordered(tmp_path)) as one:
        wait_for_listed(daemon, one)
        output = tmp_path / "trace"
        begin(daemon, output, "enable-event -u ordered:*", CALL)
        one.do(f"c{COUNT}")
        say(daemon, "stop", "destroy")
        process = one.process.pid
        one.end()
    found = [
        event.name
        for event in vestige.open(output)
        if event.name == "ordered:step"
        or (event.name in {ENTRY, EXIT} and event.context["tid"] == process)
    ]
    assert found == ["ordered:step", ENTRY, EXIT, "ordered:step"] * COUNT
    clocks = {
        re.search(
            r'name = "\w+";\n\tuuid.*?freq = \d+ *;\n\toffset = \d+', text, re.DOTALL
        )
        and re.sub(
            r"\tdescription.*?\n",
            "",
            re.search(r"clock \{.*?absolute", text, re.DOTALL)[0],
        )
        for text in (one.read_text() for one in output.rglob("metadata"))
    }
    assert len(clocks) == 1
    peer = shutil.which("babeltrace2")
    if peer is not None:
        read = subprocess.run(
            [peer, str(output)], capture_output=True, text=True, check=True
        )
        assert read.stderr == ""
        assert read.stdout.count(f" {EXIT}: ") >= COUNT


def test_channels_record_what_their_rules_say_now(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """Rules come and go while it is active; it is stopped and started again."""
    first = f"first{'x' * 200}"
    begin(
        daemon,
        tmp_path,
        f"enable-channel -k {first}",
        "enable-channel -k second --subbuf-size=64k",
        f"enable-event -k -c {first} sched_switch",
        f"{CALL} -c second",
    )
    processes = [call(program, COUNT)]
    say(daemon, f"{CALL.replace('getpriority', 'getsid')} -c {first}")
    say(daemon, "disable-event -k -c second --syscall getpriority")
    processes.append(call(program, COUNT))
    say(daemon, f"{CALL} -c second", "stop")
    processes.append(call(program, COUNT))
    say(daemon, "start")
    processes.append(call(program, COUNT))
    say(daemon, "disable-channel -k second")
    processes.append(call(program, COUNT))
    say(daemon, "stop", "destroy")

    found = [calls(tmp_path, one)[ENTRY] for one in processes]
    assert found == [COUNT, 0, 0, COUNT, 0]
    assert {one.name for one in (tmp_path / "kernel").glob(f"{first}_*")}
    names = {one.name for one in vestige.open(tmp_path)}
    # The state is in the trace where a rule takes its events.
    others = {"syscall_entry_getsid", "syscall_exit_getsid"}
    assert {"sched_switch", ENTRY} <= names <= {"sched_switch", ENTRY, EXIT, *others}


def test_a_rule_without_a_channel_makes_one(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """All events are tracepoints and system calls, and the state that there is."""
    begin(daemon, tmp_path, "enable-event -k lttng_statedump_*", CALL)
    say(daemon, "regenerate statedump", "regenerate metadata")
    process = call(program, COUNT)
    say(daemon, "stop", "destroy")

    found = Counter(one.name for one in vestige.open(tmp_path))
    assert found["lttng_statedump_start"] == found["lttng_statedump_end"] == 2
    assert found["lttng_statedump_process_state"] > 2
    assert calls(tmp_path, process)[EXIT] == COUNT
    assert [*(tmp_path / "kernel").glob("channel0_*")]


@pytest.mark.parametrize("mode", ["discard", "overwrite"])
def test_what_is_read_and_what_is_lost_is_all(
    daemon: SessionDaemon, program: str, tmp_path: Path, mode: str
):
    """The trace, the list and the end of the session say the same."""
    count = 20_000
    # Other tests may run at the same time.
    name = [*RARE][os.getpid() % len(RARE)]
    channel = f"enable-channel -k c --{mode} --subbuf-size=4k --num-subbuf=4"
    rule = f"enable-event -k --syscall {name} -c c"
    begin(daemon, tmp_path, channel, rule)
    with reader_stopped(daemon):
        call(program, count, RARE[name])
    wait_until(lambda: discarded(daemon) > 0, "losses are shown", SECONDS)
    said = say(daemon, "stop")
    listed = discarded(daemon)
    say(daemon, "destroy")

    found = Counter(one.name for one in vestige.open(tmp_path))
    assert {*found} == {f"syscall_entry_{name}", f"syscall_exit_{name}"}
    assert listed == lost(tmp_path) > 0
    assert found.total() + listed == 2 * count
    assert f"{listed} events were discarded" in said


def test_data_files_are_limited(daemon: SessionDaemon, program: str, tmp_path: Path):
    """Older ones make room, in each chunk; what stays can be read."""
    limits = "--tracefile-size=65536 --tracefile-count=3"
    begin(
        daemon,
        tmp_path,
        f"enable-channel -k c --subbuf-size=64k {limits}",
        "enable-channel -k all --subbuf-size=64k --tracefile-size=65536",
        f"{CALL} -c c",
        f"{CALL} -c all",
    )
    count = 40_000
    call(program, count)
    say(daemon, "rotate")
    process = call(program, count)
    say(daemon, "stop", "destroy")

    chunks = sorted((tmp_path / "archives").iterdir())
    assert len(chunks) == 2
    for chunk in chunks:
        files = [*chunk.rglob("c_*"), *chunk.rglob("all_*")]
        data = [one for one in files if one.suffix != ".idx"]
        assert all(one.stat().st_size <= 65536 for one in data)
        indexes = {f"{one.name}.idx" for one in data}
        assert {one.name for one in chunk.rglob("*.idx")} == indexes
        kept = [one for one in data if one.name.startswith("c_")]
        assert {one.name[-2:] for one in kept} == {"_0", "_1", "_2"}
        assert len(data) > len(kept) >= 3
    assert calls(chunks[1], process).total() > 0


def test_chunks_follow_each_other(daemon: SessionDaemon, program: str, tmp_path: Path):
    """Nothing is lost where one ends; what was cleared is in none."""
    begin(daemon, tmp_path, CALL)
    processes = [call(program, COUNT)]
    say(daemon, "rotate")
    processes.append(call(program, COUNT))
    # As of one that was killed while it removed what was cleared.
    (tmp_path / CLEARED / "index").mkdir(parents=True)
    say(daemon, "clear")
    assert not (tmp_path / CLEARED).exists()
    processes.append(call(program, COUNT))
    say(daemon, "rotate", "stop", "destroy")

    chunks = sorted((tmp_path / "archives").iterdir())
    found = [[calls(chunk, one)[EXIT] for one in processes] for chunk in chunks]
    assert found[:2] == [[COUNT, 0, 0], [0, 0, COUNT]]
    assert [sum(one) for one in found[2:]] == [0]
    # There is no domain of programs.
    assert {one.name for chunk in chunks for one in chunk.iterdir()} == {"kernel"}


def test_a_chunk_that_cannot_begin_is_told_and_all_goes_on(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """Where it is: nothing is lost, and there is no part of the next chunk."""
    begin(daemon, tmp_path, CALL)
    processes = [call(program, COUNT)]
    reader = reader_of(daemon)
    before = opened_by(reader)
    # The directories and a file can be opened, and no more.
    most = resource.prlimit(reader, resource.RLIMIT_NOFILE)
    resource.prlimit(reader, resource.RLIMIT_NOFILE, (before + 3, most[1]))
    done = daemon.lttng("rotate")
    assert "of the kernel, events are missing: Too many open files" in done.err
    assert opened_by(reader) == before
    resource.prlimit(reader, resource.RLIMIT_NOFILE, most)
    processes.append(call(program, COUNT))
    say(daemon, "stop")
    found = [calls(tmp_path / "kernel", one)[EXIT] for one in processes]
    assert found == [COUNT, COUNT]


def test_snapshots_have_what_is_kept(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """It stays, so the next one has it, too."""
    say(daemon, f"create s --snapshot --output={tmp_path}", CALL, "start")
    process = call(program, COUNT)
    say(daemon, "snapshot record")
    assert not list(tmp_path.glob("kernel"))
    later = call(program, COUNT)
    say(daemon, "snapshot record", "stop", "destroy")

    first, second = sorted(tmp_path.iterdir())
    assert calls(first, process) == {ENTRY: COUNT, EXIT: COUNT}
    assert calls(second, process) == calls(second, later) == calls(first, process)


def test_nothing_is_left_of_a_daemon_that_was_killed(
    home: SessionDaemon, program: str, tmp_path: Path
):
    """The trace is whole, and the next daemon goes on in another one."""
    assert home.start().returncode == 0
    begin(home, tmp_path, CALL)
    first = call(program, COUNT)
    made = instances_of(home)
    home.end(signal.SIGKILL)
    wait_until(lambda: not made & {*instances()}, "they are removed", SECONDS)
    assert home.start().returncode == 0
    second = call(program, COUNT)
    others = instances_of(home)
    say(home, "stop", "destroy")

    assert made
    assert others
    assert not (made | others) & {*instances()}
    assert calls(tmp_path / "kernel", first) == {ENTRY: COUNT, EXIT: COUNT}
    assert calls(tmp_path / "kernel-2", second) == {ENTRY: COUNT, EXIT: COUNT}


def test_nobody_waits_for_a_session_whose_reader_is_stopped(
    daemon: SessionDaemon, tmp_path: Path
):
    """But those who do something with it: its end waits, and is complete."""
    begin(daemon, tmp_path, CALL)
    with ThreadPoolExecutor(1) as pool:
        with reader_stopped(daemon):
            with mock.patch.dict(os.environ, daemon.environment):
                ending = pool.submit(Client.connect().destroy, "s")
            say(daemon, "create t --no-output", "enable-event -k -s t getsid", "list")
            say(daemon, "destroy t", "list s")
            assert not ending.done()
        assert ending.result(SECONDS)["failure"] is None


@pytest.mark.parametrize("who", ["recorder", "reader"])
def test_a_process_that_was_killed_is_replaced(
    daemon: SessionDaemon, program: str, tmp_path: Path, who: str
):
    """At once, in another trace; people are told, and no instance is left."""
    begin(daemon, tmp_path, CALL)
    call(program, COUNT)
    made = instances_of(daemon)
    os.kill(recorder_of(daemon) if who == "recorder" else reader_of(daemon), 9)
    wait_until((tmp_path / "kernel-2").exists, "it goes on", SECONDS)
    said = "Notice: the kernel was not recorded from "
    wait_until(lambda: " to " in notice(daemon, said), "it is told", SECONDS)
    second = call(program, COUNT)
    done = daemon.lttng("rotate")
    assert "of the kernel, events are missing: its process has ended" in done.err
    third = call(program, COUNT)
    say(daemon, "stop", "start")
    fourth = call(program, COUNT)
    say(daemon, "stop")
    others = instances_of(daemon)
    say(daemon, "destroy")

    assert made
    assert not (made | others) & {*instances()}
    chunks = sorted((tmp_path / "archives").iterdir())
    whole = {ENTRY: COUNT, EXIT: COUNT}
    assert calls(chunks[0] / "kernel-2", second) == whole
    assert [calls(chunks[1], one) for one in (third, fourth)] == [whole, whole]


def test_a_process_that_is_killed_while_nothing_is_recorded(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """The next start makes another one; what was recorded before stays."""
    begin(daemon, tmp_path, CALL)
    processes = [call(program, COUNT)]
    say(daemon, "stop")
    os.kill(reader_of(daemon), signal.SIGKILL)
    assert daemon.lttng("start").status == 0
    processes.append(call(program, COUNT))
    daemon.lttng("stop")
    say(daemon, "destroy")

    traces = [tmp_path / "kernel", tmp_path / "kernel-2"]
    found = [calls(*one)[EXIT] for one in zip(traces, processes, strict=True)]
    assert found == [COUNT, COUNT]


def discarded(daemon: SessionDaemon) -> int:
    """Return how many events were lost, as the session shows it."""
    return int(re.search(r"Discarded events: (\d+)", say(daemon, "list s"))[1])


def notice(daemon: SessionDaemon, begin: str) -> str:
    """Return a line of what is told of the session."""
    lines = map(str.strip, say(daemon, "list s").splitlines())
    return next((one for one in lines if one.startswith(begin)), "")
