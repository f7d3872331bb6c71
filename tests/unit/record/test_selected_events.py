"""Recordings of some events, some processes, with more in each record."""

from __future__ import annotations

import os
import shutil

import pytest

import vestige
from support.recorded import build_program, counts, run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("selected"))


@pytest.mark.parametrize(
    ("pattern", "entries", "exits"),
    [
        ("lttng_ust_cyg_profile_fast:*", 12, 12),
        ("lttng_ust_cyg_profile:*", 12, 12),
        ("*:func_entry", 12, 0),
        ("*:func_exit", 0, 12),
        ("lttng_ust_statedump:*", 0, 0),
    ],
)
def test_only_the_chosen_events_are_recorded(
    tmp_path, program, pattern, entries, exits
):
    """And the state dump, without which nothing has a name."""
    run_recorded(tmp_path / "trace", [program, "calls", "10"], "-e", pattern)
    found = counts(tmp_path / "trace")

    assert (found["func_entry"], found["func_exit"]) == (entries, exits)
    assert (found["start"], found["end"]) == (1, 1)


def test_an_event_that_never_happened_is_told(tmp_path, program):
    """It may be a tracepoint's, so that it is known only when the program has ended."""
    done = run_recorded(tmp_path / "trace", [program], "-e", "nothing:*,app:at?")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert "no tracepoint was hit that matches 'nothing:*', 'app:at?'" in done.stderr


def test_a_name_without_a_provider_is_refused(tmp_path, program):
    """Before the program runs."""
    done = run_recorded(tmp_path / "trace", [program], "--event=nothing")

    assert (done.returncode, done.stdout) == (2, "")
    assert "no event matches 'nothing'" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_children_may_be_left_out(tmp_path, program):
    """As if the tracer were not in them."""
    command = [program, "fork", "20"]
    done = run_recorded(tmp_path / "trace", command, "--no-follow-fork")
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert (found["func_entry"], found["start"]) == (1, 1)
    assert len(list((tmp_path / "trace").iterdir())) == 2


@pytest.mark.parametrize(
    ("script", "programs"),
    [
        # What the recorder started, whatever it executes.
        ('exec "$@"', 1),
        ('"$@"; true', 0),
    ],
)
def test_children_may_be_left_out_when_they_execute(
    tmp_path, program, script, programs
):
    """Only the process that was started is recorded."""
    command = ["sh", "-c", script, "sh", program, "calls", "10"]
    run_recorded(tmp_path / "trace", command, "--no-follow-fork")

    assert counts(tmp_path / "trace")["func_entry"] == 12 * programs
    run_recorded(tmp_path / "all", command)
    assert counts(tmp_path / "all")["func_entry"] == 12


def test_records_may_have_the_cpu(tmp_path, program):
    """Each its own: threads move."""
    last = max(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(last), program, "calls", "10"]
    if shutil.which("taskset") is None:
        pytest.skip("not installed: taskset")
    run_recorded(tmp_path / "trace", command, "-c", "ip,vpid,cpu_id")
    events = vestige.open(tmp_path / "trace").events("*:func_*")

    assert [event["cpu_id"] for event in events] == [last] * 24
