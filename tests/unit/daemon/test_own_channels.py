"""A program with Vestige's own tracer records for several sessions and channels at once."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SessionDaemon, say, stop_process
from vestige.record._agreement import ARENAS_FILE
from vestige.record.backends.registered._agreement import MOST_CHANNELS

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def begin(daemon: SessionDaemon, name: str, output: Path, *commands: str) -> None:
    """Start a session that writes to a directory."""
    say(daemon, f"create {name} --output={output}", *commands, "start")


def numbers(trace: Path, process: int | None = None) -> list[int]:
    """Return what the steps of a trace, or of a process, have counted, in order."""
    return [
        event.payload["number"]
        for event in vestige.open(trace)
        if event.name == STEP and (process is None or event["vpid"] == process)
    ]


def own_traces(output: Path) -> Path:
    """Return the directory of a user's traces, one for each channel."""
    return output / f"ust/uid/{os.getuid()}/64-bit-vestige"


def discarded(daemon: SessionDaemon, session: str) -> dict[str, int]:
    """Return how many events the channels of a session have lost, as it is listed."""
    listed = daemon.lttng("list", session).out
    names = re.findall(r"^- (\S+):", listed, re.MULTILINE)
    counts = re.findall(r"Discarded events: (\d+)", listed)
    return dict(zip(names, map(int, counts), strict=True))


def test_two_sessions_have_all_events_of_their_rules(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """One begins after the other, with another filter, and ends before it."""
    all_of_them, few = tmp_path / "all", tmp_path / "few"
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, "all", all_of_them, f"enable-event -u {STEP}")
        one.do("10")
        begin(
            daemon,
            "few",
            few,
            f"enable-event -u {STEP} --filter number<100||number>=400",
            "add-context -u -t vtid -t procname",
        )
        one.do("1000")
        one.do("t500")
        say(daemon, "stop few")
        one.do("7")
        say(daemon, "start few")
        one.do("20")
        say(daemon, "destroy few")
        one.do("3")
        say(daemon, "destroy all")
        one.do("3")
        one.end()
    assert steps(all_of_them) == {one.process.pid: 10 + 1000 + 2 * 500 + 7 + 20 + 3}
    found = numbers(few)
    assert len(found) == 700 + 2 * 200 + 20
    assert all(number < 100 or number >= 400 for number in found)
    for output in (all_of_them, few):
        dumped = steps(output, ["lttng_ust_statedump:bin_info"])
        assert dumped[one.process.pid] > 2


def test_the_first_session_may_end_first(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """What the others record is not touched, and the next has its place."""
    outputs = [tmp_path / name for name in ("a", "b", "c")]
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, "a", outputs[0], f"enable-event -u {STEP}")
        begin(daemon, "b", outputs[1], f"enable-event -u {STEP}")
        one.do("t100")
        say(daemon, "destroy a")
        one.do("t10")
        begin(daemon, "c", outputs[2], f"enable-event -u {STEP}")
        one.do("t1")
        say(daemon, "destroy b", "destroy c")
        one.end()
    assert [steps(output).total() for output in outputs] == [200, 222, 2]


def test_an_event_is_recorded_once_for_each_channel(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Each has its contexts, and is a trace of its own."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u first",
            "enable-channel -u second",
            f"enable-event -u -c first {STEP}",
            "enable-event -u -c first ordered:*",
            f"enable-event -u -c second {STEP} --filter number<10",
            "add-context -u -c second -t procname",
        )
        one.do("100")
        say(daemon, f"disable-event -u -c first {STEP}")
        one.do("100")
        say(daemon, "disable-event -u -c first ordered:*")
        one.do("100")
        assert daemon.lttng("stop").err == ""
        one.end()
    folder = own_traces(tmp_path)
    assert steps(folder / "first").total() == 200
    assert numbers(folder / "second") == [*range(10)] * 3
    contexts = {
        name: {
            field
            for event in vestige.open(folder / name)
            if event.name == STEP
            for field in event.context
        }
        for name in ("first", "second")
    }
    # Those of the channel that were not asked for tell whose a record is.
    whose = {"vpid", "vtid"}
    assert contexts == {"first": whose, "second": {*whose, "procname"}}


