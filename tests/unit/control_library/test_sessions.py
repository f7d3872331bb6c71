"""Sessions, channels, rules, contexts and inclusion sets by the control library."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.session_daemon import SessionDaemon


def test_all_functions_of_sessions(build, run, tmp_path: Path) -> None:
    """Each does what it says, and refuses what it cannot do with the code for it."""
    directory = tmp_path / "trace"
    done = run(build("sessions"), directory, tmp_path)

    assert (done.stderr, done.returncode) == ("", 0)
    assert (directory / "saved/deeper/first.lttng").is_file()


def test_nothing_is_lost_or_read_amiss(
    build_with_sanitizers, run, tmp_path: Path
) -> None:
    """All memory is freed, as the sanitizers see it."""
    done = run(build_with_sanitizers("sessions"), tmp_path / "trace", tmp_path)

    assert (done.stderr, done.returncode) == ("", 0)


def test_sessions_of_commands_are_there(
    build, daemon: SessionDaemon, run, tmp_path: Path
) -> None:
    """Both are clients of one daemon."""
    program = build("sessions")
    daemon.lttng("create", "theirs", "--no-output")
    done = run(program, tmp_path / "trace", tmp_path)

    # The program expects to be alone.
    assert "lttng_list_sessions(&sessions) is 1" in done.stderr
    daemon.lttng("destroy", "theirs")


def test_without_a_daemon(build, tmp_path: Path) -> None:
    """Each function says that there is none."""
    done = subprocess.run(
        [build("sessions"), tmp_path, tmp_path],
        env={**os.environ, "VESTIGE_RUNDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "lttng_session_daemon_alive() is 0" in done.stderr
    assert "is -19 (No session daemon is available)" in done.stderr
