"""Threads have the names that they gave themselves, wherever threads are named."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

import vestige
from vestige import ctf
from vestige.analysis.intervals import intervals_of
from vestige.analysis.intervals.part_tree import part_tree
from vestige.cli.main import main
from vestige.graph import Selection

ENTRY = "lttng_ust_cyg_profile:func_entry"
EXIT = "lttng_ust_cyg_profile:func_exit"
THREAD = {"vpid": "s32", "vtid": "s32", "procname": str}
IDS = {"vpid": 7, "vtid": 70}

PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

int main(void)
{
	pthread_t one;
	pthread_barrier_init(&barrier, 0, 2);
	pthread_create(&one, 0, work, "digger");
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&barrier);
	struct timespec pause = {0, 50000000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, 0);
	pthread_mutex_unlock(&mutex);
	return pthread_join(one, 0);
}
"""


def _write(folder, scope, names, calls=1):
    """Write a trace of one thread that has some names, one after the other."""
    contexts = {scope: THREAD}
    writer = ctf.Writer(folder, packet_size=4096, **contexts)
    entry = writer.event_class(ENTRY, {"addr": "x64"})
    leave = writer.event_class(EXIT, {"addr": "x64"})
    is_packet = scope == "packet_context"
    for number, name in enumerate(names):
        told = {**IDS, "procname": name}
        stream = writer.stream(f"s{number}", **(told if is_packet else {}))
        context = [] if is_packet else [told]
        for time in range(10 * calls * number, 10 * calls * (number + 1), 10):
            stream.write(entry, time, *context, addr=0x100)
            stream.write(leave, time + 5, *context, addr=0x100)
        stream.close()
    writer.close()
    return vestige.open(folder)


@pytest.mark.parametrize("scope", ["packet_context", "event_context"])
def test_a_thread_has_the_last_name(tmp_path, scope):
    """Whether packets or contexts of event records tell it."""
    trace = _write(tmp_path / "t", scope, ["app", "first", "second"])
    assert {one.name for one in trace.threads()} == {"second"}
    assert {one.thread.name for one in trace.call_tree().threads} == {"second"}
    begin = trace.intervals().begin
    part = trace.call_tree(begin=begin + 5)
    assert {one.thread.name for one in part.threads} == {"second"}


def test_a_name_is_the_last_one_in_time(tmp_path):
    """Packets of another data stream of the thread may be read later."""
    writer = ctf.Writer(tmp_path / "t", packet_size=4096, packet_context=THREAD)
    event = writer.event_class("a:b", {"n": "u8"})
    long, short = (
        writer.stream(f"s{number}", **IDS, procname=name)
        for number, name in enumerate(["new", "old"])
    )
    long.write(event, 0, n=0)
    short.write(event, 50, n=1)
    short.close()
    long.write(event, 100, n=2)
    writer.close()
    trace = vestige.open(tmp_path / "t")
    assert {one.name for one in trace.threads()} == {"new"}


def test_a_name_is_the_last_one_before_another_thread(tmp_path, capsys):
    """Where one data stream has the event records of several threads."""
    writer = ctf.Writer(tmp_path / "t", packet_size=4096, event_context=THREAD)
    event = writer.event_class("a:b", {"n": "u8"})
    stream = writer.stream("s")
    told = [(70, "app"), (70, "first"), (70, "second"), (71, "app"), (71, "other")]
    for time, (vtid, name) in enumerate(told):
        stream.write(event, time, {"vpid": 7, "vtid": vtid, "procname": name}, n=0)
    writer.close()
    trace = vestige.open(tmp_path / "t")
    names = {70: "second", 71: "other"}
    assert {one.tid: one.name for one in trace.threads()} == names
    assert main(["report", "--threads", "--json", str(tmp_path / "t")]) == 0
    threads = json.loads(capsys.readouterr().out)["threads"]
    assert {one["vtid"]: one["name"] for one in threads} == names


