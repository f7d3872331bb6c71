"""Programs with probes are those that whoever asks may read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vestige.daemon.peer import Peer
from vestige.daemon.probe_locations import check_readable
from vestige.errors import SessionError

OTHER = Peer(1, 12345 if os.geteuid() == 0 else os.geteuid(), 12345)
"""Somebody who is not root."""


def test_a_program_that_the_user_may_not_read_is_refused(tmp_path: Path) -> None:
    """Whatever the daemon may do; what is in it is nobody's business."""
    for one in (tmp_path, *tmp_path.parents[:2]):
        one.chmod(0o755)
    program = tmp_path / "program"
    program.touch(mode=0o755)
    location = {"type": "function", "path": str(program), "function": "f"}
    check_readable(location, OTHER)
    program.chmod(0)
    with pytest.raises(SessionError, match="program: cannot be read: Permission"):
        check_readable(location, OTHER)


@pytest.mark.parametrize("path", ["/no/such", "/\ud800"])
def test_a_program_that_is_not_there_is_refused(path: str) -> None:
    """With the reason."""
    with pytest.raises(SessionError, match="cannot be read"):
        check_readable({"path": path}, OTHER)


def test_places_in_the_kernel_have_no_file() -> None:
    """Nor have other rules a place."""
    check_readable({"type": "address", "address": 1}, OTHER)
    check_readable(None, OTHER)
