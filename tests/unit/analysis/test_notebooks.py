"""Tables of calls, durations, threads and states in notebooks."""

from __future__ import annotations

import re
from html import unescape

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls

A, B = 0x10000, 0x20000
HOSTILE = "<script>f</script>"


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Return a trace of calls; a function has a name that is a tag."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    calls = [
        *(code(1, A, HOSTILE), code(2, B, "store")),
        *(enter(100, A), enter(200, B), leave(1_700), leave(2_100)),
        *(enter(3_000, A), leave(3_300)),
    ]
    return vestige.open(write_calls(tmp_path / "trace", {"a": [packet(calls, vtid=7)]}))


def rows(html):
    """Return the cells of all tables, row by row; pages in frames are by themselves."""
    html = html.partition("<iframe")[0]
    assert "<script" not in html
    found = re.findall(r"<tr>(.*?)</tr>", html)
    return [
        [unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in found
    ]


def test_call_trees(trace):
    """A row for each function, as in the report; of a thread, too."""
    tree = trace.call_tree(begin=1)  # a range: without the page

    functions = rows(tree._repr_html_())
    assert [row[:6] for row in functions[1:]] == [
        [HOSTILE, "2.300 µs", "800 ns", "2", "1.150 µs", "2.000 µs"],
        ["store", "1.500 µs", "1.500 µs", "1", "1.500 µs", "1.500 µs"],
    ]
    assert rows(tree.threads[0]._repr_html_()) == functions


def test_durations(trace):
    """Quantiles, then the longest."""
    [durations] = [
        one.durations
        for one in trace.call_tree(durations=True).functions()
        if one.calls == 2
    ]

    found = rows(durations._repr_html_())
    assert found[:2] == [["count", "2"], ["shortest", "300 ns"]]
    assert [row[:2] for row in found[-2:]] == [["2.000 µs", "100"], ["300 ns", "3000"]]


def test_calls_threads_and_states(trace):
    """The first of them; a selection says that there are more."""
    assert [row[:2] for row in rows(trace.calls()._repr_html_())[1:]] == [
        ["store", "1.500 µs"],
        [HOSTILE, "2.000 µs"],
        [HOSTILE, "300 ns"],
    ]
    assert rows(trace.threads()._repr_html_())[1][1:5:3] == ["7", "3"]
    states = trace.states(lambda event: (HOSTILE, event.name[-5:]))
    assert rows(states._repr_html_())[-1][:2] == [HOSTILE, "_exit"]
    assert len(list(states)) == len(list(states)) > 3


def test_no_more_is_shown_than_a_person_reads(tmp_path):
    """Of many calls the first 50."""
    many = [one for at in range(0, 600, 10) for one in (enter(at, A), leave(at + 1))]
    path = write_calls(tmp_path / "trace", {"a": [packet(many)]})

    html = vestige.open(path).calls()._repr_html_()

    assert "The first 50 calls" in html
    assert len(rows(html)) == 51
