"""A command under other kernels: what is said where there is nothing to boot."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import kernel_packages
import other_kernels
import virtual_machine


@pytest.mark.parametrize(
    ("user", "there", "said"),
    [
        (1000, ("busybox",), "only root may show its files to a virtual machine"),
        (0, ("busybox",), "not installed: qemu-system-x86_64"),
        (0, ("qemu-system-x86_64",), "not installed: busybox"),
    ],
)
def test_what_is_missing_is_told(monkeypatch, capsys, user, there, said):
    """In one line, before anything is downloaded."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    assert other_kernels.main(["--kernel", "6.1", "--", "true"]) == 2
    assert capsys.readouterr().err.rstrip("\n").endswith(f": {said}")


def test_a_kernel_that_cannot_be_downloaded_is_told(monkeypatch, tmp_path, capsys):
    """With what apt says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel_packages, "ARCHIVE", f"file://{tmp_path}/nothing")
    monkeypatch.setattr(virtual_machine.Machine, "check", lambda _: None)
    for tool in kernel_packages.TOOLS:
        if shutil.which(tool) is None:
            pytest.skip(f"not installed: {tool}")
    if not kernel_packages.KEYRING.exists():
        pytest.skip(f"not there: {kernel_packages.KEYRING}")
    assert other_kernels.main(["--kernel", "6.1", "--", "true"]) == 2
    assert "apt-get -q update: " in capsys.readouterr().err
    assert not (tmp_path / "vestige-kernels/bookworm-cloud-amd64/whole").exists()


def test_the_kernels_tests_are_found():
    """Those that say why they cannot run, and no others."""
    names = {Path(one).name for one in other_kernels.kernel_tests()}
    assert {"test_kernel_places.py", "test_kernel_sessions.py"} <= names
    assert "test_pages.py" not in names
