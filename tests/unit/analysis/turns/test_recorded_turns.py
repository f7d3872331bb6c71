"""What a scheduler did to calls: found in recordings of a program and of the kernel."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

import vestige
from support.kernel_tracer import why_not
from support.recorded import build_program, record_command, run_recorded

REASON = why_not()
pytestmark = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
MILLISECOND = 1_000_000
SLEPT, USED = 50 * MILLISECOND, 60 * MILLISECOND


MANY = 'for one in $(seq 24); do "$0" 1 140; done; true'
"""Runs a program under IDs that threads of the kernel have outside."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recording of functions of which each has another fate."""
    program = build_program(tmp_path_factory.mktemp("program"), "turns")
    output = tmp_path_factory.mktemp("recording") / "trace"
    done = run_recorded(output, [program], "--kernel=sched,syscalls:*nanosleep")
    assert done.returncode == 0, done.stderr
    assert "of the kernel" in done.stderr
    return output


def report(recording, *options):
    """Return what a report says as JSON."""
    command = record_command(recording, ["x"])[:3]
    words = [*command, "report", *options, "--to", "json", str(recording)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def report_text(recording):
    """Return what a report says to people."""
    command = record_command(recording, ["x"])[:3]
    words = [*command, "report", str(recording)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_a_report_tells_what_functions_waited_for(recording):
    """One slept, one ran, and one had to wait for its turn."""
    found = {one["function"]: one for one in report(recording)["functions"]}
    sleeps, computes, shares = (
        found[name] for name in ("sleeps", "computes", "shares_a_cpu")
    )

    assert sleeps["blocked_ns"] > 0.9 * SLEPT
    # Kernels do not tell of all switches.
    assert computes["running_ns"] > 0.8 * USED
    assert computes["blocked_ns"] < USED
    # Another process of the same weight wants the same CPU.
    assert shares["running_ns"] > 0.8 * USED
    assert shares["runnable_ns"] > 0.3 * USED
    for one in (sleeps, computes, shares):
        parts = one["running_ns"] + one["runnable_ns"] + one["blocked_ns"]
        assert 0.8 * one["total_ns"] < parts <= one["total_ns"]


def test_durations_tell_what_a_call_waited_in(recording):
    """With the name of the system call."""
    [section] = report(recording, "--durations=sleeps")["durations"]
    [call] = section["longest"]

    assert section["running_ns"] == call["running_ns"]
    [name] = call["waited_in_ns"]
    assert name in {"nanosleep", "clock_nanosleep"}
    assert call["waited_in_ns"][name] == call["blocked_ns"] > 0.9 * SLEPT


def test_what_is_in_a_call_has_the_events_of_the_kernel(recording):
    """Those of its thread, and what others did to it."""
    trace = vestige.open(recording)
    [call] = trace.calls("sleeps")
    names = [event.name for event in call.inside().events()]
    # Not all kernels tell of the switch to it from an idle CPU, and on a busy one there
    # may be more of all that, also before the entry and behind the exit.
    at = iter(names)
    for word in ("syscall_entry", "sched_switch", "sched_waking", "syscall_exit"):
        assert any(word in name for name in at), (word, names)


def test_a_page_draws_waits_below_calls(recording):
    """The sleep is one of them."""
    command = record_command(recording, ["x"])[:3]
    words = [*command, "report", "--to", "html", str(recording)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    begin = done.stdout.index('id="facts-of-trace">') + len('id="facts-of-trace">')
    meta = json.loads(done.stdout[begin : done.stdout.index("</script>", begin)])
    turns = meta["turns"]
    longest = max(turns["rows"], key=lambda one: one[2] if one[4] is not None else 0)

    assert turns["calls"][longest[4]].endswith("nanosleep")
    assert longest[2] > 0.9 * SLEPT
    assert longest[3] == 3
    assert turns["threads"]


def test_threads_of_a_pid_namespace_get_nothing_of_others(tmp_path):
    """Their IDs are small, and those of the machine's first threads."""
    program = build_program(tmp_path, "system_calls")
    output = tmp_path / "trace"
    words = ["unshare", "--pid", "--fork", "sh", "-c", MANY, program]
    done = run_recorded(output, words, "--kernel=sched")
    if "Operation not permitted" in done.stderr:
        pytest.skip("no right to make a PID namespace")
    found = report(output)
    parts = [
        one[part]
        for one in found["functions"]
        for part in ("running_ns", "runnable_ns", "blocked_ns")
    ]

    assert parts
    assert not any(parts)
    inner = [one for one in vestige.open(output).threads() if one.calls]
    assert {one.process.namespace for one in inner} == {1}
    [text] = [
        line
        for line in report_text(output).splitlines()
        if "with IDs of a PID namespace" in line
    ]
    assert re.match(r"\d+ threads? with", text)
