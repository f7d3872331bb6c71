"""What is said at the end of a recording."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import (
    SECONDS,
    build_program,
    counts,
    record_command,
    run_recorded,
)
from support.waiting import wait_until
from vestige.cli.render import lost_events
from vestige.cli.render.recording import recording_lines
from vestige.record import Recording, RecordingOptions
from vestige.record.backends.in_process.background import processes_in_background
from vestige.record.collected import Collected, Unreached
from vestige.record.summary.contents import Contents, read_contents, size_of
from vestige.record.summary.lttng_library import why_without_lttng

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("closing"))


def closing_lines(trace, command, *options):
    """Record a program; return what is said at the end, without the program's name."""
    done = run_recorded(trace, command, *options)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert all(line.startswith("vestige: ") for line in lines)
    return [line.removeprefix("vestige: ") for line in lines]


@pytest.mark.parametrize("number", ["10", "300000"])
def test_what_was_recorded_and_what_to_type(tmp_path, program, number):
    """Events are counted, of small recordings and of large ones."""
    trace = tmp_path / "trace"
    lines = closing_lines(trace, [program, "calls", number])
    events = len(vestige.open(trace, debug_info=False).events())
    size = sum(path.stat().st_size for path in trace.iterdir())

    assert re.fullmatch(
        rf"recorded {events:,} events in \d+\.\d+ s, {size:,} bytes, 1 data stream; "
        "no events lost",
        lines[0],
    )
    assert lines[1:] == [
        f"trace in {trace}",
        f"vestige report {trace}",
        f"vestige view {trace}",
    ]


def test_a_crash_is_told(tmp_path):
    """Its shell does not: it sees no signal."""
    done = run_recorded(tmp_path / "trace", ["sh", "-c", "kill -SEGV $$"])

    assert done.returncode == 128 + signal.SIGSEGV
    assert "vestige: exit status 139, as of SIGSEGV\n" in done.stderr


def test_the_tracer_may_be_why_a_filter_ended_the_program(tmp_path):
    """It does not notice all filters."""
    done = run_recorded(tmp_path / "trace", ["sh", "-c", "kill -SYS $$"])
    other = run_recorded(tmp_path / "other", ["sh", "-c", "kill -SEGV $$"])

    assert done.returncode == 128 + signal.SIGSYS
    assert "perhaps at one of the tracer" in done.stderr
    assert "perhaps" not in other.stderr


def test_many_threads_are_counted_whatever_the_limit_of_open_files(tmp_path):
    """The program has the limit that it was given; what reads the trace has more."""
    script = "ulimit -S -n; for i in $(seq 40); do true & done; wait"
    command = record_command(tmp_path / "trace", ["bash", "-c", script])
    shell = ["bash", "-c", 'ulimit -S -n 30; exec "$@"', "bash", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=True)

    assert done.stdout == "30\n"
    assert re.match(r"vestige: recorded [\d,]+ events in ", done.stderr)


def test_a_path_is_quoted_for_the_shell(tmp_path, program):
    """The lines are there to be copied."""
    trace = tmp_path / "my trace"

    assert closing_lines(trace, [program])[-1] == f"vestige view '{trace}'"


def lines_of_losses(directory, options, **collected):
    """Return the lines of a recording that lost events."""
    recording = Recording(
        command=("app",),
        options=options,
        directory=directory,
        status=0,
        seconds=1.0,
        collected=Collected(streams=1, **collected),
    )
    return [line.removeprefix("vestige: ") for line in recording_lines(recording)]


