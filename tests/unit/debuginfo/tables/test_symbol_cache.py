"""The cache of indexes: equal answers, whatever happens to its files."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vestige.debuginfo.object_file import SymbolRow, open_object, open_symbol_table
from vestige.debuginfo.tables.cached_table import CachedFiles, save_all
from vestige.debuginfo.tables.symbol_cache import SymbolCache, parse_size

PROGRAM = """
static inline int twice(int x) { volatile int y = x; return y * 2; }
int first(int x) { return twice(x) + 1; }
int second(int x) { return first(x) + twice(x); }
int main(int argc, char **argv) { return second(argc); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of one unit with inlined calls."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine")
    directory = tmp_path_factory.mktemp("cached")
    source = directory / "program.c"
    source.write_text(PROGRAM)
    path = directory / "program"
    command = ["gcc", "-g", "-O2", "-Wl,--build-id", "-o", str(path), str(source)]
    subprocess.run(command, check=True)
    return path


def _addresses(program: Path) -> list[int]:
    return [
        address
        for start, end in open_object(program).text_ranges
        for address in range(start, end)
    ]


def _expected(program: Path) -> list[SymbolRow]:
    return open_symbol_table(open_object(program), None).lookup(_addresses(program))


def _looked_up(cache: SymbolCache, program: Path) -> list[SymbolRow]:
    files = CachedFiles(cache)
    table = files.build_table(files.open_object(program), None)
    rows = table.lookup(_addresses(program))
    save_all()
    return rows


