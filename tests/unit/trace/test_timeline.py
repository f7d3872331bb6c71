"""The page of a trace in notebooks, up to what becomes of an executed notebook."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls

A, B = 0x10000, 0x20000
HOSTILE = "</script><b>'"
MEGABYTE = 1_000_000
SHOWN = (
    "threads()",
    "calls()",
    "calls().longest(1)[0]",
    "calls().longest(1)[0].inside()",
    "durations('store')",
    "locks()",
    "memory()",
    "states(lambda event: (event.thread, event.name))",
)
"""What else notebooks show."""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a trace of calls; a function has a hostile name."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    calls = [
        *(code(1, A, HOSTILE), code(2, B, "store")),
        *(enter(100, A), enter(200, B), leave(1_700), leave(2_100)),
    ]
    return write_calls(tmp_path / "trace", {"a": [packet(calls)]})


class Frames(HTMLParser):
    """Collects the pages in frames."""

    def __init__(self, html):
        super().__init__()
        self.pages, self.tables = [], 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Keep the page of a frame."""
        self.tables += tag == "table"
        if tag == "iframe":
            self.pages.append(dict(attrs)["srcdoc"])


def test_trees_of_whole_traces_have_a_page(path):
    """One of a part has none: the page would show more than the tree."""
    trace = vestige.open(path)
    tree = trace.call_tree()

    assert Frames(tree._repr_html_()).pages[0].startswith("<!")
    for part in (trace.call_tree(end=1_800), tree.choose(exclude=["store"])):
        assert Frames(part._repr_html_()).pages == []


def test_what_is_of_a_part_has_no_page(path):
    """The page would show more than the table."""
    trace = vestige.open(path)

    for part in (trace.calls("store"), trace.calls(begin=150), trace.calls().below(0)):
        assert Frames(part._repr_html_()).pages == []


def test_a_timeline_is_a_page(path, tmp_path):
    """The same in a notebook and in a file, and it is not large."""
    timeline = vestige.open(path).timeline()

    timeline.save(tmp_path / "one.html")

    [page] = Frames(timeline._repr_html_()).pages
    assert (tmp_path / "one.html").read_text(encoding="utf-8") == page
    assert '"store"' in page
    assert HOSTILE not in page
    assert len(timeline._repr_html_()) < MEGABYTE


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_executed_notebook_shows_all(path):
    """As nbconvert writes it for people who have no notebook."""
    reason = "what runs notebooks is in the extra 'dev'"
    nbconvert = pytest.importorskip("nbconvert", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    preprocessors = pytest.importorskip("nbconvert.preprocessors", reason=reason)
    lines = [
        f"import vestige; trace = vestige.open({str(path)!r}); trace.call_tree()",
        "trace.timeline()",
        *(f"trace.{shown}" for shown in SHOWN),
    ]
    cells = [nbformat.v4.new_code_cell(line) for line in lines]
    notebook = nbformat.v4.new_notebook(cells=cells)

    preprocessors.ExecutePreprocessor(timeout=60).preprocess(notebook)
    html, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)

    found = Frames(html)
    # Of the tree as well; a call is two, and so are what is in it, and durations.
    assert found.tables == 1 + len(SHOWN) + 3
    assert "Traceback" not in html
    # None of one call, and of what is in it.
    assert len(found.pages) == 2 + len(SHOWN) - 2
    assert all('"store"' in page for page in found.pages)