def test_functions_are_recorded_for_each_session_that_wants_them(
    daemon: SessionDaemon, tmp_path: Path
):
    """Fast events for one, verbose ones for another, none for a third."""
    program = build_ordered(tmp_path, "-finstrument-functions")
    outputs = {name: tmp_path / name for name in ("none", "fast", "verbose")}
    rules = {
        "none": STEP,
        "fast": "lttng_ust_cyg_profile_fast:*",
        "verbose": "lttng_ust_cyg_profile:*",
    }
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        for name, output in outputs.items():
            begin(daemon, name, output, f"enable-event -u {rules[name]}")
        one.do("1")
        one.do("1")
        say(daemon, "stop fast")
        one.do("1")
        for name in outputs:
            say(daemon, f"destroy {name}")
        one.do("1")
        one.end()

    def count(name: str, event: str) -> int:
        return steps(outputs[name], [event]).total()

    # Each calls one function of the program.
    assert count("none", STEP) == 3
    assert count("fast", "lttng_ust_cyg_profile_fast:func_entry") == 2
    assert count("fast", "lttng_ust_cyg_profile_fast:func_exit") == 2
    assert count("verbose", "lttng_ust_cyg_profile:func_entry") == 3
    assert count("verbose", "lttng_ust_cyg_profile:func_exit") == 3
    assert count("none", "lttng_ust_cyg_profile:func_entry") == 0


