"""The frame of `vestige report`: which report, in which form, of which threads."""

from __future__ import annotations

import csv
import io
import json

import pytest

from support.call_traces import enter, leave, packet, write_calls
from support.recordings import DATA, DEMO
from vestige import ctf

A, B = 0x1000, 0x2000


@pytest.fixture
def calls(tmp_path):
    """Return a trace of calls of two threads."""
    streams = {
        "a": [packet([enter(1000, A), leave(3000)], vtid=5)],
        "b": [packet([enter(1001, B), leave(1011)], vtid=6)],
    }
    return str(write_calls(tmp_path / "calls", streams))


def test_events_of_the_demo_are_counted(run):
    """The table has what the JSON has."""
    status, text, errors = run("report", "--events", DEMO / "trace")
    assert (status, errors) == (0, "")
    facts = json.loads(run("report", "--events", "--json", DEMO / "trace")[1])

    assert text.startswith(f"{facts['events']} events of 20 names in 3 threads, over ")
    assert sum(one["events"] for one in facts["names"]) == facts["events"]
    assert sum(one["events"] for one in facts["threads"]) == facts["events"]
    [priced] = [
        row for row in text.splitlines() if row.endswith("  pricing:item_priced")
    ]
    assert priced.split()[:3] == ["12", "7.5", "%"]
    assert "of functions" not in text  # nobody has looked for calls


def test_events_of_each_thread(run):
    """Shares are of the thread."""
    text = run("report", "--events", "--thread", DEMO / "trace")[1]
    facts = json.loads(
        run("report", "--events", "--thread", "--json", DEMO / "trace")[1]
    )

    for one in facts["threads"]:
        assert f"thread {one['vtid']} of process {one['vpid']}" in text
        assert sum(row["share"] for row in one["names"]) == pytest.approx(1)
        own = run("report", "--events", f"--thread={one['vtid']}", DEMO / "trace")[1]
        assert own.startswith(f"{one['events']} event")


def test_one_process(run, calls):
    """Of calls and of events."""
    assert run("report", "--process=77", calls)[1].startswith("2 calls in 2 threads")
    status, text, errors = run("report", "--process=78", calls)
    assert (status, text) == (2, "")
    assert "--process=78: no such process has calls; those that have: 77" in errors
    status, _, errors = run("report", "--events", "--process=78", calls)
    assert status == 2
    assert "--process=78: no such thread has events" in errors


def test_forms_hold_the_same(run, calls, tmp_path):
    """Also those in files."""
    functions = json.loads(run("report", "--to=json", calls)[1])["functions"]
    rows = list(csv.DictReader(io.StringIO(run("report", "--to=csv", calls)[1])))
    assert [(row["function"], row["total_ns"]) for row in rows] == [
        (one["function"], str(one["total_ns"])) for one in functions
    ]
    tree = run("report", "--to=csv", "--tree", "--thread", calls)[1]
    assert tree.splitlines()[0].startswith("trace,vpid,vtid,id,caller,kind,function,")
    for form in ("table", "json", "csv"):
        path = tmp_path / f"report.{form}"
        assert run("report", "--to", form, "-o", path, calls) == (0, "", "")
        assert path.read_text() == run("report", "--to", form, calls)[1]


def test_what_cannot_be_written_is_an_error(run, calls, tmp_path):
    """Status 3, as the help says."""
    status, _, errors = run("report", "-o", tmp_path / "none" / "file", calls)

    assert status == 3
    assert "No such file or directory" in errors


def test_one_report_at_a_time(run, calls):
    """What is asked of another one is wrong usage."""
    status, _, errors = run("report", "--to=folded2", calls)

    assert status == 2
    assert "--to" in errors


def test_names_are_without_what_steers_a_terminal(run, tmp_path):
    """In all tables."""
    with ctf.Writer(tmp_path / "t", event_context={"procname": str}) as writer:
        event = writer.event_class("evil\x1b[31m:name\r")
        writer.stream("s\x1b").write(event, 1, {"procname": "\x1b]0;x\x07"})
    text = run("report", "--thread", tmp_path / "t")[1]

    assert "\\e[31m" in text
    assert not any(one < " " for one in text if one != "\n")


def test_a_trace_without_events(run, tmp_path):
    """There is nothing, and that is no error."""
    with ctf.Writer(tmp_path / "t"):
        pass

    status, text, errors = run("report", "--events", tmp_path / "t")

    assert (status, text, errors) == (0, "no events\n", "")


def test_lttng_traces_without_contexts_go_by_cpu(run):
    """As nobody knows more."""
    text = run("report", DATA / "hello")[1]

    assert text.startswith("4 events of 1 name on 1 CPU, over 2.844 µs\n")
