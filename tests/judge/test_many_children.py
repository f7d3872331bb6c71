"""A program with thousands of children: all of their calls."""

from __future__ import annotations

from collections import Counter

import pytest

from support.call_counts import run_counted, run_peer_counted
from support.judged_programs import build_judged

CHILDREN = 3000


@pytest.fixture(scope="module")
def children(tmp_path_factory):
    """A program that forks."""
    return build_judged(tmp_path_factory.mktemp("children"), "children")


def test_the_calls_of_each_child_are_recorded(tmp_path, children):
    """As many as uftrace sees."""
    words = [children, str(CHILDREN)]
    counted = run_counted(words, tmp_path / "trace")
    peer = run_peer_counted(words, tmp_path / "uftrace")

    assert counted.status == 0
    assert counted.calls == Counter(main=1, child=CHILDREN, step=100 * CHILDREN)
    assert counted.calls["step"] == peer.calls["step"]
    assert counted.calls["child"] == peer.calls["child"]
    assert (counted.lost, counted.damage) == (0, ())
