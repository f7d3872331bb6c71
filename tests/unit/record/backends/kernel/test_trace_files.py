"""The files of a trace of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.record.backends.kernel.trace_files import TraceFiles


def opened() -> set[str]:
    """Return the numbers of the descriptors of this process."""
    return {one.name for one in Path("/proc/self/fd").iterdir()}


def test_files_that_cannot_all_be_made_are_none(tmp_path: Path) -> None:
    """No descriptor stays open, and no directory."""
    before = opened()
    files = TraceFiles(str(tmp_path / "trace"))
    with pytest.raises(FileExistsError):
        files.open_streams([["c_0", "c_1"], ["d_0", "c_1"]])
    files.remove()
    assert opened() == before
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("older", ["refused", "replaced"])
def test_a_link_is_no_trace_to_replace(tmp_path: Path, older: str) -> None:
    """It stays, and so does what it leads to; the error names it."""
    (tmp_path / "other").mkdir()
    link = tmp_path / "trace"
    link.symlink_to(tmp_path / "other")
    with pytest.raises(FileExistsError, match="trace"):
        TraceFiles(str(link), older)
    assert link.is_symlink()
    assert (tmp_path / "other").is_dir()
