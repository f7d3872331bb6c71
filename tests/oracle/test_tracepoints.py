"""Programs with tracepoints hold the same in recordings of LTTng and of Vestige.

Each source is compiled twice, against LTTng's headers and against Vestige's. LTTng records
the first program, and Vestige both; Babeltrace 2 prints the traces.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from support.instrumented import Sources, record_instrumented
from support.lttng import Channel, Program

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

CXX = ("g++", "-g", "-O1", "-fpermissive", "-w")


def printed(trace):
    """Return each tracepoint's record as Babeltrace prints it, without place and time."""
    text = subprocess.run(
        ["babeltrace2", "--no-delta", trace],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        check=True,
    ).stdout
    found = []
    for line in text.splitlines():
        name, _, rest = line.partition(": {")
        words = name.split()[-1]
        if words.startswith(("lttng_ust_statedump:", "lttng_ust_lib:")):
            continue
        # Records without fields end with a context.
        found.append((words, rest.rpartition("}, { ")[2]))
    return found


def metadata_of(trace):
    """Return log levels and URIs of the event record classes of tracepoints."""
    [path] = [p for p in trace.rglob("metadata") if p.is_file()]
    text = subprocess.run(
        ["babeltrace2", "-o", "ctf-metadata", path.parent],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        check=True,
    ).stdout
    events = re.findall(r"event \{(.*?)\n\};", text, re.DOTALL)
    found = {}
    for event in events:
        name = re.search(r'name = "(.*)"', event)[1]
        level = re.search(r"loglevel = (\d+)", event)
        uri = re.search(r'emf\.uri = "(.*)"', event)
        found[name] = (level and level[1], uri and uri[1])
    return {
        name: facts
        for name, facts in found.items()
        if not name.startswith(("lttng_ust_", "vestige", "ust_baddr:"))
    }


CASES = {
    "hello": (["hello.c", "hello-tp.c"], ["world", "and", "beyond"], ()),
    "example": (["example.c", "example-tp.c"], [], ()),
    "odd": (["odd.c", "odd-tp.c"], [], ()),
    "types": (["types.c"], [], ()),
    "types in C++": (["types.c"], [], (*CXX, "-x", "c++")),
    "fields": (["fields.c"], [], ()),
    "greeting": (["greeting.c"], ["one", "", "ä"], ()),
    "assorted": (["assorted.c"], ["ticks", "10"], ()),
    "lengthy": (["lengthy.c"], ["3"], ()),
    "shapes": (["shapes.cpp"], [], CXX),
    "hello in C++": (["hello.c", "hello-tp.c"], ["in", "C++"], (*CXX, "-x", "c++")),
    "messages": (["messages.c"], [], ()),
    "messages in C++": (["messages.c"], [], (*CXX, "-x", "c++")),
    "old names": (["old_names.c", "old_messages.c"], [], ()),
}


THREADED = frozenset({"assorted"})
"""Their threads run at once: what one records is in order, all of it in none."""


@pytest.fixture(scope="module")
def recorded(lttng, tmp_path_factory):
    """Gives LTTng's trace of a case, and Vestige's of both programs."""

    def get(name):
        sources, arguments, compiler = CASES[name]
        directory = tmp_path_factory.mktemp(name.replace(" ", "-"))
        traces = []
        for has_lttng in (True, False):
            place = directory / ("lttng" if has_lttng else "vestige")
            place.mkdir()
            words = compiler or ("gcc", "-g", "-O1")
            build = Sources(place, words, has_lttng)
            objects = [build.compile(source) for source in sources]
            # The language of objects is not that of sources.
            linker = Sources(place, words[:1], has_lttng)
            linker.link("program", *objects, *linker.libraries)
            trace = place / "trace"
            # Both are called the same, for argv[0] is a field.
            shell = ["sh", "-c", f'cd {place} && exec ./program "$@"', "sh", *arguments]
            if has_lttng:
                channel = Channel(contexts=["vpid", "vtid"], events=["*"])
                lttng.record(trace, [Program(shell)], [channel])
                traces.append(trace)
                trace = place / "unchanged"
            record_instrumented(trace, shell)
            traces.append(trace)
        return traces

    return get


@pytest.mark.parametrize("name", CASES)
def test_the_same_is_recorded(recorded, name):
    """Event names, and payloads as text, with their order where that is one thread's."""
    theirs, unchanged, ours = map(printed, recorded(name))
    if name in THREADED:
        theirs, unchanged, ours = map(sorted, (theirs, unchanged, ours))

    assert ours == theirs
    assert unchanged == theirs
    assert theirs


def test_what_is_said_of_events_is_the_same(recorded):
    """Log levels and model URIs."""
    theirs, unchanged, ours = map(metadata_of, recorded("odd"))

    assert ours == theirs
    assert unchanged == theirs
