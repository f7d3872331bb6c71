"""The ways to put programs, libraries and providers together that LTTng documents.

Its documentation calls them "build and link a tracepoint provider package and the user
application". Each program marks 1, 2 and 3.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.instrumented import Sources, payloads, record_instrumented, records
from vestige.record.backends.in_process.tracer import library_path

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

HERE = "-Wl,-rpath,$ORIGIN"
ALL = [1, 2, 3]
NONE: list[int] = []
DEFINES, DYNAMIC = "-DDEFINES", "-DDYNAMIC"
USES = "-DUSES_LIBRARY"
PIC = "-fPIC"


class Parts:
    """Compiles the parts of a program.

    Args:
        directory: Where they go.
    """

    def __init__(self, directory: Path) -> None:
        self.sources = Sources(directory)
        self.directory = directory

    def app(self, *words: str | Path, flags=()) -> Path:
        """The program, linked with other parts."""
        made = self.sources.compile("emon-app.c", *flags)
        return self.sources.link("app", made, *words, "-L.", HERE, "-ldl")

    def provider(self, *flags: str) -> Path:
        """The provider as an object."""
        return self.sources.compile("emon-tpp.c", *flags)

    def provider_library(self) -> Path:
        """The provider as a shared library, libtpp.so."""
        made = self.provider(PIC)
        return self.sources.link("libtpp.so", "-shared", made, *self.sources.libraries)

    def library(self, *words: str | Path, flags=()) -> Path:
        """The instrumented library, libemon.so."""
        made = self.sources.compile("emon.c", PIC, *flags)
        ends = ["-L.", HERE, *self.sources.libraries]
        return self.sources.link("libemon.so", "-shared", made, *words, *ends)

    def opening(self, name: str) -> str:
        """Tell a source what to load."""
        return f'"{self.directory / name}"'

    def marks(
        self, program: Path, *preloaded: Path, output: str = "trace"
    ) -> list[int]:
        """Record a program; return what it marked."""
        variables = {"LD_PRELOAD": ":".join(map(str, preloaded))} if preloaded else {}
        trace = record_instrumented(
            self.directory / output, [program], environment=variables
        )
        found = payloads(trace)
        assert {name for name, _ in found} <= {"emon:mark"}
        return [payload["number"] for _, payload in found]


@pytest.fixture
def parts(tmp_path):
    """Compilers for one program."""
    return Parts(tmp_path)


def test_programs_need_no_library_of_a_tracer(tmp_path):
    """Nor one for user-space RCU; and the tracer needs none, either."""
    program = Sources(tmp_path).build("hello", "hello.c", "hello-tp.c")
    for one in (program, library_path()):
        told = subprocess.run(
            ["readelf", "--dynamic", "--wide", one],
            capture_output=True,
            text=True,
            check=True,
        )
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told.stdout)
        assert "libc.so.6" in needed
        assert not [name for name in needed if re.search("urcu|lttng|vestige", name)]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_hello_world(tmp_path, level):
    """The six records of LTTng's documentation, at their lines, also in the text."""
    sources = Sources(tmp_path, ("gcc", "-g", level))
    program = sources.build("hello", "hello.c", "hello-tp.c")
    command = [program, "world", "and", "beyond"]
    trace = record_instrumented(tmp_path / "trace", command)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "vestige",
            "view",
            "--layout=babeltrace",
            "-e",
            "hello_world:*",
            trace,
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [
        ("hi there!", 23, 8),
        (str(program), 0, 10),
        ("world", 1, 10),
        ("and", 2, 10),
        ("beyond", 3, 10),
        ("i^2", 16, 13),
    ]

    assert [
        (
            event.payload["my_string_field"],
            event.payload["my_integer_field"],
            event.debug_info.line,
        )
        for event in records(trace)
    ] == expected
    assert re.findall(r'src = "hello\.c:(\d+)".*field = (\d+) }', done.stdout) == [
        (str(line), str(number)) for _, number, line in expected
    ]


def test_provider_is_an_object_of_the_program(parts):
    """The usual way, with the library that makefiles for LTTng name."""
    libraries = parts.sources.libraries
    program = parts.app(parts.provider(), *libraries, flags=[DEFINES])

    assert parts.marks(program) == ALL


def test_provider_comes_out_of_an_archive(parts):
    """The linker takes it since the tracepoints need it."""
    archive = parts.directory / "tpp.a"
    parts.sources.run("ar", "rcs", archive, parts.provider())

    assert parts.marks(parts.app(archive, flags=[DEFINES])) == ALL


def test_program_is_linked_with_the_provider_library(parts):
    """Which has no need of the program."""
    parts.provider_library()

    assert parts.marks(parts.app("-Wl,--no-as-needed", "-ltpp", flags=[DEFINES])) == ALL


def test_provider_library_is_preloaded_or_not(parts):
    """Without, the program runs and nothing is recorded."""
    library = parts.provider_library()
    program = parts.app(flags=[DEFINES, DYNAMIC])

    assert parts.marks(program, library) == ALL
    assert parts.marks(program, output="without") == NONE


def test_program_opens_the_provider_library(parts):
    """Its tracepoints are recorded from then on."""
    parts.provider_library()
    opens = f"-DOPENS={parts.opening('libtpp.so')}"
    program = parts.app(flags=[DEFINES, DYNAMIC, opens])

    assert parts.marks(program) == [2, 3]


def test_library_has_the_provider_in_it(parts):
    """The program has nothing of the tracer."""
    parts.library(parts.provider(PIC), flags=[DEFINES])

    assert parts.marks(parts.app("-lemon", flags=[USES])) == ALL


