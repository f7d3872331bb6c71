"""Root's daemon and a user's at once: programs of the user record for both."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.own_programs import build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SessionDaemon, say
from support.two_daemons import USER, Machine, machine

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its user"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]


@pytest.fixture
def place() -> Iterator[Machine]:
    """A machine where no daemon runs."""
    with machine() as one:
        yield one


def begin(daemon: SessionDaemon, name: str = "s") -> Path:
    """Start a session, and return its trace."""
    trace = daemon.home / f"trace-{name}"
    rule = "enable-event -u ordered:*"
    say(daemon, f"create {name} --output={trace}", rule, "start")
    return trace


@pytest.mark.parametrize("first", ["root", "user", "program", "linked"])
def test_a_program_records_for_both_daemons(place: Machine, first: str):
    """Whoever begins first, and preloaded or linked: each has all that it asked for."""
    daemons = [place.root, place.user]
    flags = ["-llttng-ust"] if first == "linked" else []
    program = build_ordered(place.folder, *flags)
    if first == "user":
        daemons.reverse()
    if first in {"root", "user"}:
        assert daemons[0].start().returncode == 0
    with ordered(place.user, program, preload=first != "linked") as one:
        one.do("10")
        for daemon in daemons:
            if daemon.pid is None:
                assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
        traces = [begin(daemon) for daemon in daemons]
        one.do("100")
        one.do("t50")
        say(daemons[0], "stop")
        one.do("3")
        say(daemons[1], "stop")
        pid = one.process.pid
        assert [steps(trace) for trace in traces] == [{pid: 200}, {pid: 203}]
        say(daemons[0], "start")
        one.do("7")
        say(daemons[0], "destroy")
        one.do("7")
        one.end()
    assert [steps(trace) for trace in traces] == [{pid: 207}, {pid: 203}]


def test_a_program_waits_for_the_rules_of_both(place: Machine):
    """Its first event is recorded by both; so are those of a child process."""
    program = build_ordered(place.folder)
    daemons = [place.root, place.user]
    for daemon in daemons:
        assert daemon.start().returncode == 0
    traces = [begin(daemon) for daemon in daemons]
    with ordered(place.user, program) as one:
        one.do("10")
        assert one.process.stdin is not None
        one.process.stdin.write("fork\n20\nexec\n5\n")
        one.end()
    for daemon, trace in zip(daemons, traces, strict=True):
        assert daemon.lttng("stop").err == ""
        found = steps(trace)
        assert found.pop(one.process.pid) == 10
        assert [*found.values()] == [25]


@pytest.mark.parametrize("killed", ["root", "user"])
def test_a_killed_daemon_takes_nothing_from_the_other(place: Machine, killed: str):
    """The program goes on for both; the next daemon finds it, and so do new sessions."""
    program = build_ordered(place.folder)
    daemons = {"root": place.root, "user": place.user}
    for daemon in daemons.values():
        assert daemon.start().returncode == 0
    dead = daemons.pop(killed)
    (other,) = daemons.values()
    with ordered(place.user, program) as one:
        for daemon in (dead, other):
            wait_for_listed(daemon, one)
        kept, trace = begin(dead), begin(other)
        one.do("100")
        dead.end(signal.SIGKILL)
        one.do("10")
        say(other, "stop", "destroy")
        assert steps(trace) == {one.process.pid: 110}
        again = begin(other, "again")
        one.do("1")
        assert dead.start().returncode == 0
        wait_for_listed(dead, one)
        one.do("1000")
        assert dead.lttng("stop").err == ""
        assert other.lttng("stop").err == ""
        one.end()
    assert steps(kept) == {one.process.pid: 1111}
    assert steps(again) == {one.process.pid: 1001}


@pytest.fixture
def shared(place: Machine) -> Machine:
    """A machine where root's daemon runs."""
    assert place.root.start().returncode == 0
    return place


