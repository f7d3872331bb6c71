"""Make what a shell knows of the command line: completion and manual pages.

Both are made from the parsers: completion for bash, zsh and fish in
``src/vestige/cli/completions``, manual pages in ``share/man/man1``. They are committed,
so that a build needs neither of the libraries that make them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage

from vestige import __version__
from vestige.cli.command import Command
from vestige.cli.exit_statuses import READING
from vestige.cli.parser import EXAMPLES, build_parser
from vestige.cli.verbs import VERBS, load_commands

ROOT = Path(__file__).resolve().parent.parent
COMPLETIONS = Path("src/vestige/cli/completions")
PAGES = Path("share/man/man1")
SHELLS = {"bash": "vestige.bash", "zsh": "_vestige", "fish": "vestige.fish"}
FILES = ("PATH", "FILE", "IN", "OUT", "TEMPLATE", "PROGRAM", "PROGRAM|PID", "ARGS")
"""What stands for a file or a directory in the help."""
DIRECTORIES = ("DIR", "[OLD=]DIR", "DIR[:DIR]...")
TITLES = {"examples": "EXAMPLES", "exit status": "EXIT STATUS"}


def files() -> dict[Path, str]:
    """Return the text of each file, by its path below the repository."""
    # The same on any terminal.
    os.environ["COLUMNS"] = "80"
    made = dict(completions())
    made.update(pages())
    return made


def completions() -> Iterator[tuple[Path, str]]:
    """Yield the scripts of all shells."""
    parser = build_parser(load_commands([]))
    for verb in verbs(parser).values():
        for action in verb._actions:  # noqa: SLF001 - the library has no other way
            name = str(action.metavar)
            if name == "COMMAND":
                action.choices = [*VERBS]
            elif action.help == argparse.SUPPRESS:
                continue
            elif name in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined] # as shtab asks
            elif name in DIRECTORIES:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined] # as above
    for shell, name in SHELLS.items():
        text = shtab.complete(parser, shell=shell)
        yield COMPLETIONS / name, text.rstrip("\n") + "\n"


def verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the verbs."""
    actions = parser._actions  # noqa: SLF001 - as above
    [found] = [one for one in actions if isinstance(one, argparse._SubParsersAction)]  # noqa: SLF001 - as above
    return dict(found.choices)


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the manual page of the command, and those of its verbs."""
    commands = load_commands([])
    parsers = verbs(build_parser(commands))
    yield PAGES / "vestige.1", main_page()
    for command in commands:
        yield (
            PAGES / f"vestige-{command.name}.1",
            verb_page(command, parsers[command.name]),
        )


def main_page() -> str:
    """Return the page of the command as a whole."""
    parser = argparse.ArgumentParser(
        prog="vestige",
        usage="vestige COMMAND [OPTIONS] [ARGUMENTS]",
        description="Record C, C++ and Python programs, and read traces in the Common "
        "Trace Format, with every event at its source line.",
    )
    parser.add_argument(
        "-V", "--version", action="store_true", help="print the version"
    )
    commands = parser.add_argument_group("commands")
    for name, verb in VERBS.items():
        commands.add_argument(f"vestige-{name}(1)", help=verb.summary)
    text = str(page(parser, "record programs and read traces"))
    return finished(text, EXAMPLES, READING.text)


def verb_page(command: Command, parser: argparse.ArgumentParser) -> str:
    """Return the page of a verb."""
    parser.epilog = None
    made = page(parser, VERBS[command.name].summary)
    made.prog = f"vestige-{command.name}"
    text = str(made)
    return finished(text, command.examples, command.exit_statuses.text)


def page(parser: argparse.ArgumentParser, summary: str) -> Manpage:
    """Return a page without examples."""
    facts = {
        "project_name": "Vestige",
        "version": __version__,
        "date": " ",
        "manual_title": "Vestige",
        "description": summary,
    }
    return Manpage(parser, facts, format="pretty")


def finished(text: str, *more: str) -> str:
    """Return a page with its last sections, which keep their lines."""
    # A version has one page, whenever it is made.
    text = text.replace('"1" " "', '"1" ""', 1)
    text = re.sub(r"^(?=\.[^A-Za-z])", r"\\&", text, flags=re.MULTILINE)
    sections = [section for one in more for section in one.strip("\n").split("\n\n")]
    for section in sections:
        title, _, lines = section.partition("\n")
        if not title.endswith(":"):
            title, lines = "", section
        if title:
            name = title.rstrip(":")
            text += f".SH {escaped(TITLES.get(name, name.upper()))}\n"
        text += f".nf\n{escaped(lines)}\n.fi\n"
    return text


def escaped(text: str) -> str:
    """Return text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        f"\\&{line}" if line.startswith((".", "'")) else line
        for line in text.splitlines()
    )


def main() -> int:
    """Write the files; take those away that are not made any more."""
    made = files()
    for directory in (COMPLETIONS, PAGES):
        (ROOT / directory).mkdir(parents=True, exist_ok=True)
        for old in (ROOT / directory).iterdir():
            if old.relative_to(ROOT) not in made:
                old.unlink()
    for path, text in made.items():
        (ROOT / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
