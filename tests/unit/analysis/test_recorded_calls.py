"""Call trees of real programs: exact counts, whatever the program does."""

from __future__ import annotations

import shutil

import pytest

import vestige
from support.call_traces import PlainCalls
from support.compilers import PROGRAMS, run_tool
from support.plugins import build_plugins
from support.recorded import run_recorded
from vestige.analysis import call_tree
from vestige.record.backends.in_process.tracer import can_audit

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

FORMS = {
    "fast": ["--functions=fast"],
    "verbose": ["--functions=verbose"],
    "without contexts": ["-c", "none"],
}


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """A program that calls in all ways."""
    path = tmp_path_factory.mktemp("called") / "called"
    source = PROGRAMS / "called.c"
    run_tool(
        ["gcc", "-g", "-O1", "-finstrument-functions", "-o", path, source, "-pthread"]
    )
    return path


def record(tmp_path, program, *words, options=()):
    """Record a program and rebuild its calls."""
    run_recorded(tmp_path / "trace", [program, *words], *options)
    return call_tree(vestige.open(tmp_path / "trace"))


def shape(node):
    """Return the callees of a node by name: number of calls, and their callees."""
    return {
        callee.function.name: (callee.calls, shape(callee))
        if callee.callees
        else callee.calls
        for callee in node.callees.values()
    }


def uncertain(tree):
    """Return how many calls of each function are not complete."""
    return {one.function.name: one.uncertain for one in tree.functions()}


@pytest.mark.parametrize("form", FORMS)
def test_the_tree_is_exact(tmp_path, called, form):
    """And each function has its source line."""
    tree = record(tmp_path, called, "tree", options=FORMS[form])

    assert shape(tree.root()) == {"main": (1, {"branch": (3, {"leaf": 15}), "leaf": 2})}
    assert {
        (one.function.name, one.function.source.rpartition("/")[2].partition(":")[0])
        for one in tree.functions()
    } == {("main", "called.c"), ("branch", "called.c"), ("leaf", "called.c")}
    assert not any(uncertain(tree).values())


def test_totals_are_those_of_the_events(tmp_path, called):
    """Worked out from the events themselves in the plainest way."""
    tree = record(tmp_path, called, "threads", "500")
    plain = PlainCalls.of(
        vestige.open(tmp_path / "trace"), lambda event: event.debug_info.function
    )

    assert {one.function.name: one.calls for one in tree.functions()} == plain.calls
    assert {one.function.name: one.total for one in tree.functions()} == plain.total
    assert {
        one.function.name: one.self_time for one in tree.functions()
    } == plain.self_time
    assert plain.calls["leaf"] == 4000


@pytest.mark.parametrize("form", FORMS)
def test_time_of_recursion_counts_once(tmp_path, called, form):
    """Of a function that calls itself."""
    tree = record(tmp_path, called, "recursion", "1000", options=FORMS[form])
    [found] = [one for one in tree.functions() if one.function.name == "descend"]
    [main] = [one for one in tree.functions() if one.function.name == "main"]

    assert (found.calls, found.complete) == (1000, 1000)
    assert 0 < found.longest == found.total < main.total
    assert found.complete_time > found.total


def test_mutual_recursion(tmp_path, called):
    """Two functions that call each other."""
    tree = record(tmp_path, called, "mutual", "9")
    found = {one.function.name: one for one in tree.functions()}

    assert (found["even"].calls, found["odd"].calls) == (5, 4)
    assert found["even"].total == found["even"].longest


@pytest.mark.parametrize("form", FORMS)
def test_threads_have_trees_of_their_own(tmp_path, called, form):
    """Eight of them, and that of main."""
    tree = record(tmp_path, called, "threads", "300", options=FORMS[form])
    shapes = sorted(map(str, (shape(thread.root) for thread in tree.threads)))

    assert shapes == ["{'main': (1, {'run_threads': 1})}"] + 8 * [
        "{'work': (1, {'leaf': 300})}"
    ]
    assert not any(uncertain(tree).values())


@pytest.mark.parametrize("form", FORMS)
def test_a_child_process_starts_a_stack_of_its_own(tmp_path, called, form):
    """It is below no call of its parent."""
    tree = record(tmp_path, called, "fork", "5", options=FORMS[form])

    assert shape(tree.root()) == {
        "main": (1, {"parent": 1}),
        "work": (5, {"leaf": 50}),
    }
    assert len(tree.threads) == len({thread.vpid for thread in tree.threads}) == 6
    assert not any(uncertain(tree).values())


