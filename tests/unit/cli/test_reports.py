"""The frame of `vestige report`: which report, in which form, of which threads."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from support.kernel_traces import random_records, write_kernel_trace
from support.recordings import DATA, DEMO
from vestige import ctf
from vestige.analysis.events import event_table
from vestige.analysis.intervals import intervals
from vestige.cli.parser import build_parser
from vestige.cli.render.call_style import CallStyle
from vestige.cli.render.duration_lines import section_lines
from vestige.cli.reports import calls as calls_report
from vestige.cli.reports.duration_sections import _pair_section
from vestige.cli.reports.reading import Reading
from vestige.cli.verbs import load_commands
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Selection
from vestige.trace.abandoned import REGISTER

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
    status, text, errors = run("report", "--events", "--all", DEMO / "trace")
    assert (status, errors) == (0, "")
    facts = json.loads(run("report", "--events", "--all", "--json", DEMO / "trace")[1])

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
    assert "--process=78: no such process has events" in errors


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


def test_the_counts_of_a_row_are_all_of_its_calls(run):
    """Also those that a range of time cuts."""
    text = run("report", "--to=csv", "-t+60us,+200us", DATA / "recording-1")[1]
    rows = list(csv.DictReader(io.StringIO(text)))
    parts = ("complete", "across_loss", "no_exit", "no_entry", "clipped")
    sums = [sum(int(row[part]) for part in parts) for row in rows]
    assert sums == [int(row["calls"]) for row in rows]
    assert any(int(row["clipped"]) for row in rows)


def test_a_range_within_a_call_has_that_call(run):
    """Nothing else: no event is in it."""
    for words in ([], ["--tree"], ["--percentiles"]):
        text = run("report", "-t+50us,+60us", *words, DATA / "recording-1")[1]
        assert re.search(r"^10\.00 µs .* main ", text, re.MULTILINE)


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


@pytest.fixture
def pairs(tmp_path):
    """Return a trace of requests, which other threads may end."""
    with ctf.Writer(tmp_path / "pairs", event_context={"vtid": "s32"}) as writer:
        begin = writer.event_class("app:request_begin", {"id": "u32"})
        end = writer.event_class("app:request_end", {"id": "u32"})
        start = writer.event_class("app:start", {"id": str})
        done = writer.event_class("app:done", {"id": str})
        stream = writer.stream("s")
        for index in range(100):
            time = 1000 * index
            stream.write(begin, time, {"vtid": 1}, id=index)
            stream.write(end, time + index, {"vtid": 1}, id=index)
            stream.write(start, time + 200, {"vtid": 1}, id=f"r{index}")
            stream.write(done, time + 500 + index, {"vtid": 2}, id=f"r{index}")
        stream.write(begin, 200_000, {"vtid": 1}, id=0)
    return str(tmp_path / "pairs")


def test_pairs_follow_the_events(run, pairs):
    """What has no end is counted apart."""
    text = run("report", pairs)[1]
    [row] = [line for line in text.splitlines() if line.endswith("  app:request")]

    assert re.split("  +", row) == [
        *("4.950 µs", "100", "50 ns", "50 ns", "88 ns", "98 ns", "99 ns"),
        *("+99.00 µs", "1", "app:request"),
    ]
    assert "1 pair without end" in text
    [facts] = json.loads(run("report", "--json", pairs)[1])["pairs"]
    assert (facts["count"], facts["total_ns"], facts["no_end"]) == (100, 4950, 1)
    assert facts["longest"][0] == {
        "begin_ns": 99_000,
        "duration_ns": 99,
        "trace": "",
        "vpid": None,
        "vtid": 1,
        "cpu": None,
        "stream": None,
    }


def test_pairs_of_threads(run, pairs):
    """Those that it began."""
    text = run("report", "--thread", "--event=app:request_*", pairs)[1]
    assert len(re.findall(r" +app:request$", text, re.MULTILINE)) == 1
    [facts] = json.loads(run("report", "--thread=1", "--json", pairs)[1])["pairs"]
    assert (facts["count"], facts["no_end"]) == (100, 1)
    assert json.loads(run("report", "--thread=2", "--json", pairs)[1])["pairs"] == []
    [thread, _] = json.loads(run("report", "--thread", "--json", pairs)[1])["threads"]
    assert [one["count"] for one in thread["pairs"]] == [100]


def test_durations_of_pairs(run, pairs):
    """By the name of the pair, or of its events and the field that both have."""
    text = run("report", "--durations=app:request", "--percentiles=50,100", pairs)[1]
    assert text.startswith(
        "app:request\n100 pairs, 4.950 µs in all, 50 ns on average\n"
    )
    assert "min 0 ns  p50 50 ns  p100 99 ns  max 99 ns\n" in text
    assert "in none of these numbers: 1 without end\n" in text
    rows = re.findall(r"^ *\d+ ns +\d+ ns +(\d+)", text, re.MULTILINE)
    assert sum(map(int, rows)) == 100
    assert len(re.findall(r"thread 1$", text, re.MULTILINE)) == 10

    words = "--durations=app:start,app:done"
    assert "BEGIN,END,KEY" in run("report", words, pairs)[1]
    text = run("report", f"{words},id", "--json", pairs)[1]
    [facts] = json.loads(text)["durations"]
    assert (facts["count"], facts["min_ns"], facts["max_ns"]) == (100, 300, 399)
    assert sum(one["count"] for one in facts["histogram"]) == 100
    status, _, errors = run("report", "--durations=app:requests", pairs)
    assert status == 2
    assert "did you mean 'app:request'?" in errors


def test_durations_of_calls(run, calls):
    """With thread and caller."""
    text = run("report", "--durations=0x1000", calls)[1]

    assert text.startswith("0x1000\n1 call, 2.000 µs in all, 2.000 µs on average\n")
    assert re.search(r"^2\.000 µs +\+0 ns +0\.000001000 s +5$", text, re.MULTILINE)
    assert run("report", "--durations=0x3000", calls)[0] == 2


def test_durations_count_from_where_other_times_do(run):
    """From the first event, which is no call: so "+" of --around finds them."""
    trace = str(DATA / "recording-1")
    text = run("report", "--durations=main", trace)[1]
    assert "  +43.38 µs  " in text
    shown = run("view", "--around=+43.38us,10ns", "-e*:func_entry", trace)[1]
    assert "main at" in shown


def test_percentiles_are_columns(run, calls):
    """Between the shortest and the longest; the word after is not taken from others."""
    for words in (["--percentiles", calls], [calls, "--percentiles"]):
        head = run("report", *words)[1].splitlines()[2]
        assert head.split()[3:-2] == ["avg", "min", "p50", "p90", "p99", "p99.9", "max"]
    [row] = json.loads(
        run("report", "--json", "--percentiles=25", "--thread=6", calls)[1]
    )["functions"]
    assert row["p25_ns"] == 10
    head = run("report", "--to=csv", "--percentiles=25", "--process=77", calls)[1]
    assert head.splitlines()[0].endswith(",max_ns,p25_ns")
    assert head.splitlines()[1].endswith(",2000")
    assert run("report", "--percentiles=101", calls)[0] == 2


def test_callers(run, tmp_path):
    """From the function outwards; a call within another one has its time in that."""
    events = [
        *(enter(10, A), enter(11, B), leave(21), leave(30)),
        *(enter(40, B), enter(41, B), leave(43), leave(50)),
    ]
    path = str(write_calls(tmp_path / "trace", {"s": [packet(events, vtid=5)]}))

    tree = json.loads(run("report", "--callers=0x2000", "--json", path)[1])["tree"]

    assert [
        (one["caller"], one["address"], one["calls"], one["total_ns"]) for one in tree
    ] == [(None, B, 3, 20), (0, A, 1, 10), (0, B, 1, 0)]
    text = run("report", "--callers=0x2000", path)[1]
    assert re.search(r"^20 ns +100.0 % .* 3  0x2000$", text, re.MULTILINE)
    status, _, errors = run("report", "--callers=0x2001", path)
    assert status == 2
    assert "--callers=0x2001: no function with calls has this name" in errors


def test_some_functions_alone(run, calls):
    """Numbers are those of all calls."""
    text = run("report", "--function=0x1*", calls)[1]
    assert "0x1000" in text
    assert "0x2000" not in text
    assert text.startswith("2 calls in 2 threads")
    tree = run("report", "--tree", "--function=0x2000", calls)[1]
    assert "0x1000" not in tree
    assert "0x2000" in tree


@pytest.mark.parametrize("more", [[], ["--tree"]])
def test_functions_that_there_are_not(run, calls, more):
    """An empty table alone would seem to say that they took no time."""
    status, _, errors = run("report", "--function=0x1*", "--function=g*", *more, calls)
    assert status == 0
    assert errors == "vestige: warning: 'g*' matches no function of the trace\n"


def test_threads(run, calls):
    """Of calls and of events."""
    text = run("report", "--threads", calls)[1]

    assert text.startswith("2 threads of 1 process, 4 events\n")
    assert re.search(r"^ +2 +1 +\+0 ns .* thread 5 of process 77$", text, re.MULTILINE)
    rows = json.loads(run("report", "--threads", "--json", calls)[1])["threads"]
    assert [(one["vtid"], one["calls"], one["first_ns"]) for one in rows] == [
        (5, 1, 1000),
        (6, 1, 1001),
    ]


def test_reports_exclude_each_other(run, calls):
    """One at a time."""
    assert run("report", "--threads", "--events", calls)[0] == 2


def test_kernels(run, tmp_path):
    """What is no kernel has none of it, and its records no processes."""
    path = str(write_kernel_trace(tmp_path / "kernel", random_records(3, 400)))
    text = run("report", "--kernel", path)[1]
    for title in (
        "CPUs (cputop)",
        "threads (cputop",
        "system calls (sys",
        "interrupts",
    ):
        assert title in text
    assert "longest at" not in text
    text = run("report", "--kernel", "--thread=3", path)[1]
    assert re.findall(r"  (\d+) \(worker \d+\)$", text, re.MULTILINE) == ["3"]
    assert "system calls of thread 3 (worker 3)" in text
    rows = run("report", "--kernel", "--to=csv", path)[1].splitlines()
    assert rows[0].startswith("trace,tid,name,running_ns,")
    assert len(rows) == 12
    assert run("report", "--kernel", "--process=3", path)[0] == 2
    status, _, errors = run("report", "--kernel", DATA / "hello")
    assert status == 3
    assert "nothing of a kernel: there are no events" in errors
    status, _, errors = run("report", "--kernel", "--thread=99", path)
    assert status == 2
    assert "--thread=99: no such thread has a turn on a CPU, or a system call" in errors
    calls = [
        (0, 2, "syscall_entry_read", {"fd": 3}),
        (0, 6, "syscall_exit_read", {"ret": 1}),
    ]
    path = write_kernel_trace(tmp_path / "calls", calls)
    text = run("report", "--kernel", path)[1]
    assert "no events sched_switch" in text
    assert "system calls (syscallstats)" in text
    assert "cputop" not in text
    metadata = path / "metadata"
    metadata.write_bytes(metadata.read_bytes().replace(b"freq = ", b"freq = x"))
    for report in ("--kernel", "--io"):
        status, _, errors = run("report", report, path)
        assert status == 3
        assert f"{metadata}: line " in errors


def test_long_rows_are_cut_to_the_terminal(tmp_path):
    """Those of the longest, too."""
    with ctf.Writer(tmp_path / "t", event_context={"procname": str}) as writer:
        begin, end = (writer.event_class(f"a:b_{name}") for name in ("begin", "end"))
        stream = writer.stream("s")
        for time, event in ((1, begin), (9, end)):
            stream.write(event, time, {"procname": "x" * 200})
    table = event_table(vestige.open(tmp_path / "t", debug_info=False))
    [section] = [
        _pair_section(one, {one.durations.longest[0].origin: "x" * 200})
        for one in table.pairs
    ]

    lines = list(section_lines(section, CallStyle(60), 0, is_absolute=False))

    assert max(map(len, lines)) == 60
    assert lines[-1].endswith("x…")


def test_what_a_report_does_not_have_is_refused(run):
    """Rather than left out without a word."""
    for words, named in (
        (["--locks", "--tree"], "--tree: not for --locks"),
        (["--locks", "--function=write*"], "--function: not for --locks"),
        (["--events", "--min-duration=1us"], "--min-duration: not for --events"),
        (["--durations=main", "--tree"], "--tree: not for --durations"),
    ):
        status, printed, errors = run("report", *words, DATA / "recording-1")
        assert (status, printed) == (2, ""), words
        assert named in errors


def test_a_page_is_of_a_whole_trace(run, tmp_path):
    """A part is chosen in it; what is asked for is not left out without a word."""
    path = tmp_path / "one.html"
    for words in (
        ["--begin=+1ms"],
        ["--thread=7"],
        ["--process=7"],
        ["--tree"],
        ["--min-duration=1us"],
    ):
        status, _, errors = run(
            "report", "--to=html", "-o", path, *words, DATA / "recording-1"
        )
        assert status == 2, words
        assert "a page is of a whole trace" in errors
        assert not path.exists()
    assert run("report", "--to=html", "-o", path, DATA / "recording-1")[0] == 0
    assert path.read_text().startswith("<!doctype html>")


def test_a_page_of_what_has_an_index_needs_no_second_fold(run, tmp_path, monkeypatch):
    """It is the same one; the index is that of whoever made it."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("VESTIGE_CACHE_SIZE", raising=False)
    trace = write_calls(
        tmp_path / "trace", {"s": [packet([enter(10, A), leave(30), enter(40, A)])]}
    )
    pages = [tmp_path / "one.html", tmp_path / "two.html", tmp_path / "three.html"]
    assert run("report", "--to=html", "-o", pages[0], trace)[0] == 0
    vestige.open(trace).intervals()
    assert len([*tmp_path.glob("cache/*/*.index")]) == 1

    monkeypatch.setattr(intervals, "call_tree", None)
    assert run("report", "--to=html", "-o", pages[1], trace)[0] == 0
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "other"))
    with pytest.raises(TypeError):
        run("report", "--to=html", "-o", pages[2], trace)
    assert pages[0].read_text() == pages[1].read_text()


