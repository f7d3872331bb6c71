"""Recordings whose collector was killed are looked for before they are read."""

from __future__ import annotations

from vestige import abandoned
from vestige.record import _agreement


def test_the_name_of_the_register_is_what_the_recorder_writes():
    """It stands twice, since who only reads does not import the recorder."""
    assert abandoned.REGISTER == _agreement.ARENAS_FILE


def test_what_is_no_recording_has_nothing_to_recover(tmp_path):
    """Nor has a path where nothing is."""
    assert list(abandoned.recover_abandoned([tmp_path, tmp_path / "none"])) == []
