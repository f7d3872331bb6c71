"""What a session records while others begin and end in the same program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.session_daemon import SECONDS, SessionDaemon, say
from support.waiting import wait_until
from vestige.daemon.client import Client
from vestige.record.development import compile_flags, link_flags

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
CHANGES = 60
OTHERS = "b", "d"
FILTER = "--filter number>=0"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that records an event each microsecond or so."""
    built = tmp_path_factory.mktemp("hurried") / "hurried"
    words = ["gcc", "-O1", f"-I{PROGRAMS}", *compile_flags(), PROGRAMS / "hurried.c"]
    run_tool([*words, "-o", built, "-pthread", *link_flags(), "-llttng-ust"])
    return built


def test_no_event_is_lost_when_another_session_begins_or_ends(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Between what filters say and the record, the event may get another route."""
    for name, size in (("a", "1M"), *((name, "4k") for name in OTHERS)):
        say(
            daemon,
            f"create {name} --output={tmp_path / name}",
            f"enable-channel -u -s {name} --subbuf-size={size} --num-subbuf=16 c",
        )
    say(daemon, f"enable-event -u -s a -c c soaked:tick {FILTER}")
    for name in OTHERS:
        say(daemon, f"enable-event -u -s {name} -c c soaked:tick {FILTER}")
    say(daemon, "start a")
    environment = {**os.environ, **daemon.environment}
    client = Client.connect(folder=str(daemon.run_folder))
    with subprocess.Popen([program], stdin=subprocess.PIPE, env=environment) as running:
        wait_until(
            lambda: f"PID: {running.pid} " in daemon.lttng("list", "-u").out,
            "it registers",
            SECONDS,
        )
        for _ in range(CHANGES):
            for name in OTHERS:
                client.start(name)
            for name in OTHERS:
                client.stop(name)
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait(SECONDS) == 0
    said = re.search(r"(\d+) events were discarded", daemon.lttng("stop", "a").err)
    say(daemon, "destroy --all")

    trace = vestige.open(tmp_path / "a")
    numbers = np.sort(
        trace.to_arrow(["number"]).to_polars()["number"].drop_nulls().to_numpy()
    )
    gaps = np.diff(numbers.astype(np.int64))
    assert len(numbers) > CHANGES
    assert (gaps > 0).all()
    assert numbers[0] == 0
    assert int((gaps - 1).sum()) <= (int(said[1]) if said else 0)
