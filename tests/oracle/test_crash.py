"""Ring buffers after a crash: either tool reads those of either daemon."""

from __future__ import annotations

import shlex
import shutil
import signal
from pathlib import Path

import pytest

from support.live_sessions import SECONDS, begin, daemon_for_programs, run
from support.lttng import Program
from support.peers import babeltrace
from support.recipes import Workshop
from support.vestige_command import convert, vestige
from support.waiting import wait_until

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
    pytest.mark.skipif(
        shutil.which("lttng-crash") is None, reason="lttng-crash is not installed"
    ),
]

MODES = ["discard", "overwrite"]
STOPPED_CONSUMER = """
    taskset -c 0 {program} '{gate}' & pid=$!
    until [ $(awk '/^voluntary/ {{ print $2 }}' /proc/$pid/status) -gt 100 ]
    do sleep 0.01; done
    kill -STOP $(pidof lttng-consumerd)
    touch '{gate}'
    wait $pid
"""
"""Nobody reads what the program records while it goes on behind the gate, which it has
looked for a hundred times: then it has its buffers."""


def both(workshop: Workshop, rings: Path, folder: Path) -> tuple[bytes, bytes]:
    """Return what our tool and LTTng's find in rings, as Babeltrace prints it."""
    ours, theirs = folder / "our-extract", folder / "their-extract"
    done = vestige("lttng-crash", "--extract", ours, rings)
    assert (done.status, done.stderr) == (0, b"")
    workshop.lttng.run(["lttng-crash", "-x", theirs, rings])
    assert convert(ours).stdout == babeltrace(ours).stdout
    return babeltrace(ours).stdout, babeltrace(theirs).stdout


@pytest.mark.parametrize("mode", MODES)
def test_rings_of_our_killed_daemon(workshop: Workshop, tmp_path, mode):
    """What programs had committed; the rings stay as they are."""
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            tmp_path / "out",
            f"enable-channel -u c --{mode} --subbuf-size=4k --num-subbuf=4"
            " --read-timer=1000000000",
            "enable-event -u -c c flood:*",
            options=f"--shm-path={tmp_path}/shm",
        )
        run(daemon, "taskset", "-c", 0, workshop.program("flood"), 500)
        daemon.end(signal.SIGKILL)
        ours, theirs = both(workshop, tmp_path / "shm", tmp_path)
    assert ours == theirs
    assert len(ours.splitlines()) > 150
    # The beginning, or the end.
    assert (b"number = 0," in ours) == (mode == "discard")
    assert (b"number = 499," in ours) == (mode == "overwrite")


@pytest.mark.parametrize("mode", MODES)
def test_rings_of_lttng(workshop: Workshop, tmp_path, mode):
    """They have the same beginning, and the same layout."""
    lttng, shm = workshop.lttng, tmp_path / "shm"
    channel = f"--{mode} --subbuf-size=4k --num-subbuf=4 --read-timer=4000000"
    lttng.run(["lttng", "create", "s", f"--output={tmp_path}/o", f"--shm-path={shm}"])
    try:
        lttng.run(["lttng", "enable-channel", "-u", "c", *channel.split()])
        lttng.run(["lttng", "enable-event", "-u", "-c", "c", "flood:*"])
        lttng.run(["lttng", "start", "s"])
        flood = shlex.join([str(workshop.program("flood")), "500", "2", "0"])
        script = STOPPED_CONSUMER.format(program=flood, gate=tmp_path / "gate")
        lttng.run_program(Program(["sh", "-ec", script]))
        shutil.copytree(shm, tmp_path / "copy")
    finally:
        lttng.run(["sh", "-c", "kill -CONT $(pidof lttng-consumerd)"], check=False)
        lttng.run(["lttng", "destroy", "s"])
    ours, theirs = both(workshop, tmp_path / "copy", tmp_path)
    assert ours == theirs
    assert len(ours.splitlines()) > 150


def test_they_are_shown(workshop: Workshop, tmp_path):
    """By ``vestige view``, or by another program; links lead to rings, too."""
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            tmp_path / "out",
            "enable-event -u greeting:*",
            options=f"--shm-path={tmp_path}/shm",
        )
        run(daemon, workshop.program("greeting"), "you")
        daemon.end(signal.SIGKILL)
        links = tmp_path / "links"
        for file in (tmp_path / "shm").rglob("*"):
            if file.is_file():
                link = links / file.relative_to(tmp_path / "shm")
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(file)
        for rings in (tmp_path / "shm", links):
            assert vestige("lttng-crash", rings).stdout.count(b"greeting:said") == 3
        other = vestige("lttng-crash", "--viewer=babeltrace2 --names none", links)
        assert other.stdout.count(b"greeting:said") == 3
        assert daemon.start().returncode == 0
        wait_until(lambda: daemon.lttng("stop").status == 0, "it goes on", SECONDS)
