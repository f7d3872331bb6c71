"""Plans: connections as text."""

from __future__ import annotations

import pytest

from vestige.errors import GraphError
from vestige.graph.plan import Connection


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:b", Connection("a", "b")),
        ("a.in0:b", Connection("a", "b", "in0")),
        ("a:b.out*", Connection("a", "b", "*", "out*")),
        (
            r"src\.ctf\.fs.* | 0 | *:mu\:x",
            Connection("src.ctf.fs", "mu:x", "* | 0 | *"),
        ),
        (r"a\\:b\\\.c", Connection("a\\", "b\\.c")),
        (r"a.\*:b", Connection("a", "b", r"\*")),
    ],
)
def test_a_connection_is_read_and_written(text, expected):
    """Names with signs that would split them have backslashes."""
    assert Connection.parse(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    ["", "a", ":", "a:", ":b", "a:b:c", "a.b.c:d", "a.:b", "a.x?:b", "a.[x:b", "a\n:b"],
)
def test_other_forms_are_refused(text):
    """Before anything is opened."""
    with pytest.raises(GraphError, match="is no connection"):
        Connection.parse(text)
