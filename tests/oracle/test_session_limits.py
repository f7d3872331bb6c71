"""What ends at a limit says so: no room in memory or on the disk, an older trace."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.live_sessions import (
    SECONDS,
    begin,
    daemon_for_programs,
    end,
    launch,
    lines,
    run,
)
from support.lttng import can_use_name_spaces
from support.recipes import Workshop
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

VESTIGE = shlex.join([sys.executable, "-m", "vestige"])


def test_a_start_without_room_for_buffers_says_what_is_full(
    workshop: Workshop, tmp_path
):
    """The session is as it was: with smaller buffers, it is started."""
    with daemon_for_programs() as daemon:
        program = launch(daemon, workshop.program("flood"), 1, 100000, 5000)
        try:
            wait_until(
                lambda: f"PID: {program.pid} " in daemon.lttng("list", "-u").out,
                "it registers",
                SECONDS,
            )
            output = tmp_path / "out"
            daemon.lttng("create", "s", f"--output={output}")
            daemon.lttng(
                *("enable-channel", "-u", "c"),
                *("--subbuf-size=32G", "--num-subbuf=2"),
            )
            daemon.lttng("enable-event", "-u", "-c", "c", "flood:*")
            done = daemon.lttng("start")
            assert done.status == 58
            assert done.err.startswith("Error: UST create channel failed: /dev/shm/")
            assert "no room for " in done.err
            assert "ring buffers of 68719476736 bytes each" in done.err
            assert "[inactive]" in daemon.lttng("list", "s").out
            done = daemon.lttng("enable-channel", "-u", "d")
            assert done.status == 0, done.err
            daemon.lttng("destroy")
            begin(daemon, output, "enable-event -u flood:*")
            wait_until(lambda: end_with_events(daemon, output), "events", SECONDS)
        finally:
            program.kill()
            program.wait()


def end_with_events(daemon, output: Path) -> bool:
    """Stop the session and start it again; tell whether it has events."""
    end(daemon)
    found = bool(lines(output))
    daemon.lttng("start")
    return found


def test_a_new_session_replaces_the_trace_in_its_directory(
    workshop: Workshop, tmp_path
):
    """As with LTTng, of the same channel and of others."""
    with daemon_for_programs() as daemon:
        for events, channel in ((300, "a"), (20, "a"), (7, "b")):
            begin(
                daemon,
                tmp_path,
                f"enable-channel -u {channel}",
                f"enable-event -u -c {channel} flood:*",
            )
            run(daemon, workshop.program("flood"), events)
            assert end(daemon) == ""
            daemon.lttng("destroy")
            assert len(lines(tmp_path)) == events
    folder = tmp_path / f"ust/uid/{os.getuid()}"
    assert [one.name for one in folder.iterdir()] == ["64-bit"]


def test_a_full_disk_is_a_status(workshop: Workshop, tmp_path):
    """Of ``record -p``, which ends in order."""
    if not can_use_name_spaces():
        pytest.skip("name spaces cannot be made here")
    program = shlex.join([str(workshop.program("flood")), "200", "100000", "5000"])
    place = shlex.quote(str(tmp_path))
    script = f"""
        mount -t tmpfs none /run; mount -t tmpfs none /dev/shm
        mount -t tmpfs -o size=256k none {place}
        {program} & pid=$!
        until grep -q liblttng-ust.so /proc/$pid/maps; do sleep 0.01; done
        {VESTIGE} record -p $pid --duration 2s -o {place}/t
        echo "status $?"
        kill $pid
    """
    environment = {**os.environ, "HOME": str(Path(sys.prefix).parent)}
    for name in ("VESTIGE_RUNDIR", "LTTNG_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "status 125\n" in done.stdout, done.stderr
    assert "a part of the trace could not be written" in done.stderr


def test_a_recording_of_a_session_counts_its_own_part(workshop: Workshop, tmp_path):
    """Not what the session had recorded before."""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path, "enable-event -u flood:*")
        run(daemon, workshop.program("flood"), 1000)
        assert end(daemon) == ""
        for events in (30, 5):
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "vestige", "record", "--session", "s"),
                    *(str(workshop.program("flood")), str(events)),
                ],
                env={**os.environ, **daemon.environment},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            )
            assert f"vestige: recorded {events} events in " in done.stderr


def test_a_process_is_told_from_others_with_its_id(workshop: Workshop, tmp_path):
    """Two that are process 1 of their name spaces; one is joined."""
    if not can_use_name_spaces():
        pytest.skip("name spaces cannot be made here")
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    with daemon_for_programs() as daemon:
        programs = [
            launch(daemon, *alone, workshop.program("flood"), 1, 100000, 5000)
            for _ in range(2)
        ]
        try:
            wait_until(
                lambda: daemon.lttng("list", "-u").out.count("PID: ") == len(programs),
                "they register",
                SECONDS,
            )
            inner = int(
                Path(f"/proc/{programs[0].pid}/task/{programs[0].pid}/children")
                .read_text()
                .split()[0]
            )
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "vestige", "record", "-p", str(inner)),
                    *("-o", str(tmp_path / "t"), "--duration", "1s"),
                    *("-c", "vpid,pthread_id"),
                ],
                env={**os.environ, **daemon.environment},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        finally:
            for one in programs:
                one.kill()
                one.wait()
    assert done.returncode == 0, done.stderr
    found = [one for one in lines(tmp_path / "t") if one.startswith("flood:")]
    threads = {one.partition("pthread_id = ")[2].partition(" ")[0] for one in found}
    assert found
    assert len(threads) == 1
    assert all("vpid = 1," in one for one in found)
