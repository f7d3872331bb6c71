"""`vestige report --durations`: of coroutines and spans, of several names, of a thread."""

from __future__ import annotations

import csv
import io
import json

import pytest

from support.service_traces import Request, write_service
from vestige import ctf


@pytest.fixture
def service(tmp_path):
    """Return a trace of twenty requests, of which one waits long in `render`."""
    waits = [("database", 1000), ("render", 100)]
    requests = [Request(n, 100_000 * n, waits) for n in range(1, 21)]
    requests[6] = Request(7, 700_000, [("database", 1000), ("render", 50_000)])
    return str(write_service(tmp_path / "trace", requests))


@pytest.mark.parametrize("name", ["handle", "shop:request"])
def test_a_slow_request_is_found_by_one_command(run, service, name):
    """How long it took, when, and what it waited for."""
    status, text, errors = run("report", f"--durations={name}", service)
    lines = text.splitlines()
    [at] = [index for index, line in enumerate(lines) if " waited most " in line]

    assert (status, errors) == (0, "")
    assert "in all" in lines[1]
    assert "50.00 µs in render" in lines[at + 1]
    assert "1.000 µs in database" in lines[at + 2]
    assert lines[at + 1].lstrip().startswith("51.03 µs  +600.0 µs ")
    if name == "shop:request":
        assert lines[1].startswith("20 spans from begin to end, ")
        assert lines[at + 1].endswith("  task-7   number=7")
    else:
        assert lines[1].startswith("20 calls from begin to end, ")
        assert any(line.startswith("60 steps between waits, ") for line in lines)


def test_several_names_are_all_shown(run, service):
    """In their order, each with what it is."""
    words = ["report", "--durations=render", "--durations=shop:request", service]
    facts = json.loads(run(*words, "--json")[1])["durations"]
    rows = list(csv.DictReader(io.StringIO(run(*words, "--to=csv")[1])))

    kinds = [("render", "call"), ("render", "step"), ("shop:request", "span")]
    assert [(one["name"], one["of"]) for one in facts] == kinds
    assert list(dict.fromkeys((row["name"], row["of"]) for row in rows)) == kinds
    first = facts[2]["longest"][0]
    assert (first["task"], first["fields"], first["running_ns"]) == (
        "task-7",
        {"number": 7},
        30,
    )
    assert first["waits"][0] == {
        "path": ["handle", "render"],
        "place": "render.py:1",
        "count": 1,
        "total_ns": 50_000,
        "longest_ns": 50_000,
        "longest_begin_ns": 701_020,
        "others_ns": 0,
    }


def test_one_thread_has_its_own(run, service):
    """As spans and coroutines that begin there."""
    text = run("report", "--durations=handle", "--thread=7", service)[1]
    assert "\n20 calls from begin to end, " in text
    status, _, errors = run("report", "--durations=handle", "--thread=8", service)
    assert (status, "--thread=8: no such thread has calls" in errors) == (2, True)


def test_a_key_may_count_in_each_thread(run, tmp_path):
    """Then what has the same number in two threads is not one."""
    path = tmp_path / "trace"
    with ctf.Writer(path, event_context={"vpid": "s32", "vtid": "s32"}) as writer:
        start = writer.event_class("x:start", {"id": "u32"})
        done = writer.event_class("x:done", {"id": "u32"})
        stream = writer.stream("s")
        for time, event, thread in (
            (0, start, 1), (10, start, 2), (15, done, 1), (40, done, 2),
        ):  # fmt: skip
            stream.write(event, time, {"vpid": 1, "vtid": thread}, id=5)

    def found(words):
        facts = json.loads(run("report", f"--durations={words}", "--json", path)[1])
        return [(one["count"], one["max_ns"]) for one in facts["durations"]]

    assert found("x:start,x:done,id,thread") == [(2, 30)]
    assert found("x:start,x:done,id") == [(2, 40)]
    status, _, errors = run("report", "--durations=x:start,x:done,id,town", path)
    assert status == 2
    assert "'town' after the key: expected thread, process or cpu" in errors
