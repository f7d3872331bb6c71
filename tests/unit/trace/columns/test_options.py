"""Options that no column can have are refused before anything is read."""

from __future__ import annotations

import pytest

import vestige
from support.recordings import DATA
from vestige import SelectionError
from vestige.export import export


@pytest.fixture
def hello():
    """Return a trace of four greetings."""
    return vestige.open(DATA / "hello", debug_info=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"enumerations": "names"}, "expected one of labels, values"),
        ({"strings": "short"}, "expected one of plain, dictionary"),
        ({"times": "iso"}, "expected one of auto, timestamp"),
        ({"batch_size": 0}, "expected 1 to"),
        ({"batch_size": -1}, "expected 1 to"),
        ({"columns": "event"}, "expected a list of names"),
    ],
)
def test_an_option_that_does_not_exist_is_named(hello, options, message):
    """With what it may be."""
    with pytest.raises(SelectionError, match=message):
        hello.to_arrow(**options)


def test_a_pattern_is_text(hello):
    """Several patterns are not one."""
    with pytest.raises(SelectionError, match="is no pattern"):
        hello.events(["a*", "b*"])


def test_an_unknown_format_is_refused(hello, tmp_path):
    """Before a file is made."""
    with pytest.raises(SelectionError, match="parquet, arrow, csv, jsonl"):
        export(hello, tmp_path / "x.zip", "zip")
    assert not list(tmp_path.iterdir())
