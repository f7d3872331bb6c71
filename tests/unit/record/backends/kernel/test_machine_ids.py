"""The kernel's IDs of threads in PID namespaces, and who is left out by them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import children_of, instances_of, why_not
from support.recorded import record_command
from support.waiting import wait_until
from vestige.record.backends.kernel.machine_ids import machine_ids
from vestige.record.backends.kernel.proc_files import is_in_pid_namespace
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_not()
pytestmark = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
INTO = ("unshare", "--pid", "--fork", "--mount-proc")
SECONDS = 60.0


@pytest.mark.skipif(is_in_pid_namespace(), reason="IDs are others here")
def test_they_are_those_that_everybody_sees():
    """Where there is no namespace; threads that have ended have none."""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    ended = subprocess.Popen(["true"])
    ended.wait()
    tracefs = Tracefs()
    try:
        own = [os.getpid(), thread.native_id]
        found = machine_ids(tracefs, [*own, ended.pid])
    finally:
        stop.set()
        thread.join()
        tracefs.close()
    assert found == dict(zip(own, own, strict=True))
    assert instances_of(os.getppid()) == []


@pytest.mark.skipif(is_in_pid_namespace(), reason="IDs are others here")
def test_who_handles_the_signal_gets_none():
    """Its ID is not known then."""
    came = []
    before = signal.signal(signal.SIGURG, lambda number, _frame: came.append(number))
    tracefs = Tracefs()
    try:
        assert machine_ids(tracefs, [os.getpid()]) == {}
    finally:
        signal.signal(signal.SIGURG, before)
        tracefs.close()
    assert came == []


@pytest.mark.skipif(is_in_pid_namespace(), reason="IDs are others here")
def test_recorders_in_a_namespace_are_not_in_their_trace(tmp_path):
    """Processes and threads that have other IDs there."""
    output, go = tmp_path / "trace", tmp_path / "go"
    script = f"while [ ! -e {go} ]; do sleep 0.05; done"
    words = record_command(output, ["sh", "-c", script], "--kernel=syscalls")
    with subprocess.Popen([*INTO, *words], stderr=subprocess.PIPE, text=True) as outer:
        try:
            wait_until(
                lambda: (output / "kernel/metadata").exists() or outer.poll(),
                "a trace",
                SECONDS,
            )
            if outer.poll() is not None:
                pytest.skip(f"no PID namespace: {outer.stderr.read()}")
            [recorder] = children_of(outer.pid)
            wait_until(lambda: len(children_of(recorder)) > 1, "a program", SECONDS)
            collector = next(one for one in children_of(recorder) if is_python(one))
            own = {
                int(one.name)
                for process in (collector, *children_of(collector))
                for one in Path(f"/proc/{process}/task").iterdir()
            }
        finally:
            go.touch()
        said = outer.stderr.read()
    assert outer.returncode == 0, said
    trace = vestige.open(output / "kernel", debug_info=False)
    threads = {one.context["tid"] for one in trace if one.name.startswith("syscall_")}
    assert len(own) > 2
    assert threads
    assert not threads & own


def is_python(process: int) -> bool:
    """Tell whether a process runs this interpreter."""
    return Path(f"/proc/{process}/exe").samefile(sys.executable)
