"""Words that read like another language, and what stands for them here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "changelog.d/*.md")
    for page in ROOT.glob(pattern)
    if page.parent.name != "decisions"
)
INSTEAD = {
    r"metadata (are|were|have|do|say|declare)\b": "metadata is singular",
    r"(?<!left )(?<!leave )\bbehind\b": "after",
    r"\bbeside\b": "next to, in addition to, against",
    r"\b(is|are|was|be|been) told\b": "is reported, is recorded",
    r"\btells? of\b": "reports, says",
    r"\btime stamps?\b": "timestamp",
    r"\bno valid\b": "not valid",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_words_are_those_of_english(page: Path) -> None:
    """Each has a word that is shorter, or that means one thing."""
    found = [
        f"{page.relative_to(ROOT)}:{number}: {hit[0]!r}: {instead}"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, instead in INSTEAD.items()
        for hit in re.finditer(pattern, re.sub(r"`[^`]*`", "", line), re.IGNORECASE)
    ]

    assert not found, "\n".join(found)
