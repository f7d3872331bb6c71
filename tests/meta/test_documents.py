"""The documents: commands, options and links in them are real."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_not
from support.recordings import DEMO, DEMO_DEBUG_INFO
from support.session_daemon import session_daemon
from vestige.cli.exit_statuses import READING
from vestige.cli.parser import build_parser
from vestige.cli.verbs import load_commands

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("changelog.d/*.md")]
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
LONG_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")


def label(path: Path) -> str:
    """Return the path below the repository."""
    return str(path.relative_to(ROOT))


def blocks(path: Path, language: str) -> Iterator[str]:
    """Yield the blocks of code in a language."""
    for found, block in FENCE.findall(path.read_text(encoding="utf-8")):
        if found == language:
            yield block


def verbs() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands."""
    actions = build_parser(load_commands([]))._actions
    [found] = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found.choices)


def shell_lines() -> Iterator[tuple[Path, list[str]]]:
    """Yield the commands of all shell blocks, as words."""
    for path in DOCUMENTS:
        for block in blocks(path, "sh"):
            for line in block.replace("\\\n", "").splitlines():
                yield path, shlex.split(line, comments=True)


def test_there_are_documents() -> None:
    """The other tests look at something."""
    assert {"README.md", "docs/differences.md"} <= {label(path) for path in DOCUMENTS}


@pytest.mark.parametrize("path", DOCUMENTS, ids=label)
def test_links_lead_to_files(path: Path) -> None:
    """Links to other pages of the repository."""
    targets = LINK.findall(path.read_text(encoding="utf-8"))

    assert [t for t in targets if not (path.parent / t).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=label)
def test_make_has_the_targets(path: Path) -> None:
    """Each `make TARGET` in code exists."""
    text = path.read_text(encoding="utf-8")
    code = re.findall(r"`([^`\n]+)`", text) + [b for _, b in FENCE.findall(text)]
    wanted = re.findall(r"^make ([a-z-]+)", "\n".join(code), re.MULTILINE)

    assert [t for t in wanted if not re.search(rf"^{t}:", MAKEFILE, re.MULTILINE)] == []


def test_every_target_is_in_the_menu() -> None:
    """`make` alone prints what there is."""
    [phony] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    menu = set(re.findall(r'echo "make ([\w-]+) ', MAKEFILE))

    assert menu == set(phony.split()) - {"help"}


def test_the_commands_can_be_parsed() -> None:
    """Each `vestige ...` line in a shell block is a valid command line."""
    commands = [(p, w) for p, w in shell_lines() if w and w[0] == "vestige"]
    assert commands
    for path, words in commands:
        try:
            build_parser(load_commands([])).parse_args(words[1:])
        except SystemExit:
            pytest.fail(f"{label(path)}: {shlex.join(words)}")


def test_the_reference_has_the_exit_statuses() -> None:
    """Those of the help text."""
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    section = text.partition("## Exit statuses")[2].partition("##")[0]

    assert re.findall(r"^\| (\d+) ", section, re.MULTILINE) == re.findall(
        r"^  (\d+) ", READING.text, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("path", "code"),
    [(path, code) for path in DOCUMENTS for code in blocks(path, "python")],
    ids=lambda value: label(value) if isinstance(value, Path) else "",
)
@pytest.mark.filterwarnings("ignore:no event matches")  # names of other programs
def test_the_examples_run(
    path: Path, code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Python examples run, with the demo in place of the reader's trace."""
    if code.startswith("# needs root") and (reason := why_not()) is not None:
        pytest.skip(f"no kernel tracer: {reason}")
    demo = vestige.open(DEMO / "trace", debug_info=DEMO_DEBUG_INFO)
    first = next(iter(demo.events("shop:*")))
    monkeypatch.setattr(vestige, "open", lambda *_, **__: demo)
    slow = {"url": "/", "$ctx.vpid": 1}
    told = vestige.Notification("slow", 0, "event-rule-matches", slow, {})
    monkeypatch.setattr(vestige, "notifications", lambda *_: nullcontext([told]))
    (tmp_path / "notify-send").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "my-trace").symlink_to(DEMO / "trace")
    (tmp_path / "app").symlink_to("/bin/true")
    monkeypatch.chdir(tmp_path)
    names = {
        "vestige": vestige,
        "trace": demo,
        "event": first,
        "begin": first.timestamp,
        "end": None,
    }

    with session_daemon() as home:
        for name, value in home.environment.items():
            monkeypatch.setenv(name, value)
        exec(compile(code, label(path), "exec"), names)  # noqa: S102 - our own documents