@pytest.mark.parametrize(
    ("options", "collected", "expected"),
    [
        (
            {},
            {"failure": (errno.ENOSPC, "1-1: No space left on device")},
            "1-1: No space left on device: --output=DIR on another disk would",
        ),
        (
            {},
            {"failure": (errno.EIO, "1-1: Input/output error")},
            "the collector could not write: 1-1: Input/output error",
        ),
        ({}, {"unplaced": 3}, "they were lost in threads that could not write to the"),
        (
            {},
            {"unplaced": 3, "most_threads": 16_384},
            "they were lost in threads for which there was no memory, or no place: 16,38",
        ),
        (
            {"mode": "discard"},
            {},
            "--mode=block keeps them, or --buffer-size=8M more of them",
        ),
        (
            {"mode": "discard"},
            {"unbegun": 3},
            "--mode=block keeps them: they are of threads that found no first packet",
        ),
        (
            {"mode": "discard"},
            {"unbegun": 2},
            "--mode=block keeps them, or --buffer-size=8M more of them: 2 of them are of",
        ),
        (
            {"mode": "discard", "arena_size": 1 << 20},
            {"unbegun": 3},
            "--mode=block keeps them, or --arena-size=2M more of them: they are of",
        ),
        (
            {"arena_size": 64 << 20},
            {},
            "--arena-size=128M may keep them, or none: without it, there is memory for",
        ),
        (
            {"mode": "overwrite"},
            {"is_full": True},
            "too many threads for the size: --max-size=512M keeps more",
        ),
    ],
)
def test_lost_events_and_what_would_have_kept_them(
    tmp_path, options, collected, expected
):
    """The first reason that the system gave, or what was asked for."""
    chosen = RecordingOptions(**options)
    first, second, *_ = lines_of_losses(tmp_path, chosen, lost=3, **collected)

    assert first.endswith("; 3 events lost")
    assert second.startswith(expected)


def test_a_program_with_nearly_all_mappings_of_memory(tmp_path, monkeypatch):
    """Its own pthread_create() fails, whether we lose something or not."""
    limit = tmp_path / "max_map_count"
    limit.write_text("65530\n")
    monkeypatch.setattr(lost_events, "MOST_MAPPINGS", limit)
    kept, few = (
        lines_of_losses(tmp_path, RecordingOptions(), most_threads=threads)
        for threads in (14_673, 9_000)
    )
    first, reason, line, *_ = lines_of_losses(
        tmp_path, RecordingOptions(), lost=8, unplaced=8, most_threads=14_673
    )

    assert kept[1] == line
    assert line.startswith("so many threads at a time take nearly all of the 65,530 ")
    assert "pthread_create() fails in the program" in line
    assert first.endswith("; 8 events lost")
    assert reason.startswith("they were lost in threads for which there was no memory")
    assert not any("mappings" in one for one in few)


THREADS_AT_ONCE = """\
#include <pthread.h>
static pthread_barrier_t all_begun;
static void called(void) { __asm__ volatile(""); }
static void *begin(void *unused)
{
\tcalled();
\tpthread_barrier_wait(&all_begun);
\treturn unused;
}
int main(void)
{
\tpthread_t threads[40];
\tpthread_barrier_init(&all_begun, NULL, 40);
\tfor (int number = 0; number < 40; number++)
\t\tpthread_create(&threads[number], NULL, begin, NULL);
\tfor (int number = 0; number < 40; number++)
\t\tpthread_join(threads[number], NULL);
}
"""


def test_threads_that_find_no_first_packet(tmp_path):
    """Where nobody waits, larger buffers of others do not help them."""
    (tmp_path / "threads.c").write_text(THREADS_AT_ONCE)
    flags = ["-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", tmp_path / "threads", tmp_path / "threads.c"])
    lines = closing_lines(
        tmp_path / "trace",
        [tmp_path / "threads"],
        "--mode=discard",
        "--arena-size=1M",
    )

    assert lines[0].endswith(" events lost")
    assert lines[1].startswith("--mode=block keeps them, or --arena-size=2M more of ")
    assert "that found no first packet, for which a larger buffer does no" in lines[1]


def test_an_empty_trace_on_a_full_disk_is_no_fault_of_the_tracer(tmp_path):
    """The error of the system is told, and no other reason."""
    failure = (errno.ENOSPC, "1-1: No space left on device")
    lines = lines_of_losses(tmp_path, RecordingOptions(), failure=failure)

    assert lines[1:] == ["nothing was written: 1-1: No space left on device"]


def test_a_recording_of_full_size(tmp_path, program):
    """Names the options that would have kept more."""
    lines = closing_lines(
        tmp_path / "trace", [program, "calls", "100000"], "--max-size=1M"
    )

    assert lines[0].endswith(" events lost")
    advised = re.fullmatch(
        r"the recording has its full size: (--max-size=\d+k) keeps all of such a run, "
        "--mode=overwrite the newest events",
        lines[1],
    )
    assert advised
    lines = closing_lines(tmp_path / "again", [program, "calls", "100000"], advised[1])
    assert lines[0].endswith("; no events lost")


