"""The test data: each recording has what belongs to it, and is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.recordings import DATA, NAMES, RECORDINGS

ROOT = Path(__file__).resolve().parent.parent.parent
HELPERS = ("kernel-pages", "plugins", "reload-root", "reload-debug")


def test_every_recording_is_listed() -> None:
    """In the table of the read-me, and among the names that tests use."""
    folders = {path.name for path in DATA.iterdir() if path.is_dir()} - set(HELPERS)
    table = (DATA / "README.md").read_text(encoding="utf-8")

    assert folders == {*NAMES, *RECORDINGS}
    assert [name for name in sorted(folders) if f"| `{name}` |" not in table] == []


@pytest.mark.parametrize("name", [*NAMES, *RECORDINGS])
def test_a_recording_has_what_the_peer_printed(name: str) -> None:
    """Text and warnings, recorded together with the trace."""
    assert (DATA / f"{name}.txt").stat().st_size
    assert (DATA / f"{name}.stderr").exists()


def test_every_program_has_a_recipe() -> None:
    """A program that nothing records shows nothing."""
    # LTTng records with recipes, our own recorder in its tests.
    users = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tools").glob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in users)
    programs = {path.stem for path in (ROOT / "tests/programs").glob("*.c*")}
    unused = [name for name in programs if not re.search(rf'"{name}(\.c(pp)?)?"', text)]

    assert unused == []
