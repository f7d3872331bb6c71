"""Recordings of what programs call in libraries."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections import Counter, defaultdict
from functools import cache

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded
from vestige.errors import SelectionError
from vestige.record import RecordingOptions

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="needs x86-64 and gcc",
)

PLAIN = ["-g", "-O1", "-fno-builtin", "-pthread"]
BUILDS = {
    "bound at the first call": ["-Wl,-z,lazy"],
    "bound at the start": ["-Wl,-z,now"],
    "at a fixed address": ["-no-pie", "-fno-pie", "-Wl,-z,lazy"],
    "without a linkage table": ["-fno-plt"],
    "marked as targets": ["-fcf-protection=full", "-Wl,-z,lazy"],
}
CALLS = {
    "lldiv": 100,
    "hypot": 100,
    "fmal": 100,
    "snprintf": 100,
    "strlen": 100,
    "strtold": 100,
    "memcpy": 100,
    "qsort": 200,
    "_setjmp": 100,
    "longjmp": 100,
    "getcontext": 1,
    "makecontext": 1,
    "swapcontext": 200,
    "pthread_create": 4,
    "pthread_join": 4,
    "labs": 400,
    "fork": 1,
    "vfork": 1,
    "strspn": 1,
    "_exit": 2,
    "waitpid": 2,
    "dlsym": 1,
    "printf": 1,
    "exit": 1,
}
"""Of calling.c."""
OTHERS = [
    [
        "bash",
        "-c",
        "f() { [ $1 -gt 0 ] && f $(($1-1)); }; f 30; echo $((6*7)) | cat",
    ],
    [
        "sqlite3",
        ":memory:",
        "create table t(a); insert into t values(7); select a+1 from t",
    ],
    ["git", "--version"],
    [
        "perl",
        "-e",
        "fork or exit 3; wait; print $? >> 8, sort { $b <=> $a } 1 .. 20",
    ],
]
"""Programs of others."""


def build(directory, name, *flags):
    """Compile a program of tests/programs."""
    source = next(PROGRAMS.glob(f"{name}.c*"))
    path = directory / name
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    run_tool([compiler, *PLAIN, *flags, "-o", path, source, "-lm"])
    return path


def run_plainly(*command):
    """Return the exit status and the output of a command."""
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode()


@cache
def symbols_of(path):
    """Return all names of each address in a library."""
    names = defaultdict(set)
    for line in run_tool(["nm", "-D", path]).decode().splitlines():
        address, _, rest = line.partition(" ")
        if address:
            names[int(address, 16)].add(rest[2:].partition("@")[0])
    return {address: frozenset(found) for address, found in names.items()}


def called(trace, expected, pattern="*:func_entry*"):
    """Return how often each function was called, by those names of it that are expected."""
    found = Counter()
    for event in vestige.open(trace).events(pattern):
        place = event.debug_info
        binary = place.binary
        address = binary.address - binary.mapping.base
        names = symbols_of(binary.host_path).get(address, {place.function})
        found[min(names & expected.keys(), default=str(place))] += 1
    return found


def counted(trace):
    """Return how many entries and exits there are."""
    return [
        sum(1 for _ in vestige.open(trace).events(f"*:{name}"))
        for name in ("func_entry", "func_exit")
    ]


@pytest.mark.parametrize("build", ["bound at the first call", "bound at the start"])
def test_it_is_told_where_a_policy_forbids_code_that_was_written(tmp_path, build):
    """The program goes on, and its calls are not recorded."""
    source = tmp_path / "called.c"
    source.write_text(
        "#include <stdio.h>\n"
        '__attribute__((noipa)) static void say(void) { puts("done"); }\n'
        "int main(void) { say(); return 0; }\n"
    )
    program = tmp_path / "called"
    run_tool(["gcc", *PLAIN, *BUILDS[build], "-o", program, source])
    policy = tmp_path / "forbids"
    run_tool(["gcc", "-o", policy, PROGRAMS / "forbids.c"])
    trace = tmp_path / "trace"
    done = run_recorded(trace, [policy, program], "--library-calls=puts")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr.count("no calls of called: a policy forbids") == 1
    names = [
        event.debug_info.function for event in vestige.open(trace).events("*:func_*")
    ]
    assert names == []


@pytest.mark.parametrize("name", BUILDS)
def test_all_calls_are_recorded_and_the_program_does_not_notice(tmp_path, name):
    """Arguments and results are what they were, and each call is there once."""
    program = build(tmp_path, "calling", *BUILDS[name])
    done = run_recorded(tmp_path / "trace", [program], "--library-calls")
    assert (done.returncode, done.stdout) == run_plainly(program), done.stderr
    assert done.returncode == 3
    assert called(tmp_path / "trace", CALLS) == CALLS
    entries, exits = counted(tmp_path / "trace")
    # Those of a process that was forked, and of coroutines that were left.
    assert exits <= entries + 1


@pytest.mark.parametrize("options", [["--functions=verbose"], ["-c", "ip,vpid,vtid"]])
def test_registers_are_kept_where_records_take_longer(tmp_path, options):
    """What is not recorded the usual way uses vector registers; the program has its own."""
    program = build(tmp_path, "calling")
    done = run_recorded(tmp_path / "trace", [program], "--library-calls", *options)
    assert (done.returncode, done.stdout) == run_plainly(program), done.stderr
    assert called(tmp_path / "trace", CALLS) == CALLS


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["str*"], {"strlen", "strtold", "strspn"}),
        (["labs", "*context"], {"labs", "getcontext", "makecontext", "swapcontext"}),
        (["libm.so.6:*"], {"hypot", "fmal"}),
        (["libm.so:*", "qsort"], {"hypot", "fmal", "qsort"}),
    ],
)
def test_patterns_choose_functions_and_libraries(tmp_path, patterns, names):
    """Names as the program has them; libraries with or without a version."""
    program = build(tmp_path, "calling")
    options = [f"--library-calls={pattern}" for pattern in patterns]
    done = run_recorded(tmp_path / "trace", [program], *options)
    assert done.returncode == 3, done.stderr
    expected = {name: count for name, count in CALLS.items() if name in names}
    assert called(tmp_path / "trace", CALLS) == expected


@pytest.mark.parametrize(
    ("options", "has_exits"),
    [
        (["--functions=off"], True),
        (["--functions=off", "--entries"], False),
        (["--functions=off", "-c", "ip,vpid,vtid"], True),
        (["-e", "app:*"], True),
    ],
)
def test_library_calls_do_not_need_those_of_functions(tmp_path, options, has_exits):
    """Where other functions are left out, those that were asked for stay."""
    program = build(tmp_path, "calling", "-finstrument-functions")
    done = run_recorded(tmp_path / "trace", [program], "--library-calls", *options)
    assert (done.returncode, done.stdout) == run_plainly(program), done.stderr
    found = called(tmp_path / "trace", CALLS)
    assert found == CALLS
    assert "no function calls" not in done.stderr
    assert (counted(tmp_path / "trace")[1] > 0) == has_exits


def test_functions_have_the_names_by_which_they_are_called(tmp_path):
    """Whatever the source or another symbol at the same place calls them."""
    linked = library(
        tmp_path,
        "own",
        "int hidden_name(int n) { return n + 1; }\n"
        'int called_name(int n) __attribute__((alias("hidden_name")));\n'
        "static int chosen_form(int n) { return n + 2; }\n"
        "static int (*choosing(void))(int) { return chosen_form; }\n"
        'int chosen(int n) __attribute__((ifunc("choosing")));\n',
    )
    program = program_of(
        tmp_path,
        "int called_name(int); int chosen(int);\n"
        "int main(void) { return called_name(-4) + chosen(1); }",
        *linked,
    )
    done = run_recorded(tmp_path / "trace", [program], "--library-calls")
    assert done.returncode == 0, done.stderr
    functions = vestige.open(tmp_path / "trace").call_tree().functions()
    found = {one.function.name: one.calls for one in functions}
    assert {name: found.get(name) for name in ("called_name", "chosen")} == {
        "called_name": 1,
        "chosen": 1,
    }
    assert not found.keys() & {"hidden_name", "choosing", "chosen_form"}


def test_a_pattern_that_matches_nothing_is_told(tmp_path):
    """There is nothing in the recording, and the closing lines say why."""
    program = build(tmp_path, "calling")
    done = run_recorded(tmp_path / "trace", [program], "--library-calls=nothing")
    assert done.returncode == 3
    assert (
        "no function of a library was called whose name --library-calls" in done.stderr
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
@pytest.mark.parametrize("flags", [["-Wl,-z,lazy"], ["-fno-plt"]])
def test_exceptions_pass_through_library_calls(tmp_path, flags):
    """Unwinders find the way through functions whose return addresses were replaced."""
    program = build(tmp_path, "thrown_through", *flags)
    expected = run_plainly(program)
    done = run_recorded(tmp_path / "trace", [program], "--library-calls")
    assert (done.returncode, done.stdout) == expected, done.stderr
    thrown = int(expected[1].split()[3])
    names = {"qsort": 1001, "__cxa_throw": thrown}
    found = called(tmp_path / "trace", names)
    assert {name: found[name] for name in names} == names


def library(directory, name, text, *flags):
    """Compile a library; return what links it."""
    source = directory / f"{name}.c"
    source.write_text(text)
    path = directory / f"lib{name}.so"
    run_tool(["gcc", *PLAIN, "-shared", "-fPIC", *flags, "-o", path, source])
    return [f"-L{directory}", f"-l{name}", f"-Wl,-rpath,{directory}"]


def program_of(directory, text, *flags):
    """Compile a program."""
    source = directory / "program.c"
    source.write_text(text)
    path = directory / "program"
    run_tool(["gcc", *PLAIN, "-o", path, source, *flags])
    return path


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], []),
        ([], ["--patch"]),
        (["-finstrument-functions"], []),
        (["-fpatchable-function-entry=5"], []),
        (["-pg", "-mfentry"], []),
    ],
)
def test_what_records_itself_is_recorded_once(tmp_path, monkeypatch, flags, options):
    """Also if its object has hooks, or its entry was rewritten."""
    monkeypatch.chdir(tmp_path)
    linked = library(
        tmp_path,
        "own",
        "#include <stdlib.h>\nint absolute(int n) { return abs(n) + 1; }\n",
        *flags,
    )
    program = program_of(
        tmp_path,
        "int absolute(int); int main(void) { return absolute(-2) - 3; }",
        *linked,
    )
    done = run_recorded(tmp_path / "trace", [program], "--library-calls", *options)
    assert done.returncode == 0, done.stderr
    found = called(tmp_path / "trace", {"absolute": 1, "abs": 1})
    assert (found["absolute"], found["abs"]) == (1, 1)


@pytest.mark.parametrize("flags", [[], ["-fno-plt"]])
def test_addresses_of_functions_stay_what_they_are(tmp_path, flags):
    """What an object reads of a function is what another one reads."""
    linked = library(
        tmp_path,
        "own",
        "#include <stdio.h>\n"
        "int is_puts(int (*given)(const char *)) { return given == puts; }\n",
    )
    program = program_of(
        tmp_path,
        "#include <stdio.h>\nint is_puts(int (*given)(const char *));\n"
        'int main(void) { return is_puts(puts) ? puts("same") < 0 : 1; }',
        *flags,
        *linked,
    )
    done = run_recorded(tmp_path / "trace", [program], "--library-calls")
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr
    assert called(tmp_path / "trace", {"is_puts": 1})["is_puts"] == 1


def test_plugins_and_executed_programs_are_recorded(tmp_path):
    """What is bound later, in this process or in another program."""
    library(
        tmp_path,
        "plugin",
        "#include <stdlib.h>\nint run(void) { return abs(-1) + abs(-2); }\n",
    )
    program = program_of(
        tmp_path,
        "#include <dlfcn.h>\n#include <unistd.h>\n"
        "int main(int count, char **words) {\n"
        "  void *plugin = dlopen(words[1], RTLD_NOW);\n"
        '  int (*run)(void) = (int (*)(void)) dlsym(plugin, "run");\n'
        "  if (run() != 3) return 1;\n"
        '  if (count < 3) execl(words[0], words[0], words[1], "again", (char *) 0);\n'
        "  return 0;\n}",
        "-ldl",
    )
    command = [program, tmp_path / "libplugin.so"]
    done = run_recorded(tmp_path / "trace", command, "--library-calls")
    assert done.returncode == 0, done.stderr
    found = called(tmp_path / "trace", {"abs": 4, "dlopen": 2, "dlsym": 2, "execl": 1})
    assert found == {"abs": 4, "dlopen": 2, "dlsym": 2, "execl": 1}


@pytest.mark.parametrize("command", OTHERS, ids=lambda command: command[0])
def test_programs_of_others_do_not_notice(tmp_path, command):
    """Their output is what it was."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"not installed: {command[0]}")
    expected = run_plainly(*command)
    done = run_recorded(tmp_path / "trace", command, "--library-calls")
    assert (done.returncode, done.stdout) == expected, done.stderr
    entries, _ = counted(tmp_path / "trace")
    assert entries > 10


