"""Directories in memory of what is sent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vestige.record.relay import folder
from vestige.record.relay.folder import held_spool, make_spool

KILLED = """
import os, signal, sys
from vestige.record.relay import folder
folder.SHARED_MEMORY = sys.argv[1]
with folder.held_spool() as path:
    open(path + "/data", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """A directory in place of the memory."""
    monkeypatch.setattr(folder, "SHARED_MEMORY", str(tmp_path))
    return tmp_path


def test_what_a_killed_recorder_has_left_is_removed_by_the_next(memory):
    """That of one that runs stays, as do those of a daemon, which goes on with them."""
    daemon = Path(make_spool(os.getuid(), os.getgid()))
    with held_spool() as first:
        subprocess.run([sys.executable, "-c", KILLED, str(memory)], check=False)
        [left] = {*memory.iterdir()} - {daemon, Path(first)}
        assert [one.name for one in left.iterdir()] == ["data"]
        with held_spool() as second:
            assert {*memory.iterdir()} == {daemon, Path(first), Path(second)}
    assert [*memory.iterdir()] == [daemon]


def test_a_link_is_not_followed(memory, tmp_path_factory):
    """Others can make names there."""
    other = tmp_path_factory.mktemp("other")
    (other / "file").touch()
    (memory / "vestige-relay-x.held").symlink_to(other)
    with held_spool():
        assert (other / "file").exists()
