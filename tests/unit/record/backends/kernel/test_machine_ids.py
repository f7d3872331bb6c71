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
STATE, NAMESPACE = (f"lttng_statedump_process_{one}" for one in ("state", "pid_ns"))
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
@pytest.mark.parametrize("is_blocked", [False, True])
def test_who_would_notice_a_signal_gets_another_one_or_none(is_blocked):
    """Its ID is not known if it would notice all; a debugger would notice any."""
    came = []
    signals = [signal.SIGURG, signal.SIGWINCH]
    # Whoever edits lines may handle them, too.
    before = [signal.signal(one, signal.SIG_DFL) for one in signals]
    if is_blocked:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    tracefs = Tracefs()
    own = os.getpid()
    try:
        known = []
        for one in signals:
            if not is_blocked:
                signal.signal(one, lambda number, _frame: came.append(number))
            known.append(machine_ids(tracefs, [own], are_own=False))
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler or signal.SIG_DFL)
        pending = signal.sigpending()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        tracefs.close()
    assert known == [{} if is_blocked else {own: own}, {}]
    assert (came, pending) == ([], set())


@pytest.mark.skipif(is_in_pid_namespace(), reason="IDs are others here")
def test_who_waits_for_signals_gets_none():
    """As the first process of a container does, which passes on whatever comes."""
    script = (
        "import signal; every = signal.valid_signals(); "
        "signal.pthread_sigmask(signal.SIG_BLOCK, every); "
        "print(int(signal.sigwait(every)))"
    )
    tracefs = Tracefs()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
        ) as waiting:
            place = Path(f"/proc/{waiting.pid}/wchan")
            wait_until(
                lambda: "sigtimedwait" in place.read_text("ascii"), "a wait", SECONDS
            )
            found = machine_ids(tracefs, [waiting.pid], are_own=False)
            waiting.terminate()
            got = waiting.stdout.read()
    finally:
        tracefs.close()
    assert (found, int(got)) == ({}, signal.SIGTERM)


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
    # The recorder is the first process in it.
    states = {one.payload["tid"] for one in trace if one.name == STATE}
    assert {recorder, collector} <= states
    assert 1 not in states
    [inner] = [
        (one.payload["vtid"], one.payload["vpid"])
        for one in trace
        if one.name == NAMESPACE and one.payload["tid"] == recorder
    ]
    assert inner == (1, 1)
    owners = {one.payload["pid"] for one in trace if one.name.endswith("_descriptor")}
    assert recorder in owners <= states
    assert len(own) > 2
    assert threads
    assert not threads & own


def is_python(process: int) -> bool:
    """Tell whether a process runs this interpreter."""
    return Path(f"/proc/{process}/exe").samefile(sys.executable)
