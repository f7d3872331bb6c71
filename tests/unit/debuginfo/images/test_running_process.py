"""The objects of a process, as the lines of its memory map tell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.compilers import BuildError, run_tool
from vestige.cli.main import main
from vestige.debuginfo.images import running_process
from vestige.debuginfo.images.running_process import RunningProcess
from vestige.errors import DebugInfoError

APP = "08:01 11                                /opt/app"
LIBRARY = "08:01 12                            /usr/lib/libx.so (deleted)"


def bases(*lines):
    """Return base, end and path of each object that lines of a memory map tell of."""
    groups = running_process._groups("\n".join(lines) + "\n")
    return [(group[0].start, group[-1].end, group[0].path) for group in groups]


def test_ranges_of_a_file_are_one_object():
    """Also with memory of no file between them, as of `.bss` and the heap."""
    assert bases(
        f"1000-2000 r--p 00000000 {APP}",
        f"2000-3000 r-xp 00001000 {APP}",
        f"4000-5000 rw-p 00003000 {APP}",
        "5000-9000 rw-p 00000000 00:00 0          [heap]",
        f"a000-b000 r--p 00000000 {LIBRARY}",
        "b000-c000 rw-p 00000000 00:00 0 ",
        f"c000-d000 rw-p 00001000 {LIBRARY}",
    ) == [
        (0x1000, 0x5000, "/opt/app"),
        (0xA000, 0xD000, "/usr/lib/libx.so (deleted)"),
    ]


def test_two_segments_may_begin_in_the_first_page_of_the_file():
    """As lld and mold lay out small objects: the code has offset 0 too."""
    assert bases(
        f"1000-2000 r--p 00000000 {APP}",
        f"2000-3000 r-xp 00000000 {APP}",
        f"3000-4000 r--p 00001000 {APP}",
        f"4000-5000 rw-p 00001000 {APP}",
    ) == [(0x1000, 0x5000, "/opt/app")]


def test_two_copies_of_a_library_are_two_objects():
    """After `dlmopen` they may be neighbours."""
    assert [
        base
        for base, _, _ in bases(
            f"1000-2000 r-xp 00000000 {APP}",
            f"2000-3000 rw-p 00001000 {APP}",
            f"3000-4000 r-xp 00000000 {APP}",
            f"4000-5000 rw-p 00001000 {APP}",
        )
    ] == [0x1000, 0x3000]


@pytest.mark.parametrize(
    "line",
    ["", "nonsense", "1-2", f"x-y r-xp 0 {APP}", "1000-2000 rw-p 0 00:00 0 [stack]"],
)
def test_other_lines_tell_of_no_object(line):
    """Other lines tell of no object."""
    assert bases(line) == []


def test_an_object_has_the_build_id_in_memory_and_its_own_path():
    """An object has the build id in memory and its own path."""
    process = RunningProcess(os.getpid())
    lines = Path("/proc/self/maps").read_text().splitlines()
    code = next(line for line in lines if " r-xp " in line and "/libc.so" in line)
    found = process.find(int(code.split("-")[0], 16))

    assert found.name == code.split(maxsplit=5)[5]
    assert found.mapping.path == found.name
    assert len(found.mapping.build_id) == 20
    assert process.find(0) is None
    assert process.find((1 << 64) - 1) is None
    assert process.root is None


def test_no_such_process():
    """No such process."""
    with pytest.raises(DebugInfoError, match="no process has the ID 4194305"):
        RunningProcess(4194305)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root directory")
def test_a_process_with_another_root_directory_is_looked_into(tmp_path, capsys):
    """Its map has paths that this process cannot open, or that are other files here."""
    source = tmp_path / "own.c"
    source.write_text(
        "#include <unistd.h>\n"
        "int work(int n) { return n * getpid(); }\n"
        'int main(int c, char **v) { (void)v; if (write(1, "x", 1) != 1) return 1;\n'
        "while (read(0, &c, 1) > 0) work(c); return 0; }\n"
    )
    jail = tmp_path / "jail"
    jail.mkdir()
    try:
        run_tool(["gcc", "-g", "-static", "-o", jail / "own", source])
    except BuildError as error:
        pytest.skip(f"no static C library: {error}")
    symbols = run_tool(["nm", jail / "own"]).decode().splitlines()
    (address,) = [line.split()[0] for line in symbols if line.endswith(" T work")]
    with subprocess.Popen(
        ["chroot", jail, "/own"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.read(1) == b"x"
        assert RunningProcess(process.pid).root == Path(f"/proc/{process.pid}/root")
        status = main(["symbolize", "-p", str(process.pid), address])
        process.stdin.close()
    assert status == 0
    assert capsys.readouterr().out == (
        f"{int(address, 16):#x}  work+0x0 at {source}:2  [own]\n"
    )
