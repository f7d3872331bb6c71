"""Snapshots, rotations and clearing by the control library."""

from __future__ import annotations

from pathlib import Path


def test_what_is_kept_of_sessions(build_with_sanitizers, run, tmp_path: Path) -> None:
    """Snapshots and archives are where their outputs and handles say."""
    done = run(build_with_sanitizers("archives"), tmp_path)

    assert (done.stderr, done.returncode) == ("", 0)
    [snapshot] = tmp_path.glob("kept-*-0")
    assert snapshot.is_dir()
    assert len([*(tmp_path / "trace/archives").iterdir()]) == 2
