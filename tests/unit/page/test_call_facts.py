"""What the page is told of calls adds up."""

from vestige.analysis.call_nodes import CallNode
from vestige.analysis.functions import ROOT_FUNCTION, Function
from vestige.page import call_facts
from vestige.page.call_facts import FunctionTable, tree


def chain(depth: int) -> CallNode:
    """Return a root with calls within each other, each 1 ns shorter."""
    root = CallNode(function=ROOT_FUNCTION)
    node = root
    for level in range(depth):
        function = Function(f"f{level}")
        callee = CallNode(
            function=function, calls=1, complete=1, total=depth - level, self_time=1
        )
        node.callees[function] = callee
        node = callee
    return root


def test_a_tree_may_be_deeper_than_lists_can_be():
    """Recursion is deep."""
    table = FunctionTable()
    told = tree(chain(5_000), table)
    assert told["leftOut"] == 0
    assert [row[0] for row in told["rows"]] == [-1, *range(4_999)]
    assert [table.functions[row[1]].name for row in told["rows"]][:2] == ["f0", "f1"]
    assert told["rows"][0][2:] == [1, 1, 5_000, 1]


def test_the_longest_nodes_are_kept(monkeypatch):
    """And it is told how many are not."""
    monkeypatch.setattr(call_facts, "MOST_NODES", 10)
    told = tree(chain(30), FunctionTable())
    assert told["leftOut"] == 20
    assert [row[4] for row in told["rows"]] == list(range(30, 20, -1))


def test_of_nodes_that_took_as_long_the_callers_are_kept(monkeypatch):
    """All of them may have taken the same time."""
    monkeypatch.setattr(call_facts, "MOST_NODES", 10)
    root = chain(30)
    for _, node in root.walk():
        node.total = 5
    told = tree(root, FunctionTable())
    assert [row[0] for row in told["rows"]] == list(range(-1, 9))


def test_names_cannot_steer_what_shows_them():
    """Nor fill the page."""
    table = FunctionTable([Function("\x1b[2J\u202egnp"), Function("x" * 100_000)])
    steering, long = table.facts()
    assert steering["name"].isprintable()
    assert len(long["name"]) == 2_000
