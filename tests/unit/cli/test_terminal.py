"""Text on terminals and in locales that show less than all of Unicode."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.recorded import build_program, run_recorded
from support.recordings import DATA
from vestige.cli import main as cli

POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def in_posix_locale(*words):
    """Run a command line where there is only ASCII; return status, output, errors."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)],
        capture_output=True,
        env={**os.environ, **POSIX},
        check=False,
    )
    return done.returncode, done.stdout.decode("ascii"), done.stderr.decode("ascii")


CODE = "from vestige.cli.start import entry_point; entry_point()"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Return a recording."""
    directory = tmp_path_factory.mktemp("posix")
    run_recorded(directory / "trace", [build_program(directory)])
    return directory / "trace"


@pytest.mark.parametrize(
    "words",
    [
        ["view"],
        ["report"],
        ["report", "--tree"],
        ["check"],
        ["debuginfo"],
        ["debuginfo", "--all"],
    ],
    ids=" ".join,
)
def test_every_verb_ends_well_without_unicode(trace, words):
    """What ASCII lacks is written in another way."""
    status, text, errors = in_posix_locale(*words, trace)

    assert (status, "Traceback" in errors) == (0, False)
    assert text
    if words == ["view"]:
        assert " us; " in errors


def test_paths_that_are_no_ascii_are_told(tmp_path):
    """In errors, too."""
    status, text, errors = in_posix_locale("view", tmp_path / "ünï")

    assert (status, text) == (3, "")
    assert "Traceback" not in errors
    assert errors.startswith("vestige: error: ")


def test_errors_do_not_steer_the_terminal(tmp_path, capsys):
    """Whatever a path has in its name."""
    path = tmp_path / "a\x1b[2J\x9bb\n"
    assert cli.main(["view", str(path)]) == 3
    errors = capsys.readouterr().err

    assert r"a\e[2J\u009bb\n" in errors
    assert errors.removesuffix("\n").isprintable()


def test_tables_are_whole_in_a_pipe(tmp_path, capsys, monkeypatch):
    """Whatever COLUMNS says; on a terminal it decides, unless --wide is given."""
    long = "f" * 200
    source = tmp_path / "long.c"
    source.write_text(
        f"int {long}(void) {{ return 1; }}\nint main(void) {{ return {long}() - 1; }}\n"
    )
    program = tmp_path / "long"
    flags = ["-g", "-finstrument-functions"]
    subprocess.run(["gcc", *flags, "-o", program, source], check=True)
    run_recorded(tmp_path / "trace", [program])

    def shown(*words):
        assert cli.main(["report", *words, str(tmp_path / "trace")]) == 0
        return capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "70")
    assert f"  {long}  {source}:1" in shown()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert max(map(len, shown().splitlines())) <= 70
    assert f"  {long}  {source}:1" in shown("--wide")


def test_data_stays_where_it_is():
    """This is for people only: convert prints what Babeltrace 2 prints."""
    status, text, _ = in_posix_locale("convert", DATA / "hello")
    assert (status, text.count("greeting:said")) == (0, 4)
