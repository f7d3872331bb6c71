"""Shell completion and manual pages: current, and of use to shells and to man(1)."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from vestige.cli.main import main
from vestige.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parent.parent.parent
COMPLETIONS = ROOT / "src/vestige/cli/completions"
PAGES = sorted((ROOT / "share/man/man1").glob("*.1"))
QUESTION = """\
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
_shtab_vestige 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def needs(command: str, package: str) -> pytest.MarkDecorator:
    """Skip where a command is missing."""
    return pytest.mark.skipif(
        shutil.which(command) is None, reason=f"{package} is not installed"
    )


@pytest.fixture(scope="module")
def made() -> dict[Path, str]:
    """Return the files as they would be made now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        found = runpy.run_path(str(ROOT / "tools/make_manual.py"))["files"]()
    return dict(found)


def test_the_files_are_current(made: dict[Path, str]) -> None:
    """`make manual` makes them anew, after each change of options."""
    there = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for path in [*COMPLETIONS.iterdir(), *PAGES]
    }

    assert sorted(there) == sorted(made)
    stale = [str(path) for path, text in made.items() if there[path] != text]
    assert stale == [], "run 'make manual'"


def test_each_verb_has_a_page() -> None:
    """And the command as a whole."""
    names = {page.name for page in PAGES}

    assert names == {"vestige.1", *(f"vestige-{verb}.1" for verb in VERBS)}


def test_all_files_are_installed() -> None:
    """Where shells and man(1) look for them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    installed = tomllib.loads(text)["tool"]["setuptools"]["data-files"]
    files = {
        path
        for patterns in installed.values()
        for pattern in patterns
        for path in ROOT.glob(pattern)
    }

    assert files == {*COMPLETIONS.iterdir(), *PAGES}


def completed(*words: str, directory: Path | None = None) -> list[str]:
    """Return what bash offers for the last word of a command line."""
    script = COMPLETIONS / "vestige.bash"
    done = subprocess.run(
        ["bash", "--norc", "-c", QUESTION, "bash", script, "vestige", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=directory,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.stderr == ""
    return done.stdout.split()


@needs("bash", "bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["vi"], ["view"]),
        (["re"], ["record", "report", "repair"]),
        (["view", "--beg"], ["--begin"]),
        (["report", "--sort", "m"], ["min", "max"]),
        (["export", "--to", "p"], ["parquet", "perfetto", "pprof"]),
        (["export", "--event", "a:*", "--spl"], ["--split"]),
        (["help", "symb"], ["symbolize"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["view", "--nosuch"], []),
    ],
)
def test_bash_completes(words: list[str], offered: list[str]) -> None:
    """Verbs, options and choices."""
    assert completed(*words) == offered


@needs("bash", "bash")
@pytest.mark.parametrize("verb", ["view", "report", "repair", "symbolize"])
def test_bash_completes_paths(verb: str, tmp_path: Path) -> None:
    """Where a verb takes one."""
    (tmp_path / "my-trace").mkdir()
    words = [verb, "-e", "my-t"] if verb == "symbolize" else [verb, "my-t"]

    assert [one.rstrip("/") for one in completed(*words, directory=tmp_path)] == [
        "my-trace"
    ]


@pytest.mark.parametrize(
    ("shell", "name"),
    [("bash", "vestige.bash"), ("zsh", "_vestige"), ("fish", "vestige.fish")],
)
def test_the_script_is_printed(
    shell: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """For shells that look for it nowhere."""
    assert main(["completion", shell]) == 0
    text = (COMPLETIONS / name).read_text(encoding="utf-8")
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("shell", "name"),
    [
        pytest.param("bash", "vestige.bash", marks=needs("bash", "bash")),
        pytest.param("zsh", "_vestige", marks=needs("zsh", "zsh")),
        pytest.param("fish", "vestige.fish", marks=needs("fish", "fish")),
    ],
)
def test_each_shell_can_parse_its_script(shell: str, name: str) -> None:
    """Without a word."""
    done = subprocess.run(
        [shell, "-n", COMPLETIONS / name],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs("man", "man-db")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_man_shows_a_page_without_warnings(page: Path) -> None:
    """With a name for apropos(1), a synopsis and examples."""
    done = subprocess.run(
        ["man", "--warnings", "-P", "cat", "-l", page],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n       {page.stem} - " in done.stdout
    for section in ("SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"):
        assert f"\n{section}\n" in done.stdout
