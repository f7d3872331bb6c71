"""Contexts that programs register with LTTng-UST, in pairs with LTTng."""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import vestige
from support.instrumented import Sources, record_instrumented
from support.lttng import Channel, Program, missing_requirement
from support.recorded import record_command
from support.session_daemon import say, session_daemon
from vestige.record.backends.in_process.tracer import LIKE_LTTNG, library_path

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("headers")]

CONTEXTS = ("vpid", "$app.shop:kind", "$app.shop:double", "$app.shop:none", "$app.no:a")
FILTERS = (
    "$app.shop:kind == -4",
    '$app.shop:kind == "bob*"',
    '$app.shop:kind == ""',
    '$app.shop:kind != "x"',
    "$app.shop:kind > 20.5",
    "$app.shop:double > 10 && number < 15",
    "$app.shop:double == $app.shop:kind",
    "number >= 200 || $app.shop:kind == -16",
    "number == 100 || $app.no:a == 1",
    "$app.no:a == 1 || 1",
    "1 || $app.no:a == 1",
    "!$app.shop:kind",
    "$app.shop:none != 0",
)


@pytest.fixture(scope="module")
def headers():
    """Skips where LTTng, or its headers, are not installed."""
    if reason := missing_requirement():
        pytest.skip(reason)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compiles with LTTng's headers."""
    directory = tmp_path_factory.mktemp("provided")
    return Sources(directory, ("gcc", "-g", "-O1", "-w", "-pthread"), has_lttng=True)


@pytest.fixture(scope="module")
def program(build):
    """A program with all types of contexts."""
    return build.build("provided", "provided.c")


def text(trace):
    """Return what Babeltrace says of the events, without times and the packet's context."""
    words = ["babeltrace2", "--clock-seconds", trace]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if " provided:step: " in line]
    names = r"^.* provided:step: \{ (cpu_id = \d+|vpid = .*?) \}, "
    return [re.sub(r"vpid = \d+", "", re.sub(names, "", line)) for line in lines]


def numbers(trace):
    """Return the numbers that the program has said."""
    opened = vestige.open(trace, debug_info=False)
    return [event["number"] for event in opened.events("provided:*")]


def test_records_are_those_of_lttng(tmp_path, lttng, program):
    """Before, while and after they are registered; each type."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    channel = Channel(events=["provided:*"], contexts=CONTEXTS)
    lttng.record(theirs, [Program([program])], [channel])
    options = ["-e", "provided:*", "-c", ",".join(CONTEXTS)]
    record_instrumented(ours, [program], *options)

    assert text(ours) == text(theirs)
    assert len(text(ours)) == 30


def environment_of(daemon):
    """Return that of a program of LTTng-UST that has our tracer in place of it."""
    tracer = Path(library_path())
    ours = [str(tracer.with_name(name)) for name in (*LIKE_LTTNG, tracer.name)]
    return {**os.environ, **daemon.environment, "LD_PRELOAD": ":".join(ours)}


def test_records_of_sessions_are_those_of_lttng(tmp_path, lttng, program):
    """Of a channel with counters, too."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    contexts = (CONTEXTS[0], "vtid", "perf:thread:cs", *CONTEXTS[1:])
    channel = Channel(events=["provided:*"], contexts=contexts)
    lttng.record(theirs, [Program([program])], [channel])
    with session_daemon() as daemon:
        assert daemon.start().returncode == 0
        added = (f"add-context -u -t {name}" for name in contexts)
        begin = f"create s --output={ours}", "enable-event -u provided:*"
        say(daemon, *begin, *added, "start")
        subprocess.run([program], env=environment_of(daemon), check=True)
        say(daemon, "destroy")

    hidden = r"(vtid|perf_thread_cs) = \d+"
    ours, theirs = (
        [re.sub(hidden, r"\1", one) for one in text(t)] for t in (ours, theirs)
    )
    assert ours == theirs
    assert len(ours) == 30
    assert "perf_thread_cs" in ours[0]


def test_filters_take_what_those_of_lttng_take(tmp_path, lttng, program):
    """Where the value has a type that LTTng's filters know."""
    places = [tmp_path / f"theirs{number}" for number in range(len(FILTERS))]
    for theirs, expression in zip(places, FILTERS, strict=True):
        session = theirs.name
        lttng.run(["lttng", "create", session, f"--output={theirs}"])
        words = ["lttng", "enable-event", "--userspace", f"--session={session}"]
        lttng.run([*words, "provided:*", "--filter", expression])
        lttng.run(["lttng", "start", session])
    # All of them at once.
    lttng.run_program(Program([program]))
    with ThreadPoolExecutor() as threads:
        ends = (["lttng", "destroy", theirs.name] for theirs in places)
        # What is returned is looked at so that errors are raised.
        assert all(threads.map(lttng.run, ends))
    found = []
    for theirs, expression in zip(places, FILTERS, strict=True):
        ours = tmp_path / theirs.name.replace("theirs", "ours")
        options = ["-e", "provided:*", "--filter", expression]
        record_instrumented(ours, [program], *options)

        known = set(numbers(theirs))
        # -1, 2, 3, and those without a sign are none for LTTng's.
        more = {n for n in numbers(ours) if n % 12 in {1, 2, 3, 5, 6, 7, 8, 9}}
        assert known <= set(numbers(ours)) <= known | more, expression
        found.append(len(known))
    # None where nobody has the context, or it never has a value.
    assert [bool(count) for count in found] == [True] * 9 + [False, True] + [False] * 2


def test_both_have_them_when_lttng_is_kept(tmp_path, lttng, program):
    """The program registers them once."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    options = ["-e", "provided:*", "-c", ",".join(CONTEXTS), "--keep-lttng"]
    command = record_command(ours, [program], "--quiet", *options)
    # In a child, LTTng needs a library of its own.
    recorder = Program(command, preload=["liblttng-ust-fork.so.1"])
    channel = Channel(events=["provided:*"], contexts=CONTEXTS)
    lttng.record(theirs, [recorder], [channel])

    assert text(ours) == text(theirs)
    assert len(text(ours)) == 30


@pytest.mark.parametrize(
    "options", [["-c", "$app.shop:user"], ["--filter", "$app.shop:user == 'in*'"]]
)
def test_a_package_is_unloaded_while_threads_ask(tmp_path, build, options):
    """Nobody is in it then."""
    package = build.compile("provided_package.c", "-fPIC")
    package = build.link("package.so", "-shared", package, *build.libraries)
    program = build.build("provided_often", "provided_often.c")
    command = [program, package, "20"]
    command = record_command(
        tmp_path / "trace", command, "-q", "-e", "provided:*", *options
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    opened = vestige.open(tmp_path / "trace", debug_info=False)

    assert done.returncode == 0, done.stderr
    assert not opened.damage
    if "-c" in options:
        found = {str(e["_app_shop_user"]) for e in opened.events("provided:*")}
        assert found == {"{}", "in the package"}
    else:
        assert any(opened.events("provided:*"))