def test_members_of_the_group_have_sessions_in_roots_daemon(shared: Machine):
    """Their programs are recorded, no others are, and the files are theirs."""
    program = build_ordered(shared.folder)
    assert shared.user.lttng("list").status != 0
    trace = begin(shared.member)
    roots = begin(shared.root, "all")
    with ordered(shared.user, program) as one, ordered(shared.root, program) as other:
        one.do("100")
        other.do("20")
        for _ in range(2):
            say(shared.member, "stop", "start")
        one.do("t50")
        assert shared.member.lttng("stop").err == ""
        assert shared.root.lttng("stop", "all").err == ""
        assert steps(trace) == {one.process.pid: 200}
        both = {one.process.pid: 200, other.process.pid: 20}
        assert steps(roots) == both
        say(shared.member, "start", "destroy")
        one.end()
        other.end()
    assert steps(trace) == {one.process.pid: 200}
    written = [path for path in trace.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"metadata"}
    assert {(path.stat().st_uid, path.stat().st_gid) for path in trace.rglob("*")} == {
        (USER, USER)
    }
    assert not [*trace.rglob(".arena")]


def test_the_next_daemon_of_root_goes_on_for_members(shared: Machine):
    """What a program records meanwhile is in the user's trace."""
    program = build_ordered(shared.folder)
    trace = begin(shared.member)
    with ordered(shared.user, program) as one:
        one.do("100")
        shared.root.end(signal.SIGKILL)
        one.do("10")
        assert shared.root.start().returncode == 0
        wait_for_listed(shared.member, one)
        one.do("1000")
        assert shared.member.lttng("stop").err == ""
        one.end()
    assert steps(trace) == {one.process.pid: 1110}


@pytest.mark.parametrize("moved", ["ust", "ust/uid", f"ust/uid/{USER}"])
def test_links_of_a_member_lead_roots_daemon_nowhere(shared: Machine, moved: str):
    """What the user cannot write, the daemon does not write for it."""
    program = build_ordered(shared.folder)
    target = shared.folder / "roots"
    target.mkdir(mode=0o700)
    trace = begin(shared.member)
    if (trace / "ust").exists():
        shutil.rmtree(trace / "ust")
    (trace / moved).parent.mkdir(parents=True, exist_ok=True)
    (trace / moved).symlink_to(target)
    with ordered(shared.user, program) as one:
        one.do("10")
        assert "Permission denied" in shared.member.lttng("stop").err
        # It tells once more what the trace lacks.
        shared.member.lttng("destroy")
        one.end()
    assert not [*target.iterdir()]
    other = begin(shared.member, "other")
    with ordered(shared.user, program) as one:
        one.do("10")
        assert shared.member.lttng("stop").err == ""
        one.end()
    assert steps(other) == {one.process.pid: 10}


@pytest.mark.parametrize("replaced", ["directory", "file"])
def test_a_trace_is_replaced_by_links_while_it_is_written(
    shared: Machine, replaced: str
):
    """The daemon has the directory, and follows no links in it."""
    program = build_ordered(shared.folder)
    target = shared.folder / "roots"
    target.mkdir(mode=0o700)
    (target / "data").write_bytes(b"root's")
    trace = begin(shared.member)
    own = trace / f"ust/uid/{USER}/64-bit-vestige/channel0"
    with ordered(shared.user, program) as one:
        one.do("10")
        say(shared.member, "stop")
        if replaced == "directory":
            own.rename(own.with_name("moved"))
            own.symlink_to(target)
        else:
            for path in [one for one in own.iterdir() if not one.is_dir()]:
                path.unlink()
                path.symlink_to(target / "data")
        shared.member.lttng("start")
        one.do("1000")
        shared.member.lttng("stop")
        shared.member.lttng("destroy")
        one.end()
    assert [path.name for path in target.iterdir()] == ["data"]
    assert (target / "data").read_bytes() == b"root's"
    assert "s" not in shared.member.lttng("list").out.split()


