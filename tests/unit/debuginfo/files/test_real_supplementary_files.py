"""Supplementary, split, packed and compressed files that real tools have made."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vestige.debuginfo import DebugInfoOptions, DebugSource, Outcome, SymbolTable, find

SOURCE = """\
int once(int value) { return value + 1; }
static int hidden(int value) { return value * 3; }
int thrice(int value) { return hidden(value) + hidden(value + 1); }
int main(int count, char **words) { return thrice(count) + once(words != 0); }
"""
NO_DIRECTORY = DebugInfoOptions(debug_directories=())


def needs(*tools):
    """Skip a test where a tool is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {missing}")


pytestmark = needs("gcc", "objcopy", "strip", "nm")


def run(*command, cwd=None):
    """Run a tool and return its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=cwd)
    return done.stdout


class Program:
    """A program, and where its functions are."""

    def __init__(self, folder: Path, *options: str):
        self.folder = folder
        self.path = folder / "app"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "app.c").write_text(SOURCE)
        run("gcc", "-O0", *options, "app.c", "-o", "app", cwd=folder)
        rows = (line.split() for line in run("nm", self.path).splitlines())
        self.functions = {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}

    def debug_file(self, place: Path) -> Path:
        """Move the debug information to a file of its own."""
        place.parent.mkdir(parents=True, exist_ok=True)
        run("objcopy", "--only-keep-debug", self.path, place)
        run("strip", self.path)
        return place


def place_of(program, name, options=NO_DIRECTORY, path=None):
    """Return (function, line) of the fourth byte of a function."""
    table = SymbolTable.open(path or program.path, options)
    (place,) = table.lookup([program.functions[name] + 4])
    return place.function, place.line


@pytest.fixture
def split(tmp_path):
    """A program whose debug information is in a ``.dwo`` file."""
    return Program(tmp_path / "build", "-g", "-gsplit-dwarf")


def test_a_split_file_is_read_where_it_was_written(split):
    """The search names it, and the units' ID."""
    found = find(split.path, options=NO_DIRECTORY)

    assert found.source is DebugSource.OBJECT
    assert [path.name for _, path in found.split] == [
        path.name for path in split.folder.glob("*.dwo")
    ]
    assert place_of(split, "hidden") == ("hidden", 2)


@pytest.mark.parametrize("place", ["next to it", "debug directory", "target prefix"])
def test_a_split_file_is_read_where_it_was_moved(split, tmp_path, place):
    """With the program, or into a debug directory."""
    (dwo,) = split.folder.glob("*.dwo")
    moved = shutil.copy(split.path, tmp_path / "app")
    options = NO_DIRECTORY
    if place == "next to it":
        shutil.move(dwo, tmp_path / dwo.name)
    elif place == "debug directory":
        home = tmp_path / "debug" / str(split.folder).lstrip("/")
        home.mkdir(parents=True)
        shutil.move(dwo, home / dwo.name)
        options = DebugInfoOptions(debug_directories=(tmp_path / "debug",))
    else:
        split.folder.rename(tmp_path / "moved")
        moved = tmp_path / "moved" / "app"
        prefixes = ((str(split.folder), tmp_path / "moved"),)
        options = DebugInfoOptions(debug_directories=(), target_prefixes=prefixes)

    assert place_of(split, "hidden", options, moved) == ("hidden", 2)


def test_without_its_split_file_a_program_has_its_symbols(split):
    """The log names each place."""
    for dwo in split.folder.glob("*.dwo"):
        dwo.unlink()

    found = find(split.path, options=NO_DIRECTORY)

    assert found.split == ()
    tried = [one for one in found.attempts if one.kind.name == "SPLIT"]
    assert {one.outcome for one in tried} == {Outcome.MISSING}
    assert place_of(split, "hidden")[0] == "hidden"
    table = SymbolTable.open(split.path, NO_DIRECTORY)
    table.lookup(split.functions.values())
    (problem,) = table.problems
    assert "no file found" in problem


def test_a_split_file_of_another_build_is_not_believed(split, tmp_path):
    """Its ID differs; the symbols are left."""
    (dwo,) = split.folder.glob("*.dwo")
    changed = tmp_path / "other"
    changed.mkdir()
    (changed / "app.c").write_text(f"\n\n\nint unused;\n{SOURCE}")
    run("gcc", "-O0", "-g", "-gsplit-dwarf", "app.c", "-o", "app", cwd=changed)
    shutil.copy(changed / dwo.name, dwo)

    # The line table is in the program itself, the name in its symbol table.
    assert place_of(split, "hidden") == ("hidden", 2)
    assert place_of(split, "once") == ("once", 1)
    table = SymbolTable.open(split.path, NO_DIRECTORY)
    table.lookup(split.functions.values())
    (problem,) = table.problems
    assert "the file has no unit with this dwo_id" in problem


