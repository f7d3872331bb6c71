"""What a process has loaded, seen from outside, is what it says itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import PROGRAMS, SECONDS, record_command
from vestige.record._collector import LoadedObjects

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

LIBRARY = "int answer(void) { return 42; }\n"


def build(folder: Path, name: str, *flags: str, source: Path | None = None) -> Path:
    """Build the program, or a library if there is no source."""
    path = folder / name
    if source is None:
        source = folder / "library.c"
        source.write_text(LIBRARY)
        flags = (*flags, "-shared", "-fPIC")
    run_tool(["gcc", "-g", "-O1", *flags, "-o", path, source, "-ldl"])
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return the program that loads and waits."""
    return build(tmp_path, "program", source=PROGRAMS / "loads_and_waits.c")


@contextmanager
def waiting(command: Sequence[str | Path]) -> Iterator[int]:
    """Run a command that says a process ID and then waits."""
    with subprocess.Popen(
        [*map(os.fspath, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(SECONDS)


def names(process: int, looks: LoadedObjects | None = None) -> list[str]:
    """Return the file names of what a process has loaded."""
    looks = looks or LoadedObjects()
    objects = looks.read([process]).objects(process)
    return [Path(os.fsdecode(one[2])).name for one in objects]


def told(trace: Path) -> set[tuple[object, ...]]:
    """Return what the program has told of its objects, in the same form."""
    ids: dict[int, bytes] = {}
    links: dict[int, tuple[bytes, int]] = {}
    found = {}
    for event in vestige.open(trace, debug_info=False):
        fields = event.payload
        match (event.name or "").split(":"):
            case ["lttng_ust_statedump", "bin_info"] if fields["memsz"]:
                found[fields["baddr"]] = fields
            case ["lttng_ust_lib", "load"]:
                found[fields["baddr"]] = {**fields, "is_pic": 1}
            case [_, "build_id"]:
                ids[fields["baddr"]] = bytes(fields["build_id"])
            case [_, "debug_link"]:
                link = (fields["filename"].encode(), fields["crc"])
                links[fields["baddr"]] = link
    assert {base for base, one in found.items() if one["has_build_id"]} == {*ids}
    assert {base for base, one in found.items() if one["has_debug_link"]} == {*links}
    return {
        (
            base,
            one["memsz"],
            one["path"].encode(),
            bool(one["is_pic"]),
            ids.get(base, b""),
            links.get(base),
        )
        for base, one in found.items()
    }


@pytest.mark.parametrize(
    "flags",
    [
        ["-pie"],
        ["-no-pie", "-fno-pie"],
        ["-Wl,--build-id=none"],
        ["-Wl,--build-id=0x0123456789abcdef01"],
        ["-Wl,-z,noseparate-code"],
        ["-Wl,-z,separate-code,-z,max-page-size=2097152"],
        ["-no-pie", "-fno-pie", "-Wl,-Ttext-segment=0x10000000"],
    ],
    ids=" ".join,
)
def test_it_is_what_the_program_tells(tmp_path, flags):
    """Bit for bit, whatever the linker was told; also of libraries that it opens."""
    program = build(tmp_path, "program", *flags, source=PROGRAMS / "loads_and_waits.c")
    shared = [flag for flag in flags if flag.startswith("-Wl") and "text" not in flag]
    library = build(tmp_path, "library.so", *shared)
    run_tool(["objcopy", "--only-keep-debug", program, tmp_path / "program.debug"])
    run_tool(["objcopy", f"--add-gnu-debuglink={tmp_path / 'program.debug'}", program])
    trace = tmp_path / "trace"

    with waiting(record_command(trace, [program, library], "-q")) as process:
        objects = LoadedObjects().read([process]).objects(process)

    found = set(objects)
    assert objects == sorted(objects)
    assert told(trace) <= found
    assert {b"program", b"library.so"} <= {one[2].rpartition(b"/")[2] for one in found}
    assert [one[5][0] for one in found if one[5] and b"program" in one[2]] == [
        b"program.debug"
    ]


def test_one_that_stands_still_or_is_gone(program):
    """Nobody is asked; what it had a moment ago is kept."""
    looks = LoadedObjects()
    with waiting([program]) as process:
        os.kill(process, signal.SIGSTOP)
        assert "program" in names(process, looks)
        before = looks.read([process])
        again = looks.read([process], before)
        os.kill(process, signal.SIGCONT)
    after = looks.read([process], before)

    assert again.objects(process) == before.objects(process)
    assert after.objects(process) == before.objects(process)
    assert looks.read([process]).processes == []
    assert after.only([process]).processes == after.processes
    assert after.only([1, 2]).processes == []


def test_a_file_that_is_removed_and_one_in_its_place(tmp_path, program):
    """The old one is described, or nothing; never the new one."""
    library = build(tmp_path, "library.so", "-Wl,--build-id=0x01020304")
    other = build(tmp_path, "other.so", "-Wl,--build-id=0x05060708")
    with waiting([program, library]) as process:
        looks = LoadedObjects()
        first = looks.read([process]).objects(process)
        library.unlink()
        removed = LoadedObjects().read([process]).objects(process)
        other.rename(library)
        replaced = LoadedObjects().read([process]).objects(process)

    assert b"\1\2\3\4" in {one[4] for one in first}
    for found in (removed, replaced):
        assert set(found) <= set(first)
        assert b"\5\6\7\x08" not in {one[4] for one in found}


@pytest.mark.parametrize("kind", ["cut", "fifo", "huge notes", "text"])
def test_hostile_files_neither_wait_nor_say_anything_wrong(tmp_path, program, kind):
    """A pipe where a library was, one that ends in the middle, and others."""
    library = build(tmp_path, "library.so")
    with waiting([program, library]) as process:
        whole = LoadedObjects().read([process]).objects(process)
        mapped = next(one for one in whole if b"library.so" in one[2])
        if kind == "fifo":
            library.unlink()
            os.mkfifo(library)
        elif kind == "cut":
            os.truncate(library, 200)
        elif kind == "text":
            library.write_text("no object at all\n" * 1000)
        else:
            make_notes_huge(library)
        found = LoadedObjects().read([process]).objects(process)

    others = [one for one in whole if one != mapped]
    assert [one for one in found if one[0] != mapped[0]] == others


def make_notes_huge(path: Path) -> None:
    """Say that the notes are as long as a file that is mostly a hole."""
    size = 1 << 40
    with path.open("r+b") as file:
        header = file.read(64)
        start = int.from_bytes(header[32:40], "little")
        for index in range(int.from_bytes(header[56:58], "little")):
            file.seek(start + 56 * index)
            if int.from_bytes(file.read(4), "little") == 4:
                file.seek(start + 56 * index + 32)
                file.write((size - 4096).to_bytes(8, "little"))
        file.truncate(size)


def test_a_library_that_is_only_read_is_not_loaded(tmp_path):
    """Tools map objects to look into them."""
    library = build(tmp_path, "library.so")
    code = (
        "import mmap, os, sys; "
        "file = open(sys.argv[1], 'rb'); "
        "memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ); "
        "print(os.getpid(), flush=True); sys.stdin.read()"
    )
    with waiting(["python3", "-c", code, library]) as process:
        assert "library.so" in Path(f"/proc/{process}/maps").read_text()
        assert "library.so" not in names(process)
        assert [one for one in names(process) if one.startswith("libc.so")]


def test_processes_that_cannot_be_read():
    """There is none of that number; a thread of the kernel has nothing."""
    looks = LoadedObjects()
    assert looks.read([0, 2, (1 << 32) - 1]).processes == []
    assert looks.read([os.getpid()]).objects(12345) == []


def test_odd_names(tmp_path, program):
    """With blanks, new lines and bytes that are no text."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a \n (deleted)\xff"))
    folder.mkdir()
    library = build(tmp_path, "library.so")
    moved = Path(shutil.copy(library, folder / "li b.so"))
    with waiting([program, moved]) as process:
        paths = [one[2] for one in LoadedObjects().read([process]).objects(process)]

    assert os.fsencode(moved) in paths


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root")
def test_paths_are_those_that_the_process_sees(tmp_path):
    """One with another root directory, in the same name space and in one of its own."""
    source = tmp_path / "alone.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { char byte; printf("%d\\n", getpid()); fflush(stdout);'
        " return read(0, &byte, 1) > 0; }\n"
    )
    inner = tmp_path / "root" / "bin"
    inner.mkdir(parents=True)
    program = build(inner, "alone", "-static", source=source)
    for words in [["chroot"], ["unshare", "--mount", "chroot"]]:
        with waiting([*words, inner.parent, "/bin/alone"]) as process:
            found = LoadedObjects().read([process]).objects(process)
        assert [one[2] for one in found] == [b"/bin/alone"], words
        assert found[0][4]
    assert program.is_file()


def test_file_systems_without_a_device(tmp_path, program):
    """Such as those in memory; the kernel answers for them, and no program."""
    library = build(tmp_path, "library.so")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        moved = shutil.copy(library, folder)
        with waiting([program, moved]) as process:
            assert "library.so" in names(process)
