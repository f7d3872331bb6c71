"""What ``vestige record --kernel`` says is missing, and when."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.kernel_tracer import why_not
from support.recorded import build_program, record_command
from support.relay_receiver import relay_receiver
from vestige.cli.doubts import Doubts, quiet_lines
from vestige.record.collected import Collected, KernelCollected

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
SAYS = "import sys; print('PROGRAM', file=sys.stderr)"


def said_by(output: Path, *options: str) -> str:
    """Record a program that prints a word; return what is printed."""
    words = record_command(output, [sys.executable, "-c", SAYS], *options)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_losses_of_both_domains_are_one_line():
    """Nobody who is quiet misses them."""
    collected = Collected(lost=5)
    assert list(quiet_lines(collected, Doubts())) == [
        "vestige: warning: events were lost: 5 of the program"
    ]
    collected.kernel = KernelCollected(2, 7, 1234, 1, 4096)
    assert list(quiet_lines(collected, Doubts())) == [
        "vestige: warning: events were lost: 5 of the program and 1,234 of the kernel"
    ]
    collected.lost = 0
    assert list(quiet_lines(collected, Doubts())) == [
        "vestige: warning: events were lost: 1,234 of the kernel"
    ]


def test_what_was_said_is_not_said_again(capsys):
    """Other problems are."""
    doubts = Doubts()
    doubts.say("one \x1b[2J")
    collected = Collected(problems=["one \x1b[2J", "two"])
    assert list(quiet_lines(collected, doubts)) == ["vestige: warning: two"]
    said = capsys.readouterr().err
    assert said.startswith("vestige: warning: one ")
    assert "\x1b" not in said


@needs_tracer
@pytest.mark.parametrize("more", [[], ["-q"]])
def test_a_wrong_word_is_told_before_the_program_starts(tmp_path, more):
    """Once, with a name like it."""
    said = said_by(tmp_path / "t", "--kernel=sched_process_exit,sched_swich", *more)
    wrong = "vestige: warning: this kernel has no event sched_swich; there is "
    assert said.count(wrong) == 1
    assert said.index(f"{wrong}'sched_switch'") < said.index("PROGRAM")


@needs_tracer
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prev_tidd == 3", "there is 'prev_tid' of sched_switch"),
        ("fooo == 3", "none of the 2 events that it is for has a field 'fooo'"),
        ("prev_tid == 1 && fd == 3", "no event that it is for has both 'prev_tid' and"),
    ],
)
def test_a_filter_that_is_never_true_is_told_before_the_program_starts(
    tmp_path, text, reason
):
    """With the field, and where there is one like it."""
    words = ("--kernel=sched_switch,syscall_entry_close", "--kernel-filter", text)
    said = said_by(tmp_path / "trace", *words)
    wrong = f"vestige: warning: the filter '{text}' is never true: "
    assert said.count(wrong) == 1
    assert reason in said.splitlines()[0]
    assert said.index(wrong) < said.index("PROGRAM")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$ctx.perf:cpu:page-fault > 1", "no counters of CPUs, such as $ctx.perf:cpu:"),
        ("$ctx.perf_cpu_cycles > 1", "have no counters of CPUs"),
        ("$ctx.vpidd == 1", "no context $ctx.vpidd; there are 'vpid', "),
    ],
)
def test_a_filter_with_a_context_that_there_is_not_is_refused(run, text, reason):
    """Whatever the kernel is."""
    words = ("record", "--kernel=sched", "--kernel-filter", text, "--", sys.executable)
    status, _, said = run(*words)
    assert status == 2
    assert f"vestige: error: the filter '{text}': " in said
    assert reason in said


@needs_tracer
def test_a_trace_of_the_kernel_that_is_removed_meanwhile_is_told(tmp_path):
    """The program's is whole."""
    output = tmp_path / "trace"
    code = f"import shutil; shutil.rmtree({str(output / 'kernel')!r})"
    words = record_command(output, [sys.executable, "-c", code], "--kernel=sched")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{output}/kernel: it is gone, and with it what was " in done.stderr


@needs_tracer
def test_that_the_kernel_ends_with_the_program_is_told(tmp_path):
    """Programs in the background are recorded further."""
    program = build_program(tmp_path, "system_calls")
    script = f"{program} 200 140 10000 & sleep 0.5"
    words = record_command(tmp_path / "t", ["sh", "-c", script], "--kernel=sched")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"1 process still recorded, the kernel no longer; ", done.stderr)


@needs_tracer
def test_a_live_recording_is_a_live_session_of_the_relay(tmp_path):
    """Without --live it is none."""
    with relay_receiver() as relay:
        for more in ((), ("--live=20ms", "--kernel=sched_process_exit")):
            url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}"
            words = record_command(tmp_path, ["true"], *more)
            at = words.index("-o")
            words[at : at + 2] = ["--to", url]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        timers = [one.live_timer for one in relay.sessions]
    assert timers == [0, 20_000]