def test_numbers_that_no_thread_has(tmp_path):
    """Whatever records say, it is an ID, and no error."""
    large = (1 << 63) + 5
    context = {"vpid": "u64", "vtid": "u64", "procname": str}
    writer = ctf.Writer(tmp_path / "t", packet_size=4096, event_context=context)
    lock = writer.event_class(
        "lttng_ust_pthread:pthread_mutex_lock_req", {"mutex": "x64"}
    )
    event = writer.event_class("a:b", {"n": "u8"})
    entry = writer.event_class(ENTRY, {"addr": "x64"})
    stream = writer.stream("s")
    told = {"vpid": large, "vtid": large, "procname": "app"}
    stream.write(entry, 0, told, addr=0x100)
    stream.write(event, 1, told, n=0)
    stream.write(lock, 2, told, mutex=0x10)
    writer.close()
    path, out = str(tmp_path / "t"), str(tmp_path / "out")
    for words in (["report", "--threads"], ["report", "--locks"], ["report"]):
        assert main([*words, path]) == 0
    for form in ("chrome", "perfetto", "speedscope"):
        assert main(["export", "--to", form, "-o", out, path]) == 0


@pytest.mark.parametrize("scope", ["packet_context", "event_context"])
def test_a_range_has_the_name_of_its_time(tmp_path, scope):
    """With an index of later names, too."""
    calls = 20_000
    trace = _write(tmp_path / "t", scope, ["app", "first", "second"], calls)
    intervals, _ = intervals_of(trace, every=1)
    begin = intervals.begin + 15 * calls
    part = part_tree(intervals, Selection(begin=begin, end=begin + 100))
    assert part is not None
    for tree in (part, trace.call_tree(begin=begin, end=begin + 100)):
        assert [one.thread.name for one in tree.threads] == ["first"]


def test_names_of_threads_are_text_of_others(tmp_path, capsys):
    """It does not steer terminals, and is no part of a page."""
    name = "\x1b[31m</script>"
    _write(tmp_path / "t", "packet_context", [name])
    assert main(["report", "--thread", str(tmp_path / "t")]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["report", "--to", "html", "-o", str(page), str(tmp_path / "t")]) == 0
    assert name[5:] + '"' not in page.read_text()
    for form in ("perfetto", "chrome", "speedscope"):
        file = tmp_path / form
        assert main(["export", "--to", form, "-o", str(file), str(tmp_path / "t")]) == 0
        assert b"\x1b[31m" not in file.read_bytes()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a recording of a program with a thread that has a name."""
    folder = tmp_path_factory.mktemp("named")
    (folder / "app.c").write_text(PROGRAM)
    options = ["-g", "-finstrument-functions", "-pthread"]
    program = folder / "app"
    subprocess.run(["gcc", *options, folder / "app.c", "-o", program], check=True)
    trace = folder / "trace"
    words = ["record", "--pthread", "-q", "-o", str(trace), "--", str(program)]
    assert main(words) == 0
    return trace


def test_names_of_recorded_threads(recorded):
    """Their other event records are not another thread's."""
    trace = vestige.open(recorded)
    main_thread, other = sorted(trace.threads(), key=lambda one: one.tid)
    assert (main_thread.name, other.name) == (None, "digger")
    assert str(main_thread) == f"{main_thread.tid} (app)"
    assert str(other) == f"{other.tid} (digger)"
    rows = [(row.tid, row.kind) for row in trace.intervals().rows]
    assert len(rows) == len(set(rows)) == 4
    [wait] = [one for one in trace.locks().longest if one.thread.name == "digger"]
    assert wait.holder == main_thread


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (["report", "--thread"], r"thread \d+ of process \d+ \(digger\)"),
        (["report", "--threads"], r"thread \d+ of process \d+ \(digger\)"),
        (["report", "--locks"], r"\d+ \(digger\)"),
        (["report", "--to", "folded"], r"(?m)^digger thread \d+;work"),
        (["report", "--to", "html"], r'"name":"digger","thread":"digger"'),
        (["report", "--json"], r'"thread_name": ?"digger"'),
        (["export", "--to", "chrome"], r'"name":"digger thread \d+"'),
        (["export", "--to", "speedscope"], r'"name":"digger thread \d+"'),
        (["export", "--to", "perfetto"], r"digger"),
    ],
)
def test_names_are_in(recorded, tmp_path, words, pattern):
    """Each report and each file for a viewer."""
    target = tmp_path / "out"
    assert main([*words, "-o", str(target), str(recorded)]) == 0
    assert re.search(pattern, target.read_bytes().decode("latin-1"))


def test_an_index_keeps_names(recorded, tmp_path, monkeypatch):
    """The second page is made of it."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    pages = []
    for number in range(2):
        page = tmp_path / f"{number}.html"
        assert main(["report", "--to", "html", "-o", str(page), str(recorded)]) == 0
        pages.append(page.read_text())
    assert pages[0] == pages[1]
    assert json.dumps("digger") in pages[1]
