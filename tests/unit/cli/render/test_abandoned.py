"""The lines about memory of killed recordings."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from vestige.cli.render import abandoned
from vestige.record.backends.in_process.abandoned_arenas import Abandoned

PATHS = ["/tmp/a-1", "/tmp/a b", "/tmp/it's", "/tmp/a\nb", "/tmp/é'\x1b\\x", "/tmp/ü"]


@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_the_command_can_be_copied(monkeypatch, path):
    """Whatever the path has in it, and it does nothing to the terminal."""
    found = Abandoned()
    found.recoverable.append(path)
    monkeypatch.setattr(abandoned, "clear_abandoned", lambda: found)
    (line,) = abandoned.abandoned_lines("/elsewhere")
    assert line.isprintable()
    word = line.partition("--recover ")[2].removesuffix("' writes it")
    shell = shutil.which("bash")
    assert shell is not None
    done = subprocess.run(
        [shell, "-c", f"printf %s {word}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == path