def test_children_record_for_all_sessions(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """After fork and after exec."""
    outputs = [tmp_path / name for name in ("a", "b")]
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        for output in outputs:
            begin(daemon, output.name, output, f"enable-event -u {STEP}")
        one.do("10")
        assert one.process.stdin is not None
        one.process.stdin.write("fork\n20\nexec\n5\n")
        one.end()
        pid = one.process.pid
    for output in outputs:
        say(daemon, f"stop {output.name}")
        found = steps(output)
        assert found.pop(pid) == 10
        assert [*found.values()] == [25]


def test_processes_have_buffers_of_their_own_for_each_channel(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Two programs, two channels: four traces."""
    with ordered(daemon, program) as one, ordered(daemon, program) as other:
        wait_for_listed(daemon, one, other)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u --buffers-pid first",
            "enable-channel -u --buffers-pid second",
            f"enable-event -u -c first {STEP}",
            f"enable-event -u -c second {STEP} --filter number==0",
        )
        one.do("10")
        other.do("20")
        other.end()
        assert daemon.lttng("stop").err == ""
        one.end()
    traces = [*(tmp_path / "ust/pid").glob("*/*/metadata")]
    found = sorted((path.parent.name, steps(path.parent).total()) for path in traces)
    assert found == [("first", 10), ("first", 20), ("second", 1), ("second", 1)]


def test_a_program_that_begins_anew_leaves_what_it_has_recorded(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Also within a second, in which the names of its traces are the same."""
    times = 6
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u --buffers-pid c",
            f"enable-event -u -c c {STEP}",
        )
        for _ in range(times):
            one.do("10")
            one.do("exec", answers=0)
        one.do("10")
        one.end()
    assert daemon.lttng("destroy").status == 0
    traces = [one.parent for one in (tmp_path / "ust/pid").glob("*/*/metadata")]
    assert sorted(steps(one).total() for one in traces) == [10] * (1 + times)


def test_a_trace_that_a_killed_daemon_was_about_to_begin_has_no_memory(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """The file that names it was made, and not yet written."""
    unwritten = tmp_path / "ust/pid/other-1-20260101-000000/c" / ARENAS_FILE
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u --buffers-pid c",
            f"enable-event -u -c c {STEP}",
        )
        one.do("10")
        daemon.end(signal.SIGKILL)
        unwritten.parent.mkdir(parents=True)
        unwritten.touch()
        unwritten.with_name("metadata").write_text("/* CTF 1.8 */\n")
        assert daemon.start().returncode == 0
        one.end()
    done = daemon.lttng("destroy")
    assert (done.status, done.err) == (0, "")
    assert not unwritten.exists()


def test_losses_are_those_of_the_channel_that_has_them(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """What is recorded and what is lost is all that happened; a stop tells it."""
    many = 50_000
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u small --subbuf-size=4k --num-subbuf=2",
            "enable-channel -u large --subbuf-size=8M --num-subbuf=4",
            f"enable-event -u -c small {STEP}",
            f"enable-event -u -c large {STEP}",
        )
        one.do("1")
        # Nothing is written meanwhile.
        pid = daemon.pid
        assert pid is not None
        stop_process(pid)
        one.do(str(many))
        os.kill(pid, signal.SIGCONT)
        say(daemon, "stop")
        one.end()
    lost = discarded(daemon, "s")
    folder = own_traces(tmp_path)
    assert lost["large"] == 0
    assert steps(folder / "large").total() == many + 1
    assert 0 < lost["small"] < many
    assert steps(folder / "small").total() + lost["small"] == many + 1


def test_a_program_waits_for_room_where_both_sides_want_it(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """The channel has a timeout, and the program has said that it may block."""
    many = 100_000
    blocking = {"LTTNG_UST_ALLOW_BLOCKING": "1"}
    with ordered(daemon, program, environment=blocking) as one:
        wait_for_listed(daemon, one)
        begin(
            daemon,
            "s",
            tmp_path,
            "enable-channel -u patient --subbuf-size=4k --num-subbuf=2 "
            "--blocking-timeout=inf",
            "enable-channel -u hasty --subbuf-size=4k --num-subbuf=2",
            f"enable-event -u -c patient {STEP}",
            f"enable-event -u -c hasty {STEP}",
        )
        one.do(f"t{many}")
        say(daemon, "stop")
        one.end()
    lost = discarded(daemon, "s")
    folder = own_traces(tmp_path)
    assert lost["patient"] == 0
    assert steps(folder / "patient").total() == 2 * many
    assert steps(folder / "hasty").total() + lost["hasty"] == 2 * many


def test_killed_programs_leave_all_sessions_what_they_had_recorded(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Each event that was before the kill is in both."""
    outputs = [tmp_path / name for name in ("a", "b")]
    for output in outputs:
        begin(daemon, output.name, output, f"enable-event -u {STEP}")
    with ordered(daemon, program) as one, ordered(daemon, program) as other:
        one.do("5000")
        other.do("t100")
        assert one.process.stdin is not None
        one.process.stdin.write("100000000\n")
        one.process.stdin.flush()
        other.do("10")
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()
        other.do("10")
        killed, whole = one.process.pid, other.process.pid
        other.end()
    for output in outputs:
        say(daemon, f"stop {output.name}")
        found = steps(output)
        lost = discarded(daemon, output.name)["channel0"]
        assert found[whole] == 220
        assert found[killed] + lost >= 5000
        # The last ones count on from where the first ended, without a gap.
        if not lost:
            counted = numbers(output, killed)
            assert len(counted) == found[killed]
            assert counted[5000:] == [*range(len(counted) - 5000)]


def test_a_killed_daemon_loses_nothing_of_any_session(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The next one goes on with both, and with a session that comes then."""
    outputs = [tmp_path / name for name in ("a", "b", "c")]
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        for output in outputs[:2]:
            begin(home, output.name, output, f"enable-event -u {STEP}")
        one.do("t100")
        home.end(signal.SIGKILL)
        one.do("t10")
        home.start()
        wait_for_listed(home, one)
        begin(home, "c", outputs[2], f"enable-event -u {STEP}")
        one.do("t1")
        for output in outputs:
            say(home, f"stop {output.name}")
        one.end()
    assert [steps(output).total() for output in outputs] == [222, 222, 2]


def test_what_is_too_much_is_told(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """A program has so many channels; what comes later has what those had that end."""

    def verbs(names: Iterable[str]) -> list[str]:
        return [
            verb
            for name in names
            for verb in (
                f"enable-channel -u {name} --subbuf-size=4k --num-subbuf=2",
                f"enable-event -u -c {name} {STEP}",
            )
        ]

    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        many = [f"c{number}" for number in range(MOST_CHANNELS)]
        begin(daemon, "many", tmp_path / "many", *verbs(many))
        one.do("2")
        begin(daemon, "more", tmp_path / "more", f"enable-event -u {STEP}")
        one.do("3")
        stopped = daemon.lttng("stop", "more")
        assert f"it records for {MOST_CHANNELS} channels" in stopped.err
        say(daemon, "destroy many", "start more")
        one.do("4")
        # It is told once more at the end: the trace lacks it for ever.
        destroyed = daemon.lttng("destroy", "more")
        assert destroyed.status == 1
        assert f"it records for {MOST_CHANNELS} channels" in destroyed.err
        one.end()
    assert steps(tmp_path / "many").total() == 5 * MOST_CHANNELS
    assert steps(tmp_path / "more").total() == 4
