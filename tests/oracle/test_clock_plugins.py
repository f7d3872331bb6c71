"""A clock that a plugin brings to programs and their daemon, as lttng-ust(3) has it."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.live_sessions import begin, daemon_for_programs, end, lines, run
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, session_daemon
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SOURCE = Path(__file__).parent.parent / "programs" / "clock_plugin.c"
CLOCK = (
    'clock {\n\tname = "coarse";\n\tuuid = "0f4b5d1e-5b1c-4f0a-9f7e-1d2c3b4a5968";\n'
    '\tdescription = "It says \\"thousandths\\"";\n\tfreq = 1000;\n\toffset = '
)
SECOND = re.compile(r"\[(\d+)\.\d+\]")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory) -> Path:
    """The plugin."""
    path: Path = tmp_path_factory.mktemp("plugin") / "clock.so"
    run_tool(["gcc", "-shared", "-fPIC", SOURCE, "-o", path])
    return path


@pytest.fixture
def daemon(plugin: Path) -> Iterator[SessionDaemon]:
    """A daemon with the plugin, and programs that have it, too."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        daemon.environment["LTTNG_UST_CLOCK_PLUGIN"] = str(plugin)
        assert daemon.start().returncode == 0
        yield daemon


def test_the_metadata_describes_it(daemon: SessionDaemon, workshop, tmp_path):
    """So both readers have the time of day, also of what a killed daemon has left."""
    before = int(time.time())
    begin(daemon, tmp_path, "enable-event -u greeting:*")
    run(daemon, workshop.program("greeting"), "you")
    assert daemon.lttng("regenerate", "metadata").status == 0
    daemon.end(signal.SIGKILL)
    assert daemon.start().returncode == 0
    assert "recorded nothing from" in end(daemon)
    assert len(lines(tmp_path)) == 3
    [metadata] = tmp_path.rglob("metadata")
    text = metadata.read_bytes().decode(errors="replace")
    assert CLOCK in text
    assert "map = clock.coarse.value" in text
    assert "monotonic" not in text
    shown = convert(tmp_path, "--clock-seconds").stdout.decode()
    seconds = [int(one) for one in SECOND.findall(shown)]
    assert len(seconds) == 3
    assert all(before - 1 <= one <= time.time() + 1 for one in seconds)


def test_a_plugin_that_is_none_is_warned_of(tmp_path):
    """The daemon runs, and describes the monotonic clock."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        daemon.environment["LTTNG_UST_CLOCK_PLUGIN"] = str(tmp_path / "nothing.so")
        started = daemon.start()
        assert started.returncode == 0
        assert "Warning: " in started.stderr
        assert "nothing.so: LTTNG_UST_CLOCK_PLUGIN: expected a " in started.stderr


def test_without_a_plugin_nothing_changes(workshop: Workshop, tmp_path):
    """The monotonic clock of this boot."""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path, "enable-event -u greeting:*")
        run(daemon, workshop.program("greeting"))
        end(daemon)
    [metadata] = tmp_path.rglob("metadata")
    text = metadata.read_bytes().decode(errors="replace")
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert f'clock {{\n\tname = "monotonic";\n\tuuid = "{boot}";\n' in text
    assert len(lines(tmp_path)) == 2