def test_a_page_of_a_recording_that_goes_on_makes_no_index(tmp_path, monkeypatch):
    """It would be stale at once, and take the room of others."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("VESTIGE_CACHE_SIZE", raising=False)
    trace = write_calls(tmp_path / "trace", {"s": [packet([enter(10, A), leave(30)])]})
    options = build_parser(load_commands(["report"])).parse_args(
        ["report", "--to=html", str(trace)]
    )
    reading = Reading(options, CtfFsSource([trace]), Selection())
    assert reading.index_place() is not None
    (trace / REGISTER).touch()
    assert reading.index_place() is None


def test_a_range_is_read_from_where_an_index_knows_what_is_open(
    run, tmp_path, monkeypatch
):
    """The report is the same; what is long before the range is not read again."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("VESTIGE_CACHE_SIZE", raising=False)
    calls = [
        one for at in range(20, 400_000, 4) for one in (enter(at, A), leave(at + 2))
    ]
    parts = [calls[at : at + 5000] for at in range(0, len(calls), 5000)]
    trace = write_calls(
        tmp_path / "trace", {"s": [packet([enter(10, B)]), *map(packet, parts)]}
    )
    words = ("report", "--json", "--tree", "--begin=+350us", "--end=+360us", trace)
    without, percentiles = run(*words), run(*words, "--percentiles")
    vestige.open(trace).intervals()

    monkeypatch.setattr(calls_report, "call_tree", None)
    assert run(*words) == without
    assert run(*words, "--percentiles") == percentiles
    found = json.loads(without[1])
    assert [(one["calls"], one["clipped"]) for one in found["functions"]] == [
        (1, 1),
        (2500, 0),
    ]