def test_chunks_of_members_are_theirs(shared: Machine):
    """Archives, and what comes after them; a link in their place leads nowhere."""
    program = build_ordered(shared.folder)
    target = shared.folder / "roots"
    target.mkdir(mode=0o700)
    (target / "ust").mkdir()
    trace = begin(shared.member)
    with ordered(shared.user, program) as one:
        one.do("100")
        say(shared.member, "rotate")
        one.do("20")
        (trace / "archives").rename(trace / "older")
        (trace / "archives").symlink_to(target)
        assert shared.member.lttng("rotate").status == 1
        (trace / "archives").unlink()
        (trace / "older").rename(trace / "archives")
        say(shared.member, "rotate")
        one.do("3")
        say(shared.member, "clear")
        one.do("4")
        (trace / "ust").rename(trace / "moved")
        (trace / "ust").symlink_to(target)
        shared.member.lttng("clear")
        one.do("5")
        shared.member.lttng("rotate")
        shared.member.lttng("stop")
        shared.member.lttng("destroy")
        one.end()
    assert [one.name for one in target.iterdir()] == ["ust"]
    chunks = sorted((trace / "archives").iterdir(), key=lambda one: one.name[-1])
    assert [steps(one).total() for one in chunks[:2]] == [100, 20]
    files = [one for one in trace.rglob("*") if not one.is_symlink()]
    assert {one.stat().st_uid for one in files} == {USER}


def test_a_name_is_that_of_one_session_whosever_it_is(shared: Machine):
    """Who may not see a session can neither have its name nor do anything to it."""
    program = build_ordered(shared.folder)
    member, stranger = shared.member, shared.other_member
    trace = member.home / "trace"
    memory = f"--shm-path={member.home}/memory"
    rule = "enable-event -u ordered:*"
    say(member, f"create s --output={trace} {memory}", rule, "start")
    say(stranger, "create mine", rule, f"save mine --output-path={stranger.home}")
    load = f"load mine --input-path={stranger.home} --override-name=s --force".split()
    say(stranger, "destroy mine")

    def attack() -> None:
        for one in (stranger, shared.root):
            assert "name already exists" in one.lttng("create", "s").err
        assert "name already exists" in stranger.lttng(*load).err
        for verb in ("start", "stop", "clear", "rotate", "destroy"):
            assert "not found" in stranger.lttng(verb, "s").err
        assert "Session s" not in stranger.lttng("list").out

    with ordered(shared.user, program) as one:
        one.do("100")
        attack()
        shared.root.end(signal.SIGKILL)
        one.do("10")
        assert shared.root.start().returncode == 0
        wait_for_listed(member, one)
        attack()
        one.do("1000")
        assert member.lttng("destroy", "s").err == ""
        say(stranger, f"create s --output={stranger.home}/trace", rule, "start")
        one.end()
    assert steps(trace) == {one.process.pid: 1110}


@pytest.mark.parametrize("buffers", ["uid", "pid"])
def test_root_records_another_users_program_into_that_ones_memory(
    shared: Machine, buffers: str
):
    """There is no other memory, whose event classes would lack in the metadata."""
    program = build_ordered(shared.folder)
    trace = shared.root.home / "trace"
    rule = "enable-event -u -c one ordered:*"
    channel = f"enable-channel -u --buffers-{buffers} one"
    say(shared.root, f"create s --output={trace}", channel, rule, "start")
    with ordered(shared.user, program) as one:
        one.do("100")
        assert shared.memory_owners() == {USER}
        say(shared.root, "rotate")
        one.do("10")
        shared.root.end(signal.SIGKILL)
        one.do("1")
        assert shared.root.start().returncode == 0
        wait_for_listed(shared.root, one)
        one.do("1000")
        say(shared.root, "destroy")
        one.end()
    (archive, last) = sorted((trace / "archives").iterdir(), key=lambda at: at.name[-1])
    assert [steps(chunk).total() for chunk in (archive, last)] == [100, 1011]
    for path in trace.rglob("metadata"):
        assert "vestige:unused_" not in path.read_text()
