"""A program with thousands of children: all of their calls, in little time."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from support.call_counts import run_counted, run_peer_counted
from support.judged_programs import build_judged
from support.peers import run_peer
from support.recorded import run_recorded

CHILDREN = 3000
ROUNDS = 2


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


def test_a_recording_of_them_takes_no_longer_than_uftrace(tmp_path, children):
    """The best of some rounds, each with both tools; start and end are included."""
    words = [children, str(CHILDREN)]
    ours, peers = [], []
    for turn in range(ROUNDS):
        begin = time.perf_counter()
        done = run_recorded(tmp_path / f"trace-{turn}", words)
        ours.append(time.perf_counter() - begin)
        assert done.returncode == 0, done.stderr
        begin = time.perf_counter()
        options = ["--no-libcall", "--no-event", "-d", tmp_path / f"uftrace-{turn}"]
        recorded = run_peer(["uftrace", "record", *options, *words])
        peers.append(time.perf_counter() - begin)
        assert recorded.status == 0, recorded.stderr

    assert min(ours) <= min(peers)
