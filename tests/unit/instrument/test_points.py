"""Tracepoints of Python programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import pytest

from support.python_programs import (
    copied_package,
    events,
    place_of,
    record_python,
    run_python,
)
from vestige.instrument import inactive_because, is_recorded, span, tracepoint

PROGRAM = """\
    from vestige.instrument import tracepoint

    request = tracepoint("app:request", path=str, status=int)

    def handle(path):
        request(path=path, status=200)
        request(status=404, path="/none")
        request("/by-place", 1)

    handle("/")
    print(request, request.enabled)
"""


def payloads(found):
    """Return the fields of events."""
    return [event.payload.to_dict() for event in found]


def test_a_call_is_an_event(tmp_path):
    """With the fields by name, in any order, or by place."""
    done = record_python(tmp_path, PROGRAM)

    assert done.stdout == "<tracepoint app:request, recorded> True\n"
    assert payloads(events(tmp_path, "app:request")) == [
        {"path": "/", "status": 200},
        {"path": "/none", "status": 404},
        {"path": "/by-place", "status": 1},
    ]


def test_an_event_is_at_its_line(tmp_path):
    """Function, file and line of the call, as those of a C program."""
    record_python(tmp_path, PROGRAM)
    found = events(tmp_path, "app:request")

    assert [place_of(event) for event in found] == [
        f"program.py:{n}" for n in (6, 7, 8)
    ]
    assert {event.debug_info.function for event in found} == {"handle"}


def test_nothing_is_done_without_a_recorder(tmp_path):
    """And the program knows it."""
    done = run_python(tmp_path, PROGRAM)

    assert (done.stdout, done.stderr) == ("<tracepoint app:request> False\n", "")


def test_a_program_can_ask_why_nothing_is_recorded():
    """These tests do not run under the recorder."""
    assert not is_recorded()
    assert inactive_because() == "the program does not run under 'vestige record'"


def test_all_types_are_recorded(tmp_path):
    """At their limits, too."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint
        point = tracepoint("app:all", "info", i=int, f=float, s=str, b=bytes, t=bool)
        point(-1 << 63, 0.1, "h\\u00e9", b"\\0\\xff", True)
        point((1 << 63) - 1, float("inf"), "", b"", False)
        point(True, 7, "x" * 5000, bytearray(b"ab"), False)
        point(0, -0.0, "a\\udc80", memoryview(b"c"), True)
        """,
    )
    found = events(tmp_path, "app:all")

    assert payloads(found) == [
        {"i": -1 << 63, "f": 0.1, "s": "hé", "_b_length": 2, "b": [0, 255], "t": 1},
        {
            "i": (1 << 63) - 1,
            "f": float("inf"),
            "s": "",
            "_b_length": 0,
            "b": [],
            "t": 0,
        },
        {"i": 1, "f": 7.0, "s": "x" * 5000, "_b_length": 2, "b": [97, 98], "t": 0},
        {"i": 0, "f": 0.0, "s": "a\\udc80", "_b_length": 1, "b": [99], "t": 1},
    ]


def test_a_wrong_value_does_not_stop_the_program(tmp_path):
    """It is recorded as zero or empty, and said once for each field and type."""
    done = record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint
        point = tracepoint("app:point", number=int, text=str)
        for _ in range(3):
            point(number="one", text=2)
        point(number=1 << 64, text="large")
        point(number=5)
        point(1, "a", 3)
        point(1, "a", other=3)
        print("goes on")
        """,
        "-q",
    )

    assert done.stdout == "goes on\n"
    assert done.stderr.splitlines() == [
        "vestige: app:point: the field 'number' (int) takes no str; 0 is recorded",
        "vestige: app:point: the field 'text' (str) takes no int; an empty one is recorded",
        "vestige: app:point: the field 'number' (int): this int is too large; the nearest one is recorded",
        "vestige: app:point: no value for the field 'text'; an empty one is recorded",
        "vestige: app:point: 3 values for 2 fields; it is left out",
        "vestige: app:point: no field has the name 'other'; it is left out",
    ]
    assert payloads(events(tmp_path, "app:point")) == [
        *[{"number": 0, "text": ""}] * 3,
        {"number": (1 << 63) - 1, "text": "large"},
        {"number": 5, "text": ""},
        {"number": 1, "text": "a"},
        {"number": 1, "text": "a"},
    ]


