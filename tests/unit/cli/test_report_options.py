"""Options of `vestige report`, `view` and `export` that a report has, or refuses."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls
from support.kernel_io_traces import io_records
from support.kernel_traces import random_records, write_kernel_trace
from support.recordings import DATA, DEMO

A, B = 0x1000, 0x2000


@pytest.fixture
def calls(tmp_path):
    """Return a trace of calls of two threads, the second of which is in calls longest."""
    streams = {
        "a": [
            packet([enter(1000, A), leave(3000), enter(9000, A), leave(9001)], vtid=5)
        ],
        "b": [packet([enter(1001, B), leave(99_011)], vtid=6)],
    }
    return str(write_calls(tmp_path / "calls", streams))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tree", "--percentiles"), "--percentiles: not for --tree"),
        (("--locks", "--percentiles"), "--percentiles: not for --locks"),
        (("--memory", "--sort=name"), "--sort: not for --memory"),
        (("--threads", "--sort=avg"), "rows go by begin, total, calls, name"),
        (("--events", "--sort=self"), "rows go by total, calls, avg, min, max, name"),
        (("--durations=f", "--sort=name"), "--sort: not for --durations"),
        (("--locks", "--all"), "--all: not for --locks"),
        (("--all",), "--all: not for calls"),
        (("--sort=begin",), "--sort=begin: not for calls, whose rows go by total, "),
        (("--to=folded", "--limit=3"), "--limit: not for --to folded, which has no "),
        (
            ("--to=speedscope", "--percentiles"),
            "--percentiles: not for --to speedscope",
        ),
        (("--to=html", "--sort=name"), "--sort: not for --to html"),
        (("--threads", "--thread"), "--thread without a TID: not for --threads"),
    ],
)
def test_what_a_report_does_not_have_is_refused(run, calls, words, message):
    """Nothing is left out silently."""
    status, text, errors = run("report", calls, *words)

    assert (status, text) == (2, "")
    assert message in errors


def test_threads_are_sorted(run, calls):
    """By their begin, or by what is asked for."""

    def order(*words):
        facts = json.loads(run("report", "--threads", "--json", *words, calls)[1])
        return [one["vtid"] for one in facts["threads"]]

    assert order() == order("--sort=begin") == order("--sort=calls") == [5, 6]
    assert order("--sort=total") == [6, 5]


def test_threads_of_kernels_are_sorted(run, tmp_path):
    """In JSON as in the table."""
    path = str(write_kernel_trace(tmp_path / "kernel", random_records(3, 400)))

    def found(key):
        facts = json.loads(
            run("report", "--kernel", "--json", f"--sort={key}", path)[1]
        )
        return facts["machines"][0]["threads"]

    for key, member in (("calls", "turns"), ("max", "latency_max_ns")):
        values = [one[member] or 0 for one in found(key)]
        assert values == sorted(values, reverse=True)
    names = [one["name"] or "" for one in found("name")]
    assert names == sorted(names)


def test_the_limit_says_how_many_of_the_longest(run, tmp_path):
    """Of calls; ten unless somebody wants more."""
    events = [
        one for n in range(30) for one in (enter(100 * n, A), leave(100 * n + n + 1))
    ]
    path = str(write_calls(tmp_path / "calls", {"s": [packet(events)]}))

    def longest(*words):
        facts = json.loads(
            run("report", "--durations=0x1000", "--json", *words, path)[1]
        )
        return [one["duration_ns"] for one in facts["durations"][0]["longest"]]

    assert longest() == [*range(30, 20, -1)]
    assert longest("--limit=3") == [30, 29, 28]
    assert longest("--limit=0") == [*range(30, 0, -1)]


def test_events_of_the_recorder_are_counted_when_that_is_asked_for(run):
    """As `view` shows them; what patterns name is there, too."""
    path = DATA / "recording-1"
    text = run("report", "--events", path)[1]
    every = run("report", "--events", "--all", path)[1]
    named = run("report", "--events", "--event=lttng_ust_statedump:*", path)[1]

    assert text.startswith("49 events of 3 names ")
    assert "31 events of the recorder itself left out; --all counts them" in text
    assert every.startswith("80 events of 12 names ")
    assert "left out" not in every + named
    assert "lttng_ust_statedump:start" in named
    facts = json.loads(run("report", "--events", "--json", path)[1])
    assert (facts["events"], facts["recorder_events"]) == (49, 31)
    threads = run("report", "--threads", path)[1]
    assert threads.startswith("3 threads of 2 processes, 49 events\n")
    assert "31 events of the recorder itself left out" in threads


def test_times_are_of_day_whatever_a_clock_says_of_itself(run):
    """A counter that counts from the epoch, and does not say so."""
    text = run("report", "--events", DATA / "recording-1")[1]
    assert "\nthe first at 2026-11-22 " in text
    long = run("report", "--durations=main", DATA / "recording-1")[1]
    assert "  2026-11-22 " in long


def test_callers_in_a_range_without_the_function(run, calls):
    """Nobody made a mistake: there is nothing."""
    words = ("report", "--callers=0x1000", "--begin=+8.5us", calls)
    status, _, errors = run(*words)
    assert status == 3
    assert "no function with calls in the chosen part of the trace" in errors
    assert run("report", "--callers=0x3000", calls)[0] == 2


def test_no_cell_of_csv_is_a_formula(run, tmp_path):
    """Names are what programs want."""
    events = [code(1, A, "=1+cmd"), enter(10, A), leave(20)]
    path = str(write_calls(tmp_path / "calls", {"s": [packet(events)]}))
    [row] = csv.DictReader(io.StringIO(run("report", "--to=csv", path)[1]))

    assert row["function"] == "'=1+cmd"


def test_a_range_within_a_call_exports_that_call(run, calls):
    """Without a warning that there is nothing."""
    words = ("export", "--to=folded", "--begin=+30us", "--end=+40us", calls)
    status, text, errors = run(*words)
    assert (status, errors) == (0, "")
    assert text.endswith(" 10000\n")
    _, text, errors = run("export", "--to=folded", "--begin=+1s", calls)
    assert text == ""
    assert "no calls of functions among the chosen events" in errors


def test_exports_of_a_thread(run):
    """Tables and calls, by ID and by name; of nobody there is a warning."""
    whole = run("export", "--to=folded", DEMO / "trace")[1].splitlines()
    rows = list(
        csv.DictReader(io.StringIO(run("export", "--to=csv", DEMO / "trace")[1]))
    )
    threads = {row["vtid"] for row in rows}
    parts = []
    for thread in threads:
        own = run("export", "--to=csv", f"--thread={thread}", DEMO / "trace")[1]
        found = list(csv.DictReader(io.StringIO(own)))
        assert found == [row for row in rows if row["vtid"] == thread]
        parts += run("export", "--to=folded", f"--thread={thread}", DEMO / "trace")[
            1
        ].splitlines()
    assert sorted(parts) == sorted(whole)
    status, _, errors = run("export", "--to=csv", "--process=nosuch", DEMO / "trace")
    assert (status, "--process=nosuch: no such event" in errors) == (0, True)


def test_view_warns_of_a_thread_that_is_not_there(run):
    """It shows nothing."""
    status, text, errors = run("view", "--thread=nosuch", DEMO / "trace")

    assert (status, text) == (0, "")
    assert "--thread=nosuch: no such event; 'vestige report --threads' shows" in errors
    assert "--thread" not in run("view", DEMO / "trace")[2]


def test_input_and_output_of_a_kernel(run, calls, tmp_path):
    """Tables, rows, and what it is not of."""
    records, model = io_records(3, 600)
    path = str(write_kernel_trace(tmp_path / "kernel", records))
    text = run("report", "--io", path)[1]
    for title in ("iousagetop", "iolatencystats", "iolatencytop", "memtop"):
        assert f"({title})\n" in text
    rows = list(csv.DictReader(io.StringIO(run("report", "--io", "--to=csv", path)[1])))
    read = {int(row["tid"]): int(row["read_bytes"]) for row in rows}
    assert read == {thread: model.bytes["read", thread] for thread in read}
    facts = json.loads(run("report", "--io", "--json", "--limit=1", path)[1])
    [machine] = facts["machines"]
    assert len(machine["threads"]) == 1
    assert len(machine["operations"][1]["longest"]) == 1
    assert run("report", "--io", calls)[0] == 3
    assert run("report", "--io", "--thread=99", path)[0] == 2
    assert run("report", "--io", "--event=x", path)[0] == 2


def test_relative_times_count_from_one_begin(run, tmp_path):
    """Events of the recorder come first, and count whether they are shown or not."""
    path = DATA / "recording-1"
    facts = json.loads(run("report", "--events", "--json", path)[1])
    origin = facts["origin_ns"]
    assert facts["begin_ns"] > origin
    trace = vestige.open(path)
    assert trace.intervals().begin == origin
    assert next(iter(trace)).timestamp == origin
    since = facts["begin_ns"] - origin
    text = run("report", "--events", path)[1]
    assert f"\ntimes count from {_clock(origin)}, when the trace begins\n" in text
    shown = run("view", f"-t=+{since}ns,+{since}ns", path)[1]
    assert _clock(facts["begin_ns"]).split()[1] in shown
    chrome = tmp_path / "chrome.json"
    assert run("export", "--to", "chrome", "-o", chrome, path)[0] == 0
    assert json.loads(chrome.read_text())["otherData"]["begin_ns"] == str(origin)
    threads = json.loads(run("report", "--threads", "--json", path)[1])
    assert threads["origin_ns"] == origin
    text = run("report", "--threads", "-t=+9000s,+9001s", path)[1]
    assert text == "0 threads of 0 processes, 0 events\n"


def _clock(time):
    seconds, part = divmod(time, 10**9)
    local = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{local:%Y-%m-%d %H:%M:%S}.{part:09d}"
