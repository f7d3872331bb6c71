"""Calls of the C library's functions, by preloaded libraries that stand in for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, BuildError, run_tool
from support.plugins import build_plugins
from support.recorded import run_recorded
from support.tortured import run_traced, run_untraced

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

SOURCE = "helped.c"
HELPERS = {"lttng_ust_libc", "lttng_ust_pthread", "lttng_ust_dl"}
SECONDS = 60.0


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that is not instrumented."""
    path = tmp_path_factory.mktemp("helped") / "helped"
    run_tool(
        ["gcc", "-g", "-O1", "-fno-builtin", "-pthread", "-o", path, PROGRAMS / SOURCE]
    )
    return path


def recorded(trace, command, *options):
    """Record a program, which must do as it does otherwise; return its output."""
    plain = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    done = run_recorded(trace, command, *options)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert "no events lost" in done.stderr
    assert "no function calls" not in done.stderr
    assert "Sanitizer" not in done.stderr
    return done.stdout


def called(trace):
    """Return the events of calls from the program's source, each with that line."""
    lines = (PROGRAMS / SOURCE).read_text(encoding="utf-8").splitlines()
    found = []
    for event in vestige.open(trace):
        provider, _, name = (event.name or "").partition(":")
        if provider not in HELPERS:
            continue
        place = event.debug_info
        if place.file and Path(place.file).name == SOURCE:
            found.append((name, dict(event.payload), lines[place.line - 1].strip()))
    return found


def test_each_memory_function_is_an_event_with_the_line_of_its_caller(
    tmp_path, program
):
    """Arguments and result, as LTTng-UST's helper has them."""
    recorded(tmp_path / "trace", [program, "each"], "--libc")
    found = called(tmp_path / "trace")

    assert [line for *_, line in found] == [
        "void *one = malloc(1234567);",
        "void *two = calloc(3, 777);",
        "void *three = realloc(two, 99999);",
        "void *four = memalign(64, 4321);",
        "int status = posix_memalign(&five, 128, 8765);",
        "int refused = posix_memalign(&two, 3, 8765);",
        "free(one);",
        "free(three);",
        "free(four);",
        "free(five);",
        "free(NULL);",
        "free(malloc(55));",
        "free(malloc(55));",
    ]
    fields = [fields for _, fields, _ in found]
    one, two, three, four, five = (
        fields[index][name]
        for index, name in enumerate(["ptr", "ptr", "ptr", "ptr", "out_ptr"])
    )
    last = fields[11]["ptr"]
    assert [(name, fields) for name, fields, _ in found] == [
        ("malloc", {"size": 1234567, "ptr": one}),
        ("calloc", {"nmemb": 3, "size": 777, "ptr": two}),
        ("realloc", {"in_ptr": two, "size": 99999, "ptr": three}),
        ("memalign", {"alignment": 64, "size": 4321, "ptr": four}),
        (
            "posix_memalign",
            {"out_ptr": five, "alignment": 128, "size": 8765, "result": 0},
        ),
        (
            "posix_memalign",
            {"out_ptr": two, "alignment": 3, "size": 8765, "result": 22},
        ),
        ("free", {"ptr": one}),
        ("free", {"ptr": three}),
        ("free", {"ptr": four}),
        ("free", {"ptr": five}),
        ("free", {"ptr": 0}),
        ("malloc", {"size": 55, "ptr": last}),
        ("free", {"ptr": last}),
    ]
    assert four % 64 == five % 128 == 0


