"""Whether objects have hooks at the entries of functions."""

from __future__ import annotations

import shutil

import pytest

from support.compilers import SMALLEST, compiled
from vestige.inspect.hooks import hooks_of

OWN_HOOKS = """
#define PLAIN __attribute__((no_instrument_function))
PLAIN void __cyg_profile_func_enter(void *f, void *c) { (void) f; (void) c; }
PLAIN void __cyg_profile_func_exit(void *f, void *c) { (void) f; (void) c; }
"""
needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@needs_compiler
@pytest.mark.parametrize(
    ("flags", "source", "expected"),
    [
        ([], SMALLEST, "none"),
        (["-finstrument-functions"], SMALLEST, "called"),
        (["-finstrument-functions", "-s"], SMALLEST, "called"),
        (["-finstrument-functions", "-rdynamic"], SMALLEST + OWN_HOOKS, "defined"),
    ],
)
def test_hooks_are_found_among_the_dynamic_symbols(tmp_path, flags, source, expected):
    """They are provided by another object, or by the program itself."""
    assert hooks_of(compiled(tmp_path, *flags, source=source)) == expected


@pytest.mark.parametrize(
    "content",
    [b"", b"\x7fELF", b"\x7fELF".ljust(64, b"\xff") + b"\0__cyg_profile_func_enter\0"],
)
def test_files_that_are_no_objects_have_no_hooks(tmp_path, content):
    """Whatever they hold."""
    (tmp_path / "file").write_bytes(content)

    assert hooks_of(tmp_path / "file") == "none"
    assert hooks_of(tmp_path / "nothing") == "none"
