"""Threads have the names that they gave themselves, wherever threads are named."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

import vestige
from vestige import ctf
from vestige.cli.main import main

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


def _write(folder, scope, names):
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
        stream.write(entry, 10 * number, *context, addr=0x100)
        stream.write(leave, 10 * number + 5, *context, addr=0x100)
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


def test_names_of_threads_are_text_of_others(tmp_path, capsys):
    """It does not steer terminals, and is no part of a page."""
    name = "\x1b[31m</script>"
    _write(tmp_path / "t", "packet_context", [name])
    assert main(["report", "--thread", str(tmp_path / "t")]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["report", "--to", "html", "-o", str(page), str(tmp_path / "t")]) == 0
    assert name[5:] + '"' not in page.read_text()


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
