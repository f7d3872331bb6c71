"""`vestige symbolize` answers for addresses of a file, a process and a stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.compilers import run_tool
from vestige.cli.main import main

PROGRAM = """\
#include <stdlib.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int square(int x)
{
    return x * x + getpid();
}
int work(int n)
{
    return square(n) * 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (write(1, "x", 1) != 1) return 1;
    while (read(0, &argc, 1) > 0) work(argc);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """A program with an inlined call."""
    directory = tmp_path_factory.mktemp("symbolize")
    source = directory / "work.c"
    source.write_text(PROGRAM)
    binary = directory / "work"
    run_tool(["cc", "-g", "-O1", "-fno-ipa-icf", "-o", binary, source])
    return binary


def file_address(program: Path, name: str) -> int:
    """Return the address of a function."""
    for line in run_tool(["nm", program]).decode().splitlines():
        words = line.split()
        if words[-1] == name:
            return int(words[0], 16)
    raise AssertionError(name)


def inlined_address(program: Path, capsys) -> int:
    """Return an address in the inlined call."""
    start = file_address(program, "work")
    words = [f"{start + index:x}" for index in range(24)]
    main(["symbolize", "--json", "-e", str(program), *words])
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    inlined = [one for one in answers if len(one["frames"]) > 1]
    assert inlined
    return int(inlined[0]["address"], 16)


def test_people_see_the_function_its_offset_and_the_inlined_call(program, capsys):
    """People see the function its offset and the inlined call."""
    address = inlined_address(program, capsys)
    offset = address - file_address(program, "work")
    source = program.with_suffix(".c")

    assert main(["symbolize", "-e", str(program), f"{address:#X}"]) == 0

    blank = " " * len(f"{address:#x}")
    assert capsys.readouterr().out == (
        f"{address:#x}  square at {source}:5  [work]\n"
        f"{blank}    inlined by work+{offset:#x} at {source}:9\n"
    )


def test_an_unknown_address_is_told_so_with_its_reason_on_request(program, capsys):
    """An unknown address is told so with its reason on request."""
    assert main(["symbolize", "-e", str(program), "ffff0000"]) == 0
    assert capsys.readouterr().out == "0xffff0000  ?? ??:0  [work]\n"
    main(["symbolize", "-v", "-e", str(program), "ffff0000"])
    assert "(outside of the code of the object)" in capsys.readouterr().out
    main(["symbolize", "--json", "-e", str(program), "ffff0000"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["function"] is None
    assert answer["frames"] == []
    assert answer["reason"] == "outside of the code of the object"


def test_flags_of_addr2line_give_its_lines(program, capsys):
    """Flags of addr2line give its lines."""
    address = inlined_address(program, capsys)
    source = program.with_suffix(".c")

    main(["symbolize", "-fias", "-e", str(program), f"{address:x}", "ffff0000"])
    assert capsys.readouterr().out.splitlines() == [
        f"0x{address:016x}",
        "square",
        "work.c:5",
        "work",
        "work.c:9",
        "0x00000000ffff0000",
        "??",
        "??:0",
    ]
    main(["symbolize", "-fi", "--pretty", "-e", str(program), f"{address:x}"])
    assert capsys.readouterr().out.splitlines() == [
        f"square at {source}:5",
        f" (inlined by) work at {source}:9",
    ]


def test_a_stripped_program_has_the_names_of_its_debug_file(program, tmp_path, capsys):
    """A stripped program has the names of its debug file."""
    stripped, debug = tmp_path / "work", tmp_path / "work.debug"
    run_tool(["objcopy", "--only-keep-debug", program, debug])
    run_tool(["objcopy", "-S", f"--add-gnu-debuglink={debug}", program, stripped])
    address = f"{file_address(program, 'work'):x}"

    main(["symbolize", "-fs", "-e", str(stripped), address])

    assert capsys.readouterr().out.splitlines() == ["work", "work.c:8"]


def test_the_places_without_debug_information_are_told_on_request(
    program, tmp_path, capsys
):
    """The debug link leads nowhere: each place is named, once and after the answers."""
    stripped = tmp_path / "work"
    (tmp_path / "gone").write_bytes(b"")
    run_tool(
        ["objcopy", "-S", f"--add-gnu-debuglink={tmp_path}/gone", program, stripped]
    )
    (tmp_path / "gone").unlink()
    address = f"{file_address(program, 'work'):x}"

    main(["symbolize", "-v", "-e", str(stripped), address, address])

    told = capsys.readouterr().err
    assert told.count(f"tried {tmp_path}/gone (debug link): no such file\n") == 1
    assert f"vestige: {stripped}: tried {stripped} (the object itself): " in told
    main(["symbolize", "-e", str(stripped), address])
    assert capsys.readouterr().err == ""


def test_a_missing_file_of_split_dwarf_is_told_on_request(tmp_path, capsys):
    """Function and line are still there, so the answer itself gives no reason."""
    (tmp_path / "work.c").write_text(PROGRAM)
    binary = tmp_path / "work"
    flags = ["-g", "-O1", "-gsplit-dwarf", "-fno-ipa-icf"]
    run_tool(["cc", *flags, "-c", "-o", tmp_path / "work.o", tmp_path / "work.c"])
    run_tool(["cc", "-o", binary, tmp_path / "work.o"])
    address = f"{file_address(binary, 'work'):x}"
    main(["symbolize", "-v", "-e", str(binary), address])
    assert capsys.readouterr().err == ""
    (tmp_path / "work.dwo").unlink()

    main(["symbolize", "-v", "-e", str(binary), address])

    told = capsys.readouterr()
    assert told.out.startswith(f"0x{address.lstrip('0')}  work+0x0 at ")
    assert "work.dwo" in told.err
    assert told.err.endswith("no file found\n")


STYLES = [
    "",
    "-v",
    "--no-demangle",
    "--json",
    "-f",
    "-f -i -C",
    "-a -f -i -s",
    "-f -i -a --no-demangle -C",
    "--pretty",
    "--pretty -a -f -i -s -C",
]


@pytest.fixture(scope="module")
def cpp_program(tmp_path_factory) -> Path:
    """A program with mangled names, one of them inlined."""
    directory = tmp_path_factory.mktemp("symbolize_cpp")
    source = directory / "w\u00f6rk.cc"
    source.write_text(PROGRAM.replace("work", "wo::rk").replace("int wo::rk(", CPP))
    binary = directory / "w\u00f6rk"
    run_tool(["c++", "-g", "-O1", "-o", binary, source])
    return binary


CPP = "namespace wo { int rk(int n); }\nint wo::rk("


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("language", ["program", "cpp_program"])
def test_many_addresses_have_the_same_text_as_single_ones(
    language, style, request, monkeypatch, tmp_path, capsys
):
    """Many addresses, which the core writes, have the same text as single ones."""
    path = request.getfixturevalue(language)
    command = ["symbolize", *style.split(), "-e", str(path)]
    main_at = file_address(path, "main")
    words = [f"{at:#x}" for at in range(main_at - 4096, main_at + 128, 3)]
    words += ["0", "ffffffffffffffff", words[-9]]
    source = tmp_path / "addresses"
    source.write_text("\n".join(words))

    assert main([*command, *words]) == 0
    singly = capsys.readouterr().out
    with source.open() as addresses:
        monkeypatch.setattr(sys, "stdin", addresses)
        # Single answers would have to be asked for.
        monkeypatch.delattr("vestige.cli.commands.symbolize._Writer.write")
        assert main(command) == 0

    assert capsys.readouterr().out == singly
    assert "rk.c" in singly


def test_lines_without_address_are_told_by_their_number(
    program, monkeypatch, tmp_path, capsys
):
    """Lines without an address are told by their number, also in a later chunk."""
    monkeypatch.setattr("vestige.cli.commands.symbolize.CHUNK", 8)
    source = tmp_path / "addresses"
    source.write_bytes(b"10\n\n 0x10\r\n0x\n" + b"f" * 17 + b"\n\xff\n-1")

    with source.open() as addresses:
        monkeypatch.setattr(sys, "stdin", addresses)
        assert main(["symbolize", "-v", "-e", str(program)]) == 1

    captured = capsys.readouterr()
    numbers = [line.split(",")[1].split(":")[0] for line in captured.err.splitlines()]
    assert numbers == [" line 2", " line 4", " line 5", " line 6", " line 7"]
    bad = "??  ?? ??:0  (no hexadecimal address)"
    known = "0x10  ?? ??:0  [work]  (outside of the code of the object)"
    assert captured.out.splitlines() == [known, bad, known, bad, bad, bad, bad]


def test_each_line_of_input_is_answered_before_the_next_is_sent(program):
    """Each line of input is answered before the next is sent."""
    address = file_address(program, "work")
    command = [sys.executable, "-m", "vestige", "symbolize", "-fs", "-e", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as worker:
        for word in (f"{address:x}", f"0x{address:X}", "nonsense", f"{address:x}"):
            worker.stdin.write(word.encode() + b"\n")
            worker.stdin.flush()
            answer = [worker.stdout.readline(), worker.stdout.readline()]
            known = [b"work\n", b"work.c:8\n"]
            unknown = [b"??\n", b"??:0\n"]
            assert answer == (unknown if word == "nonsense" else known)
        worker.stdin.close()
        assert (
            b"line 3: 'nonsense' is not a hexadecimal address" in worker.stderr.read()
        )
        assert worker.wait() == 1


@pytest.mark.parametrize("removed", [False, True])
def test_a_running_process_is_looked_into(program, tmp_path, capsys, removed):
    """A running process is looked into."""
    own = tmp_path / "own"
    own.write_bytes(program.read_bytes())
    own.chmod(0o755)
    with subprocess.Popen(
        [own], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.read(1) == b"x"
        lines = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        base = min(int(x.split("-")[0], 16) for x in lines if x.endswith(str(own)))
        if removed:
            # Another program takes the name, as an upgrade does.
            own.unlink()
            own.write_bytes(Path(sys.executable).read_bytes())
        address = base + file_address(program, "work")
        status = main(["symbolize", "-p", str(process.pid), f"{address:x}", "1"])
        process.stdin.close()
    assert status == 0
    source = program.with_suffix(".c")
    assert capsys.readouterr().out.splitlines() == [
        f"{address:#x}  work+0x0 at {source}:8  [own]",
        "0x1  ?? ??:0",
    ]


def test_the_vdso_has_names(capsys):
    """The vdso has names."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    vdso = [line for line in lines if line.endswith("[vdso]")]
    if not vdso:
        pytest.skip("this kernel maps no vDSO")
    start = int(vdso[0].split("-")[0], 16)
    words = [f"{start + offset:x}" for offset in range(0x400, 0x1800, 0x40)]
    main(["symbolize", "--json", "-p", str(os.getpid()), *words])
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {one["object"] for one in answers} == {"[vdso]"}
    main(["symbolize", "-p", str(os.getpid()), words[0]])
    assert capsys.readouterr().out.endswith("  [vdso]\n")
    assert any("clock_gettime" in (one["function"] or "") for one in answers)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["1"], 2, "one of the arguments -e/--exe -p/--pid is required"),
        (["-e", "/bin/sh", "xyz"], 2, "'xyz' is not a hexadecimal address"),
        (["-e", "/bin/sh", "1" * 17], 2, "is not a hexadecimal address"),
        (["-pf", "1"], 2, "'f' is not a process ID (for addr2line's -p, see --pretty)"),
        (["-p", "4194305", "1"], 1, "no process has the ID 4194305"),
        (["-e", "/no/such/file", "1"], 1, "/no/such/file"),
        (["-e", "/etc/passwd", "1"], 1, "/etc/passwd"),
        (["-e", "/dev/null", "1"], 1, "/dev/null"),
    ],
)
def test_wrong_usage_and_unusable_input_are_told(words, status, message, capsys):
    """Wrong usage and unusable input are told."""
    try:
        found = main(["symbolize", *words])
    except SystemExit as error:
        found = error.code
    assert found == status
    assert message in capsys.readouterr().err


HOSTILE_SOURCE = """\
#line 3 "a\u202e\x1b[2J.c"
int shown(void) { return 1; }
int main(void) { return shown(); }
"""


@pytest.mark.parametrize(
    ("flag", "answer"),
    [
        ("-g", r"shown+0x0 at PLACE/a\u202e\e[2J.c:3  [evil\e[2J\u2066]"),
        ("-g0", r"\e[2Jshown+0x0 at ??:0  [evil\e[2J\u2066]"),
    ],
)
def test_names_of_others_do_not_steer_the_terminal(tmp_path, capsys, flag, answer):
    """Of functions, source files and the object; of one address, and of many."""
    source = tmp_path / "a.c"
    source.write_text(HOSTILE_SOURCE, encoding="utf-8")
    built = tmp_path / "evil\x1b[2J\u2066"
    run_tool(["gcc", "-Wno-bidi-chars", flag, "-o", built, source], tmp_path)
    run_tool(["objcopy", "--redefine-sym", "shown=\x1b[2Jshown", built])
    symbols = run_tool(["nm", built]).decode()
    address = next(line.split()[0] for line in symbols.splitlines() if "shown" in line)

    assert main(["symbolize", "-e", str(built), address]) == 0
    single = capsys.readouterr().out
    many = subprocess.run(
        [sys.executable, "-m", "vestige", "symbolize", "-e", str(built)],
        input=f"{address}\n",
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert single == many
    shown = single.removesuffix("\n").split("  ", 1)[1]
    assert shown == answer.replace("PLACE", str(tmp_path))


def test_one_address_waits_for_no_module_that_it_does_not_need():
    """Their imports would take longer than the answer."""
    code = (
        "import sys; from vestige.cli.main import main\n"
        "main(['symbolize', '-e', '/bin/ls', '0x4000'])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    slow = {
        "dataclasses",
        "inspect",
        "json",
        "subprocess",
        "tempfile",
        "urllib.request",
    }

    assert set(done.stdout.splitlines()[-1].split()) & slow == set()


def test_an_empty_file_is_said_to_be_empty(tmp_path, capsys):
    """As when a build or a copy was interrupted."""
    (tmp_path / "app").touch()

    assert main(["symbolize", "-e", str(tmp_path / "app"), "0x10"]) == 1
    expected = f"{tmp_path}/app, byte 0: the file is empty; expected an ELF file"
    assert capsys.readouterr().err == f"vestige: error: {expected}\n"
