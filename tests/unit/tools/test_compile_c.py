"""What the compiler is asked of all C: `make lint` refuses warnings."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from compile_c import (  # noqa: E402
    OTHER_MACHINES,
    all_parts,
    compiler,
    complaints,
    has_analyzer,
)
from native_parts import COMMON, Part  # noqa: E402

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None, reason="not installed: a C compiler"
)


def told(tmp_path, text, command=None):
    """Return what is said of a source file, by the compiler of this machine or another."""
    source = tmp_path / "source.c"
    source.write_text(text, encoding="utf-8")
    return complaints(iter([Part("it", COMMON, (source,))]), command or compiler())


def test_sound_code(tmp_path):
    """Nothing is said of it."""
    text = "int answer(void);\n\nint answer(void)\n{\n\treturn 42;\n}\n"

    assert told(tmp_path, text) == []


def test_a_warning(tmp_path):
    """It is an error, as is a function that no header declares."""
    (text,) = told(tmp_path, "int answer(void)\n{\n\tint unused;\n\treturn 42;\n}\n")

    assert "-Werror=unused-variable" in text
    assert "-Werror=missing-prototypes" in text


def test_memory_that_is_lost(tmp_path):
    """The analyzer of GCC finds it."""
    if not has_analyzer(compiler()):
        pytest.skip("not there: an analyzer of the compiler")
    body = "\tconst char *copy = strdup(text);\n\n\treturn copy ? *copy : 0;\n"
    head = "int first(const char *text)"
    (text,) = told(
        tmp_path,
        f"#define _GNU_SOURCE\n#include <string.h>\n\n{head};\n\n{head}\n{{\n{body}}}\n",
    )

    assert "leak of" in text


@pytest.mark.parametrize("other", OTHER_MACHINES)
def test_another_machine(tmp_path, other):
    """What only this one has is an error there."""
    if shutil.which(other) is None:
        pytest.skip(f"not installed: {other}")
    head = "unsigned long long first(void)"
    (text,) = told(
        tmp_path,
        f"{head};\n\n{head}\n{{\n\treturn __builtin_ia32_rdtsc();\n}}\n",
        [other],
    )

    assert "__builtin_ia32_rdtsc" in text


def test_all_sources_are_looked_at():
    """Each of the tracer's and of the control library's is part of something."""
    looked_at = {source for part in all_parts() for source in part.sources}

    assert {path.resolve() for path in looked_at} == {
        source
        for house in ("tracer", "control")
        for source in (ROOT / house).rglob("*.c")
    }
