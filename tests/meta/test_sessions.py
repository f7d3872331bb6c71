"""README, First steps and Five questions can be typed in as they stand, and print what they show."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.document_session import Block, Session, assert_printed, blocks, has

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
EXTRAS = PROJECT["optional-dependencies"]
EXTRA_MODULES = sorted(
    {
        re.split(r"[^\w]", requirement)[0]
        for extra, requirements in EXTRAS.items()
        if extra != "dev"
        for requirement in requirements
    }
)
README = ROOT / "README.md"
BASE = "https://github.com/vestige-trace/vestige/blob/main/"
MOST_ROWS = 6


@pytest.fixture
def session() -> Iterator[Session]:
    """A shell in a directory with a short name, as a reader would choose."""
    directory = Path(tempfile.mkdtemp(prefix="v", dir="/tmp"))
    yield Session(directory, EXTRA_MODULES)
    shutil.rmtree(directory)


def play(block: Block, after: Block | None, session: Session, where: str) -> None:
    """Run a block, and compare what it prints with what the document shows."""
    if block.needs and not has(block.needs, EXTRAS):
        return
    if block.needs.startswith("extra "):
        extra = block.needs.removeprefix("extra ")
        assert f"vestige[{extra}]" in session.refuse(block.text), where
        session.run(block.text, extras=True)
    elif block.needs == "LTTng":
        # Two runs of the tests may share a session daemon.
        session.run(block.text.replace("my-session", f"my-session-{os.getpid()}"))
    elif block.file_name:
        session.write(block.file_name, block.text)
    elif block.language == "sh":
        session.run(block.text)
    elif block.language == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            assert_printed(shown, session.run(command), where)
    elif block.language == "python":
        session.write("block.py", block.text)
        printed = session.run("python block.py")
        if after is not None and after.language == "text":
            assert_printed(after.text, printed, where)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        README,
        ROOT / "docs/guide/first-steps.md",
        ROOT / "docs/guide/looking.md",
    ],
    ids=lambda path: path.stem,
)
def test_the_blocks_run_as_they_stand(path: Path, session: Session) -> None:
    """In order, in one directory, with what `make demo` has built."""
    found = blocks(path)
    assert {block.language for block in found} >= {"sh", "python"}
    for block, after in zip(found, [*found[1:], None], strict=True):
        play(block, after, session, f"{path.name}:{block.line}")


def test_a_block_that_prints_something_else_is_found(session: Session) -> None:
    """The comparison sees words, and not numbers."""
    assert_printed("a 3.5 µs\n...\nb 0xAB\n", "x\na   17 ns\ny\nb\n 0x1\n", "here")
    with pytest.raises(AssertionError, match="here shows"):
        assert_printed("a 3\n...\nc 4\n", "a 3\nb 4\n", "here")
    with pytest.raises(AssertionError):
        play(Block(1, "console", "$ echo one\ntwo\n"), None, session, "here")
    with pytest.raises(AssertionError):
        play(Block(1, "sh", "false | true\n"), None, session, "here")
    with pytest.raises(ValueError, match="a moon"):
        play(Block(1, "sh", "# needs a moon\n"), None, session, "here")


def test_links_of_the_readme_work_on_a_package_index() -> None:
    """They are absolute, and lead to files of the repository."""
    links = re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert [one for one in links if not one.startswith("https://")] == []
    paths = [one.removeprefix(BASE) for one in links if one.startswith(BASE)]

    assert len(paths) > MOST_ROWS
    assert [one for one in paths if not (ROOT / one.partition("#")[0]).exists()] == []


def test_links_of_the_readme_lead_to_the_project() -> None:
    """The address is that of the package's metadata."""
    urls = PROJECT.get("urls", {}).values()

    assert not urls or any(BASE.startswith(one.rstrip("/")) for one in urls)


def test_tables_of_the_readme_are_short() -> None:
    """At most six rows each; they are rows of the reference, which has the others."""
    text = README.read_text(encoding="utf-8")
    all_rows = (ROOT / "docs/reference/performance.md").read_text(encoding="utf-8")
    tables = re.findall(
        r"^<!-- bench.*?-->\n(.*?)^<!-- /bench", text, re.MULTILINE | re.DOTALL
    )

    assert len(tables) == len(["reading", "recording"])
    for table in tables:
        head, _, *rows = table.splitlines()
        assert 0 < len(rows) <= MOST_ROWS
        assert {head, *rows} <= set(all_rows.splitlines())
