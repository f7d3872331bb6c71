"""Chrome's JSON: each call and each event, in microseconds from the first one."""

from __future__ import annotations

import json
from collections import Counter

from support.call_traces import HOSTILE_NAME
from support.recordings import DATA, DEMO
from vestige.viewers.names import shown


def read(path):
    """Return the events of a file, and what else it tells."""
    text = path.read_text()
    assert "<" not in text
    facts = json.loads(text)
    return facts["traceEvents"], facts["otherData"]


def test_calls_are_those_of_the_report(export, report):
    """As many of each function; other events are instants."""
    path, _ = export(DEMO / "trace", "chrome")
    events, _ = read(path)
    facts = report(DEMO / "trace")
    calls = Counter(one["name"] for one in events if one["ph"] == "X")

    assert calls == {shown(one["function"]): one["calls"] for one in facts["functions"]}
    instants = [one for one in events if one["ph"] == "i"]
    assert len(instants) == facts["other_events"]


def test_nanoseconds_are_kept(calls, export):
    """Numbers of JavaScript hold them, since they count from the first event on."""
    path, _ = export(calls, "chrome")
    events, other = read(path)
    by_duration = {one["dur"]: one for one in events if one["ph"] == "X"}

    assert by_duration[1_000_000.06]["ts"] == 0.01
    assert int(other["begin_ns"]) % 1000 == 90


def test_what_is_not_complete_says_so(calls, export, report):
    """And one that was not seen to begin has no duration."""
    path, _ = export(calls, "chrome")
    events, _ = read(path)
    functions = report(calls)["functions"]
    incomplete = [one for one in events if "incomplete" in one.get("args", {})]

    assert len(incomplete) == sum(one["calls"] - one["complete"] for one in functions)
    assert sum(one["ph"] == "i" for one in incomplete) == sum(
        one["no_entry"] for one in functions
    )
    assert shown(HOSTILE_NAME) in {one["name"] for one in events}


def test_fields_are_arguments(export):
    """Of any class."""
    path, _ = export(DATA / "fields", "chrome")
    events, _ = read(path)
    (integers, *_) = [one for one in events if one["name"] == "fields:integers"]

    assert integers["args"]["u8"] in range(256)
