"""Files are touched with the rights of their owner, and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vestige.owner_rights import owner_rights

NOBODY = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take other rights")
def test_the_groups_of_the_daemon_are_not_those_of_the_owner(tmp_path):
    """They are again afterwards."""
    before = os.getgroups()
    os.setgroups([0, 12345])
    try:
        for folder in (*reversed(tmp_path.parents), tmp_path):
            if folder.stat().st_uid == os.geteuid() and folder.is_relative_to("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o001)
        closed = tmp_path / "closed"
        closed.mkdir()
        os.chown(closed, 0, 12345)
        closed.chmod(0o775)
        with owner_rights(NOBODY, NOBODY), pytest.raises(PermissionError):
            Path(closed, "file").touch()
        assert sorted(os.getgroups()) == [0, 12345]
        Path(closed, "file").touch()
    finally:
        os.setgroups(before)
