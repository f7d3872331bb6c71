"""What a wheel holds besides the package."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from support.recordings import DEMO
from vestige.cli.shipped_demo import ARCHIVE, shipped_demo

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from wheel_parts import (  # noqa: E402
    DEMO_FOLDERS,
    pack_demo,
    split_debug_files,
    write_crate_licences,
)


def contents(folder: Path) -> dict[str, bytes]:
    """Give the bytes of all files of the shipped recording, by their names."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in DEMO_FOLDERS
        for path in (folder / name).rglob("*")
        if path.is_file()
    }


def test_the_demo_comes_out_of_its_archive_as_it_went_in(tmp_path):
    """An installed Vestige unpacks it, and leaves nothing."""
    pack_demo(DEMO, tmp_path / ARCHIVE)

    with shipped_demo(tmp_path) as unpacked:
        assert unpacked != DEMO
        assert contents(unpacked) == contents(DEMO)
    assert not unpacked.exists()


def test_the_archive_is_the_same_from_the_same_files(tmp_path):
    """Whenever it is made."""
    pack_demo(DEMO, tmp_path / "first")
    pack_demo(DEMO, tmp_path / "second")

    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert zipfile.is_zipfile(tmp_path / "first")


def test_a_library_is_stripped_and_its_debug_file_still_names_its_lines(tmp_path):
    """By the build ID, which both have."""
    source = tmp_path / "twice.c"
    source.write_text("int twice(int n) { return n + n; }\n")
    package = tmp_path / "package"
    package.mkdir()
    library = package / "twice.so"
    command = ["cc", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", library, source]
    subprocess.run(command, check=True)
    (package / "module.py").write_text("x = 1\n")
    size = library.stat().st_size

    stripped = split_debug_files(package, tmp_path / "debug")

    assert stripped == [library]
    assert library.stat().st_size < size
    [debug] = (tmp_path / "debug" / ".build-id").rglob("*.debug")
    sections = ["readelf", "-SW", library]
    text = subprocess.run(sections, check=True, capture_output=True, text=True).stdout
    assert ".debug_info" not in text
    found = subprocess.run(
        ["addr2line", "-e", debug, "-f", _address_of(debug, "twice")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert found.splitlines()[0] == "twice"
    assert found.splitlines()[1].endswith("twice.c:1")


def _address_of(file: Path, name: str) -> str:
    text = subprocess.run(
        ["nm", file], check=True, capture_output=True, text=True
    ).stdout
    [line] = [line for line in text.splitlines() if line.split()[-1] == name]
    return line.split()[0]


def test_the_licences_name_each_crate_that_is_linked(tmp_path):
    """Not those that only the compiler runs, nor our own."""
    target = tmp_path / "rust-crates.txt"

    write_crate_licences(ROOT, target)

    text = target.read_text(encoding="utf-8")
    titles = set(re.findall(r"^={78}\n(\S+) \d\S*: ", text, re.MULTILINE))
    assert {"gimli", "pyo3", "memchr", "cpp_demangle"} <= titles
    assert not titles & {"syn", "quote", "pyo3-macros", "vestige-ctf"}
    assert "Permission is hereby granted" in text
