"""What is published with the package: the sources, the notes of a release, the site."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = re.compile(r"\.ci/|\.gitignore$|.*/\.gitignore$")
"""What is in the repository and of no use without it."""


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    """Run a tool; its output must be all there is to say."""
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> list[str]:
    """List the files of the repository."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not there: a git repository to compare with")
    return run("git", "ls-files").splitlines()


def test_the_source_distribution_has_all_that_is_in_the_repository(tmp_path):
    """Sources, tests and documentation, so that distributions can build and test it."""
    files = tracked()
    copy = tmp_path / "copy"
    for name in files:
        if (ROOT / name).is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)

    run(sys.executable, "setup.py", "-q", "sdist", "-d", tmp_path / "dist", cwd=copy)

    [archive] = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    wanted = {
        name for name in files if not LEFT_OUT.match(name) and (copy / name).exists()
    }
    assert sorted(wanted - packed) == []


def test_each_note_for_the_next_release_is_in_the_changelog():
    """As a bullet below the name of its kind."""
    notes = [
        path for path in (ROOT / "changelog.d").glob("*.md") if path.stem != "README"
    ]
    kinds = {path.suffixes[0] for path in notes}
    assert kinds <= {".added", ".changed", ".fixed", ".removed"}

    draft = run(
        sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"
    )

    for note in notes:
        text = note.read_text(encoding="utf-8").strip()
        for line in text.removeprefix("- ").splitlines():
            assert line.strip() in draft, note.name
    assert re.search(r"^## next ", draft, re.MULTILINE)


def test_the_site_is_built_and_its_links_lead_somewhere(tmp_path):
    """Also those to a place within a page."""
    run(
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "-q",
        "--strict",
        "-d",
        tmp_path / "site",
    )

    assert (tmp_path / "site" / "index.html").is_file()
    assert (tmp_path / "site" / "guide" / "first-steps.html").is_file()


def test_a_broken_link_would_be_found(tmp_path):
    """The test above can fail."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(
            "\n[nowhere](guide/nowhere.md) [nor here](guide/report.md#nowhere)\n"
        )

    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", "site"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "guide/nowhere.md" in done.stderr
    assert "#nowhere" in done.stderr
