"""Greenlets: stacks of calls that a thread changes between."""

from __future__ import annotations

import re
from pathlib import Path

import vestige
from support.python_programs import record_python, run_python
from vestige.analysis import call_tree

OPTIONS = ("--python-functions", "--include-function=program.py:*", "-q")
GEVENT = """\
    import gevent, time
    longest = waited = 0
    def inner(i):
        global waited
        before = time.perf_counter_ns()
        gevent.sleep(0.001 * (i % 3))
        waited = max(waited, time.perf_counter_ns() - before)
        return i
    def task(i):
        global longest
        for k in range(5):
            before = time.perf_counter_ns()
            inner(i + k)
            longest = max(longest, time.perf_counter_ns() - before)
    def main():
        jobs = [gevent.spawn(task, i) for i in range(50)]
        gevent.joinall(jobs)
    main()
    print("longest", longest, waited)
"""
CHANGES = """\
    import threading, greenlet

    def leaf(): pass
    def generator():
        parent.switch("yielded"); leaf(); yield 1
    def fails():
        parent.switch("waits")
        raise ValueError("text")
    def outer():
        inner(); list(generator()); return "done"
    def inner():
        parent.switch("inner"); leaf()

    def work():
        global parent
        parent = greenlet.getcurrent()
        one = greenlet.greenlet(outer)
        said = []
        while not one.dead:
            said.append(one.switch()); leaf()
        two = greenlet.greenlet(fails)
        said.append(two.switch())
        try: two.switch()
        except ValueError as error: said.append(str(error))
        gone = greenlet.greenlet(fails)
        gone.switch(); del gone
        return said

    print(work())
    thread = threading.Thread(target=lambda: print(work()))
    thread.start(); thread.join()
    seen = []
    def tracer(*event): seen.append(event[0])
    print(greenlet.gettrace(), greenlet.settrace(tracer))
    print(greenlet.gettrace() is tracer)
    work()
    print(greenlet.settrace(None) is tracer, seen)
"""


def recorded(directory: Path, code: str):
    """Record a program; return what it printed, and its call tree."""
    done = record_python(directory, code, *OPTIONS)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, call_tree(vestige.open(directory / "trace"))


def test_gevent_has_true_durations(tmp_path):
    """What waits is not taken for what runs; elapsed times are the program's own."""
    text, tree = recorded(tmp_path, GEVENT)
    longest, waited = map(int, re.search(r"longest (\d+) (\d+)", text).groups())
    rows = {one.function.name: one for one in tree.coroutines}

    assert rows["inner"].calls == rows["inner"].elapsed.count == 250
    assert rows["task"].calls == rows["task"].elapsed.count == 50
    # The program measures around the call and within it, by another clock.
    assert 0.999 * waited < rows["inner"].elapsed.longest < 1.001 * longest
    assert rows["inner"].running.total < rows["inner"].elapsed.total
    assert not any(one.unknown_exits for one in tree.threads)
    main = next(row for row in tree.functions() if row.function.name == "main")
    assert main.calls == 1
    assert main.total >= rows["task"].elapsed.longest


def test_greenlets_change_anywhere(tmp_path):
    """In generators and threads, with exceptions, and with a trace function of its own."""
    (tmp_path / "plain").mkdir()
    plain = run_python(tmp_path / "plain", CHANGES)
    text, tree = recorded(tmp_path, CHANGES)
    rows = {one.function.name: one for one in tree.coroutines}

    assert plain.stderr == ""
    assert text == plain.stdout
    assert "None None" in text
    assert not any(one.unknown_exits for one in tree.threads)
    assert [rows[name].calls for name in ("outer", "inner", "fails")] == [3, 3, 6]
    assert [rows[name].unended for name in ("outer", "inner", "fails")] == [0, 0, 0]
