"""Bytes in the files of programs."""

from __future__ import annotations

import pytest

from vestige.inspect.programs import BLOCK, has_bytes

MARK = b"a mark of some bytes"


@pytest.mark.parametrize("before", [0, 7, BLOCK - 1, BLOCK - len(MARK), 2 * BLOCK - 3])
def test_bytes_are_found_wherever_they_are(tmp_path, before):
    """Also where they lie in two of the blocks that are read."""
    (tmp_path / "file").write_bytes(bytes(before) + MARK + bytes(9))

    assert has_bytes(tmp_path / "file", MARK)
    assert not has_bytes(tmp_path / "file", MARK[::-1])


def test_bytes_that_are_cut_off_are_not_there(tmp_path):
    """The file ends before they do."""
    (tmp_path / "file").write_bytes(bytes(BLOCK - 5) + MARK[:-1])

    assert not has_bytes(tmp_path / "file", MARK)
