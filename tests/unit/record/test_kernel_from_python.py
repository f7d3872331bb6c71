"""``vestige.record`` with the kernel: options, parts, snapshots, and what goes wrong."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import instances_of, why_not
from support.recorded import build_program
from vestige.cli.render.recording import kernel_lines
from vestige.record import RecordingOptions
from vestige.record.backends.kernel.tracefs import PLACES

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
CALL = "140"
COUNT = 50
EVENTS = ("syscall_entry_getpriority", "syscall_exit_getpriority")
KERNEL = ("syscalls:getpriority",)
NAME = f"calls-{os.getpid()}"
"""Of a program that nobody else runs: the kernel is one for all."""
ALONE = f'$ctx.procname == "{NAME}"'
WITHOUT_RIGHTS = """
import sys, warnings, vestige
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    recording = vestige.record(["true"], sys.argv[1], kernel=("sched",))
print(recording.status, recording.collected.kernel)
for one in caught:
    print(one.category.__name__, one.message)
"""

WITHOUT_TRACEFS = f"""
umount --lazy {" ".join(PLACES)} 2> /dev/null
exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that makes a system call in a function, again and again."""
    path = build_program(tmp_path_factory.mktemp("program"), "system_calls")
    return path.rename(path.with_name(NAME))


def calls_of(directory: Path, pid: int | None = None) -> Counter[str]:
    """Return how often each of the events is in a trace."""
    events = vestige.open(directory, debug_info=False)
    return Counter(
        one.name
        for one in events
        if one.name in EVENTS and (pid is None or one.context["tid"] == pid)
    )


@needs_tracer
def test_filters_and_contexts_are_options(tmp_path, program):
    """By name, or as one value; nothing is left of it in the kernel."""
    chosen = RecordingOptions(kernel=KERNEL, kernel_contexts=("procname", "pid"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recording = vestige.record(
            [program, str(COUNT), CALL],
            tmp_path / "trace",
            chosen,
            kernel_filter=ALONE,
        )

    assert recording.options.kernel == KERNEL
    assert recording.collected.kernel.lost == 0
    kernel = vestige.open(recording.directory / "kernel", debug_info=False)
    found = [one for one in kernel if one.name in EVENTS]
    assert Counter(one.name for one in found) == dict.fromkeys(EVENTS, COUNT)
    assert {one.context["procname"] for one in found} == {NAME}
    assert recording.collected.kernel.records >= len(found)
    assert instances_of(os.getpid()) == []


@needs_tracer
def test_archives_have_both_domains(tmp_path, program):
    """Together they have all calls, each once."""
    recording = vestige.record(
        [program, "600", CALL, "1000"],
        tmp_path / "parts",
        kernel=KERNEL,
        kernel_filter=ALONE,
        rotate_seconds=0.2,
    )

    archives = [Path(one) for one in recording.collected.archives]
    parts = [*archives, recording.directory / "present"]
    assert archives
    assert all((one / "ust").is_dir() and (one / "kernel").is_dir() for one in parts)
    found = sum((calls_of(one) for one in parts), Counter())
    assert found == dict.fromkeys(EVENTS, 600)


@needs_tracer
def test_a_snapshot_of_a_crash_has_both_domains(tmp_path, program):
    """As has what is written at the end."""
    script = f"{program} {COUNT} {CALL}; kill -SEGV $$"
    recording = vestige.record(
        ["sh", "-c", script],
        tmp_path / "newest",
        kernel=KERNEL,
        kernel_filter=ALONE,
        mode="overwrite",
        snapshot_on_crash=True,
    )

    assert recording.status == 128 + 11
    [snapshot] = recording.collected.snapshots
    for place in (Path(snapshot), recording.directory):
        assert (place / "ust" / "metadata").is_file()
        assert calls_of(place) == dict.fromkeys(EVENTS, COUNT)


@needs_tracer
def test_what_made_room_for_newer_events_is_counted(tmp_path, program):
    """Each event is in the trace, or was overwritten; text of others may be, too."""
    recording = vestige.record(
        [program, "50000", CALL],
        tmp_path / "newest",
        kernel=KERNEL,
        kernel_filter=ALONE,
        mode="overwrite",
        buffer_size=1 << 16,
    )

    there = sum(calls_of(recording.directory).values())
    overwritten = recording.collected.kernel.overwritten
    assert there > 0
    assert 100_000 <= there + overwritten < 100_100
    line = f"of the kernel, {overwritten:,} older events were overwritten: "
    assert any(one.startswith(line) for one in kernel_lines(recording.collected))


@needs_tracer
def test_an_event_that_there_is_not_is_a_warning(tmp_path):
    """At the line that asked for it; the rest is recorded."""
    with pytest.warns(vestige.VestigeWarning, match="no event sched_swich; ") as caught:
        recording = vestige.record(
            ["true"], tmp_path / "t", kernel=("sched_process_exit", "sched_swich")
        )

    [warning] = caught
    assert warning.filename == __file__
    assert recording.collected.kernel.records > 0
    assert recording.collected.problems == [str(warning.message)]


@needs_tracer
def test_a_warning_that_is_an_error_leaves_nothing(tmp_path):
    """The program is not started."""
    ran = tmp_path / "ran"
    with warnings.catch_warnings():
        warnings.simplefilter("error", vestige.VestigeWarning)
        with pytest.raises(vestige.VestigeWarning, match="no event sched_swich"):
            vestige.record(
                ["touch", str(ran)], tmp_path / "trace", kernel=("sched_swich",)
            )

    assert not ran.exists()
    assert instances_of(os.getpid()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up rights")
def test_without_rights_there_is_a_warning(tmp_path):
    """And the program is recorded."""
    where = tmp_path / "trace"
    program = [sys.executable, "-c", WITHOUT_RIGHTS, str(where)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", WITHOUT_TRACEFS, "sh", *program],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare: " in done.stderr:
        pytest.skip("no right to make a mount namespace")

    first, *said = done.stdout.splitlines()
    assert first == "0 None", done.stderr
    assert [one.partition(": ")[0] for one in said] == [
        "VestigeWarning No kernel tracer available"
    ]
    assert (where / "ust" / "metadata").is_file()
    assert not (where / "kernel").exists()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kernel_filter": "prev_tid == 1"}, "expected events of the kernel"),
        ({"kernel": KERNEL, "kernel_contexts": ("vpidd",)}, "no context 'vpidd'"),
        ({"kernel": KERNEL, "kernel_filter": "prev_tid =="}, "column"),
        ({"kernel": KERNEL, "kernel_filter": "$ctx.perf:cpu:cs > 1"}, "no counters"),
        ({"kernel": KERNEL, "kernel_probes": ("elf:/no/such:f",)}, "/no/such"),
        ({"kernel": "sched"}, "kernel='sched': expected a list or a tuple"),
        ({"events": "a:*"}, "events='a:.*': expected a list"),
        ({"helpers": None}, "helpers=None: expected a list"),
        ({"kernel_of": "program"}, "expected events of the kernel, too"),
        ({"kernel": KERNEL, "kernel_of": "me"}, "expected machine or program"),
        ({"kernel": KERNEL, "max_size": 1 << 30}, "expected mode=overwrite"),
    ],
)
def test_options_that_cannot_be_are_errors(tmp_path, fields, reason):
    """Before anything is made."""
    with pytest.raises(vestige.SelectionError, match=reason):
        vestige.record(["true"], tmp_path / "trace", **fields)
    assert not (tmp_path / "trace").exists()
