"""Recording real programs: all calls are there, whatever the program does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import counts, record_command, run_recorded
from support.waiting import wait_until
from vestige.record.recorder import run_and_record
from vestige.record.rules.options import RecordingOptions

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
SECONDS = 120.0


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    path = tmp_path_factory.mktemp("recorded") / "recorded"
    name = "recorded"
    source = PROGRAMS / f"{name}.c"
    run_tool(
        ["gcc", "-g", "-O1", "-finstrument-functions", "-o", path, source, "-pthread"]
    )
    return path


def lost(trace):
    """Return how many events the tracer counted as lost."""
    opened = vestige.open(trace, debug_info=False)
    for _ in opened:
        pass
    return sum(loss.count or 0 for loss in opened.losses)


@pytest.mark.parametrize("functions", ["fast", "verbose"])
@pytest.mark.parametrize("contexts", ["none", "ip,vpid", "ip,vpid,vtid,procname"])
def test_each_call_has_an_entry_and_an_exit(tmp_path, program, functions, contexts):
    """Over many packets, with any fields."""
    done = run_recorded(
        tmp_path / "trace",
        [program, "calls", "5000"],
        f"--functions={functions}",
        f"--context={contexts}",
        "--buffer-size=8k",
    )
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert (found["func_entry"], found["func_exit"]) == (5002, 5002)
    assert not list((tmp_path / "trace").glob("*.open"))


def test_threads_do_not_lose_a_call(tmp_path, program):
    """Each writes to a data stream of its own."""
    run_recorded(tmp_path / "trace", [program, "threads", "20000"])
    found = counts(tmp_path / "trace")

    assert (found["func_entry"], found["func_exit"]) == (160_009, 160_009)
    # One that ended early leaves its data stream to another.
    assert len(list((tmp_path / "trace").iterdir())) <= 1 + 9


def test_constructors_of_libraries_are_recorded(tmp_path):
    """Also of those that the loader initialises before the tracer."""
    source = tmp_path / "early.c"
    source.write_text(
        "void inner(void) {}\n"
        "__attribute__((constructor)) void early(void) { inner(); }\n"
        "__attribute__((destructor)) void late(void) { inner(); }\n"
    )
    main = tmp_path / "main.c"
    main.write_text("void inner(void);\nint main(void) { inner(); return 0; }\n")
    flags = ["-g", "-finstrument-functions"]
    library, program = tmp_path / "libearly.so", tmp_path / "main"
    run_tool(["gcc", *flags, "-shared", "-fPIC", "-o", library, source])
    run_tool(["gcc", *flags, "-o", program, main, library])
    run_recorded(tmp_path / "trace", [program])
    found = counts(tmp_path / "trace")

    assert (found["func_entry"], found["func_exit"]) == (6, 6)


def test_child_processes_are_recorded(tmp_path, program):
    """With a state dump of their own."""
    run_recorded(tmp_path / "trace", [program, "fork", "20"])
    found = counts(tmp_path / "trace")

    # The exit of main is in the parent only, and so is its entry.
    assert (found["func_entry"], found["func_exit"]) == (221, 221)
    assert (found["start"], found["end"]) == (21, 21)


def test_signal_handlers_may_interrupt_the_tracer(tmp_path, program):
    """All calls are counted, theirs included, and time never goes back."""
    done = run_recorded(
        tmp_path / "trace", [program, "signals", "1000000"], "--buffer-size=16k"
    )
    handled = int(done.stdout.split()[0])
    found = counts(tmp_path / "trace")

    assert handled > 0
    # main, work, and two calls that switch the timer.
    calls = 1_000_004 + 2 * handled
    # A record that was given up and written all the same is there and counted.
    total = found["func_entry"] + found["func_exit"] + lost(tmp_path / "trace")
    assert 2 * calls <= total <= 2 * calls + handled // 1000 + 10
    # A handler that interrupts a record cannot begin another packet.
    assert lost(tmp_path / "trace") < handled


def test_signal_handlers_may_jump_out_of_the_tracer(tmp_path, program):
    """What they interrupt may be lost, and nothing else."""
    done = run_recorded(
        tmp_path / "trace", [program, "jump", "1000000"], "--buffer-size=16k"
    )
    handled = int(done.stdout.split()[0])
    jumps = handled // 3 + 1
    found = counts(tmp_path / "trace")
    calls = 1_000_003 + 2 * handled

    assert handled > 3
    assert calls - 2 * jumps <= found["func_entry"] <= calls
    assert lost(tmp_path / "trace") <= jumps


@pytest.mark.parametrize(
    ("contexts", "functions", "a_call"),
    [
        ("none", "fast", 14),
        ("ip,vpid", "fast", 34),
        ("vpid,vtid", "fast", 30),
        ("ip,vpid", "verbose", 52),
    ],
)
def test_a_call_takes_few_bytes(tmp_path, program, contexts, functions, a_call):
    """A code address takes 48 bits of a record."""
    sizes = []
    for number in (1000, 2000):
        trace = tmp_path / str(number)
        options = (f"--context={contexts}", f"--functions={functions}")
        run_recorded(trace, [program, "calls", str(number)], *options)
        [stream] = [path for path in trace.iterdir() if path.name != "metadata"]
        sizes.append(stream.stat().st_size)

    # The longer header, of a record after a pause, takes 9 bytes more.
    assert sizes[1] - sizes[0] == pytest.approx(1000 * a_call, abs=200)


@pytest.mark.parametrize("contexts", ["ip,vpid", "ip", "vpid", "none"])
@pytest.mark.parametrize("functions", ["fast", "verbose"])
def test_every_function_has_its_source_line(tmp_path, program, functions, contexts):
    """Of the entry and of the exit, whatever fields there are."""
    run_recorded(
        tmp_path / "trace",
        [program, "calls", "3"],
        f"--functions={functions}",
        f"--context={contexts}",
    )
    places = {
        (event.debug_info.function, event.debug_info.file)
        for event in vestige.open(tmp_path / "trace").events("*:func_*")
    }

    assert places == {
        ("main", "recorded.c"),
        ("work", "recorded.c"),
        ("leaf", "recorded.c"),
    }


def test_packets_and_programs_keep_the_name_of_the_thread(tmp_path, program):
    """It is read, and not changed."""
    named = run_recorded(tmp_path / "named", ["cat", "/proc/self/comm"])
    run_recorded(tmp_path / "trace", [program, "calls", "1"])
    events = vestige.open(tmp_path / "trace", debug_info=False).events("*:func_*")

    assert named.stdout == "cat\n"
    assert {event.packet_context["procname"] for event in events} == {"recorded"}


NAMED = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>

void *worker(void *by_number)
{
    if (by_number)
        prctl(PR_SET_NAME, "worker");
    else
        pthread_setname_np(pthread_self(), "worker");
    return by_number;
}

int main(int count, char **words)
{
    pthread_t thread;

    (void) words;
    pthread_create(&thread, NULL, worker, count > 1 ? &thread : NULL);
    return pthread_join(thread, NULL);
}
"""


