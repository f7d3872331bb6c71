"""The table of what LTTng's documents describe says what there is to see."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/capabilities.md"
STATES = ["works", "partly", "not yet"]


def rows(text: str, columns: int) -> list[list[str]]:
    """Return the rows of tables of so many columns, without their heads."""
    cells = [
        [one.strip() for one in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    heads = {
        tuple(one)
        for one, following in pairwise(cells)
        if following[0].startswith("---")
    }
    return [
        one
        for one in cells
        if len(one) == columns
        and tuple(one) not in heads
        and not one[0].startswith("---")
    ]


def test_all_capabilities_are_there():
    """Each has a state, and the totals are those of the rows."""
    text = PAGE.read_text()
    summary, *documents = re.split(r"^## ", text, flags=re.MULTILINE)
    totals = {name: [*map(int, counts)] for name, *counts in rows(summary, 5)}
    everything: Counter[str] = Counter()
    for document in documents:
        states = Counter(state for _, state, _ in rows(document, 3))
        counts = [states[one] for one in STATES]
        assert totals[document.splitlines()[0]] == [*counts, states.total()]
        everything += states
    assert set(everything) == set(STATES)
    assert everything.total() == 280
    assert totals["all"] == [*(everything[one] for one in STATES), 280]


def test_what_is_said_to_work_can_be_seen():
    """A test of each is named, and is there; what is missing is said."""
    for capability, state, where in rows(PAGE.read_text(), 3):
        tests = re.findall(r"`((?:unit|oracle)/[^`]+)`", where)
        pages = re.findall(r"\]\(([^)#]+)", where)
        for one in tests:
            assert (ROOT / "tests" / one).exists(), one
        for one in pages:
            assert (PAGE.parent / one).exists(), one
        assert state != "works" or tests, capability
        assert state != "partly" or where, capability
