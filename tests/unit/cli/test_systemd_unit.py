"""Units of the session daemon are right for systemd, and start a daemon."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from support.session_daemon import SECONDS, session_daemon
from vestige.cli.systemd_unit import unit_text

NAME = "vestige-sessiond.service"
KINDS = pytest.mark.parametrize("kind", ["system", "user"])


def settings(unit: Path) -> dict[str, str]:
    """Return the settings of a unit by their names."""
    lines = [line for line in unit.read_text().splitlines() if "=" in line]
    return dict(line.split("=", 1) for line in lines if line[0] != "#")


@KINDS
@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="not installed: systemd"
)
def test_systemd_takes_it(run, tmp_path, kind):
    """Without a word about what it does not know."""
    status, text, _ = run("commands", "install", f"--systemd={kind}", str(tmp_path))
    assert (status, text) == (0, f"{tmp_path / NAME}\n")
    done = subprocess.run(
        ["systemd-analyze", "verify", f"--{kind}", tmp_path / NAME],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@KINDS
@pytest.mark.parametrize("is_abstract", [False, True])
def test_its_command_is_a_daemon_that_tells_when_it_is_ready(
    run, tmp_path, kind, is_abstract
):
    """And ends in order when it is told to."""
    assert run("commands", "install", f"--systemd={kind}", str(tmp_path))[0] == 0
    found = settings(tmp_path / NAME)
    assert found["Type"] == "notify"
    with (
        session_daemon() as daemon,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        name = f"{daemon.home}/notify"
        manager.bind(f"\0{name}" if is_abstract else name)
        manager.settimeout(SECONDS)
        with subprocess.Popen(
            shlex.split(found["ExecStart"]),
            env={
                **os.environ,
                **daemon.environment,
                "NOTIFY_SOCKET": f"@{name}" if is_abstract else name,
            },
        ) as process:
            assert manager.recv(64) == b"READY=1"
            assert daemon.pid == process.pid
            assert daemon.lttng("create", "s", "--no-output").status == 0
            process.terminate()
            assert process.wait(SECONDS) == 0


def test_that_of_a_user_is_where_systemd_looks(run, tmp_path, monkeypatch):
    """Without a directory."""
    monkeypatch.setenv("HOME", str(tmp_path))
    status, text, _ = run("commands", "install", "--systemd=user")
    assert status == 0
    assert Path(text.strip()) == tmp_path / ".config/systemd/user" / NAME
    assert settings(Path(text.strip()))["WantedBy"] == "default.target"


def test_units_of_others_stay(run, tmp_path):
    """One of ours may be written again."""
    for _ in range(2):
        assert run("commands", "install", "--systemd=system", str(tmp_path))[0] == 0
    (tmp_path / NAME).write_text("[Unit]\n")
    status, _, err = run("commands", "install", "--systemd=system", str(tmp_path))
    assert status == 1
    assert "not written by Vestige" in err
    assert (tmp_path / NAME).read_text() == "[Unit]\n"


def test_launchers_need_a_directory(run):
    """There is no place where they belong."""
    status, _, err = run("commands", "install")
    assert status == 1
    assert "expected DIR" in err


def test_odd_paths_are_quoted():
    """Neither specifiers nor variables are replaced in them."""
    line = r'ExecStart="/a b/100%%/$$x/\"y\\z"'
    assert line in unit_text("system", '/a b/100%/$x/"y\\z').splitlines()
