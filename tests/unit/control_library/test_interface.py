"""What programs are built with: symbols, headers, layouts, and how they are found."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.compilers import run_tool
from vestige.record.development import (
    compile_flags,
    native_directory,
    pkg_config_directory,
)

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ROOT / "control/include"
LIBRARY = "lib/liblttng-ctl.so.0"
WITHOUT_A_HEADER = {"lttng_opt_mi", "lttng_opt_quiet", "lttng_opt_verbose"}
"""Variables that LTTng's bindings for Python refer to."""

LAYOUTS = {
    "struct lttng_domain": 308,
    "struct lttng_handle": 580,
    "struct lttng_channel_attr": 344,
    "struct lttng_channel": 624,
    "struct lttng_event": 584,
    "struct lttng_event_field": 1144,
    "struct lttng_event_context": 312,
    "struct lttng_event_probe_attr": 288,
    "struct lttng_event_perf_counter_ctx": 288,
    "struct lttng_session": 4376,
    "struct lttng_calibrate": 20,
}
"""Bytes on 64-bit machines, which programs were built with."""


def exported(library: Path) -> set[str]:
    """Return the symbols that a library offers."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", library],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[-1] for line in done.stdout.splitlines()}


def declared() -> set[str]:
    """Return what the headers declare."""
    text = "\n".join(
        re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for path in HEADERS.rglob("*.h")
    )
    functions = set(re.findall(r"\b(lttng_\w+)\s*\(", text))
    variables = set(re.findall(r"^extern .*\b(lttng_\w+);$", text, re.MULTILINE))
    return functions | variables


def test_it_exports_what_its_headers_declare() -> None:
    """And nothing else, but for three variables."""
    assert exported(native_directory() / LIBRARY) == declared() | WITHOUT_A_HEADER


def test_its_name_and_what_it_needs() -> None:
    """Programs look for this name; it needs the C library alone."""
    done = subprocess.run(
        ["readelf", "-d", native_directory() / LIBRARY],
        capture_output=True,
        text=True,
        check=True,
    )

    assert re.findall(r"soname: \[(.*)\]", done.stdout) == ["liblttng-ctl.so.0"]
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout))
    assert needed <= {"libc.so.6", "libpthread.so.0"}


def test_layouts_are_those_that_programs_were_built_with(tmp_path: Path) -> None:
    """Programs pass these structures."""
    checks = "\n".join(
        f'_Static_assert(sizeof({name}) == {size}, "{name}");'
        for name, size in LAYOUTS.items()
    )
    offsets = (
        "#define AT(type, member, offset) "
        "_Static_assert(__builtin_offsetof(type, member) == offset, #member)\n"
        "AT(struct lttng_event, name, 4); AT(struct lttng_event, loglevel_type, 260);\n"
        "AT(struct lttng_event, flags, 280); AT(struct lttng_event, extended, 288);\n"
        "AT(struct lttng_event, attr, 296); AT(struct lttng_session, path, 255);\n"
        "AT(struct lttng_session, extended, 4368);\n"
        "AT(struct lttng_channel_attr, extended, 64);\n"
        "AT(struct lttng_channel, attr, 264);\n"
    )
    source = tmp_path / "layouts.c"
    source.write_text(f"#include <lttng/lttng.h>\n{checks}\n{offsets}")

    run_tool(["gcc", "-fsyntax-only", *compile_flags(), source])


def test_each_header_stands_alone(tmp_path: Path) -> None:
    """In C and in C++, with all warnings."""
    for suffix, compiler, standard in (("c", "gcc", "gnu99"), ("cpp", "g++", "c++11")):
        if shutil.which(compiler) is None:
            pytest.skip(f"not installed: {compiler}")
        sources = []
        for number, path in enumerate(sorted(HEADERS.rglob("*.h"))):
            header = path.relative_to(HEADERS)
            source = tmp_path / f"alone-{number}.{suffix}"
            source.write_text(f"#include <{header}>\n#include <{header}>\n")
            sources.append(source)
        warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        run_tool([compiler, f"-std={standard}", *warnings, *compile_flags(), *sources])


def test_builds_find_it_by_pkg_config(tmp_path: Path) -> None:
    """As LTTng's, by its name."""
    if shutil.which("pkg-config") is None:
        pytest.skip("not installed: pkg-config")
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "lttng-ctl >= 2.13"],
        env={"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(pkg_config_directory())},
        capture_output=True,
        text=True,
        check=True,
    )
    source = tmp_path / "program.c"
    source.write_text(
        "#include <lttng/lttng.h>\nint main(void) { return !lttng_strerror(-10); }\n"
    )

    run_tool(["gcc", "-o", tmp_path / "program", source, *done.stdout.split()])
    linked = subprocess.run(
        ["readelf", "-d", tmp_path / "program"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "liblttng-ctl.so.0" in linked.stdout


def test_the_examples_of_the_reference_compile(tmp_path: Path) -> None:
    """As they are printed, without a warning."""
    page = (ROOT / "docs/reference/control-library.md").read_text(encoding="utf-8")
    examples = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for number, text in enumerate(examples):
        source = tmp_path / f"example-{number}.c"
        source.write_text(text, encoding="utf-8")
        warnings = ["-Wall", "-Wextra", "-Werror"]
        library = native_directory() / LIBRARY
        program = tmp_path / f"example-{number}"
        run_tool(["gcc", *warnings, *compile_flags(), "-o", program, source, library])
