"""Choosing which calls of Python functions are recorded."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.python_programs import events, interpreters, record_python
from vestige.analysis import call_tree

OPTION = "--python-functions"
PROGRAM = """\
    import dataclasses, json, sys
    sys.path.insert(0, "@")
    import helper, installed

    class Shape:
        def area(self):
            return leaf(2)

    def leaf(n):
        return n

    @dataclasses.dataclass
    class Point:
        x: int

    def main():
        def inner():
            return leaf(3)
        Shape().area()
        inner()
        helper.help()
        installed.work()
        json.dumps({Point(1).x: "value"}, indent=1)
        leaf(1)

    main()
"""


@pytest.fixture(params=interpreters())
def interpreter(request):
    """Return the path of a Python."""
    return (request.param,)


def record_chosen(directory, interpreter, *options, code=PROGRAM):
    """Record the program; return how often each function was called."""
    packages = directory / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (directory / "helper.py").write_text("def help(): pass\n")
    (packages / "installed.py").write_text("def work(): pass\n")
    code = code.replace('sys.path.insert(0, "@")', f"sys.path.append('{packages}')")
    done = record_python(
        directory, code, OPTION, "-q", *options, interpreter=interpreter
    )
    assert done.returncode == 0, done.stderr
    return counts(directory)


def counts(directory):
    """Return how often each function was called."""
    found: Counter[str] = Counter()
    tree = call_tree(vestige.open(directory / "trace"))
    for row in tree.functions():
        found[row.function.name] += row.calls
    assert not any(thread.unknown_exits for thread in tree.threads)
    return dict(found)


def test_functions_are_included_by_module(tmp_path, interpreter):
    """The module's name comes before that of the function."""
    found = record_chosen(
        tmp_path, interpreter, "--include-function", "helper.*",
        "--include-function", "__main__.leaf",
    )  # fmt: skip

    assert found == {"<module>": 1, "help": 1, "leaf": 3}


def test_functions_are_included_by_qualified_name(tmp_path, interpreter):
    """A name without the module does; what is within others has a mark."""
    found = record_chosen(
        tmp_path, interpreter, "--include-function", "Shape.*",
        "--include-function", "main.<locals>.*",
    )  # fmt: skip

    assert found == {"Shape.area": 1, "main.<locals>.inner": 1}


def test_functions_are_included_by_file(tmp_path, interpreter):
    """By the name of the file, or its path; exclusion wins."""
    found = record_chosen(
        tmp_path, interpreter, "--include-function", "program.py:*",
        "--include-function", f"{tmp_path}/hel*:*",
        "--exclude-function", "leaf", "--exclude-function", "*<module>",
    )  # fmt: skip

    assert found.keys() == {
        "Shape", "Shape.area", "Point", "main", "main.<locals>.inner", "help",
    }  # fmt: skip


def test_only_my_code_leaves_libraries_out(tmp_path, interpreter):
    """What dataclasses make belongs to the module that asked for it."""
    found = record_chosen(tmp_path, interpreter, "--only-my-code")
    found.pop("__create_fn__", None)

    # Two files, and what dataclasses execute.
    assert 2 <= found.pop("<module>") <= 5
    assert found == {
        "Shape": 1, "Point": 1, "main": 1, "Shape.area": 1, "leaf": 3,
        "main.<locals>.inner": 1, "help": 1, **made_by_dataclasses(interpreter),
    }  # fmt: skip


def made_by_dataclasses(interpreter):
    """Return the method of Point."""
    code = "import dataclasses\n@dataclasses.dataclass\nclass P:\n x: int\n"
    code += "print(P.__init__.__code__.co_qualname)"
    done = subprocess.run(
        [*interpreter, "-c", code], capture_output=True, text=True, check=True
    )
    return {done.stdout.strip(): 1}


def test_only_my_code_leaves_functions_in_c_out(tmp_path, interpreter):
    """Those of the interpreter, and of its own modules."""
    found = record_chosen(tmp_path, interpreter, f"{OPTION}=all", "--only-my-code")

    assert found["leaf"] == 3
    assert not {"len", "list.append", "dict.get", "exec"} & found.keys()


def test_depth_is_limited(tmp_path, interpreter):
    """Functions that are left out do not count."""
    found = record_chosen(
        tmp_path, interpreter, "--only-my-code", "--max-depth", "3",
        "--exclude-function", "*<module>",
    )  # fmt: skip

    assert found["leaf"] == 3
    assert found["Shape.area"] == 1
    (tmp_path / "two").mkdir()
    found = record_chosen(
        tmp_path / "two", interpreter, "--only-my-code", "--max-depth", "2",
        "--exclude-function", "*<module>",
    )  # fmt: skip
    assert found["leaf"] == 1
    assert found["Shape.area"] == 1


