"""Arguments and results of Python functions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

import vestige
from support.peers import run_peer
from support.python_programs import events, interpreters, record_python
from support.vestige_command import convert
from vestige.analysis import call_tree
from vestige.errors import SelectionError
from vestige.record import RecordingOptions

OPTIONS = ("--python-arguments", "--include-function=program.py:*", "-q")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
VALUES = """\
    def f(x): return x
    class Cart:
        def add(self): pass
    class Text(str): pass
    for value in (
        None, True, False, 0, -3, 2**63 - 1, -2**63, 2**63, 2**64 - 1, 2**64, -2**70,
        1.0, 1e300, float("nan"), float("-inf"), "x", "it's\\n\\0\\x9b\\\\", "\\ud800\\xe9\\u6f22",
        b"ab\\xff'", [], [1], (), (1, 2), {}, {1: 2}, {1}, set(), Cart(), Cart, Text("t"),
        f, Cart.add, Cart().add, len, [].append, object,
        "a" * 59, "\\xe9" * 40, b"x" * 99,
    ):
        f(value)
"""
TEXTS = [
    "None", "True", "False", "0", "-3", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "18446744073709551615", "<int of 65 bits>",
    "<negative int of 71 bits>", "1.0", "1e+300", "nan", "-inf", "'x'",
    r"'it\'s\n\x00\x9b\\'", "'\\ud800é漢'", r"b'ab\xff\''", "[]", "[1 item]", "()",
    "(2 items)", "{}", "{1 item}", "{1 item}", "{}", "<Cart>", "<class Cart>", "<Text>",
    "<function f>", "<function Cart.add>", "<method Cart.add>", "<function len>",
    "<function append>", "<class object>",
    f"'{'a' * 58}'...", f"'{'é' * 29}'...", f"b'{'x' * 58}'...",
]  # fmt: skip
KINDS = """\
    def plain(a, b=2, /, c=3): return a
    def more(a, *rest, key, **named): return rest
    def cells(a, b):
        def inner(): return a
        b += 1
        return inner() + b
    def deleted(a):
        del a
        return plain(0)
    def fails(a): raise KeyError(a)
    def numbers(n):
        for i in range(n):
            n -= 1
            yield i
    def with_cell(a):
        yield (lambda: a)()
    plain(1); plain(1, c=None); more(1, 2, 3, key="k", z=0); cells(1, 2); deleted(4)
    try: fails("text")
    except KeyError: pass
    list(numbers(2)); list(with_cell(5))
