"""The demo that is compiled and recorded while one waits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from vestige.cli.commands.demo import INTRODUCTION, LIVE_INTRODUCTION, LIVE_NEXT
from vestige.cli.live_demo import compiler

DEADLINE = 60.0
FUNCTIONS = {
    "main": "shop.c",
    "take": "shop.c",
    "pack": "shop.c",
    "refuse": "shop.c",
    "price_of": "pricing.c",
    "unit_price": "pricing.c",
    "discount": "discount.c",
    "bulk": "discount.c",
    "coupon": "discount.c",
}
needs_compiler = pytest.mark.skipif(
    compiler() is None, reason="not installed: a C compiler"
)


def demo(*words, **variables):
    """Run the demo in a process of its own; return status, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", "vestige", "demo", *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
        env={**os.environ, "NO_COLOR": "1", **variables},
    )
    return done.returncode, done.stdout, done.stderr


@needs_compiler
def test_it_records_a_program_now():
    """Its library and its plugin, too; each call with function and line."""
    status, text, errors = demo()
    views = [line for line in text.splitlines() if "  func_e" in line]

    assert (status, "36 events over" in errors) == (0, True)
    assert text.startswith(LIVE_INTRODUCTION)
    assert text.endswith(LIVE_NEXT)
    assert len(views) == 36
    for function, file in FUNCTIONS.items():
        ends = sum(f" {function} at {file}:" in line for line in views)
        [row] = [line for line in text.splitlines() if f"  {function}  " in line]
        assert f"{ends // 2} " in row
        assert f"/{file}:" in row
        assert ends > 0


@needs_compiler
def test_what_it_makes_can_be_kept(tmp_path):
    """In a directory that is new; one with anything in it is left alone."""
    status, text, _ = demo("-o", tmp_path / "kept", "-e", "*:func_entry")

    assert status == 0
    assert text.count("  func_entry  ") == 18
    assert (tmp_path / "kept" / "trace" / "metadata").is_file()
    assert (tmp_path / "kept" / "shop.c").is_file()
    status, _, errors = demo("-o", tmp_path / "kept")
    assert status == 3
    assert "expected a new or an empty directory" in errors


def test_without_a_compiler_it_shows_the_shipped_recording(tmp_path):
    """And says why."""
    status, text, errors = demo(PATH=str(tmp_path), CC="")

    assert status == 0
    assert "no C compiler (cc, gcc or clang) is installed" in errors
    assert text.startswith(INTRODUCTION)
    assert "42 events over" in errors


def test_a_compiler_that_fails_is_told(tmp_path):
    """With its last words."""
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no room left >&2\nexit 3\n")
    broken.chmod(0o755)
    status, text, errors = demo(CC=str(broken))

    assert status == 0
    assert f"{broken} -g" in errors
    assert "status 3: no room left" in errors
    assert text.startswith(INTRODUCTION)


@needs_compiler
@pytest.mark.parametrize("words", ["gcc", "gcc -O2"])
def test_the_compiler_can_be_chosen(monkeypatch, words):
    """As make and others do it."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")
    monkeypatch.setenv("CC", words)

    assert compiler() == words.split()
