"""Recordings whose collector was killed are looked for before they are read."""

from __future__ import annotations

import pathlib

from vestige.record import _agreement
from vestige.trace import abandoned


def test_the_name_of_the_register_is_what_the_recorder_writes():
    """It stands twice, since who only reads does not import the recorder."""
    assert abandoned.REGISTER == _agreement.ARENAS_FILE


def test_what_is_no_recording_has_nothing_to_recover(tmp_path):
    """Nor has a path where nothing is."""
    assert list(abandoned.recover_abandoned([tmp_path, tmp_path / "none"])) == []


def test_a_session_that_is_rotated_meanwhile_is_no_error(tmp_path, monkeypatch):
    """Its directories are moved while they are looked through."""
    (tmp_path / "ust/uid/0/64-bit-vestige").mkdir(parents=True)

    def is_moved(_path, _pattern):
        raise FileNotFoundError(2, "gone")
        yield

    monkeypatch.setattr(pathlib.Path, "glob", is_moved)
    assert list(abandoned.recover_abandoned([tmp_path])) == []