"""
CALLS = [
    "plain(a=1, b=2, c=3)", "plain -> 1",
    "plain(a=1, b=2, c=None)", "plain -> 1",
    "more(a=1, *rest=(2 items), key='k', **named={1 item})", "more -> (2 items)",
    "cells(a=1, b=2)", "inner()", "inner -> 1", "cells -> 4",
    "deleted(a=4)", "plain(a=0, b=2, c=3)", "plain -> 0", "deleted -> 0",
    "fails(a='text')", "fails -> raises KeyError",
    "numbers(n=2)", "numbers -> 0", "numbers(...)", "numbers -> 1",
    "numbers(...)", "numbers -> None",
    "with_cell(a=5)", "<lambda>()", "<lambda> -> 5", "with_cell -> 5",
    "with_cell(...)", "with_cell -> None",
]  # fmt: skip


@pytest.fixture(params=interpreters())
def interpreter(request):
    """Return the path of a Python."""
    return (request.param,)


def calls(directory):
    """Return the calls of the program without its modules, as people write them."""
    lines = []
    for event in events(directory, "vestige_python:*_e*"):
        name = event.debug_info.function.rpartition(".")[2]
        if name == "<module>":
            continue
        text = event.get("arguments") or f" -> {event['result']}"
        lines.append(ADDRESS.sub("", name + text))
    return lines


def test_values_have_short_texts(tmp_path, interpreter):
    """Those of built-in types as the language writes them, others by their type."""
    done = record_python(tmp_path, VALUES, *OPTIONS, interpreter=interpreter)
    assert done.returncode == 0, done.stderr

    found = [line for line in calls(tmp_path) if line.startswith("f")]
    assert found[::2] == [f"f(x={text})" for text in TEXTS]
    assert found[1::2] == [f"f -> {text}" for text in TEXTS]


@pytest.mark.parametrize("functions", ["python", "all"])
def test_parameters_of_all_kinds_are_recorded(tmp_path, interpreter, functions):
    """Those with defaults, with stars, in cells, and of generators when they begin."""
    option = f"--python-functions={functions}"
    done = record_python(tmp_path, KINDS, *OPTIONS, option, interpreter=interpreter)
    assert done.returncode == 0, done.stderr
    found = calls(tmp_path)

    # The hook of Python 3.11 for functions in C does not tell of exceptions.
    assert [line.replace("raises ...", "raises KeyError") for line in found] == CALLS


def test_coroutines_have_arguments_once(tmp_path, interpreter):
    """When they begin, and a result when they end."""
    code = """\
        import asyncio
        async def double(n):
            await asyncio.sleep(0)
            return n * 2
        async def fails():
            await asyncio.sleep(0)
            raise OSError
        async def main():
            try: await fails()
            except OSError: pass
            return await double(4)
        asyncio.run(main())
    """
    done = record_python(tmp_path, code, *OPTIONS, interpreter=interpreter)
    assert done.returncode == 0, done.stderr

    assert calls(tmp_path) == [
        "main()", "fails()", "fails -> ...", "main -> ...", "main(...)",
        "fails(...)", "fails -> raises OSError",
        "double(n=4)", "double -> ...", "main -> ...",
        "main(...)", "double(...)", "double -> 8", "main -> 8",
    ]  # fmt: skip


EVIL = """\
    import gc, sys, types, weakref
    ran = []
    def note(name):
        def method(*values):
            ran.append(name)
            return 0
        return method
    names = ("__repr__ __str__ __len__ __iter__ __index__ __int__ __float__ __bool__ "
             "__hash__ __format__ __bytes__ __fspath__ __reduce__ __call__").split()
    body = {name: note(name) for name in names}
    class Meta(type):
        def __getattribute__(cls, name):
            ran.append(name)
            return type.__getattribute__(cls, name)
        __repr__ = __instancecheck__ = note("of type")
    def attribute(self, name):
        ran.append(name)
        return object.__getattribute__(self, name)
    def f(x, *more, key=None): return x
    class Name(str): __str__ = __repr__ = __len__ = __getitem__ = note("of name")
    def named(): pass
    named.__qualname__ = Name("named")
    values = [named, types.MethodType(f, 1), range(3), types.SimpleNamespace(x=1)]
    for base in (object, int, float, str, bytes, list, tuple, dict, set, BaseException):
        cls = Meta("Evil", (base,), {**body, "__getattribute__": attribute})
        values.append(cls())
    values.append(types.MethodType(cls(), 1))
    values.append(cls)
    ran.clear()
    def g(x):
        yield x
        raise x
    for value in values:
        f(value)
        f(0, value, key=value)
        try:
            for _ in g(value): pass
        except BaseException: pass
    del value
    print(ran, [sys.getrefcount(value) for value in values])
    class Gone:
        def __del__(self): print("gone")
    def last(one): pass
    last(Gone())
    print("after")
    kept = weakref.ref(Gone())
    print(kept(), gc.collect() >= 0)
    f("\\xe9" * 1000); text = "\\xe9" * 1000; before = sys.getsizeof(text)
    f(text); print(sys.getsizeof(text) == before)