def test_mutexes(tmp_path, program):
    """A request and when it was granted; what was tried; with their results."""
    recorded(tmp_path / "trace", [program, "mutexes"], "--pthread")
    found = called(tmp_path / "trace")

    mutex = found[0][1]["mutex"]
    assert [(name, fields) for name, fields, _ in found] == [
        ("pthread_mutex_lock_req", {"mutex": mutex}),
        ("pthread_mutex_lock_acq", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_trylock", {"mutex": mutex, "status": 16}),
        ("pthread_mutex_unlock", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_trylock", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_unlock", {"mutex": mutex, "status": 0}),
    ]


@pytest.mark.parametrize("options", [(), ("--pthread",), ("-e", "ust_baddr:*")])
def test_a_storm_of_allocations_is_counted_exactly(tmp_path, program, options):
    """In several threads, whose ends lose nothing; patterns of events do not matter."""
    printed = recorded(
        tmp_path / "trace", [program, "storm", "8", "5000"], "--libc", *options
    )
    counted = Counter(name for name, *_ in called(tmp_path / "trace"))

    allocated, cleared, resized, freed = map(int, printed.split())
    mutex = 8 if "--pthread" in options else 0
    assert (
        counted
        == Counter(
            {
                "malloc": allocated,
                "calloc": cleared,
                "realloc": resized,
                "free": freed,
                "pthread_mutex_lock_req": mutex,
                "pthread_mutex_lock_acq": mutex,
                "pthread_mutex_unlock": mutex,
            }
        )
        - Counter()
    )
    assert min(allocated, cleared, resized, freed) > 8 * 1000


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """A program and the plugins that it loads."""
    return build_plugins(tmp_path_factory.mktemp("plugins"))


def dynamic_linker_events(trace):
    """Return name and fields of the helper's events, and the function that called."""
    return [
        (event.name.partition(":")[2], dict(event.payload), event.debug_info.function)
        for event in vestige.open(trace)
        if (event.name or "").startswith("lttng_ust_dl:")
    ]


def test_each_dlopen_and_dlclose_is_an_event(tmp_path, plugins):
    """Also where nothing is mapped or unmapped; the object is that of lttng_ust_lib."""
    trace = tmp_path / "trace"
    recorded(trace, [plugins.program, "counted", plugins.alpha], "--dl")
    found = dynamic_linker_events(trace)
    [load] = [
        dict(event.payload)
        for event in vestige.open(trace)
        if event.name == "lttng_ust_lib:load"
    ]

    opened = [fields for name, fields, _ in found if name == "dlopen"]
    assert opened == [{**load, "flags": 2}] * 2
    build_ids = [fields for name, fields, _ in found if name == "build_id"]
    assert [fields["baddr"] for fields in build_ids] == [load["baddr"]] * 2
    assert [(name, function) for name, _, function in found if name != "build_id"] == [
        ("dlopen", "counted"),
        ("dlopen", "counted"),
        ("dlclose", "counted"),
        ("dlclose", "counted"),
    ]
    assert found[-1][1] == {"baddr": load["baddr"]}


@pytest.mark.parametrize("name", ["libsecret.so", "$ORIGIN/hidden/libsecret.so"])
@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="elsewhere there is no event"
)
def test_dlopen_searches_where_its_caller_says(tmp_path, plugins, name):
    """Its RUNPATH and $ORIGIN are those of the library that called, not of the helper."""
    trace = tmp_path / "trace"
    recorded(trace, [plugins.program, "caller", name], "--dl")
    [(_, fields, function)] = [
        event for event in dynamic_linker_events(trace) if event[0] == "dlopen"
    ]

    assert fields["path"] == str(plugins.secret)
    assert function == "open_for_me"


def test_namespaces(tmp_path, plugins):
    """Told as they were asked for: -1 is a new one."""
    trace = tmp_path / "trace"
    recorded(trace, [plugins.program, "space", plugins.alpha], "--dl")
    [fields] = [
        fields for name, fields, _ in dynamic_linker_events(trace) if name == "dlmopen"
    ]

    assert (fields["nsid"], fields["flags"]) == (-1, 2)
    assert fields["path"] == str(plugins.alpha)


