"""Processes that fork, each with memory of its own, and daemons that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.live_sessions import daemon_for_programs
from support.session_daemon import SessionDaemon
from support.soak_programs import Counts, build_soaked
from support.waiting import wait_until
from vestige.record.backends.in_process.recovery import ARENAS

pytestmark = pytest.mark.usefixtures("babeltrace_peer", "lttng")
SECONDS = 60
PROGRAMS = 4
CHILDREN = 6
"""Of each."""
BURSTS = 30
BETWEEN_KILLS = 1500
"""Events, of all."""


def begin(daemon: SessionDaemon, output: Path) -> None:
    """Record each process to a trace of its own."""
    for words in (
        f"create s --output={output}",
        "enable-channel -u --buffers-pid --subbuf-size=64k --num-subbuf=16 c",
        "enable-event -u -c c soaked:tick",
        "start",
    ):
        assert daemon.lttng(*words.split()).status == 0


def events_of(output: Path) -> Counter[tuple[int, int]]:
    """Return how often each event is in all traces: writer and number."""
    found: Counter[tuple[int, int]] = Counter()
    for metadata in sorted(output.glob("ust/pid/*/*/metadata")):
        found.update(
            (event["writer"], event["number"])
            for event in vestige.open(metadata.parent)
            if event.name == "soaked:tick"
        )
    return found


@pytest.mark.parametrize("kills", [0, 3])
def test_each_event_is_in_one_trace(tmp_path: Path, kills: int) -> None:
    """Also when daemons are killed; and no memory is left."""
    folder = tmp_path / "built"
    folder.mkdir()
    program = build_soaked(folder)["own"]
    counts = Counts(tmp_path / "counts")
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path / "out")
        environment = {**os.environ, **daemon.environment}
        running = [
            subprocess.Popen(
                [program, counts.path, str(seed), str(BURSTS), "2", str(CHILDREN)],
                env=environment,
            )
            for seed in range(PROGRAMS)
        ]
        # One that waits for its rules begins without them where its daemon is killed.
        wait_until(
            lambda: {one.pid for one in running} <= {*map(int, counts.programs())},
            "each has its rules",
            SECONDS,
        )
        for kill in range(kills):
            wait_until(
                lambda least=BETWEEN_KILLS * (kill + 1): counts.done().sum() > least,
                "they write",
                SECONDS,
            )
            daemon.end(signal.SIGKILL)
            assert daemon.start().returncode == 0
        for one in running:
            assert one.wait(SECONDS) == 0
        assert daemon.lttng("destroy").status == 0

    found = events_of(tmp_path / "out")
    assert [one for one, times in found.items() if times > 1] == []
    assert len(found) == int(counts.done().sum())
    assert [*(tmp_path / "out").rglob(ARENAS)] == []