def test_library_is_linked_with_the_provider_library(parts):
    """The program needs not know."""
    parts.provider_library()
    parts.library("-Wl,--no-as-needed", "-ltpp", flags=[DEFINES])

    assert parts.marks(parts.app("-lemon", flags=[USES])) == ALL


def test_provider_of_a_library_is_preloaded_or_not(parts):
    """Without, the library works and nothing is recorded."""
    provider = parts.provider_library()
    parts.library(flags=[DEFINES, DYNAMIC])
    program = parts.app("-lemon", flags=[USES])

    assert parts.marks(program, provider) == ALL
    assert parts.marks(program, output="without") == NONE


def test_library_opens_its_provider(parts):
    """In its first call."""
    parts.provider_library()
    opens = f"-DOPENS={parts.opening('libtpp.so')}"
    parts.library(flags=[DEFINES, DYNAMIC, opens])

    assert parts.marks(parts.app("-lemon", flags=[USES])) == ALL


@pytest.mark.parametrize("provider", ["inside", "linked", "opened", "preloaded"])
def test_program_opens_an_instrumented_library(parts, provider):
    """Whichever way the library finds its provider."""
    preloaded = []
    if provider == "inside":
        parts.library(parts.provider(PIC), flags=[DEFINES])
    elif provider == "linked":
        parts.provider_library()
        parts.library("-Wl,--no-as-needed", "-ltpp", flags=[DEFINES])
    elif provider == "opened":
        parts.provider_library()
        opens = f"-DOPENS={parts.opening('libtpp.so')}"
        parts.library(flags=[DEFINES, DYNAMIC, opens])
    else:
        preloaded = [parts.provider_library()]
        parts.library(flags=[DEFINES, DYNAMIC])
    opens = f"-DOPENS_LIBRARY={parts.opening('libemon.so')}"

    assert parts.marks(parts.app(flags=[USES, opens]), *preloaded) == ALL


def test_provider_in_the_program_serves_a_linked_library(parts):
    """Whose calls find the tracepoints of the program."""
    parts.library()
    program = parts.app(parts.provider(), "-lemon", flags=[USES, DEFINES])

    assert parts.marks(program) == ALL


def test_provider_in_the_program_serves_an_opened_library(parts):
    """When the program exports its symbols."""
    parts.library()
    opens = f"-DOPENS_LIBRARY={parts.opening('libemon.so')}"
    program = parts.app(
        parts.provider(), "-Wl,--export-dynamic", flags=[USES, DEFINES, opens]
    )

    assert parts.marks(program) == ALL


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "flags",
    [
        ["-O0"],
        ["-O3"],
        ["-fvisibility=hidden"],
        ["-fPIE", "-pie"],
        ["-fno-pie", "-no-pie"],
        ["-O2", "-flto"],
        ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
        ["-DLTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION"],
        ["-DLTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION"],
        ["-DLTTNG_UST_COMPAT_API_VERSION=1"],
        ["-D_LGPL_SOURCE"],
    ],
    ids=" ".join,
)
def test_options_of_compilers(tmp_path, compiler, flags):
    """Whatever is asked of the compiler."""
    if shutil.which(compiler) is None:
        pytest.skip(f"not installed: {compiler}")
    if compiler == "clang" and "-flto" in flags:
        # The linker must read what clang writes then.
        if shutil.which("ld.lld") is None:
            pytest.skip("not installed: lld")
        flags = [*flags, "-fuse-ld=lld"]
    sources = Sources(tmp_path, (compiler, "-g"))
    program = sources.build("app", "emon-app.c", "emon-tpp.c", flags=[DEFINES, *flags])

    assert Parts(tmp_path).marks(program) == ALL


def test_header_in_several_files_of_a_program_and_its_library(tmp_path):
    """One of them defines the tracepoints of the program; the library has its own."""
    parts = Parts(tmp_path)
    sources = parts.sources
    for number in (1, 2):
        sources.write(
            f"part{number}.c",
            f"""
            #include "emon-tp.h"
            #include "hello-tp.h"
            void part{number}(void);
            void part{number}(void)
            {{
                lttng_ust_tracepoint(emon, mark, {number});
                lttng_ust_tracepoint(hello_world, my_first_tracepoint, {number}, "part");
            }}
            """,
        )
    sources.write(
        "both.c",
        """
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "emon-tp.h"
        #include "hello-tp.h"
        """,
    )
    sources.write(
        "main.c",
        """
        void part1(void); void part2(void); void emon_mark(int number);
        int main(void) { part1(); part2(); emon_mark(3); return 0; }
        """,
    )
    parts.library(
        parts.provider(PIC), flags=[DEFINES, "-DLTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION"]
    )
    program = sources.link(
        "app",
        *(sources.compile(name) for name in ("main.c", "both.c", "part1.c", "part2.c")),
        "-L.",
        HERE,
        "-lemon",
    )
    found = payloads(record_instrumented(tmp_path / "trace", [program]))
    texts = [one["my_integer_field"] for name, one in found if "hello" in name]

    assert [one["number"] for name, one in found if name == "emon:mark"] == ALL
    assert texts == [1, 2]


def test_a_program_runs_where_there_is_no_tracer(tmp_path):
    """And needs no library of ours."""
    sources = Sources(tmp_path)
    program = sources.build("app", "emon-app.c", "emon-tpp.c", flags=[DEFINES])
    needed = sources.run("readelf", "-d", program)

    assert b"vestige" not in needed
    assert b"lttng" not in needed
    assert sources.run(program) == b""
