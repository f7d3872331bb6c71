"""How long coroutines and spans took, and what the longest ones waited for."""

from __future__ import annotations

import pytest

import vestige
from support.service_traces import Request, write_service
from vestige.analysis import Thread

PLAIN = [("database", 1000), ("render", 100)]


@pytest.fixture
def service(tmp_path):
    """Return a trace of forty requests, of which one waits long in `render`."""
    requests = [Request(n, 10_000 * n, PLAIN) for n in range(1, 41)]
    requests[24] = Request(25, 250_000, [("database", 1000), ("render", 5000)])
    requests.append(Request(41, 410_000, [("handle", 30)], vtid=8))
    requests.append(Request(42, 420_000, PLAIN, vtid=8, has_end=False))
    return vestige.open(write_service(tmp_path / "trace", requests), debug_info=False)


def test_the_longest_coroutine_tells_what_it_waited_for(service):
    """Its whole life counts, not the steps between its waits."""
    slow = service.durations("handle")
    first = slow.longest[0]

    assert (slow.count, len(slow.longest)) == (41, 10)
    assert (first.begin, first.duration, first.running) == (250_000, 6030, 30)
    assert first.end == 256_030
    waits = [(one.name, one.count, one.total, one.longest) for one in first.waits]
    assert waits == [("render", 1, 5000, 5000), ("database", 1, 1000, 1000)]
    assert first.waits[0].begin == 251_020
    assert [one.name for one in first.waits[0].path] == ["handle", "render"]
    # Of equal ones, those that began first.
    assert [one.begin for one in slow.longest[1:4]] == [10_000, 20_000, 30_000]


def test_others_that_run_keep_one_waiting(tmp_path):
    """What ran in the thread meanwhile is known, whatever it was."""
    requests = [
        Request(1, 1000, [("render", 500)]),
        # In the midst of it; its own waits are no running.
        Request(2, 1100, [("render", 100), ("database", 50)]),
    ]
    trace = vestige.open(write_service(tmp_path / "trace", requests), debug_info=False)
    first, second = trace.durations("handle").longest

    assert [(one.total, one.others) for one in first.waits] == [(500, 30)]
    assert [one.others for one in second.waits] == [0, 0]


def test_a_span_tells_what_its_coroutine_waited_for(service):
    """With the fields that the program gave it, and its task."""
    spans = service.durations("shop:request")
    first = spans.longest[0]

    assert (spans.count, spans.quantile(0), spans.quantile(1)) == (41, 50, 6030)
    assert (first.task, first.fields) == ("task-25", {"number": 25})
    assert [(one.name, one.total) for one in first.waits] == [
        ("render", 5000),
        ("database", 1000),
    ]
    [own] = service.call_tree(durations=True).spans
    assert (own.durations_total, own.unended) == (39 * 1130 + 6030 + 50, 1)


def test_what_waits_itself_awaits_nothing_that_was_recorded(service):
    """As coroutines do that wait for what is written in C."""
    [shortest] = [
        one
        for one in service.call_tree(durations=True, longest=99)
        .coroutines[0]
        .durations.longest
        if one.thread.tid == 8
    ]

    assert [(one.name, one.total) for one in shortest.waits] == [("handle", 30)]


def test_threads_may_be_chosen(service):
    """By ID, or as threads of another tree."""
    tree = service.call_tree(durations=True, threads=[8])
    assert [(one.name, one.calls, one.durations.count) for one in tree.spans] == [
        ("shop:request", 2, 1)
    ]
    thread = service.durations("handle").longest[0].thread
    assert isinstance(thread, Thread)
    own = service.call_tree(durations=True, threads=[thread]).coroutines
    assert {one.name: one.calls for one in own}["handle"] == 40


def test_functions_of_several_processes_are_one(tmp_path):
    """Their durations, too."""
    requests = [
        Request(1, 1000, [("render", 70)], vpid=7),
        Request(2, 2000, [("render", 50)], vpid=9, vtid=9),
    ]
    trace = vestige.open(write_service(tmp_path / "trace", requests), debug_info=False)
    both = trace.durations("render")

    assert (both.count, both.quantile(0), both.quantile(1)) == (2, 60, 80)
    assert [one.thread.process.pid for one in both.longest] == [7, 9]


def test_nothing_is_kept_unless_asked_for(service):
    """The tables alone need less."""
    tree = service.call_tree()

    assert [one.durations for one in (*tree.spans, *tree.coroutines)] == [None] * 4


def test_a_notebook_shows_one(service):
    """How long it took at all, and if it was asked for how long the longest took."""
    [span] = service.call_tree(durations=True).spans
    shown = span._repr_html_()
    assert shown.startswith("<table><caption>shop:request</caption>")
    assert "The longest" in shown
    [without] = service.call_tree().spans
    assert without._repr_html_().count("<table>") == 1
