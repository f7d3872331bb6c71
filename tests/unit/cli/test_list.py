"""``vestige list``: what there is to record, without running anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from support.compilers import PROGRAMS, run_tool
from vestige.cli.main import main
from vestige.record.development import compile_flags

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


def build(target, source, *flags):
    """Compile a program of tests/programs with Vestige's headers."""
    run_tool(
        [
            "gcc",
            "-O1",
            *compile_flags(),
            f"-I{PROGRAMS}",
            *flags,
            "-o",
            target,
            PROGRAMS / f"{source}.c",
            "-ldl",
        ]
    )
    return target


def listed(capsys, *words):
    """Return the status, the lines and the errors of a listing."""
    status = main(["list", *map(str, words)])
    printed = capsys.readouterr()
    return status, printed.out.splitlines(), printed.err


@pytest.mark.parametrize("how", [(), ("-s",), ("-Wl,--gc-sections", "-fdata-sections")])
def test_tracepoints_with_levels_and_fields(tmp_path, capsys, how):
    """Also in a program without symbols, or without what nothing refers to."""
    program = build(tmp_path / "greeting", "greeting", *how)

    assert listed(capsys, "--fields", program) == (
        0,
        [
            str(program),
            "  greeting:said, INFO (6), https://example.org/greeting",
            "      int number",
            "      string text",
            "nothing in 2 other objects",
        ],
        "",
    )


def test_each_kind_of_field(tmp_path, capsys):
    """With what its macro says of it."""
    _, lines, _ = listed(capsys, "-f", build(tmp_path / "fields", "fields"))
    text = "\n".join(lines)

    for expected in [
        "  fields:network, DEBUG_LINE (13)\n      int16_t i16, big-endian\n",
        "      uint16_t port, hexadecimal, big-endian\n",
        "      double wide\n",
        "      int16_t numbers[4]\n",
        "      char letters[8], text\n",
        "      uint32_t words[], length uint8_t, hexadecimal\n",
        "      enum fields:temperature degrees, int\n",
        "      string unseen, not written\n",
        "  fields:first_pair, EMERG (0)\n      int left\n      int right\n",
    ]:
        assert expected.replace(", hexadecimal, big-endian", "") in text.replace(
            ", big-endian, hexadecimal", ""
        )


def test_the_provider_is_in_a_library(tmp_path, capsys):
    """Where the event is described, and not where it happens."""
    source = tmp_path / "main.c"
    source.write_text(
        "#define LTTNG_UST_TRACEPOINT_DEFINE\n#include <greeting_tp.h>\n"
        'int main(void) { lttng_ust_tracepoint(greeting, said, 1, "x"); return 0; }\n',
        encoding="utf-8",
    )
    provider = tmp_path / "provider.c"
    provider.write_text(
        "#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n#include <greeting_tp.h>\n",
        encoding="utf-8",
    )
    flags = [*compile_flags(), f"-I{PROGRAMS}", "-fPIC"]
    library, program = tmp_path / "libprovider.so", tmp_path / "main"
    run_tool(["gcc", *flags, "-shared", "-o", library, provider])
    search = f"-Wl,-rpath,{tmp_path}"
    run_tool(["gcc", *flags, "-o", program, source, library, search, "-ldl"])
    alone = tmp_path / "alone"
    dynamic = "-DLTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE"
    run_tool(["gcc", *flags, dynamic, "-o", alone, source, "-ldl"])

    event = "  greeting:said, INFO (6), https://example.org/greeting"
    assert listed(capsys, program)[1][:2] == [str(library), event]
    assert listed(capsys, library)[1][:2] == [str(library), event]
    assert listed(capsys, alone)[1][:2] == [
        str(alone),
        "  greeting:said (no provider here)",
    ]


def test_messages_have_their_provider_in_the_tracer(tmp_path, capsys):
    """Which brings it into each program that is recorded."""
    source = tmp_path / "main.c"
    source.write_text(
        '#include <lttng/tracef.h>\nint main(void) { tracef("%d", 1); return 0; }\n',
        encoding="utf-8",
    )
    program = tmp_path / "main"
    run_tool(["gcc", *compile_flags(), "-o", program, source, "-ldl"])

    assert listed(capsys, program)[1][:2] == [
        str(program),
        "  lttng_ust_tracef:event (recorded: the tracer is its provider)",
    ]


@pytest.mark.parametrize(
    ("option", "count"),
    [
        ("-finstrument-functions", 6),
        ("-pg", 6),
        ("-pg -mfentry", 6),
        ("-fpatchable-function-entry=2", 6),
    ],
)
@pytest.mark.parametrize("more", ["-O0", "-fno-plt", "-s"])
def test_functions(tmp_path, capsys, option, count, more):
    """How many, in each way of calling a hook."""
    source = tmp_path / "six.c"
    source.write_text(
        "".join(
            f"__attribute__((noinline)) int f{n}(int x) {{ return x + {n}; }}\n"
            for n in range(5)
        )
        + "int main(int c, char **v) { (void) v;"
        " return f0(f1(f2(f3(f4(c))))) == 1; }\n",
        encoding="utf-8",
    )
    run_tool(["gcc", *option.split(), more, "-o", tmp_path / "six", source])
    _, lines, _ = listed(capsys, tmp_path / "six")
    name = option.partition("=")[0]
    note = "; these are not recorded" if name == "-pg" else ""

    if os.uname().machine == "x86_64":
        assert lines[1] == f"  {count} functions compiled with {name}{note}"
    else:
        assert f"functions compiled with {name}{note}" in lines[1]


