"""`vestige config` tells compilers what they need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS
from vestige import __version__
from vestige.cli.main import main
from vestige.errors import RecordError
from vestige.record import development

HELLO = PROGRAMS / "tracepoints"

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


def printed(capsys, *options):
    """Return what the command prints."""
    assert main(["config", *options]) == 0
    return capsys.readouterr().out.removesuffix("\n")


def test_flags_build_a_program(tmp_path, capsys):
    """In the shell, as documentation has it, with the library it names."""
    cflags, libs = printed(capsys, "--cflags"), printed(capsys, "--libs")
    line = (
        f"gcc -c {cflags} -I{HELLO} {HELLO}/hello.c {HELLO}/hello-tp.c && "
        f"gcc -o hello hello.o hello-tp.o {libs} -llttng-ust -ldl && ./hello"
    )
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert printed(capsys, "--libs", "--cflags") == f"{cflags} {libs}"


def test_where_and_which(capsys):
    """Each on its own, or all in one line."""
    prefix = printed(capsys, "--prefix")

    assert (Path(prefix) / "include/lttng/tracepoint.h").is_file()
    assert printed(capsys, "--version") == __version__
    assert printed(capsys, "--prefix", "--version") == f"{__version__} {prefix}"


@pytest.mark.parametrize("package", ["vestige", "lttng-ust"])
def test_pkg_config_finds_the_same(capsys, package):
    """Also for builds that ask for LTTng-UST 2.13."""
    if shutil.which("pkg-config") is None:
        pytest.skip("not installed: pkg-config")
    path = printed(capsys, "--pkg-config-path")
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", package],
        env={**os.environ, "PKG_CONFIG_PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found = [word for word in done.stdout.split() if word.startswith("-I")]

    assert len(found) == 1
    assert Path(found[0][2:]).resolve() == Path(printed(capsys, "--cflags")[2:])
    assert "-ldl" in done.stdout


def test_a_path_with_a_space_is_one_word_of_the_shell(capsys, monkeypatch, tmp_path):
    """As pkg-config writes it."""
    headers = tmp_path / "with space/native/include/lttng"
    headers.mkdir(parents=True)
    (headers / "tracepoint.h").touch()
    monkeypatch.setattr(development, "__file__", str(tmp_path / "with space/one.py"))

    assert printed(capsys, "--cflags").endswith(r"/with\ space/native/include")


def test_nothing_asked_for_is_wrong_usage(capsys):
    """With a hint."""
    with pytest.raises(SystemExit) as stopped:
        main(["config"])

    assert stopped.value.code == 2
    assert "--cflags --libs" in capsys.readouterr().err


def test_headers_that_are_missing_are_told(capsys, monkeypatch, tmp_path):
    """With the place where they should be."""
    monkeypatch.setattr(development, "__file__", str(tmp_path / "development.py"))

    assert main(["config", "--cflags"]) == 1
    assert str(tmp_path / "native") in capsys.readouterr().err
    with pytest.raises(RecordError, match="headers are not there"):
        development.link_flags()
