"""Processes that record the kernel are killed at any moment: nothing is left of them.

``VESTIGE_TORTURE=1`` kills fifty of each kind.
"""

from __future__ import annotations

import os
import platform
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.kernel_state import KernelState, kernel_state
from support.kernel_tracer import why_not
from support.recorded import record_command, run_recorded
from support.session_daemon import SessionDaemon, is_running, session_daemon
from support.shared_memory import remove_memory_of_recordings
from support.tortured import IS_LONG
from support.waiting import wait_until

REASON = why_not() or (None if platform.machine() == "x86_64" else "texts of calls")
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
    pytest.mark.timeout(600),
]
SECONDS = 60.0
TIMES = 50 if IS_LONG else 6
LATEST = 0.6
"""Seconds after which a recording has begun, on a machine that is not too busy."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a function for probes, that waits for a line."""
    path = tmp_path_factory.mktemp("program") / "marked"
    run_tool(["gcc", "-O1", "-o", path, PROGRAMS / "marked.c"])
    return path


@pytest.fixture(scope="module", autouse=True)
def before() -> KernelState:
    """What there was of the kernel's tracer before anything was recorded."""
    return kernel_state()


def below(process: int | None) -> Iterator[int]:
    """Yield a process and all that it has started, directly or not."""
    if process is None:
        return
    yield process
    for place in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, place.read_text().split()):
                yield from below(child)


def what_is_left(before: KernelState, makers: set[int]) -> dict[str, object]:
    """Return what is other than before; other people's things come and go."""
    now = kernel_state()

    def is_ours(name: str) -> bool:
        return any(
            f"vestige-{one}-" in name or f"vestige_{one}_" in name for one in makers
        )

    changed = {
        name: text
        for name, text in now.settings.items()
        if text != before.settings.get(name)
    }
    left = {
        "settings": changed,
        "instances": {*filter(is_ours, now.instances)},
        "probes": {*filter(is_ours, now.probes)},
        "mounts": now.mounts - before.mounts,
        "programs": now.programs - before.programs,
    }
    return {kind: found for kind, found in left.items() if found}


def kill_somebody(chance: random.Random, processes: list[int]) -> None:
    """Kill one of some processes, or all."""
    chosen = processes if chance.random() < 0.5 else [chance.choice(processes)]
    for one in chosen:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def test_a_recording_whose_processes_are_killed_leaves_nothing(
    tmp_path: Path, program: Path, before: KernelState
) -> None:
    """After the next one has ended, which removes what nobody else could."""
    makers: set[int] = set()
    options = ("--kernel", "sched_switch,syscalls:openat")
    probe = ("--kernel-probe", f"elf:{program}:sell")
    for seed in range(TIMES):
        chance = random.Random(seed)  # noqa: S311 - the same each time, no secret
        command = record_command(
            tmp_path / str(seed), [program, "9", "wait"], *options, *probe
        )
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as recorder:
            assert recorder.stdout is not None
            if seed % 2:
                # Everything is there.
                recorder.stdout.read(1)
            else:
                time.sleep(chance.uniform(0, LATEST))
            there = [*below(recorder.pid)]
            makers.update(there)
            kill_somebody(chance, there)
            assert recorder.stdin is not None
            with suppress(BrokenPipeError):
                recorder.stdin.write(b"\n")
                recorder.stdin.close()
            recorder.stdin = None
            makers.update(below(recorder.pid))
            wait_until(lambda: not any(map(is_running, makers)), "their end", SECONDS)
    remove_memory_of_recordings(tmp_path)
    done = run_recorded(tmp_path / "next", ["true"], *options)
    assert done.returncode == 0, done.stderr

    wait_until(lambda: not what_is_left(before, makers), "nothing is left", SECONDS)


def test_who_reads_ends_though_its_own_calls_are_in_the_buffer(
    tmp_path: Path, program: Path, before: KernelState
) -> None:
    """All is on one CPU: each look at its buffer is two events there."""
    command = record_command(
        tmp_path / "trace", [program, "9", "wait"], "--kernel", "syscalls"
    )
    one_cpu = str(min(os.sched_getaffinity(0)))
    with subprocess.Popen(
        ["taskset", "-c", one_cpu, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as recorder:
        assert recorder.stdout is not None
        recorder.stdout.read(1)
        makers = {*below(recorder.pid)}
        collector = next(one for one in below(recorder.pid) if len([*below(one)]) == 2)

        os.kill(collector, signal.SIGKILL)

        recorder.communicate(b"\n")
    wait_until(lambda: not any(map(is_running, makers)), "their end", SECONDS)
    assert not what_is_left(before, makers)
    remove_memory_of_recordings(tmp_path)


def test_sessions_whose_processes_are_killed_leave_nothing(
    tmp_path: Path, program: Path, before: KernelState
) -> None:
    """Daemon, who records, who reads: the next daemon goes on, and tidies up at its end."""
    makers: set[int] = set()
    with session_daemon() as daemon:
        for seed in range(TIMES // 2):
            chance = random.Random(seed)  # noqa: S311 - as above
            if daemon.pid is None or not is_running(daemon.pid):
                assert daemon.start().returncode == 0
            begin(daemon, tmp_path / str(seed), program)
            there = [*below(daemon.pid)]
            makers.update(there)
            time.sleep(chance.uniform(0, 0.1))
            kill_somebody(chance, there)
            daemon.lttng("stop")
            makers.update(below(daemon.pid))
        if daemon.pid is None or not is_running(daemon.pid):
            assert daemon.start().returncode == 0
        makers.update(below(daemon.pid))
        daemon.lttng("destroy", "--all")
        daemon.end()

    wait_until(lambda: not what_is_left(before, makers), "nothing is left", SECONDS)


def begin(daemon: SessionDaemon, output: Path, program: Path) -> None:
    """Record the kernel into a session of its own."""
    daemon.lttng("destroy", "--all")
    daemon.lttng("create", output.name, f"--output={output}")
    daemon.lttng("enable-event", "-k", "sched_switch")
    daemon.lttng("enable-event", "-k", "--syscall", "openat")
    daemon.lttng("enable-event", "-k", f"--userspace-probe={program}:sell", "sold")
    assert daemon.lttng("start").status == 0
