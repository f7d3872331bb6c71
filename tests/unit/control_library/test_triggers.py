"""Triggers by the control library: what is registered is what is listed."""

from __future__ import annotations


def test_triggers_of_all_kinds(build, run) -> None:
    """Conditions, rules, captures, actions and policies go to the daemon and back."""
    done = run(build("triggers"))

    assert (done.stderr, done.returncode) == ("", 0)


def test_nothing_is_lost_or_read_amiss(build_with_sanitizers, run) -> None:
    """All memory is freed, as the sanitizers see it."""
    done = run(build_with_sanitizers("triggers"))

    assert (done.stderr, done.returncode) == ("", 0)


def test_several_threads_at_once(build, run) -> None:
    """And a process that was forked in the middle."""
    done = run(build("threads"))

    assert (done.stderr, done.returncode) == ("", 0)