def test_what_was_overwritten(tmp_path, program):
    """Is told, and is no loss."""
    lines = closing_lines(
        tmp_path / "trace",
        [program, "calls", "100000"],
        "--max-size=1M",
        "--mode=overwrite",
        "--buffer-size=64k",
    )

    assert lines[0].endswith("; no events lost")
    assert lines[1].endswith(
        " bytes of older events were overwritten: --max-size=2M keeps more"
    )


def test_a_few_lost_events_ask_for_larger_buffers(tmp_path):
    """Handlers of signals lose them at the end of a buffer."""
    options = RecordingOptions(buffer_size=1 << 20)
    first, second, *_ = lines_of_losses(tmp_path, options, lost=3)

    assert first.endswith("0 bytes, 1 data stream; 3 events lost")
    assert second.startswith("--buffer-size=2M or a longer --mode=block=TIMEOUT may")


def test_a_program_that_is_not_instrumented(tmp_path):
    """Is named, with how to compile it, and what needs no compiler."""
    lines = closing_lines(tmp_path / "trace", ["true"])

    assert lines[1] == (
        "no function calls: nothing in true is instrumented; "
        "record it as it is with --patch, compile with "
        "'gcc -g -finstrument-functions', or record calls of the C library "
        "with --libc, --pthread and --dl, which need no compiler"
    )
    assert lines[-1].startswith("vestige view ")
    assert not any(line.startswith("vestige report") for line in lines)


def test_a_static_program(tmp_path):
    """Has no trace to look at."""
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    run_tool(["gcc", "-static", "-o", tmp_path / "program", source])
    lines = closing_lines(tmp_path / "trace", [tmp_path / "program"])

    assert lines[0].startswith("recorded 0 events ")
    [reason] = lines[1:]
    assert reason.startswith(
        f"nothing was recorded: {tmp_path / 'program'} is a static program"
    )


def test_the_switch_that_makes_the_tracer_inert(tmp_path, program, monkeypatch):
    """Is named when it is set."""
    monkeypatch.setenv("VESTIGE_TRACER_OFF", "1")
    lines = closing_lines(tmp_path / "trace", [program])

    assert lines[1:] == ["nothing was recorded: VESTIGE_TRACER_OFF is set"]


def test_patterns_that_no_call_passes(tmp_path, program):
    """The program is instrumented, so they are the reason."""
    lines = closing_lines(tmp_path / "trace", [program], "--include-function=nothing")

    assert lines[1].startswith(
        f"no function calls: no call in {program.name} passed --include-function"
    )


def test_nothing_is_missing_when_nobody_asked_for_calls(tmp_path, program):
    """Then there is no reason to tell."""
    lines = closing_lines(tmp_path / "trace", [program], "--functions=off")

    assert len(lines) == 3
    assert lines[1].startswith("trace in ")


def test_the_events_of_a_huge_recording_are_estimated(tmp_path, program, monkeypatch):
    """Counting them would take as long as reading them."""
    trace = tmp_path / "trace"
    closing_lines(trace, [program, "calls", "100000"])
    events = len(vestige.open(trace, debug_info=False).events())
    monkeypatch.setattr("vestige.record.summary.contents.LARGE", 1 << 20)
    monkeypatch.setattr("vestige.record.summary.contents.SMALL", 1 << 19)
    contents = read_contents(trace, RecordingOptions())

    assert contents.is_estimated
    assert contents.events == pytest.approx(events, rel=0.01)


def test_large_recordings_without_calls_have_no_report(tmp_path, monkeypatch):
    """What a part of them holds tells of the rest."""
    trace = tmp_path / "trace"
    closing_lines(trace, ["python3", "-S", "-c", "print(3)"], "--libc")
    monkeypatch.setattr("vestige.record.summary.contents.SMALL", 0)
    counted = read_contents(trace, RecordingOptions())
    monkeypatch.setattr("vestige.record.summary.contents.LARGE", 0)
    not_counted = read_contents(trace, RecordingOptions())

    assert (counted.events or 0) > 1000
    assert not counted.has_calls
    assert (not_counted.events, not_counted.has_calls) == (None, False)


