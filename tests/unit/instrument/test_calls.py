"""Calls of Python functions."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.python_programs import (
    copied_package,
    events,
    place_of,
    record_python,
    run_python,
)
from vestige.analysis import call_tree
from vestige.analysis.debug_info import examine_debug_info
from vestige.analysis.pack import pack
from vestige.cli.render.debuginfo import ReportStyle, report_lines
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import DebugFileFinder, Resolver

OPTION = "--python-functions"


def calls(directory, source="program.py"):
    """Return how often each function of the program was called, and where it begins."""
    found = Counter()
    tree = call_tree(vestige.open(directory / "trace"))
    for row in tree.functions():
        place = row.function.place
        if place.file == source:
            found[f"{row.function.name}:{place.line}"] += row.calls
    return found


def test_calls_are_complete(tmp_path):
    """Methods, exceptions, generators, each time they go on."""
    code = """\
        class Shape:
            def area(self):
                return leaf(2)

        def leaf(n):
            return n

        def numbers():
            yield leaf(1)
            yield leaf(2)

        def fails():
            raise ValueError

        def catches():
            try:
                fails()
            except ValueError:
                return 1

        def deep(n):
            return n and deep(n - 1)

        def main():
            for _ in range(100):
                Shape().area()
            print(sum(numbers()), catches(), deep(50), [i for i in numbers()])

        main()
    """
    done = record_python(tmp_path, code, OPTION)

    assert done.stdout == "3 1 0 [1, 2]\n"
    assert calls(tmp_path) == {
        "<module>:1": 1,
        "Shape:1": 1,
        "Shape.area:2": 100,
        "leaf:5": 104,
        "numbers:8": 6,
        "fails:12": 1,
        "catches:15": 1,
        "deep:21": 51,
        "main:24": 1,
        "main.<locals>.<listcomp>:27": 1,
    }


def test_calls_nest(tmp_path):
    """The callees of each function are those that it called."""
    code = """\
        def inner(): pass
        def outer():
            inner(); inner()
        outer(); inner()
    """
    record_python(tmp_path, code, OPTION)
    entries = events(tmp_path, "vestige_python:func_*")
    rows = [
        (event.name.rpartition("_")[2], event.debug_info.function)
        for event in entries
        if place_of(event).startswith("program.py")
    ]

    assert rows == [
        ("entry", "<module>"),
        ("entry", "outer"),
        *[("entry", "inner"), ("exit", "inner")] * 2,
        ("exit", "outer"),
        ("entry", "inner"),
        ("exit", "inner"),
        ("exit", "<module>"),
    ]


def test_no_exit_is_without_entry(tmp_path):
    """Functions that were entered before recording began are left out."""
    record_python(tmp_path, "import json", OPTION)
    threads = call_tree(vestige.open(tmp_path / "trace")).threads

    assert [thread.unknown_exits for thread in threads] == [0]
    names = Counter(event.name for event in events(tmp_path, "vestige_python:func_*"))
    assert names["vestige_python:func_entry"] == names["vestige_python:func_exit"]


def test_threads_and_coroutines_are_followed(tmp_path):
    """Those of threading, and those that nobody made with it."""
    code = """\
        import _thread, asyncio, threading, time

        def leaf(): pass

        def work(count):
            for _ in range(count):
                leaf()

        threads = [threading.Thread(target=work, args=(10,)) for _ in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
        lock = _thread.allocate_lock()
        lock.acquire()

        def raw():
            leaf()
            lock.release()

        _thread.start_new_thread(raw, ())
        lock.acquire()

        async def soon():
            leaf()
            await asyncio.sleep(0)
            leaf()

        async def main():
            await asyncio.gather(soon(), soon())

        asyncio.run(main())
    """
    record_python(tmp_path, code, OPTION)
    found = calls(tmp_path)

    assert found["leaf:3"] == 40 + 1 + 4
    assert (found["work:5"], found["raw:15"], found["soon:22"]) == (4, 1, 4)


def test_a_thread_fails_with_the_same_words(tmp_path):
    """The function that it was started with is named."""
    code = """\
        import _thread, time
        begun = _thread.allocate_lock()
        begun.acquire()
        class Fails:
            def __call__(self):
                begun.release()
                raise ValueError("in a thread")
            def __repr__(self): return "the function"
        _thread.start_new_thread(Fails(), ())
        begun.acquire()
        while _thread._count(): time.sleep(0.01)
    """
    alone = run_python(tmp_path, code)
    recorded = record_python(tmp_path, code, OPTION, "-q")

    assert "in thread started by: the function" in alone.stderr
    assert recorded.stderr == alone.stderr


def test_processes_are_followed(tmp_path):
    """os.fork, and the workers of multiprocessing however they are started."""
    code = """\
        import multiprocessing, os

        def leaf(n):
            return n + 1

        if __name__ == "__main__":
            child = os.fork()
            if not child:
                leaf(0)
                os._exit(0)
            os.waitpid(child, 0)
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(sum(pool.map(leaf, range(10))))
    """
    done = record_python(tmp_path, code, OPTION)

    assert done.stdout == "55\n55\n"
    assert calls(tmp_path)["leaf:3"] == 1 + 10 + 10


def test_functions_in_c_are_recorded_when_asked_for(tmp_path):
    """With the module that they are of; else they are not."""
    code = """\
        import math
        def main():
            math.sqrt(2); math.sqrt(3)
            [].append(len("x"))
            {}.get(1)
            try: int.from_bytes()
            except TypeError: pass
        main()
    """
    record_python(tmp_path, code, f"{OPTION}=all")
    tree = call_tree(vestige.open(tmp_path / "trace"))
    main = next(row for row in tree.functions() if row.function.name == "main")
    found = callees(tree, main.function)

    assert found["math.sqrt"] == 2
    assert {
        name: found[name] for name in ("list.append", "dict.get", "int.from_bytes")
    } == {
        "list.append": 1,
        "dict.get": 1,
        "int.from_bytes": 1,
    }


def test_deep_recursion_is_as_deep(tmp_path):
    """It needs no stack of the thread, however the recorder learns of calls."""
    code = """\
        import sys, threading

        def depth():
            try:
                return 1 + depth()
            except RecursionError:
                return 0

        def deep(n):
            return n and deep(n - 1)

        def numbers():
            yield 1

        print(depth())
        sys.setrecursionlimit(1_000_000)
        deep(100_000)
        threading.stack_size(65536)
        for n in (1, 2):
            thread = threading.Thread(target=deep, args=(900,))
            thread.start()
            thread.join()
        print(deep(10), list(numbers()))
    """
    alone = run_python(tmp_path, code)
    recorded = record_python(tmp_path, code, OPTION, "-q")
    found = calls(tmp_path)

    assert (recorded.returncode, recorded.stdout) == (0, alone.stdout)
    assert found["deep:9"] == 100_001 + 2 * 901 + 11
    assert found["numbers:12"] == 2


def test_deep_recursion_in_a_thread_with_a_small_stack(tmp_path):
    """The stack that the program chose is for the program."""
    code = """\
        import threading
        def deep(n):
            return n and deep(n - 1)
        threading.stack_size(65536)
        for _ in range(3):
            thread = threading.Thread(target=deep, args=(900,))
            thread.start()
            thread.join()
    """
    done = record_python(tmp_path, code, OPTION, "-q")

    assert (done.returncode, done.stderr) == (0, "")
    assert calls(tmp_path)["deep:2"] == 3 * 901


def interpreters():
    """Return other versions of Python that are here."""
    found = sorted(Path.home().glob(".pyenv/versions/*/bin/python3"))
    for version in range(12, 16):
        path = shutil.which(f"python3.{version}")
        found += [Path(path)] if path else []
    return [path for path in found if path.resolve() != Path(sys.executable).resolve()]


@pytest.mark.parametrize("path", interpreters() or [None], ids=str)
def test_other_versions_of_python(tmp_path, path):
    """The same extension serves all from 3.11 on; older ones run as ever."""
    if path is None or subprocess.run([path, "-c", ""], check=False).returncode:
        pytest.skip("not installed: another version of Python")
    code = """\
        import logging, os, sys, threading, warnings
        warnings.simplefilter("ignore")
        def leaf(): pass
        def many():
            yield leaf()
            yield leaf()
        def work():
            for _ in many(): pass
        def fails(): raise ValueError
        work()
        thread = threading.Thread(target=work); thread.start(); thread.join()
        try: fails()
        except ValueError: pass
        child = os.fork()
        if not child:
            leaf()
            os._exit(0)
        os.waitpid(child, 0)
        logging.warning("text")
        print("{}.{}".format(*sys.version_info[:2]))
    """
    done = record_python(tmp_path, code, f"{OPTION}=all", "-q", interpreter=[str(path)])
    major, minor = map(int, done.stdout.split("."))
    found = calls(tmp_path)

    assert done.stderr == "WARNING:root:text\n"
    if (major, minor) < (3, 11):
        assert not found
    else:
        assert {name: found[name] for name in ("leaf:3", "many:4", "work:7", "fails:9")} == {
            "leaf:3": 5, "many:4": 6, "work:7": 2, "fails:9": 1,
        }  # fmt: skip
        assert len(events(tmp_path, "lttng_python:event")) == 1


def callees(tree, function):
    """Return how often a function calls others, by name."""
    found = {}

    def visit(node):
        for one in node.callees.values():
            if node.function is function:
                found[one.function.name] = one.calls
            visit(one)

    for thread in tree.threads:
        visit(thread.root)
    return found


def test_a_profiler_of_the_program_works(tmp_path):
    """The program gets what it would get without a recorder, and calls are recorded."""
    code = """\
        import sys
        seen = []
        def leaf(): pass
        leaf()
        assert sys.getprofile() is None
        sys.setprofile(lambda frame, what, _: seen.append(what))
        leaf()
        sys.setprofile(None)
        print(seen[-3:])
    """
    done = record_python(tmp_path, code, OPTION)

    assert done.stdout == "['call', 'return', 'c_call']\n"
    assert calls(tmp_path)["leaf:3"] == 2


def test_code_made_at_run_time_is_told_apart(tmp_path):
    """Each has addresses of its own, also where an old one had been freed."""
    code = """\
        for number in range(50):
            space = {}
            exec(f"def made_{number}(): pass", space)
            space[f"made_{number}"]()
    """
    record_python(tmp_path, code, OPTION)
    found = calls(tmp_path, "<string>")

    assert {name: count for name, count in found.items() if "made" in name} == {
        f"made_{number}:1": 1 for number in range(50)
    }


def test_the_closing_lines_tell_that_functions_were_recorded(tmp_path):
    """When nobody asked for them, and how to leave them out."""
    note = "a Python program: its functions were recorded; --functions=off leaves"
    code = "def work(): pass\nwork()\n"
    without = record_python(tmp_path, code)
    assert calls(tmp_path)["work:1"] == 1
    shutil.rmtree(tmp_path / "trace")
    recorded = record_python(tmp_path, code, OPTION)

    assert note in without.stderr
    assert note not in recorded.stderr
    assert "no function calls" not in without.stderr + recorded.stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")
def test_functions_of_libraries_are_among_those_that_call_them(tmp_path):
    """One time line, one call tree, whatever a function is written in."""
    source, library = tmp_path / "inner.c", tmp_path / "libinner.so"
    source.write_text(
        "typedef int (*callback)(int);\n"
        "static int twice(int n) { return 2 * n; }\n"
        "int outer(callback back, int n) { return back(twice(n)); }\n"
    )
    flags = ["-g", "-O0", "-shared", "-fPIC", "-finstrument-functions"]
    run_tool(["gcc", *flags, "-o", library, source])
    code = f"""\
        import ctypes
        library = ctypes.CDLL({str(library)!r})

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
        def back(n):
            return n + 1

        def main():
            return library.outer(back, 3)

        print(main())
    """
    done = record_python(tmp_path, code, OPTION)
    tree = call_tree(vestige.open(tmp_path / "trace"))
    paths = set()

    def visit(node, path):
        for one in node.callees.values():
            here = (*path, one.function.name)
            paths.add(here[here.index("main") :] if "main" in here else here)
            visit(one, here)

    for thread in tree.threads:
        visit(thread.root, ())

    assert done.stdout == "7\n"
    assert {("main", "outer", "twice"), ("main", "outer", "back")} <= paths


def test_functions_are_one_line_in_the_report_on_debug_information(tmp_path):
    """There are many of them, and no file to get; packing leaves them out."""
    record_python(tmp_path, "def f(): pass\nf()\n", OPTION)
    resolver = Resolver(DebugFileFinder())
    report = examine_debug_info(CtfFsSource([tmp_path / "trace"]), resolver)
    [python] = [
        one
        for process in report.processes
        for one in process.objects
        if one.mapping.code is not None
    ]
    text = "\n".join(report_lines(report, {}, ReportStyle(width=100)))

    assert python.events == python.events_with_function > 0
    assert text.count("functions of Python programs") == 1

    packed = pack(report, resolver, tmp_path / "packed")
    assert not any("Python" in path for path in packed.missing)


def test_the_program_may_have_another_copy_of_vestige(tmp_path):
    """As in a virtual environment: places of both are told apart."""
    site = tmp_path / "site"
    copied_package(site, "_core*")
    code = """\
        import logging
        from vestige.instrument import inactive_because, tracepoint
        point = tracepoint("app:point", number=int)

        def one():
            point(number=1)

        def two():
            logging.warning("text")
            point(number=2)

        one()
        two()
        import colorsys
        print(inactive_because())
    """
    first = f"import sys; sys.path.insert(0, {str(site)!r})\n"
    done = record_python(tmp_path, first + textwrap.dedent(code), OPTION)
    entries = [
        event.debug_info.function
        for event in events(tmp_path, "vestige_python:func_entry")
        if place_of(event).startswith("program.py")
    ]

    assert done.stdout == "None\n"
    assert entries == ["<module>", "one", "two"]
    assert calls(tmp_path) == {"<module>:1": 1, "one:6": 1, "two:9": 1}
    assert [place_of(event) for event in events(tmp_path, "app:point")] == [
        "program.py:7",
        "program.py:11",
    ]
    assert [place_of(event) for event in events(tmp_path, "lttng_python:event")] == [
        "program.py:10"
    ]


def test_names_stay_when_calls_are_overwritten(tmp_path):
    """What explains addresses is kept, whatever was recorded since."""
    code = """\
        def leaf(): pass
        def work():
            for _ in range(100_000):
                leaf()
        for _ in range(4):
            work()
    """
    options = ("--mode=overwrite", "--max-size=8M")
    done = record_python(tmp_path, code, OPTION, *options)
    tree = call_tree(vestige.open(tmp_path / "trace"))
    names = {row.function.name for row in tree.functions() if row.calls > 1}

    assert "were overwritten" in done.stderr
    assert "leaf" in names
    assert not [name for name in names if name.startswith("0x")]


def test_calls_have_places_without_contexts(tmp_path):
    """The address is in the event, and the process in the packet."""
    code = """\
        def leaf(): pass
        leaf()
    """
    record_python(tmp_path, code, OPTION, "--context=none")
    found = [
        place_of(event)
        for event in events(tmp_path, "vestige_python:func_*")
        if place_of(event).startswith("program.py")
    ]

    assert found == [f"program.py:{n}" for n in (1, 1, 1, 1)]
    assert calls(tmp_path)["leaf:1"] == 1