"""


def test_no_code_of_the_program_runs(tmp_path, interpreter):
    """Whatever its types override; values live as long as without a recorder."""
    done = record_python(tmp_path, EVIL, *OPTIONS, interpreter=interpreter)
    plain = subprocess.run(
        [*interpreter, str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert plain.stdout.startswith("[] [")
    assert done.stdout == plain.stdout, done.stderr
    texts = calls(tmp_path)
    assert texts.count("f(x=<Evil>, *more=(), key=None)") == 10
    assert texts.count("f(x=0, *more=(1 item), key=<Evil>)") == 10
    assert texts.count("g(x=<Evil>)") == 10


def test_texts_are_bounded(tmp_path, interpreter):
    """However many arguments there are, and however large they are."""
    code = """\
        def f(*values): return values[0]
        names = list(map("a{}".format, range(200)))
        exec(f"def many({', '.join(names)}): return a0")
        many(*range(200))
        many(*["x" * 10_000_000] * 200)
        exec(f"def long({'n' * 5000}, b): pass")
        long(1, 2)
        f(1 << 100_000_000)
        f("\\U0001f389" * 1_000_000)
    """
    done = record_python(
        tmp_path, code, *OPTIONS, "--include-function=many",
        "--include-function=long", interpreter=interpreter,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = calls(tmp_path)

    assert all(len(line.encode()) < 530 for line in found)
    assert found[0].startswith("many(a0=0, a1=1,")
    assert found[0].endswith(", ...)")
    assert found[2].startswith("many(a0='xxx")
    assert found[2].endswith("'..., ...)")
    assert found[4] == "long(...=1, b=2)"
    assert found[6:] == [
        "f(*values=(1 item))", "f -> <int of 100000001 bits>",
        "f(*values=(1 item))", f"f -> '{chr(0x1F389) * 14}'...",
    ]  # fmt: skip


def test_deep_recursion_and_threads_have_arguments(tmp_path, interpreter):
    """Also where the hook of sys.setprofile takes over, in Python 3.11."""
    code = """\
        import sys, threading
        sys.setrecursionlimit(20_000)
        threading.stack_size(1 << 20)
        def deep(n): return deep(n - 1) + 1 if n else 0
        def work(k):
            for i in range(200): leaf(k, i)
        def leaf(k, i): return k * 1000 + i
        threads = [threading.Thread(target=deep, args=(3000,))]
        for k in range(4): threads.append(threading.Thread(target=work, args=(k,)))
        for one in threads: one.start()
        for one in threads: one.join()
        leaf(9, 9)
    """
    done = record_python(tmp_path, code, *OPTIONS, interpreter=interpreter)
    assert done.returncode == 0, done.stderr

    assert Counter(calls(tmp_path)) == Counter(
        [f"deep(n={n})" for n in range(3001)]
        + [f"deep -> {n}" for n in range(3001)]
        + [f"work(k={k})" for k in range(4)]
        + ["work -> None"] * 4
        + [f"leaf(k={k}, i={i})" for k in range(4) for i in range(200)]
        + [f"leaf -> {k * 1000 + i}" for k in range(4) for i in range(200)]
        + ["leaf(k=9, i=9)", "leaf -> 9009"]
    )


def test_entries_that_are_held_back_have_their_arguments(tmp_path, interpreter):
    """As they were at the entry, at any depth; short calls are left out."""
    code = """\
        import time
        def short(n): return n
        def long(items):
            items.append(1)
            items = None
            short(1)
            time.sleep(0.02)
        def deep(n, text):
            if n: return deep(n - 1, text)
            text = None
            time.sleep(0.02)
        for n in range(5):
            long([0] * n)
        deep(400, "text")
    """
    done = record_python(
        tmp_path, code, *OPTIONS, "--min-duration=10ms", interpreter=interpreter
    )
    assert done.returncode == 0, done.stderr

    counts = ["[]", "[1 item]", "[2 items]", "[3 items]", "[4 items]"]
    assert calls(tmp_path) == [
        *[
            line
            for count in counts
            for line in (f"long(items={count})", "long -> None")
        ],
        *[f"deep(n={n}, text='text')" for n in range(400, -1, -1)],
        *["deep -> None"] * 401,
    ]


def test_depth_and_choice_hold_with_arguments(tmp_path):
    """What is left out is, and child processes have their own."""
    code = """\
        import os
        def inner(a): return a
        def outer(a): return inner(a)
        def other(a): return a
        outer(1); other(2)
        if os.fork() == 0:
            outer(3)
            os._exit(0)
        os.wait()
    """
    record_python(
        tmp_path, code, "-q", "--python-arguments", "--include-function=*outer",
        "--include-function=*other", "--include-function=*inner",
        "--exclude-function=other", "--max-depth=1",
    )  # fmt: skip

    assert sorted(calls(tmp_path)) == [
        "outer -> 1", "outer -> 3", "outer(a=1)", "outer(a=3)",
    ]  # fmt: skip


def test_greenlets_have_arguments(tmp_path):
    """Where a call begins and ends; nothing is known where it leaves and resumes."""
    pytest.importorskip("greenlet")
    code = """\
        import greenlet
        main = greenlet.getcurrent()
        def task(n):
            main.switch(n + 1)
            return n + 2
        def run():
            one = greenlet.greenlet(task)
            print(one.switch(1), one.switch())
        run()
    """
    done = record_python(tmp_path, code, *OPTIONS)

    assert done.stdout == "2 3\n", done.stderr
    assert calls(tmp_path) == [
        "run()", "task(n=1)", "task -> ...", "task(...)", "task -> 3", "run -> None",
    ]  # fmt: skip


def test_functions_in_c_have_dots(tmp_path, interpreter):
    """What they are called with is not known."""
    done = record_python(
        tmp_path, "import math; math.sqrt(4)", "-q", "--python-arguments",
        "--python-functions=all", "--include-function=math.*", interpreter=interpreter,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    assert calls(tmp_path) == ["sqrt(...)", "sqrt -> ..."]


def test_calls_are_the_same_with_arguments(tmp_path):
    """Reports count and nest them as they do without; without, nothing has changed."""
    trees = []
    for name, options in (("with", ("--python-arguments",)), ("without", ())):
        (tmp_path / name).mkdir()
        record_python(
            tmp_path / name, KINDS, "-q", "--python-functions",
            "--include-function=program.py:*", *options,
        )  # fmt: skip
        tree = call_tree(vestige.open(tmp_path / name / "trace"))
        assert not any(one.unknown_exits for one in tree.threads)
        trees.append({row.function.name: row.calls for row in tree.functions()})
    text = (tmp_path / "without" / "trace" / "metadata").read_text()

    assert trees[0] == trees[1]
    assert "arguments" not in text
    assert "result" not in text


def test_view_shows_calls_as_they_are_written(tmp_path):
    """The arguments after the function, the result after an arrow."""
    record_python(tmp_path, KINDS, *OPTIONS)
    command = [sys.executable, "-m", "vestige", "view", tmp_path / "trace"]
    lines = run_peer(command).stdout.decode().splitlines()
    shown = [" ".join(line.split("func_", 1)[1].split()) for line in lines]

    assert "entry plain(a=1, b=2, c=None) at program.py:1" in shown
    assert "exit more -> (2 items) at program.py:2" in shown
    assert "exit fails raises KeyError at program.py:10" in shown


@pytest.mark.skipif(shutil.which("babeltrace2") is None, reason="no babeltrace2")
def test_the_peer_prints_the_same(tmp_path):
    """Babeltrace 2 takes the records for what they are."""
    record_python(tmp_path, VALUES, *OPTIONS)
    peer = run_peer(["babeltrace2", tmp_path / "trace"])

    assert convert(tmp_path / "trace").stdout == peer.stdout
    assert peer.stdout.count(b"arguments = ") == len(TEXTS) + 3


def test_arguments_need_functions(tmp_path):
    """The option asks for both; from Python, they are asked for together."""
    with pytest.raises(SelectionError, match="expected with python_functions"):
        RecordingOptions(python_arguments=True)
    record_python(tmp_path, "def f(): pass\nf()", "-e", "app:*", *OPTIONS)
    assert calls(tmp_path) == ["f()", "f -> None"]