def test_a_running_process(tmp_path, capsys):
    """With what it has loaded itself."""
    program = build(tmp_path / "greeting", "greeting")
    code = (
        f"import ctypes; ctypes.CDLL({str(program)!r}); print(1, flush=True); input()"
    )
    library = build(tmp_path / "library.so", "greeting", "-shared", "-fPIC")
    with subprocess.Popen(
        [sys.executable, "-c", code.replace(str(program), str(library))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "1\n"
        found = listed(capsys, process.pid)
        library.unlink()
        gone = listed(capsys, process.pid)
        process.communicate("\n")

    at = found[1].index(str(library))
    assert found[1][at + 1].startswith("  greeting:said, INFO (6)")
    assert gone[2] == f"vestige: {library}: its file is gone\n"


def test_json(tmp_path, capsys):
    """All that was found, also of objects in which nothing is."""
    program = build(tmp_path / "greeting", "greeting")
    _, lines, _ = listed(capsys, "--json", program)
    facts = json.loads("\n".join(lines))

    assert facts["notes"] == []
    assert facts["objects"][0] == {
        "path": str(program),
        "tracepoints": [
            {
                "provider": "greeting",
                "name": "said",
                "log_level": 6,
                "log_level_text": "INFO",
                "model_emf_uri": "https://example.org/greeting",
                "fields": [
                    {
                        "name": "number",
                        "kind": "integer",
                        "type": "int",
                        "detail": "",
                        "flags": [],
                    },
                    {
                        "name": "text",
                        "kind": "string",
                        "type": "char",
                        "detail": "",
                        "flags": [],
                    },
                ],
                "has_provider": True,
                "signature": None,
                "is_recorded": True,
            }
        ],
        "instrumented": [],
    }
    assert any("libc.so" in found["path"] for found in facts["objects"][1:])


def test_a_script_is_its_interpreter(tmp_path, capsys):
    """And says so."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    status, lines, errors = listed(capsys, script)

    assert status == 0
    assert errors == (
        f"vestige: {script} is a script: this is its interpreter, /bin/sh\n"
    )
    assert lines[-1].startswith("no tracepoints and no instrumented functions in ")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "{path}: cannot be read: No such file or directory"),
        (b"", "{path}: is no ELF file: it is empty"),
        (b"plain text", "{path}: is no ELF file"),
        (
            b"\x7fELF\2\1\1" + bytes(20),
            "{path}: is a damaged ELF file: not an ELF file",
        ),
    ],
)
def test_what_is_no_program(tmp_path, capsys, content, expected):
    """One line says what it is."""
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)

    assert listed(capsys, path) == (
        3,
        [],
        f"vestige: error: {expected.format(path=path)}\n",
    )


def test_no_such_name_and_no_such_process(capsys):
    """Of a program in PATH; of a process."""
    assert listed(capsys, "no-such-program-here")[2] == (
        "vestige: error: no-such-program-here: no such program in PATH\n"
    )
    assert listed(capsys, str(1 << 30))[2] == (
        f"vestige: error: no process has the ID {1 << 30}\n"
    )
    assert listed(capsys, str(1 << 30))[0] == 3


def test_every_cut_file_is_refused_or_listed(tmp_path, capsys):
    """Whatever is missing of it, nothing worse happens."""
    program = build(tmp_path / "greeting", "greeting")
    whole = program.read_bytes()
    cut = tmp_path / "cut"
    for size in range(60, len(whole), 907):
        cut.write_bytes(whole[:size])
        status, _, errors = listed(capsys, cut)
        assert (status == 0) or "damaged" in errors
    for place in range(0, 64, 3):
        cut.write_bytes(
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        )
        assert listed(capsys, cut)[0] in {0, 3}


FOREIGN = r"""
__attribute__((section(".vestige.events"), used, aligned(1)))
static const char event[] = "event\tp\tn\tp\tn";
__attribute__((section(".vestige.events"), used, aligned(1)))
static const char fields[] = "class\tp\tn\ninteger\tint\tx\t\t0";
int f(int x) { return x; }
"""


@pytest.mark.skipif(shutil.which("clang") is None, reason="not installed: clang")
@pytest.mark.parametrize("machine", ["i386", "aarch64", "mips", "s390x"])
def test_other_machines(tmp_path, capsys, machine):
    """Of other sizes and byte orders; what instructions do there is not known."""
    source, binary = tmp_path / "f.c", tmp_path / "f.o"
    source.write_text(FOREIGN, encoding="utf-8")
    target = f"--target={machine}-linux-gnu"
    run_tool(["clang", target, "-finstrument-functions", "-c", "-o", binary, source])

    assert listed(capsys, "-f", binary)[1] == [
        str(binary),
        "  p:n, DEBUG_LINE (13)",
        "      int x",
        "  functions compiled with -finstrument-functions",
    ]
