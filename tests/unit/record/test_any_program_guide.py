"""The commands of the guide on programs as they are, one after the other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.document_session import Session, blocks
from support.patched import needs_patching

pytestmark = [
    needs_patching,
    pytest.mark.skipif(
        shutil.which("sqlite3") is None, reason="not installed: sqlite3"
    ),
]

GUIDE = Path(__file__).parents[3] / "docs/guide/any-program.md"


def test_the_guide(tmp_path):
    """Each command succeeds, and says what the guide says."""
    session = Session(tmp_path)
    first, children, chosen = (session.run(one.text) for one in blocks(GUIDE))
    assert "functions patched" in first
    assert "calls that the compiler inlined are not calls here" in first
    assert "/sqlite3" in first
    assert "/dash" in children or "/bash" in children or "/sh" in children
    assert "/sqlite3" in children
    assert "can be recorded with --patch" in chosen
