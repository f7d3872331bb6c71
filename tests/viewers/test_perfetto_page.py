"""Perfetto's page opens our files, and its SQL counts what our reports count."""

from __future__ import annotations

from collections import Counter

import pytest

from vestige.viewers.names import shown

QUERY = """async text => {
    const found = await app.trace.engine.query(text);
    const rows = [];
    for (const each = found.iter({}); each.valid(); each.next())
        rows.push(found.columns().map(name => {
            const value = each.get(name);
            return typeof value === "bigint" ? Number(value) : value;
        }));
    return rows;
}"""


@pytest.fixture
def opened(page, server):
    """A function that opens a file; returns one that asks for rows."""

    def open_file(path):
        url = f"{server}/perfetto/index.html#!/?url={server}/out/{path.name}"
        page.goto(url)
        page.wait_for_function(
            "() => window.app && app.trace && app.trace.engine", timeout=120_000
        )
        return lambda text: page.evaluate(QUERY, text)

    return open_file


BAD = """select name, value from stats
    where value > 0 and severity in ('error', 'data_loss')"""
SUMS = """select name, count(*), sum(dur) from slice
    where dur > 0 or name in (select name from slice where dur > 0) group by name"""


@pytest.mark.parametrize("to", ["perfetto", "chrome"])
def test_sums_are_those_of_the_report(opened, export, report, traces, to):
    """Calls and times by function; nothing was refused."""
    ask = opened(export("recorded", to))

    assert ask(BAD) == []
    wanted = {
        one["function"]: (one["calls"], one["total_ns"])
        for one in report(traces["recorded"])["functions"]
    }
    assert {name: (count, time) for name, count, time in ask(SUMS)} == wanted
    threads = ask("select tid from thread join thread_track using (utid)")
    assert len({tid for (tid,) in threads}) == 4


def test_threads_have_their_names(opened, export):
    """The last ones that they gave themselves, as text."""
    ask = opened(export("named", "perfetto"))

    names = ask("select thread.name from thread join thread_track using (utid)")
    assert {name for (name,) in names} == {"app", "<b>&a;b'", "second"}


def test_what_is_not_complete_says_so(opened, export, report, traces):
    """Names of others stand there as text."""
    ask = opened(export("hostile", "perfetto"))
    functions = report(traces["hostile"])["functions"]

    assert ask(BAD) == []
    counts = Counter(dict(ask("select name, count(*) from slice group by name")))
    for one in functions:
        assert counts[shown(one["function"])] == one["calls"]
    incomplete = ask(
        "select count(*) from slice join args using (arg_set_id) "
        "where key = 'debug.incomplete'"
    )
    assert incomplete == [[sum(one["calls"] - one["complete"] for one in functions)]]
    losses = ask("select name from slice where name like '%lost'")
    assert losses == [["5 events lost"]]


def test_spans_flow(opened, export):
    """An arrow from each slice by its entry to its exit, and to the span within.

    The record of an exit tells of the error, and so does the slice of the span.
    """
    ask = opened(export("spans", "perfetto"))

    assert ask(BAD) == []
    assert ask("select count(*) from flow") == [[6]]
    slices = ask("select name, dur, depth from slice where dur > 0 order by ts")
    assert [row[1:] for row in slices] == [[30, 0], [10, 0]]
    assert {row[0] for row in slices} == {"event_0"}
    assert (
        ask(
            "select display_value from args where key = 'debug.error' and display_value != ''"
        )
        == [["KeyError"]] * 2
    )


def test_it_can_be_seen(opened, export, page, tmp_path):
    """A track for the process is on the screen."""
    opened(export("recorded", "perfetto"))
    page.wait_for_function(
        "() => document.body.innerText.includes('program')", timeout=60_000
    )
    page.screenshot(path=tmp_path / "perfetto.png")