def test_a_recording_that_cannot_be_read_is_not_counted(tmp_path, program):
    """It is for the reader to say what is wrong."""
    trace = tmp_path / "trace"
    closing_lines(trace, [program])
    (trace / "metadata").write_text("nonsense")

    assert read_contents(trace, RecordingOptions()) == Contents()


def test_processes_that_outlive_the_program(tmp_path):
    """Go on recording, and the trace can be read meanwhile."""
    os.mkfifo(tmp_path / "never")
    script = """
        cd "$0"
        for i in 1 2; do
            sh -c '> begun-$0; read line < never' $i &
        done >/dev/null 2>&1
        while sleep 0.05; do test -e begun-1 && test -e begun-2 && break; done
        echo $$
    """
    trace = tmp_path / "trace"
    command = record_command(trace, ["sh", "-c", script, tmp_path])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shell = int(done.stdout)
    running = processes_in_background(trace, 1)
    try:
        assert "vestige: 2 processes still recorded; the trace" in done.stderr
        assert len(running) == 2
        assert shell not in running
        # Of the three shells and of sleep, and of their forks before.
        assert counts(trace)["end"] >= 4
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("options", [[], ["--mode=overwrite", "--max-size=1M"]])
def test_a_daemon_is_recorded(tmp_path, program, options):
    """Its parent ends before it has a file."""
    trace = tmp_path / "trace"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    script = '(read line < "$1"; "$0" calls 10) >/dev/null 2>&1 &'
    for _ in range(3):
        shutil.rmtree(trace, ignore_errors=True)
        lines = closing_lines(trace, ["sh", "-c", script, program, gate], *options)
        assert any("still recorded" in line for line in lines)
        gate.write_text("go on\n")
        wait_until(
            lambda: counts(trace)["func_exit"] == 12, "all calls are there", SECONDS
        )


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("sleep 5 &", ["--no-follow-fork"]),
        ("VESTIGE_TRACER_OFF=1 sleep 5 &", []),
    ],
)
def test_processes_that_are_not_recorded_are_not_counted(tmp_path, script, options):
    """Their number would keep people waiting."""
    script = f"{{ {script} }} >/dev/null 2>&1; sleep 0.2"
    lines = closing_lines(tmp_path / "trace", ["sh", "-c", script], *options)

    assert not any("still recorded" in line for line in lines)


def test_files_may_go_while_they_are_counted(tmp_path):
    """A process that goes on recording takes them away."""
    (tmp_path / "file").write_text("12345")

    assert size_of(tmp_path / "file") == 5
    assert size_of(tmp_path / "nothing") == 0


@pytest.mark.parametrize(
    ("paths", "keeps", "expected"),
    [
        (["/lib/libc.so.6", "/opt/libvestige-lttng.so"], False, None),
        (["/lib/liblttng-ust.so.1.0.0"], True, None),
        (
            ["/lib/libc.so.6", "/lib/liblttng-ust.so.1.0.0"],
            False,
            "LTTng-UST's own library was loaded (/lib/liblttng-ust.so.1.0.0), and tracepoints that use it are not recorded; --keep-lttng records next to it",
        ),
        (
            ["/lib/liblttng-ust.so.0"],
            False,
            "tracepoints of LTTng-UST 2.12 and before (/lib/liblttng-ust.so.0) are not recorded: compile the program again",
        ),
    ],
)
def test_lttngs_own_library_is_named(paths, keeps, expected):
    """Where it is loaded all the same, as in a name space."""
    options = RecordingOptions(keep_lttng=keeps)

    assert why_without_lttng(options, Contents(objects=tuple(paths))) == expected


def test_processes_that_are_not_recorded(tmp_path):
    """Some are named; of the others, all are counted."""
    reason = "it is a static program"
    found = [Unreached(number, "app", reason) for number in range(1, 5)]
    found += [Unreached(0, "child\x1b[2J", reason, parent=7)]
    found += [Unreached(99, f"other-{number}", reason) for number in range(10)]
    lines = lines_of_losses(
        tmp_path, RecordingOptions(), unreached=found, more_unreached=3
    )

    assert f"app (PID 1, PID 2, PID 3 and 1 more) are not recorded: {reason}" in lines
    assert f"child\\e[2J (child of PID 7) is not recorded: {reason}" in lines
    assert f"other-7 (PID 99) is not recorded: {reason}" in lines
    assert not any("other-8" in line for line in lines)
    assert "5 more processes not recorded" in lines
