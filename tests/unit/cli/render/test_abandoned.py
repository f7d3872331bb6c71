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


def test_how_many_are_not_named_is_told(monkeypatch):
    """Of those that can be recovered, and of those whose trace is not found."""
    found = Abandoned()
    found.recoverable += [f"/tmp/trace-{number}" for number in range(8)]
    found.doubtful += [(f"/dev/shm/vestige-0-{number}", 1 << 20) for number in range(6)]
    monkeypatch.setattr(abandoned, "clear_abandoned", lambda: found)
    lines = abandoned.abandoned_lines("/elsewhere")

    assert len(lines) == 1 + 5 + 1
    assert "--recover /tmp/trace-0' writes it; also of /tmp/trace-1, " in lines[0]
    assert lines[0].endswith("/tmp/trace-4 and 3 more")
    assert lines[-1] == "vestige: and 1 more like that: they are in /dev/shm, too"


def test_as_many_as_are_named_are_all(monkeypatch):
    """Then there are no more."""
    found = Abandoned()
    found.recoverable += [f"/tmp/trace-{number}" for number in range(5)]
    monkeypatch.setattr(abandoned, "clear_abandoned", lambda: found)

    (line,) = abandoned.abandoned_lines("/elsewhere")
    assert line.endswith("/tmp/trace-3, /tmp/trace-4")


def test_each_is_told_once(monkeypatch):
    """And again if it was gone in between."""
    found = Abandoned()
    found.recoverable += ["/tmp/one"]
    found.doubtful += [("/dev/shm/vestige-0-1", 1 << 20)]
    monkeypatch.setattr(abandoned, "clear_abandoned", lambda: found)
    told: set[str] = set()

    assert len(abandoned.abandoned_lines("/elsewhere", told)) == 2
    assert told == {"/tmp/one", "/dev/shm/vestige-0-1"}
    assert abandoned.abandoned_lines("/elsewhere", told) == []
    found.recoverable += ["/tmp/two"]
    (line,) = abandoned.abandoned_lines("/elsewhere", told)
    assert "--recover /tmp/two'" in line
    assert "/tmp/one" not in line
    found.recoverable.remove("/tmp/one")
    assert abandoned.abandoned_lines("/elsewhere", told) == []
    found.recoverable.append("/tmp/one")
    assert len(abandoned.abandoned_lines("/elsewhere", told)) == 1
