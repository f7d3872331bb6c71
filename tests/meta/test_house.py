"""What the documents for developers list is all that there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src/vestige"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
NOT_IMPORTED = {"__init__", "__main__", "_version"}


def top_modules() -> set[str]:
    """Return the packages and modules directly below ``vestige``."""
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return (modules | packages) - NOT_IMPORTED


def names(text: str) -> set[str]:
    """Return the modules that a floor of the house lists."""
    return {one.strip("() ").removeprefix("vestige.") for one in text.split("|")}


def floors() -> list[set[str]]:
    """Return the layers that the linter checks."""
    [layers] = [
        one["layers"]
        for one in LINTER
        if one["type"] == "layers" and "containers" not in one
    ]
    return [names(layer) for layer in layers]


def rooms(package: str) -> list[set[str]]:
    """Return the layers that the linter checks inside a package."""
    [layers] = [one["layers"] for one in LINTER if package in one.get("containers", ())]
    return [names(layer) for layer in layers]


def test_every_module_has_a_floor() -> None:
    """The linter looks at all packages and modules."""
    assert set().union(*floors()) == top_modules()


def test_nobody_imports_the_command_line() -> None:
    """The linter looks at all other modules for that."""
    [sources] = [one["source_modules"] for one in LINTER if one["type"] == "forbidden"]

    assert {one.removeprefix("vestige.") for one in sources} == top_modules() - {"cli"}


def test_the_drawn_arrows_are_those_of_the_linter() -> None:
    """ARCHITECTURE.md draws the layers of pyproject.toml."""
    [drawn] = re.findall(r"^ *(cli > .*)$", ARCHITECTURE, re.MULTILINE)

    assert [names(floor) for floor in drawn.split(">")] == floors()


def test_the_drawn_arrows_of_recording_are_those_of_the_linter() -> None:
    """And they are between all modules of the package."""
    [drawn] = re.findall(r"^ *(summary > .*)$", ARCHITECTURE, re.MULTILINE)
    folder = PACKAGE / "record"
    modules = {path.stem for path in folder.glob("*.py")} - NOT_IMPORTED
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}

    assert [names(floor) for floor in drawn.split(">")] == rooms("vestige.record")
    assert set().union(*rooms("vestige.record")) == modules | packages


def test_the_architecture_names_every_module() -> None:
    """Its tables have a row for each of them."""
    rows = "\n".join(
        line.split("|")[1] for line in ARCHITECTURE.splitlines() if line.startswith("|")
    )
    named = {Path(code).stem for code in re.findall(r"`([^`]+)`", rows)}

    assert top_modules() - named == set()


def test_the_architecture_names_every_crate() -> None:
    """And every folder of the tracer, but for what only builds it."""
    crates = {f"crates/{p.parent.name}/" for p in ROOT.glob("crates/*/Cargo.toml")}
    tracer = {f"tracer/{p.name}/" for p in (ROOT / "tracer").iterdir() if p.is_dir()}

    wanted = (crates | tracer) - {"tracer/pkgconfig/"}
    assert wanted
    assert {one for one in wanted if f"`{one}`" not in ARCHITECTURE} == set()


def test_the_index_of_decisions_is_complete() -> None:
    """Each page has its line, in order, and its number."""
    folder = ROOT / "docs/decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(\d+)\. \[(.+)\]\((\S+)\)$", index, re.MULTILINE)
    pages = sorted(path.name for path in folder.glob("[0-9]*.md"))

    assert [page for _, _, page in lines] == pages
    for number, _, page in lines:
        heading = (folder / page).read_text(encoding="utf-8").splitlines()[0]
        assert int(page[:4]) == int(number), f"{page} is number {number} of the index"
        assert heading.startswith(f"# {number}. "), f"{page} begins with {heading!r}"


def test_contributing_has_every_target() -> None:
    """Its table has the targets of the Makefile, and no others."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [phony] = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)

    listed = re.findall(r"^\| `make ([\w-]+)`", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(phony.split()) - {"help"})


def test_one_loop_reads() -> None:
    """Nobody but the loop of the graph takes merges from a muxer.

    The summary of a recording does: the command has to end, and loads the core alone.
    """
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\b(mux|Muxer)\(", path.read_text(encoding="utf-8"))
    }

    assert {one for one in users if not one.startswith("record/summary/")} == {
        "graph/mux.py"
    }
