"""``vestige commands install`` writes launchers, and over nothing of others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from support.session_daemon import session_daemon

NAMES = ["babeltrace2", "lttng", "lttng-crash", "lttng-relayd", "lttng-sessiond"]
SOURCES = Path(vestige.__file__).parents[1]


def test_launchers_are_programs_that_work(run, tmp_path):
    """``lttng create`` starts a daemon, which others find by its name."""
    status, text, _ = run("commands", "install", str(tmp_path / "bin"))
    assert status == 0
    assert sorted(text.splitlines()) == [str(tmp_path / "bin" / name) for name in NAMES]
    with session_daemon() as daemon:
        environment = {**os.environ, **daemon.environment}
        done = subprocess.run(
            [tmp_path / "bin" / "lttng-sessiond", "--daemonize"],
            env=environment,
            check=False,
        )
        assert done.returncode == 0
        words = Path(f"/proc/{daemon.pid}/cmdline").read_text().split("\0")
        assert Path(words[0]).name == "lttng-sessiond"
        daemon.end()
        done = subprocess.run(
            [tmp_path / "bin" / "lttng", "create", "s"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Spawning a session daemon\nSession s created.\n")


def test_the_relay_daemon_of_a_launcher_listens_as_that_of_its_name(run, tmp_path):
    """For commands and packets on all addresses; other machines are to reach it."""
    assert run("commands", "install", str(tmp_path))[0] == 0
    launcher = tmp_path / "lttng-relayd"
    shown = (
        "import _options; one = _options({}); print(one.control.host, one.live.host)"
    )
    begin, _, end = launcher.read_text().partition("import entry_point; entry_point()")
    launcher.write_text(f"{begin}{shown}{end}")
    done = subprocess.run([launcher], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "0.0.0.0 localhost\n"


def test_the_daemon_of_a_launcher_can_start_processes(run, tmp_path):
    """It has another name than its interpreter."""
    assert run("commands", "install", str(tmp_path / "bin"))[0] == 0
    with session_daemon() as daemon:
        plugin = {"LTTNG_UST_CLOCK_PLUGIN": "/nowhere.so"}
        done = subprocess.run(
            [tmp_path / "bin" / "lttng-sessiond", "--daemonize"],
            env={**os.environ, **daemon.environment, **plugin},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0
    assert "LTTNG_UST_CLOCK_PLUGIN: expected a clock plugin: " in done.stderr


def test_they_may_be_written_again(run, tmp_path):
    """By another version, say."""
    for _ in range(2):
        assert run("commands", "install", str(tmp_path))[0] == 0


def test_what_others_wrote_stays(run, tmp_path):
    """And then none is written."""
    (tmp_path / "lttng").write_text("#!/bin/sh\n")
    status, text, errors = run("commands", "install", str(tmp_path))
    assert (status, text) == (1, "")
    assert f"{tmp_path}/lttng: not written by Vestige" in errors
    assert [one.name for one in tmp_path.iterdir()] == ["lttng"]
    (tmp_path / "lttng").unlink()
    (tmp_path / "lttng").symlink_to("elsewhere")
    assert run("commands", "install", str(tmp_path))[0] == 1


SLOW = [
    *("argparse", "asyncio", "collections", "contextlib", "dataclasses", "enum"),
    *("functools", "importlib", "json", "pathlib", "re", "signal", "socket"),
    *("subprocess", "threading", "typing", "vestige.core", "zlib"),
]
"""What takes as long to import as a verb to run, or half as long."""


@pytest.mark.parametrize(
    "verb",
    [
        "list",
        "enable-channel -u c",
        "enable-event -u -a",
        "start",
        "status",
        "snapshot add-output /nowhere",
        "rotate",
        "stop",
        "destroy",
    ],
)
def test_a_session_verb_imports_little(verb):
    """Neither the core nor any part of the library that takes long."""
    script = (
        f"import sys; sys.path.insert(0, {str(SOURCES)!r}); "
        "from vestige.cli.lttng.main import run; status = run(sys.argv[1:]); "
        f"print(sorted({{*{SLOW}}} & sys.modules.keys()), status, file=sys.stderr)"
    )
    with session_daemon() as daemon:
        assert daemon.start().returncode == 0
        assert daemon.lttng("create", "s", "--snapshot").status == 0
        done = subprocess.run(
            # As launchers do.
            [sys.executable, "-I", "-S", "-c", script, *verb.split()],
            env={**os.environ, **daemon.environment},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr.splitlines()[-1].startswith("[] "), done.stderr