SLOW = """\
    import time, vestige.instrument
    seen = vestige.instrument.tracepoint("app:seen")

    def short(): pass
    def parent(): short(); short()
    def marked(): seen()
    def sleeper(): time.sleep(0.03)
    def caller(): parent(); sleeper(); parent()
    def fails(): parent(); time.sleep(0.03); raise ValueError
    def numbers():
        for one in range(3):
            yield short()

    def main():
        for _ in range(50):
            parent(); marked(); list(numbers())
        caller()
        try:
            fails()
        except ValueError:
            pass
        time.sleep(0.03)

    parent(), list(numbers())
    main()
"""


def is_long(row, others, shortest=20e6):
    """Tell whether all calls of a function but some others were long ones."""
    return row.calls <= others or row.total >= (row.calls - others) * shortest


def test_short_calls_are_left_out(tmp_path, interpreter, monkeypatch):
    """What is recorded begins when it began, also the callers of a long call."""
    monkeypatch.setenv("PYTHONPATH", str(Path(vestige.__file__).parents[1]))
    done = record_python(
        tmp_path, SLOW, OPTION, "-q", "--min-duration=20ms",
        "--include-function=program.py:*", interpreter=interpreter,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tree = call_tree(vestige.open(tmp_path / "trace"))
    rows = {row.function.name: row for row in tree.functions()}

    assert [rows[name].calls for name in ("main", "caller", "sleeper", "fails")] == [
        1
    ] * 4
    # An event is recorded with the calls that it is in.
    assert rows["marked"].calls == 50
    # A function that is called for the first time is introduced within its callers; and
    # a call is long when the machine had something else to do.
    assert is_long(rows["parent"], 1)
    assert "short" not in rows or is_long(rows["short"], 4)
    assert 90e6 < rows["main"].total < rows["<module>"].total
    assert 30e6 < rows["caller"].total < rows["main"].total
    assert not any(one.unknown_exits for one in tree.threads)


def test_long_calls_of_threads_begin_when_they_began(tmp_path, interpreter):
    """The first record of a thread is one that was held back."""
    code = """\
        import threading, time
        def short(): pass
        def work(): short(); time.sleep(0.05)
        work()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
    """
    record_python(
        tmp_path, code, OPTION, "-q", "--min-duration=20ms",
        "--include-function=work", interpreter=interpreter,
    )  # fmt: skip
    row = next(row for row in call_tree(vestige.open(tmp_path / "trace")).functions())

    assert row.calls == 5
    assert row.shortest > 49e6


def test_records_are_in_order(tmp_path, interpreter):
    """Many held-back entries, and packets that become full."""
    code = """\
        import time
        def short(): pass
        def deep(n):
            short()
            if n: deep(n - 1)
            else: time.sleep(0.001)
        for _ in range(20): deep(400)
    """
    record_python(
        tmp_path, code, OPTION, "-q", "--min-duration=1ms", "--buffer-size=8k",
        "--include-function=program.py:*", interpreter=interpreter,
    )  # fmt: skip
    found = events(tmp_path, "vestige_python:func_*")
    times = [event.timestamp for event in found]

    assert times == sorted(times)
    assert counts(tmp_path)["deep"] == 20 * 401
    # Unless the machine had something else to do: then a call was long.
    rows = {
        row.function.name: row
        for row in call_tree(vestige.open(tmp_path / "trace")).functions()
    }
    assert "short" not in rows or is_long(rows["short"], 20, 1e6)


def test_events_of_functions_left_out_have_places(tmp_path, interpreter, monkeypatch):
    """A tracepoint in a function that is not recorded."""
    monkeypatch.setenv("PYTHONPATH", str(Path(vestige.__file__).parents[1]))
    code = """\
        import os, vestige.instrument
        seen = vestige.instrument.tracepoint("app:seen")
        def f():
            seen()
        f()
        if os.fork() == 0:
            f()
            os._exit(0)
        os.wait()
    """
    record_python(tmp_path, code, OPTION, "--exclude-function=*", "-q",
                  interpreter=interpreter)  # fmt: skip

    assert not events(tmp_path, "vestige_python:func_*")
    places = [event.debug_info for event in events(tmp_path, "app:seen")]
    assert [(one.function, one.line) for one in places] == [("f", 4)] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only-my-code"], "--only-my-code: expected with --python-functions"),
        (["--max-depth=0", OPTION], "--max-depth=0: expected 1 to"),
        (["--max-depth=x", OPTION], "invalid int value"),
        (["--min-duration=5", OPTION], "'5' is no duration"),
    ],
)
def test_wrong_limits_are_refused(tmp_path, options, message):
    """Before the program starts."""
    done = record_python(tmp_path, "print('ran')", *options)

    assert done.returncode == 2
    assert message in done.stderr
    assert "ran" not in done.stdout


def test_closing_lines_say_that_nothing_was_chosen(tmp_path):
    """The patterns may be the reason."""
    done = record_python(tmp_path, "print()", OPTION, "--include-function=nothing")

    assert "no Python function was chosen by --include-function" in done.stderr
