"""Paths of open calls."""

from __future__ import annotations

from vestige.analysis import call_paths
from vestige.analysis.call_paths import CallPaths

ONE, OTHER = (0, 1, 1), (0, 1, 2)


def test_each_thread_has_its_own_path():
    """The same calls have the same path."""
    paths = CallPaths()
    for maker in (ONE, OTHER):
        paths.enter(maker, 0x1, 5)
        paths.enter(maker, 0x2, 6)
    same = paths.of(ONE)

    assert same == paths.of(OTHER)
    assert paths.sites(same) == [5, 6]
    paths.leave(ONE, 0x2)
    assert paths.sites(paths.of(ONE)) == [5]
    assert paths.of(OTHER) == same
    assert paths.of((0, 9, 9)) == 0
    assert paths.sites(0) == []


def test_an_exit_ends_what_a_jump_has_left():
    """If it says which function is left; else the innermost one."""
    paths = CallPaths()
    for address in (1, 2, 3):
        paths.enter(ONE, address, address)
    paths.leave(ONE, 7)
    assert paths.sites(paths.of(ONE)) == [1, 2, 3]
    paths.leave(ONE, 2)
    assert paths.sites(paths.of(ONE)) == [1]
    paths.leave(ONE, 0)
    paths.leave(ONE, 0)
    assert paths.of(ONE) == 0


def test_paths_are_bounded(monkeypatch):
    """Deep recursion and many paths count for the last one that there is."""
    monkeypatch.setattr(call_paths, "DEEPEST", 3)
    paths = CallPaths()
    for address in range(10):
        paths.enter(ONE, 1 + address, 1 + address)
    assert paths.sites(paths.of(ONE)) == [1, 2, 3]
    for address in reversed(range(4, 10)):
        paths.leave(ONE, 1 + address)
    monkeypatch.setattr(call_paths, "MOST_PATHS", 4)
    paths.enter(OTHER, 9, 9)
    assert paths.of(OTHER) == 0