@pytest.mark.parametrize("words", [(), ("by-number",)], ids=["pthread", "prctl"])
def test_threads_that_name_themselves_have_that_name(tmp_path, words):
    """Also in the function that does it, whose packet has begun then."""
    (tmp_path / "named.c").write_text(NAMED)
    flags = ["-g", "-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", tmp_path / "named", tmp_path / "named.c"])
    run_recorded(tmp_path / "trace", [tmp_path / "named", *words])
    events = vestige.open(tmp_path / "trace").events("*:func_*")
    names = {
        (one.debug_info.function, one.packet_context["procname"]) for one in events
    }

    assert names == {("main", "named"), ("worker", "worker")}


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.1])
def test_a_killed_program_leaves_all_its_events(tmp_path, program, delay):
    """Every committed record is there, none twice, each entry with its exit."""
    command = record_command(
        tmp_path / "trace", [program, "forever"], "--buffer-size=16k"
    )
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "ready\n"
        [child] = children(recorder.pid)
        end = processor_time(child) + delay
        # A busy machine may give it no processor for as long.
        wait_until(lambda: processor_time(child) >= end, "it has run", SECONDS)
        os.kill(child, signal.SIGKILL)
        assert recorder.wait() == 128 + signal.SIGKILL
    found = counts(tmp_path / "trace")

    # main does not return, and the last call may be under way.
    assert found["func_entry"] > (1 if delay else 0)
    assert found["func_entry"] - found["func_exit"] in {1, 2}


