"""What a recording needs and does not get is named, with what helps."""

from __future__ import annotations

import errno
import os
import resource
import subprocess

import pytest

from support.recorded import record_command, run_recorded
from vestige.record.backends.in_process.refused import why_refused


def test_a_directory_in_which_others_can_write(tmp_path):
    """They could put files in the place of the trace's."""
    trace = tmp_path / "trace"
    trace.mkdir()
    trace.chmod(0o777)
    done = run_recorded(trace, ["true"])

    assert done.returncode == 125
    assert f"{trace}: cannot be recorded to: " in done.stderr
    assert "writable by others" in done.stderr
    assert "chmod go-w" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_a_directory_of_another_user(tmp_path):
    """It is named by its number."""
    os.chown(tmp_path, 65534, 65534)

    why = why_refused(OSError(errno.EPERM, "Operation not permitted"), str(tmp_path))
    assert "belongs to user 65534" in why


@pytest.mark.parametrize("kib", [150_000, 300_000])
def test_too_little_address_space(tmp_path, kib):
    """The limit is named, whatever it is that finds no room."""
    command = record_command(tmp_path / "trace", ["true"], "--arena-size=512M")
    shell = ["bash", "-c", f'ulimit -v {kib}; exec "$@"', "bash", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)

    assert done.returncode == 125, done.stderr
    assert f"'ulimit -v' allows {kib:,} KiB" in done.stderr


def test_too_small_files(tmp_path):
    """The limit is named, and no place is left behind."""
    command = record_command(tmp_path / "trace", ["true"])
    shell = ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)

    assert done.returncode == 125, done.stderr
    assert "'ulimit -f' allows files of 100 KiB" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_too_few_threads(monkeypatch):
    """Root may start more than that."""
    limits = {resource.RLIMIT_NPROC: 7, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind],) * 2)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    error = OSError(errno.EAGAIN, "Resource temporarily unavailable")

    assert "'ulimit -u' allows 7 processes" in why_refused(error, "/trace")
