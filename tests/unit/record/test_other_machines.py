"""The tracer of another machine, emulated: without restartable sequences, as there."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command

ROOT = PROGRAMS.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from native_parts import native_parts  # noqa: E402

LIBRARIES = Path("/usr/aarch64-linux-gnu")
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64-static"
CALLS = 1000
PROGRAM = f"""\
__attribute__((noinline)) void leaf(void) {{ __asm__ volatile(""); }}
int main(void)
{{
	for (int i = 0; i < {CALLS}; i++)
		leaf();
	return 0;
}}
"""

pytestmark = [
    *(
        pytest.mark.skipif(shutil.which(name) is None, reason=f"not installed: {name}")
        for name in (COMPILER, EMULATOR)
    ),
    pytest.mark.skipif(
        not LIBRARIES.is_dir(), reason=f"not installed: the C library in {LIBRARIES}"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A program with hooks and the tracer, both compiled for that machine."""
    directory = tmp_path_factory.mktemp("aarch64")
    tracer = directory / "libvestige-tracer.so"
    with contextlib.chdir(ROOT):
        [part] = [one for one in native_parts("0") if one.name == tracer.name]
        run_tool([COMPILER, *part.arguments, "-o", tracer])
    source = directory / "called.c"
    source.write_text(PROGRAM, encoding="ascii")
    program = directory / "called"
    run_tool([COMPILER, "-O1", "-finstrument-functions", "-o", program, source])
    return tracer, program


def test_each_call_is_recorded_on_aarch64(tmp_path, built):
    """The collector is that of this machine: both agree about the memory between them."""
    tracer, program = built
    # What is preloaded into programs of this machine cannot be loaded there.
    emulated = [
        EMULATOR,
        "-L",
        LIBRARIES,
        "-E",
        f"LD_PRELOAD={tracer}",
        "-U",
        "LD_AUDIT",
    ]
    done = subprocess.run(
        record_command(tmp_path / "trace", [*emulated, program], "--functions=verbose"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = Counter(
        (event.name or "").rpartition("_")[2] for event in opened.events("*:func_*")
    )
    assert found == {"entry": CALLS + 1, "exit": CALLS + 1}
    assert list(opened.damage) == []
    assert list(opened.losses) == []