def _parts(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.part"))


def test_a_second_run_answers_from_the_index_alone(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debug information is not read where an index has the units."""
    expected = _expected(program)
    assert any(row[0] == "second" and row[6] for row in expected)
    assert _looked_up(SymbolCache(tmp_path), program) == expected
    assert len(_parts(tmp_path)) == 1

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("reads debug information again")

    monkeypatch.setattr(
        "vestige.debuginfo.tables.cached_table.open_symbol_table", refuse
    )
    assert _looked_up(SymbolCache(tmp_path), program) == expected


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_index_is_made_again(
    program: Path, tmp_path: Path, seed: int
) -> None:
    """A flipped bit or a cut anywhere: equal answers, and a sound index after."""
    expected = _expected(program)
    _looked_up(SymbolCache(tmp_path), program)
    (part,) = _parts(tmp_path)
    whole = part.read_bytes()
    chance = random.Random(seed)  # noqa: S311
    damaged = bytearray(whole)
    if seed % 4 == 0:
        del damaged[chance.randrange(len(whole)) :]
    else:
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    part.write_bytes(damaged)
    assert _looked_up(SymbolCache(tmp_path), program) == expected
    assert _looked_up(SymbolCache(tmp_path), program) == expected
    assert whole in [part.read_bytes() for part in _parts(tmp_path)]


def test_an_index_of_another_file_is_not_used(program: Path, tmp_path: Path) -> None:
    """A part that was copied to the place of another object's is left aside."""
    other = tmp_path / "other"
    source = tmp_path / "other.c"
    source.write_text(PROGRAM.replace("second", "zweite"))
    subprocess.run(["gcc", "-g", "-O2", "-o", str(other), str(source)], check=True)
    cache = SymbolCache(tmp_path / "cache")
    _looked_up(cache, program)
    (part,) = _parts(tmp_path)
    _looked_up(cache, other)
    (own,) = [one for one in _parts(tmp_path) if one != part]
    own.write_bytes(part.read_bytes())
    assert _looked_up(cache, other) == _expected(other)


def test_a_file_that_was_compiled_again_gets_another_index(tmp_path: Path) -> None:
    """The build ID alone does not tell two files from each other."""
    path, source = tmp_path / "program", tmp_path / "program.c"
    command = ["gcc", "-g", "-O2", "-Wl,--build-id=0x1234", "-o", path, source]
    cache = SymbolCache(tmp_path / "cache")
    for name in ("second", "zweite"):
        source.write_text(PROGRAM.replace("second", name))
        subprocess.run(command, check=True)
        assert any(row[0] == name for row in _looked_up(cache, path))
    assert len(_parts(tmp_path)) == 2


def test_a_directory_that_cannot_be_written_gives_a_reason(
    program: Path, tmp_path: Path
) -> None:
    """Lookups go on without a word; the cache knows why."""
    blocked = tmp_path / "file"
    blocked.write_text("no directory")
    cache = SymbolCache(blocked)
    assert _looked_up(cache, program) == _expected(program)
    assert cache.problem is not None
    assert str(blocked) in cache.problem


def test_a_full_disk_leaves_no_part_behind(program: Path, tmp_path: Path) -> None:
    """What could not be written whole is not there at all."""
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from vestige.debuginfo.tables.cached_table import CachedFiles\n"
        "from vestige.debuginfo.tables.symbol_cache import SymbolCache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
        "files = CachedFiles(SymbolCache(Path(sys.argv[1])))\n"
        "opened = files.open_object(Path(sys.argv[2]))\n"
        "start = opened.text_ranges[0][0]\n"
        "table = files.build_table(opened, None)\n"
        "rows = table.lookup(list(range(start, start + 4096)))\n"
        "assert any(row[0] == 'second' for row in rows)\n"
        "assert files.cache.problem, files.cache.problem\n"
    )
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 512
    command = [sys.executable, "-c", code, str(tmp_path), str(program)]
    subprocess.run(command, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_writers_at_once_leave_a_sound_index(
    program: Path, tmp_path: Path
) -> None:
    """Six processes fill one entry at the same time."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from vestige.debuginfo.tables.cached_table import CachedFiles\n"
        "from vestige.debuginfo.tables.symbol_cache import SymbolCache\n"
        "for _ in range(5):\n"
        "    files = CachedFiles(SymbolCache(Path(sys.argv[1])))\n"
        "    opened = files.open_object(Path(sys.argv[2]))\n"
        "    start = opened.text_ranges[0][0]\n"
        "    table = files.build_table(opened, None)\n"
        "    rows = table.lookup(list(range(start, start + 4096)))\n"
        "    assert any(row[0] == 'second' for row in rows)\n"
        "    assert files.cache.problem is None, files.cache.problem\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(program)]
    writers = [subprocess.Popen(command) for _ in range(6)]
    assert [writer.wait() for writer in writers] == [0] * 6
    assert _looked_up(SymbolCache(tmp_path), program) == _expected(program)
    assert list(tmp_path.rglob(".tmp-*")) == []


def test_the_entry_used_longest_ago_is_deleted_first(tmp_path: Path) -> None:
    """The limit counts all entries; the new one stays."""
    cache = SymbolCache(tmp_path, limit=2500)
    for age, name in enumerate((b"old", b"middle", b"new")):
        entry = cache.entry(name)
        assert entry is not None
        assert entry.add(name * (1000 // len(name)), "v")
        (folder,) = {part.parent for part in map(Path, entry.parts())}
        os.utime(folder, (1_000_000 + age, 1_000_000 + age))
    entries = [cache.entry(name) for name in (b"old", b"middle", b"new")]
    kept = [bool(entry and entry.parts()) for entry in entries]
    assert kept == [False, True, True]


def test_the_environment_says_where_and_how_large(tmp_path: Path) -> None:
    """Own variable, XDG's variable, default; and the size."""
    named = SymbolCache.from_environment(
        {"VESTIGE_CACHE_DIR": str(tmp_path), "XDG_CACHE_HOME": "/x"}
    )
    assert named.directory == tmp_path / "symbols-1"
    xdg = SymbolCache.from_environment({"XDG_CACHE_HOME": "/x"})
    assert xdg.directory == Path("/x/vestige/symbols-1")
    relative = SymbolCache.from_environment({"XDG_CACHE_HOME": "x"})
    assert relative.directory == Path.home() / ".cache/vestige/symbols-1"
    off = SymbolCache.from_environment({"VESTIGE_CACHE_SIZE": "0"})
    assert off.entry(b"key") is None
    wrong = SymbolCache.from_environment({"VESTIGE_CACHE_SIZE": "much"})
    assert wrong.problem == "VESTIGE_CACHE_SIZE is no size such as 500M or 2G"


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("12", 12), ("3k", 3072), ("500M", 500 << 20), ("2 GiB", 2 << 30)],
)
def test_sizes_with_units(text: str, size: int) -> None:
    """Units are powers of 1024, in either case."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "-1", "1.5G", "2X"])
def test_what_is_no_size(text: str) -> None:
    """Anything else is refused rather than guessed."""
    assert parse_size(text) is None


def test_split_debug_information_is_kept_unless_it_changes(
    program: Path, tmp_path: Path
) -> None:
    """Its files are read when they are needed, so they are checked once more."""
    source = shutil.copy(program.parent / "program.c", tmp_path)
    path, dwo = tmp_path / "split", tmp_path / "split-program.dwo"
    command = [
        "gcc",
        "-g",
        "-O2",
        "-gsplit-dwarf",
        "-Wl,--build-id",
        "-o",
        path,
        source,
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    cache = SymbolCache(tmp_path / "cache")

    def parts_after_lookups(*, touch: bool) -> list[Path]:
        files = CachedFiles(cache)
        opened = files.open_object(path)
        ((unit, _, _),) = opened.split_units
        table = files.build_table(opened, None, split=[(unit, str(dwo))])
        assert table.lookup(_addresses(path))
        if touch:
            os.utime(dwo, ns=(0, 0))
        save_all()
        return [part for part in cache.directory.rglob("*") if part.is_file()]

    save_all_at_once = "vestige.debuginfo.tables.cached_table._SAVE_INTERVAL"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(save_all_at_once, float("inf"))
        assert parts_after_lookups(touch=True) == []
        assert parts_after_lookups(touch=False) != []
