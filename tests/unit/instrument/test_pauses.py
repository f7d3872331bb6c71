"""Collections of garbage in Python programs."""

from __future__ import annotations

import shutil

import pytest

import vestige
from support.peers import run_peer
from support.python_programs import events, interpreters, place_of, record_python
from support.vestige_command import convert
from vestige.analysis import call_tree

PROGRAM = """\
    import gc
    gc.disable()
    class Node: pass
    def garbage(count):
        for _ in range(count):
            node = Node()
            node.me = node
    gc.collect()
    garbage(10)
    # The last one is held by the frame that made it.
    print(gc.collect(0) >= 10)
    garbage(20)
    print(gc.collect() >= 20)
    gc.collect(1)
    print(len(gc.callbacks))
"""


@pytest.fixture(params=interpreters())
def interpreter(request):
    """Return the path of a Python."""
    return (request.param,)


def pauses(directory):
    """Return generation and number of collected objects of each."""
    found = []
    opened = {}
    for event in events(directory, "vestige_python:gc_*"):
        number = event["span_id"]
        if event.name == "vestige_python:gc_entry":
            opened[number] = event["generation"]
        else:
            assert event["uncollectable"] == 0
            found.append((opened.pop(number), event["collected"]))
    assert not opened
    return found


def test_collections_are_recorded(tmp_path, interpreter):
    """Whatever events are chosen: the generation, and what was collected."""
    done = record_python(
        tmp_path, PROGRAM, "-q", "--python-gc", "-e", "app:*", interpreter=interpreter
    )

    assert done.stdout == "True\nTrue\n1\n", done.stderr
    found = [one for one in pauses(tmp_path) if one[0] < 2 or one[1] >= 20]
    young, old = [one for one in found if one[1] >= 10][-2:]
    assert young[0] == 0
    assert old[0] == 2
    assert found[-1][0] in {1, 2}


def test_nothing_is_added_without_the_option(tmp_path):
    """The program's list of functions is as it was."""
    done = record_python(tmp_path, "import gc; print(gc.callbacks)", "-q")

    assert done.stdout == "[]\n"


def test_pauses_are_within_spans(tmp_path):
    """The parent is the span of the program; reports have a row for them."""
    code = """\
        import gc
        from vestige.instrument import span
        gc.disable()
        with span("app:work"):
            gc.collect()
        gc.collect()
    """
    record_python(tmp_path, code, "-q", "--python-gc", "--python-functions")
    (work,) = events(tmp_path, "app:work_entry")
    parents = [
        event["parent_id"]
        for event in events(tmp_path, "vestige_python:gc_entry")
        if place_of(event).startswith("program.py:")
    ]
    spans = {one.name: one for one in call_tree(vestige.open(tmp_path / "trace")).spans}

    assert parents == [work["span_id"], 0]
    assert spans["vestige_python:gc"].calls >= 2
    assert spans["vestige_python:gc"].unended == 0
    assert spans["vestige_python:gc"].elapsed.longest > 0


def test_collections_end_with_exceptions_and_threads(tmp_path):
    """What finalizers do has no part in it: each one begins and ends."""
    code = """\
        import gc, threading
        class Node:
            def __del__(self): raise ValueError
        def work():
            for _ in range(300):
                node = Node()
                node.me = node
                del node
                gc.collect(0)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
        gc.callbacks.clear()
        gc.collect()
    """
    done = record_python(
        tmp_path, code, "-q", "--python-gc", "--python-arguments",
        "--min-duration=1us",
    )  # fmt: skip

    assert done.returncode == 0
    assert len(pauses(tmp_path)) > 100


@pytest.mark.skipif(shutil.which("babeltrace2") is None, reason="no babeltrace2")
def test_the_peer_prints_the_same(tmp_path):
    """Babeltrace 2 takes the records for what they are."""
    record_python(tmp_path, PROGRAM, "-q", "--python-gc")
    peer = run_peer(["babeltrace2", tmp_path / "trace"])

    assert convert(tmp_path / "trace").stdout == peer.stdout
    assert b"vestige_python:gc_exit" in peer.stdout
