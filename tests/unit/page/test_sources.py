"""Source lines are shown, and nothing that a trace only calls so."""

from pathlib import Path

import pytest

from vestige.page.sources import AROUND, SourceLines


def test_lines_around_a_place(tmp_path: Path):
    """As many as there are."""
    file = tmp_path / "app.c"
    file.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    found = SourceLines().around(f"{file}:15")
    assert found is not None
    assert (found["line"], found["first"]) == (15, 15 - AROUND)
    assert found["lines"][AROUND] == "line 15"
    assert len(found["lines"]) == 2 * AROUND + 1
    first = SourceLines().around(f"{file}:1")
    assert first is not None
    assert first["first"] == 1


@pytest.mark.parametrize("number", ["0", "99", "x", "-1", ""])
def test_lines_that_are_not_there(tmp_path: Path, number: str):
    """No lines are no error."""
    (tmp_path / "app.c").write_text("one\n")
    assert SourceLines().around(f"{tmp_path / 'app.c'}:{number}") is None
    assert SourceLines().around(None) is None


def test_files_that_are_no_source_text_stay_where_they_are(tmp_path: Path):
    """Pages are mailed; a trace names any file it likes."""
    secret = tmp_path / "id_rsa"
    secret.write_text("secret\n")
    (tmp_path / "link.c").symlink_to(secret)
    for name in ("id_rsa", "link.c", "missing.c", "."):
        assert SourceLines().around(f"{tmp_path / name}:1") is None, name