@pytest.mark.parametrize("how", ["storm", "relay"])
@pytest.mark.parametrize(
    "flags",
    [
        ["-fsanitize=address"],
        ["-fsanitize=thread"],
        ["-fsanitize=thread", "-finstrument-functions"],
    ],
)
def test_sanitizers_that_stand_in_as_well(tmp_path, flags, how):
    """They look for functions before anything else runs, and find no race in us."""
    program = tmp_path / "helped"
    options = ["-g", "-O1", "-fno-builtin", "-pthread", *flags]
    try:
        run_tool(["gcc", *options, "-o", program, PROGRAMS / SOURCE])
    except BuildError:
        pytest.skip("not installed: the sanitizer's library")
    command = [program, how, "4", "500"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("the sanitizer does not run on this machine")
    printed = recorded(tmp_path / "trace", command, "--libc")
    counted = Counter(name for name, *_ in called(tmp_path / "trace"))

    assert [counted[name] for name in ("malloc", "calloc", "realloc", "free")] == list(
        map(int, printed.split())
    )


def test_children_that_close_all_files_lose_nothing(tmp_path, program):
    """As daemons do: LTTng-UST needs two more libraries for them."""
    trace = tmp_path / "trace"
    recorded(trace, [program, "daemons", "5"], "--libc")
    counted = Counter(
        int(event.context["vpid"])
        for event in vestige.open(trace)
        if (event.name or "").startswith("lttng_ust_libc:")
        and event.debug_info.function in {"storm", "clear"}
    )

    children = sorted(counted.values())
    assert len(children) == 5
    assert children[0] == children[-1] > 100


EARLY = """
#include <cstdlib>
#include <string>
#include <vector>
struct Early {
    std::vector<std::string> names;
    Early() { for (int i = 0; i < 5; i++) names.emplace_back(100, 'x'); }
};
static Early early;
int first() { return (int) early.names.size(); }
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_constructors_of_libraries_come_before_those_of_the_helper(tmp_path):
    """What they allocate with `new` is recorded all the same."""
    (tmp_path / "early.cpp").write_text(EARLY, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\nint first();\nint main() { std::printf("%d\\n", first()); }\n',
        encoding="utf-8",
    )
    library, program = tmp_path / "libearly.so", tmp_path / "main"
    flags = ["-g", "-O1", "-fPIC"]
    parts = [tmp_path / "main.cpp", library]
    run_tool(["g++", *flags, "-shared", "-o", library, tmp_path / "early.cpp"])
    run_tool(["g++", *flags, f"-Wl,-rpath,{tmp_path}", "-o", program, *parts])
    recorded(tmp_path / "trace", [program], "--libc")
    sizes = [
        event.payload["size"]
        for event in vestige.open(tmp_path / "trace")
        if event.name == "lttng_ust_libc:malloc"
    ]

    assert sizes.count(101) == 5


@pytest.fixture(scope="module")
def torture(tmp_path_factory):
    """The torture program."""
    path = tmp_path_factory.mktemp("torture") / "torture"
    parts = ("main", "processes", "ends", "stacks", "surroundings")
    sources = [PROGRAMS / "torture" / f"{part}.c" for part in parts]
    flags = ["-g", "-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", path, *sources])
    return path


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("clone", 10),
        ("descriptors", 1000),
        ("exec", 6),
        ("exit-threads", 5),
        ("forking-threads", 5),
        ("keys", 3),
        ("late-signals", 30),
        ("small-stacks", 1000),
        ("spawn", 2),
        ("storm", 3),
        ("threads", 2000),
        ("vfork", 10),
    ],
)
def test_programs_do_not_notice_the_helpers(tmp_path, torture, mode, number):
    """Whatever they do to themselves; and no call of their functions is missing."""
    command = [torture, mode, str(number)]
    untraced = run_untraced(command, tmp_path)
    traced = run_traced(
        command, tmp_path, "--libc", "--pthread", "--dl", "--buffer-size=8k"
    )

    assert (traced.status, traced.output) == (untraced.status, untraced.output)
    assert (traced.damage, traced.errors) == ((), "")
    assert traced.missing == 0
    # Those call functions behind the last destructors of their threads.
    assert traced.lost == 0 or mode in {"keys", "late-signals"}