@pytest.mark.skipif(
    None in {shutil.which("uftrace"), shutil.which("sqlite3")},
    reason="not installed: uftrace and sqlite3",
)
def test_counts_are_those_of_uftrace(tmp_path):
    """Each function that both see was called as often."""
    # What others do depends on the environment, which is not the same.
    command = OTHERS[1]
    peer = ["uftrace", "record", "--force", "-d", tmp_path / "peer", *command]
    if subprocess.run(peer, capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("uftrace does not record it")
    report = ["uftrace", "report", "--no-pager", "-d", tmp_path / "peer"]
    lines = run_tool(report).decode().splitlines()[2:]
    # Other rows are no functions, as when the program had to wait.
    rows = [row for row in map(str.split, lines) if len(row) > 1 and row[-2].isdigit()]
    expected = {row[-1]: int(row[-2]) for row in rows}
    run_recorded(tmp_path / "trace", command, "--library-calls")
    found = called(tmp_path / "trace", expected)
    both = expected.keys() & found.keys()
    assert len(both) > 30
    assert {name: found[name] for name in both} == {
        name: expected[name] for name in both
    }


def test_a_pattern_is_a_name():
    """Addresses are none, and there may not be too many."""
    with pytest.raises(SelectionError, match=r"expected \[LIBRARY:\]NAME"):
        RecordingOptions(library_calls=("0x10-0x20",))
    with pytest.raises(SelectionError, match="expected up to 64"):
        RecordingOptions(library_calls=("a",) * 65)