def processor_time(pid):
    """Return for how many seconds the first thread of a process has run."""
    text = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii")
    return int(text.split()[0]) / 1e9


def children(pid):
    """Return the child processes of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


@pytest.mark.parametrize("status", [0, 3, 77])
def test_the_exit_status_is_that_of_the_program(tmp_path, program, status):
    """As if it had not been recorded."""
    done = run_recorded(tmp_path / "trace", [program, "exit", str(status)])

    assert done.returncode == status
    assert "vestige view" in done.stderr


def test_a_program_that_is_not_instrumented(tmp_path):
    """Has a state dump, and the same output."""
    done = run_recorded(tmp_path / "trace", ["echo", "hello"], "-q")

    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
    assert counts(tmp_path / "trace")["bin_info"] > 1


def test_a_program_that_does_not_exist(tmp_path):
    """Is named."""
    done = run_recorded(tmp_path / "trace", ["/nowhere/program"])

    assert done.returncode == 127
    assert "/nowhere/program: cannot be started: No such file" in done.stderr


def test_nothing_is_written_over(tmp_path):
    """A directory with anything in it is refused."""
    (tmp_path / "notes").write_text("mine")
    done = run_recorded(tmp_path, ["true"])

    assert done.returncode == 125
    assert "expected a new or an empty directory" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_file_that_may_not_grow_loses_events_and_not_the_program(tmp_path, program):
    """What found no place is counted."""
    limited = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh", program, "calls", "100000"]
    done = run_recorded(tmp_path / "trace", limited, "--buffer-size=8k", "-c", "none")
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert found["func_entry"] > 100
    total = found["func_entry"] + found["func_exit"] + lost(tmp_path / "trace")
    assert total == 2 * 100_002


def test_times_are_those_of_the_clocks(tmp_path, program):
    """Of the real-time clock, within a millisecond."""
    before = time.time_ns()
    run_recorded(tmp_path / "trace", [program, "calls", "10"])
    after = time.time_ns()
    begin, end = vestige.open(tmp_path / "trace", debug_info=False).events().time_span

    assert before - 1_000_000 < begin < end < after + 1_000_000


def test_the_name_of_the_thread_is_recorded_and_kept(tmp_path):
    """In each packet; the program still has it."""
    done = run_recorded(
        tmp_path / "trace", ["cat", "/proc/self/comm"], "-c", "procname"
    )
    events = list(vestige.open(tmp_path / "trace", debug_info=False))

    assert done.stdout == "cat\n"
    assert {str(event.context["procname"]) for event in events} == {"cat"}
    [dumped] = [e for e in events if e.name == "lttng_ust_statedump:procname"]
    assert str(dumped.payload["procname"]) == "cat"


def test_work_for_the_end_is_done_while_the_program_runs(tmp_path):
    """Once; this program ends when that has been done."""
    sign, calls = tmp_path / "sign", []

    def meanwhile():
        calls.append(sign.exists())
        sign.touch()

    recording = run_and_record(
        ("sh", "-c", f"until [ -e '{sign}' ]; do sleep 0.01; done; exit 3"),
        tmp_path / "trace",
        RecordingOptions(),
        meanwhile,
    )

    assert (recording.status, calls) == (3, [False])
