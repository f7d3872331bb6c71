"""The tables of options in the reference pages are those of the parsers.

A table of options has a first column ``option``, and the paragraph above it has the verbs
that it is about: "Of `view` and `demo`:". A row that is about some of them says so
at its end: "(`view` only)" or "(not `demo`)". A verb may have several tables, on any page
of docs/reference; together they name all its options, and no other. Guides name some.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vestige.cli.parser import build_parser
from vestige.cli.verbs import load_commands

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = sorted((ROOT / "docs/reference").glob("*.md"))
GUIDES = sorted((ROOT / "docs/guide").glob("*.md"))
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z](?:-0|[a-z-])*)")
CODE = re.compile(r"`([^`]+)`")
OF = re.compile(r"(?i)\bof (`[^:]*):")
ONLY = re.compile(r"\(([^()]*) only\)$")
NOT = re.compile(r"\(not ([^()]*)\)$")
HELP = {"-h", "--help"}


@dataclass(frozen=True)
class Row:
    """A row of a table of options."""

    where: str
    """Page and line."""
    verbs: frozenset[str]
    options: frozenset[str]


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all verbs."""
    actions = build_parser(load_commands([]))._actions
    [found] = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found.choices)


PARSERS = parsers()


def named_verbs(text: str) -> frozenset[str]:
    """Return the verbs that a text names in code."""
    return frozenset(CODE.findall(text)) & PARSERS.keys()


def limited(verbs: frozenset[str], text: str) -> frozenset[str]:
    """Return the verbs of a row, by what stands at its end."""
    only, without = ONLY.search(text), NOT.search(text)
    if only and named_verbs(only[1]):
        return verbs & named_verbs(only[1])
    if without and named_verbs(without[1]):
        return verbs - named_verbs(without[1])
    return verbs


def rows(page: Path) -> Iterator[Row]:
    """Yield the rows of all tables of options of a page."""
    paragraph: list[str] = []
    before = ""
    is_options = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{page.relative_to(ROOT)}:{number}"
        if not line.startswith("|"):
            is_options = False
            if line:
                paragraph.append(line)
            elif paragraph:
                before, paragraph = " ".join(paragraph), []
        elif line.startswith("| option |"):
            is_options = True
            found = OF.search(before)
            assert found, (
                f"{where}: the paragraph above a table of options has the verbs it is "
                f"about, such as 'Of `view` and `demo`:', unlike {before!r}"
            )
            verbs = named_verbs(found[1])
            assert verbs, f"{where}: no verb in {before!r}"
        elif is_options and not line.startswith("| ---"):
            cells = re.split(r"(?<!\\)\|", line.strip("|"))
            options = frozenset(
                one for code in CODE.findall(cells[0]) for one in OPTION.findall(code)
            )
            assert options, f"{where}: no option in {cells[0]!r}"
            yield Row(where, limited(verbs, cells[-1].strip()), options)


def visible_options(parser: argparse.ArgumentParser) -> set[str]:
    """Return what ``--help`` lists."""
    shown = [a for a in parser._actions if a.help != argparse.SUPPRESS]
    return {one for action in shown for one in action.option_strings} - HELP


@pytest.mark.parametrize("verb", sorted(PARSERS))
def test_every_option_has_a_row(verb: str) -> None:
    """What ``vestige VERB --help`` lists is in a reference page."""
    documented: set[str] = set()
    for page in REFERENCE:
        documented |= {
            o for row in rows(page) if verb in row.verbs for o in row.options
        }
    missing = sorted(visible_options(PARSERS[verb]) - documented)

    assert not missing, (
        f"'vestige {verb}' has {', '.join(missing)}, and no table below 'Of `{verb}`' in "
        "docs/reference/*.md: add a row"
    )


@pytest.mark.parametrize("page", [*REFERENCE, *GUIDES], ids=lambda page: page.stem)
def test_every_row_is_an_option(page: Path) -> None:
    """What a table lists, the parsers of its verbs take."""
    wrong = [
        f"{row.where}: 'vestige {verb}' has no option {option}"
        for row in rows(page)
        for verb in sorted(row.verbs)
        for option in sorted(row.options - set(PARSERS[verb]._option_string_actions))
    ]

    assert not wrong, "\n".join(wrong)


def test_rows_may_be_about_some_verbs() -> None:
    """The end of a row limits it."""
    all_three = frozenset({"view", "convert", "demo"})

    assert limited(all_three, "no pager (`view` only)") == {"view"}
    assert limited(all_three, "(`view` and `demo` only)") == {"view", "demo"}
    assert limited(all_three, "a name (not `demo`)") == {"view", "convert"}
    assert limited(all_three, "payload only (see below)") == all_three