def test_split_files_are_open_only_while_they_are_read(tmp_path):
    """A browser has more of them than a process may have open."""
    sources = [f"unit{number}.c" for number in range(8)]
    for number, name in enumerate(sources):
        (tmp_path / name).write_text(f"int function{number}(void) {{ return 0; }}\n")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    words = ("-O0", "-g", "-gsplit-dwarf", "main.c", *sources, "-o", "app")
    run("gcc", *words, cwd=tmp_path)
    rows = (line.split() for line in run("nm", tmp_path / "app").splitlines())
    addresses = [int(row[0], 16) for row in rows if row[-1].startswith("function")]
    table = SymbolTable.open(tmp_path / "app", NO_DIRECTORY)
    before = len(list(Path("/proc/self/fd").iterdir()))

    places = table.lookup(addresses)

    assert [place.line for place in places] == [1] * 8
    # An index may be opened meanwhile.
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1
    assert table.problems == []


def test_a_split_file_that_changes_before_it_is_read_goes_into_no_index(
    split, tmp_path, monkeypatch
):
    """What an index is kept by was noted before."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    table = SymbolTable.open(split.path, NO_DIRECTORY)
    (dwo,) = split.folder.glob("*.dwo")
    os.utime(dwo, ns=(1, 1))

    (place,) = table.lookup([split.functions["hidden"] + 4])

    assert place.line == 2
    assert list((tmp_path / "cache").rglob("*.part")) == []


@needs("dwp")
@pytest.mark.parametrize("name", ["app.dwp", "app.debug.dwp"])
def test_a_package_is_read_next_to_the_program_or_its_debug_file(tmp_path, name):
    """The split files themselves are gone."""
    # The dwp of binutils 2.40 ends by a signal on DWARF 5.
    split = Program(tmp_path / "build", "-gdwarf-4", "-gsplit-dwarf")
    run("dwp", "-e", split.path, "-o", name, cwd=split.folder)
    for dwo in split.folder.glob("*.dwo"):
        dwo.unlink()
    debug = split.debug_file(split.folder / "app.debug")
    run("objcopy", f"--add-gnu-debuglink={debug}", split.path)

    found = find(split.path, options=NO_DIRECTORY)

    assert found.source is DebugSource.DEBUG_LINK
    assert found.package is not None
    assert place_of(split, "hidden") == ("hidden", 2)


@needs("dwz")
@pytest.mark.parametrize("name", ["relative", "absolute", "build ID"])
def test_a_supplementary_file_is_read(tmp_path, name):
    """Two debug files share it, as in a package of a distribution."""
    debug = tmp_path / "debug"
    programs = [
        Program(tmp_path / letter, "-g", f"-DLETTER={letter}") for letter in "ab"
    ]
    files = [
        program.debug_file(debug / f"{letter}.debug")
        for letter, program in zip("ab", programs, strict=True)
    ]
    shared = debug / ".dwz" / "shared"
    shared.parent.mkdir()
    stated = ["-M", "/elsewhere/.dwz/shared"] if name == "absolute" else ["-r"]
    run("dwz", "-m", shared, *stated, *files)
    for program, file in zip(programs, files, strict=True):
        run("objcopy", f"--add-gnu-debuglink={file}", program.path)
        shutil.copy(file, program.folder / file.name)
    if name == "relative":
        for program in programs:
            shutil.copytree(debug / ".dwz", program.folder / ".dwz")
    if name == "build ID":
        notes = run("readelf", "-n", shared)
        digits = notes.partition("Build ID: ")[2].split()[0]
        home = debug / ".build-id" / digits[:2]
        home.mkdir(parents=True)
        shared.rename(home / f"{digits[2:]}.debug")
    options = DebugInfoOptions(debug_directories=(debug,))

    for program in programs:
        found = find(program.path, options=options)
        assert found.source is DebugSource.DEBUG_LINK
        assert found.supplement is not None
        assert place_of(program, "hidden", options) == ("hidden", 2)


@needs("xz")
def test_packed_symbols_name_what_is_not_exported(tmp_path):
    """MiniDebugInfo, made as Fedora does."""
    program = Program(tmp_path / "build", "-g")
    mini = program.folder / "mini"
    shutil.copy(program.path, mini)
    run("strip", "-g", mini)
    run("xz", "--force", mini)
    run("strip", program.path)
    run("objcopy", f"--add-section=.gnu_debugdata={mini}.xz", program.path)

    found = find(program.path, options=NO_DIRECTORY)

    assert found.source is DebugSource.MINI
    assert place_of(program, "hidden") == ("hidden", None)


@pytest.mark.parametrize("kind", ["zlib", "zstd"])
def test_compressed_sections_are_read(tmp_path, kind):
    """As distributions ship them."""
    program = Program(tmp_path / "build", "-g")
    debug = program.debug_file(tmp_path / "app.debug")
    try:
        run("objcopy", f"--compress-debug-sections={kind}", debug)
    except subprocess.CalledProcessError:
        pytest.skip(f"objcopy knows no {kind}")
    run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    shutil.copy(debug, program.folder)

    assert find(program.path, options=NO_DIRECTORY).source is DebugSource.DEBUG_LINK
    assert place_of(program, "hidden") == ("hidden", 2)