@pytest.mark.parametrize("form", ["fast", "verbose"])
def test_calls_that_longjmp_leaves(tmp_path, called, form):
    """They have no exit; those around them are complete."""
    tree = record(tmp_path, called, "jump", "20", options=FORMS[form])
    found = {one.function.name: one for one in tree.functions()}

    assert {name: one.calls for name, one in found.items()} == {
        "main": 1,
        "jump_often": 1,
        "outer": 20,
        "inner": 20,
        "leaf": 21,
    }
    assert uncertain(tree) == {
        "main": 0,
        "jump_often": 0,
        "outer": 20,
        "inner": 20,
        "leaf": 0,
    }
    assert (found["outer"].no_exit, found["inner"].no_exit) == (20, 20)
    assert found["outer"].mean is None


def test_the_call_site_tells_where_a_jump_went(tmp_path, called):
    """What is called after it is no callee of what it left; fast records cannot tell."""
    tree = record(tmp_path, called, "jump", "20", options=FORMS["verbose"])

    assert shape(tree.root()) == {
        "main": (
            1,
            {
                "jump_often": (
                    1,
                    {"outer": (20, {"inner": (20, {"leaf": 20})}), "leaf": 1},
                )
            },
        )
    }


@pytest.mark.parametrize("form", FORMS)
def test_inlined_functions_and_callbacks_are_calls(tmp_path, called, form):
    """Their call sites lie in other functions, and nothing is taken for a jump."""
    tree = record(tmp_path, called, "inlined", options=FORMS[form])

    assert shape(tree.root()) == {
        "main": (
            1,
            {
                "inlining": (
                    1,
                    {
                        "thick": (1, {"leaf": 2, "thin": (1, {"leaf": 1})}),
                        "leaf": 2,
                        "thin": (1, {"leaf": 1}),
                        "compare": (1, {"leaf": 1}),
                    },
                )
            },
        )
    }
    assert not any(uncertain(tree).values())


@pytest.mark.parametrize("way", ["killed", "exit"])
def test_calls_that_the_end_of_the_program_leaves(tmp_path, called, way):
    """They are counted up to the last event."""
    tree = record(tmp_path, called, way)
    [thread] = tree.threads

    assert shape(tree.root()) == {
        "main": (1, {"outer": (1, {"inner": (1, {"leaf": 1})})})
    }
    assert uncertain(tree) == {"main": 1, "outer": 1, "inner": 1, "leaf": 0}
    assert thread.root.duration == thread.end - thread.begin


def test_signal_handlers_are_calls(tmp_path, called):
    """Of the function that they interrupt."""
    tree = record(tmp_path, called, "handler")

    assert shape(tree.root()) == {
        "main": (1, {"interrupted": (1, {"handler": (1, {"leaf": 1})})})
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_exceptions_leave_calls_by_their_exits(tmp_path, form):
    """GCC calls the exit hook while the stack is unwound, before destructors of callers."""
    program = tmp_path / "thrown"
    source = PROGRAMS / "thrown.cpp"
    run_tool(["g++", "-g", "-O1", "-finstrument-functions", "-o", program, source])
    tree = record(tmp_path, program, "50", options=FORMS[form])

    assert shape(tree.root()) == {
        "main": (
            1,
            {
                "catcher(int)": (
                    50,
                    {"guarded(int)": (50, {"thrower(int)": 50, "Guard::~Guard()": 50})},
                )
            },
        )
    }
    assert not any(uncertain(tree).values())


def test_a_program_without_instrumentation_has_no_calls(tmp_path):
    """Its other events are counted."""
    tree = record(tmp_path, "true")

    assert (tree.threads, tree.events) == ([], 0)
    assert tree.other_events > 0


@pytest.mark.skipif(not can_audit(), reason="needs glibc 2.35")
@pytest.mark.parametrize("form", FORMS)
def test_plugins_at_the_same_address_are_told_apart(tmp_path, form):
    """And one that comes back is the same, wherever it is."""
    plugins = build_plugins(tmp_path / "plugins")
    words = ["reload", "20", plugins.alpha, plugins.bravo]
    tree = record(tmp_path, plugins.program, *words, options=FORMS[form])
    found = {}
    for one in tree.functions():
        path = one.function.object or ""
        found[path.rpartition("/")[2], one.function.name] = one.calls

    for name in ("alpha", "bravo"):
        mine = {key[1]: calls for key, calls in found.items() if key[0] == f"{name}.so"}
        assert mine == {
            "plugin_run": 20,
            f"{name}_run": 20,
            f"{name}_begin": 20,
            f"{name}_end": 20,
            f"{name}_step": 60,
        }
    assert all(calls for calls in found.values())
    assert not any(one.uncertain for one in tree.functions())