def test_an_exception_in_flight_is_kept(tmp_path):
    """A tracepoint in an exception handler, or called from C code, changes nothing."""
    done = record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint
        point = tracepoint("app:point", text=str)
        try:
            1 / 0
        except ZeroDivisionError as error:
            point(text="\\ud800")
            point(text=5)
            print(repr(error), list(map(point, ["a", "b"])))
        """,
    )

    assert done.stdout == "ZeroDivisionError('division by zero') [None, None]\n"
    assert [one["text"] for one in payloads(events(tmp_path, "app:point"))] == [
        "\\ud800",
        "",
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("request", {}, "names no event"),
        ("app:", {}, "names no event"),
        ("app:a b", {}, "names no event"),
        ('app:"', {}, "names no event"),
        ("app:" + "x" * 252, {}, "names no event"),
        ("vestige_python:code", {}, "are events of Vestige itself"),
        ("app:bad1", {"value": list}, "the field 'value' is <class 'list'>"),
        ("app:bad2", {"value": 5}, "expected one of int, float, str, bytes, bool"),
        ("app:bad3", {"straße": int}, "'straße' names no field"),
        ("app:bad4", {f"f{n}": int for n in range(65)}, "65 fields: at most 64"),
    ],
)
def test_what_cannot_be_recorded_is_refused(name, fields, message):
    """When it is defined, with or without a recorder."""
    with pytest.raises(ValueError, match=re.escape(message)):
        tracepoint(name, **fields)


def test_an_unknown_level_is_refused():
    """With those that there are."""
    with pytest.raises(ValueError, match="no log level 'loud': expected one of emerg"):
        tracepoint("app:loud", "loud")
    with pytest.raises(ValueError, match="no log level 15"):
        tracepoint("app:loud", 15)


def test_a_definition_may_come_again():
    """As when a module is loaded twice; but it stays the same."""
    first = tracepoint("app:again", value=int)

    assert tracepoint("app:again", value=int) is first
    with pytest.raises(ValueError, match="app:again is defined already"):
        tracepoint("app:again", value=str)
    assert (first.name, first.fields) == ("app:again", {"value": "int"})


def test_a_span_is_two_events(tmp_path):
    """In a with statement and over functions of all kinds, also when they fail."""
    done = record_python(
        tmp_path,
        """\
        import asyncio
        from vestige.instrument import span

        work = span("app:work", item=int)
        plain = span("app:plain")

        @span("app:save")
        def save(x):
            "Saves."
            return 2 * x

        @span("app:many")
        def many():
            yield from (1, 2)

        @span("app:soon")
        async def soon():
            await asyncio.sleep(0)
            return 3

        with work(item=3) as one, plain:
            print(one is work, save(4), save.__doc__, list(many()), asyncio.run(soon()))
        try:
            with plain:
                raise KeyError
        except KeyError:
            print("raised")
        """,
    )
    found = events(tmp_path, "app:*")

    assert done.stdout == "False 8 Saves. [1, 2] 3\nraised\n"
    assert [event.name.removeprefix("app:") for event in found] == [
        "work_entry", "plain_entry",
        "save_entry", "save_exit", "many_entry", "many_exit", "soon_entry", "soon_exit",
        "plain_exit", "work_exit", "plain_entry", "plain_exit",
    ]  # fmt: skip
    assert payloads(found)[0] == {"span_id": 1, "parent_id": 0, "task": "", "item": 3}
    assert [place_of(event) for event in found[2:8:2]] == [
        "program.py:7", "program.py:12", "program.py:16",
    ]  # fmt: skip


def test_a_span_does_nothing_without_a_recorder():
    """It is the same object for all values, and functions do what they do."""
    one = span("app:idle", item=int)

    @one(item=4)
    def double(x):
        return 2 * x

    with one(item=3) as entered:
        assert entered is one(item=4)
    assert double(4) == 8


def test_a_forked_process_tells_its_places(tmp_path):
    """It has a process image of its own."""
    record_python(
        tmp_path,
        """\
        import os
        from vestige.instrument import tracepoint
        point = tracepoint("app:point", who=str)

        def tell(who):
            point(who=who)

        tell("parent")
        child = os.fork()
        if not child:
            tell("child")
            os._exit(0)
        os.waitpid(child, 0)
        tell("parent")
        """,
    )
    found = events(tmp_path, "app:point")

    assert sorted(one["who"] for one in payloads(found)) == [
        "child",
        "parent",
        "parent",
    ]
    assert {place_of(event) for event in found} == {"program.py:6"}


def test_the_package_is_small():
    """What a program imports loads neither the reader nor the Rust core."""
    code = "import sys, vestige.instrument; print([n for n in sys.modules if 'vestige' in n])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "vestige._core" not in done.stdout
    assert "logging" not in done.stdout


def test_where_it_is_not_built_nothing_happens(tmp_path):
    """The program runs, and can ask why."""
    copied_package(tmp_path, "*.so")
    code = """\
        import logging
        from vestige.instrument import (
            inactive_because, is_recorded, logging_handler, span, tracepoint
        )

        point = tracepoint("app:point", value=int)
        work = span("app:work", item=int)
        point(value=3)
        with work(item=3):
            print(point.enabled, point.fields, is_recorded())

        @work
        def double(item):
            return 2 * item

        logging.getLogger("app").addHandler(logging_handler())
        logging.getLogger("app").error("text")
        print(double(2), inactive_because().partition(":")[0])
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == ""
    assert done.stdout == (
        "False {'value': 'int'} False\n"
        "4 the extension of vestige.instrument was not built\n"
    )


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ("i > 1", [2, 3]),
        ('s == "b*"', [2, 3]),
        ("f < 1", [1]),
        ("t == 1 && i == 3", [3]),
        ("b[1] == 98", [2]),
        ("absent == 1", []),
    ],
)
def test_events_are_chosen_by_a_filter(tmp_path, condition, chosen):
    """Which sees the fields of all types."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint
        point = tracepoint("app:all", i=int, f=float, s=str, b=bytes, t=bool)
        point(1, 0.5, "a", b"", False)
        point(2, 1.5, "bc", b"ab", False)
        point(3, 2.5, "bd", b"a", True)
        """,
        "-e",
        "app:*",
        "--filter",
        condition,
    )

    found = [event for event in events(tmp_path, "*") if event.name == "app:all"]

    assert [event["i"] for event in found] == chosen


def test_events_are_chosen_by_their_level(tmp_path):
    """As those of C programs; places are explained whatever is chosen."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint
        tracepoint("app:quiet")()
        tracepoint("app:loud", "warning")()
        """,
        "-e",
        "app:*",
        "--loglevel",
        "NOTICE",
    )
    found = events(tmp_path, "app:*")

    assert [(event.name, place_of(event)) for event in found] == [
        ("app:loud", "program.py:3")
    ]
