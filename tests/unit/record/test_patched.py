"""Recordings of programs without hooks, whose entries are rewritten."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.patched import EXACT, build, called, counted, needs_patching, output_of
from support.recorded import run_recorded
from vestige.errors import SelectionError
from vestige.record import RecordingOptions, record
from vestige.record.backends.in_process import debug_names, plans
from vestige.record.backends.in_process.plans import write_plans

pytestmark = needs_patching

CALLS = {
    "floats": 100,
    "integers": 100,
    "extended": 100,
    "returned": 100,
    "both": 100,
    "variable": 100,
    "jumping": 100,
    "last": 100,
    "nothing": 100,
    "compare": 3,
    "main": 1,
}
"""Of entries.c, but for the recursive one: how its calls are unrolled is up to the compiler."""
BUILDS = {
    "five no-operations": (["-fpatchable-function-entry=5"], []),
    "three no-operations": (["-fpatchable-function-entry=3"], []),
    "no-operations before the entry": (["-fpatchable-function-entry=16,11"], []),
    "marked as targets": (["-fpatchable-function-entry=5", "-fcf-protection"], []),
    "live calls": (["-pg", "-mfentry"], []),
    "live calls by a slot": (["-pg", "-mfentry", "-fno-plt"], []),
    "recorded places": (
        ["-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-no-pie", "-fno-pie"],
        [],
    ),
    "nothing": ([], ["--patch"]),
    "nothing at a fixed address": (["-no-pie", "-fno-pie"], ["--patch"]),
    "nothing, unoptimized": (["-O0"], ["--patch"]),
    "nothing, marked as targets": (["-fcf-protection"], ["--patch"]),
}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Programs of -pg leave a file in the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def hooked(tmp_path_factory):
    """How often hooks of the compiler see each function of entries.c."""
    directory = tmp_path_factory.mktemp("hooked")
    flags = ["-finstrument-functions", "-fno-optimize-sibling-calls"]
    program = build(directory, "entries", *flags)
    run_recorded(directory / "trace", [program])
    return called(directory / "trace")


@pytest.mark.parametrize("name", BUILDS)
def test_all_calls_are_recorded_and_the_program_does_not_notice(tmp_path, name, hooked):
    """Arguments and results are what they were, and each call is there once."""
    flags, options = BUILDS[name]
    program = build(tmp_path, "entries", *flags)
    done = run_recorded(tmp_path / "trace", [program], *options)
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    found = called(tmp_path / "trace")
    recursive = found.pop("fibonacci")
    assert found == CALLS
    assert 0 < recursive <= hooked["fibonacci"]
    entries, exits = counted(tmp_path / "trace")
    assert entries == exits


def test_counts_are_those_of_hooks(tmp_path, hooked):
    """Where the compiler does not unroll recursion, all counts are equal."""
    program = build(tmp_path, "entries", "-O1", "-fno-optimize-sibling-calls")
    run_recorded(tmp_path / "trace", [program], "--patch")
    assert called(tmp_path / "trace") == hooked


@pytest.mark.parametrize("options", [["--functions=verbose"], ["-c", "ip,vpid,vtid"]])
def test_registers_are_kept_where_records_take_longer(tmp_path, options):
    """What is not recorded the usual way uses vector registers; the program has its own."""
    program = build(tmp_path, "entries")
    done = run_recorded(tmp_path / "trace", [program], "--patch", *options)
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    found = called(tmp_path / "trace", "*:func_entry*")
    assert {name: found[name] for name in CALLS} == CALLS


@pytest.mark.parametrize(
    "flags", [["-fpatchable-function-entry=5"], ["-pg", "-mfentry"], []]
)
def test_functions_may_be_left_in_any_way(tmp_path, flags):
    """longjmp(), handlers, threads, coroutines, cancellation, fork() and vfork() go on."""
    program = build(tmp_path, "switching", *flags)
    options = [] if flags else ["--patch"]
    expected = output_of(program)
    for number in range(3):
        done = run_recorded(tmp_path / f"trace{number}", [program], *options)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
        found = called(tmp_path / f"trace{number}")
        # Handlers may add some of the first.
        assert found["fibonacci"] > 4 * 50
        assert found["jump_out"] == 4 * sum(n % 30 + 1 for n in range(50))
        assert found["run_coroutine"] == 1


def strip(program, source):
    """Move what is known of a program into its debug file, from another or itself."""
    debug = program.with_suffix(".debug")
    run_tool(["objcopy", "--only-keep-debug", source, debug])
    run_tool(["strip", program])
    run_tool(["objcopy", f"--add-gnu-debuglink={debug}", program])
    return debug


@pytest.mark.skipif(shutil.which("objcopy") is None, reason="not installed: objcopy")
@pytest.mark.parametrize("damage", ["", "gone", "damaged", "of another"])
def test_functions_are_chosen_by_the_names_of_a_debug_file(tmp_path, damage):
    """A stripped program has none itself; what is no debug file of its is left alone."""
    program = build(tmp_path, "entries")
    source = build(tmp_path, "switching") if damage == "of another" else program
    debug = strip(program, source)
    if damage == "gone":
        debug.unlink()
    elif damage == "damaged":
        os.truncate(debug, 100)
    done = run_recorded(tmp_path / "trace", [program], "--patch=f*")
    assert done.returncode == 0, done.stderr
    found = set() if damage else {"floats", "fibonacci"}
    assert called(tmp_path / "trace").keys() == found


@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
@pytest.mark.parametrize("flags", [["-fpatchable-function-entry=5"], []])
def test_exceptions_and_backtraces_pass(tmp_path, flags):
    """Unwinders find the way through functions whose return addresses were replaced."""
    program = build(tmp_path, "unwound", "-rdynamic", *flags)
    options = [] if flags else ["--patch"]
    done = run_recorded(tmp_path / "trace", [program], *options)
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    assert done.stdout == "caught 1000 cleaned 1000 main 1\n"
    found = called(tmp_path / "trace")
    assert found["throw_from(int)"] == sum(n % 20 + 1 for n in range(1000))


@pytest.mark.skipif(shutil.which("gdb") is None, reason="not installed: gdb")
def test_debuggers_find_the_way_through_recorded_calls(tmp_path):
    """Each recorded call has one frame more in their stacks, and none is missing."""
    program = build(tmp_path, "debugged")
    plain = frames_of(output_of(program))
    if "main" not in plain:
        pytest.skip("gdb may not attach to programs here")
    options = ["--patch", "--no-follow-fork"]
    done = run_recorded(tmp_path / "trace", [program], *options)
    assert done.returncode == 0, done.stderr
    found = frames_of(done.stdout)
    assert [name for name in found if name in OWN] == [
        name for name in plain if name in OWN
    ]
    # gdb does not look further than main.
    own = sum(name in OWN for name in found)
    assert found.count("recorded_call") == own - 1
    assert called(tmp_path / "trace") == {"main": 1, "descend": 6, "show": 1}


OWN = ("main", "descend", "show")
"""The functions of debugged.c."""


def frames_of(text):
    """Return the functions in a stack as gdb shows it."""
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+) \(", text, re.MULTILINE)


@pytest.mark.parametrize("entries", [[], ["--entries"]])
def test_unwinders_find_the_way_from_each_instruction(tmp_path, entries):
    """Whatever of the tracer a handler interrupts, the stack leads to the program."""
    program = build(tmp_path, "stepped", "-rdynamic")
    chosen = ["--patch=outer", "--patch=jumping", "--patch=last"]
    options = [*chosen, *entries, "--no-follow-fork"]
    done = run_recorded(tmp_path / "trace", [program], *options)
    assert done.returncode == 0, done.stderr
    assert output_of(program).startswith("sum 12 seen 0 lost 0")
    assert done.stdout.startswith("sum 12 seen 1 lost 0"), done.stdout
    assert called(tmp_path / "trace") == {"outer": 4, "jumping": 4, "last": 8}


def test_the_shadow_of_threads_that_ended_is_given_back(tmp_path):
    """Also where they end by pthread_exit(): what is left does not grow with their stacks."""
    program = build(tmp_path, "stacks_given")
    assert int(output_of(program)) == 0
    done = run_recorded(tmp_path / "trace", [program], "--patch")
    assert done.returncode == 0, done.stderr
    # Of 16 threads, each with 250 pages of shadow while it runs.
    assert 0 < int(done.stdout) < 16 * 16
    found = called(tmp_path / "trace")
    assert (found["work"], found["deep"]) == (16, 16 * 501)


def test_threads_end_under_a_filter_for_system_calls(tmp_path):
    """The tracer makes none any more, and the C library none for it."""
    program = build(tmp_path, "confined_threads", "-pthread")
    trace = tmp_path / "t"
    recorded = run_recorded(trace, [program], "--patch")

    assert recorded.returncode == 0, recorded.stderr
    assert called(trace)["leaf"] == 8


def test_some_functions_are_chosen(tmp_path):
    """A pattern chooses what is rewritten; others cost nothing and are not there."""
    program = build(tmp_path, "entries")
    done = run_recorded(tmp_path / "trace", [program], "--patch=f*", "--patch=both")
    assert done.returncode == 0, done.stderr
    found = called(tmp_path / "trace")
    assert found.keys() == {"floats", "fibonacci", "both"}
    assert "3 functions patched" in done.stderr
    other = run_recorded(
        tmp_path / "other", [program], "--patch", "--exclude-function=f*"
    )
    assert other.returncode == 0, other.stderr
    assert called(tmp_path / "other") == {
        name: count for name, count in CALLS.items() if name != "floats"
    }


def test_functions_off_rewrites_nothing(tmp_path):
    """Sites that the compiler left stay as they are if no calls are wanted."""
    program = build(tmp_path, "entries", "-fpatchable-function-entry=5")
    done = run_recorded(tmp_path / "trace", [program], "--functions=off")
    assert done.returncode == 0, done.stderr
    assert not called(tmp_path / "trace")
    assert not (tmp_path / "trace/.plans").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda plan: plan[:90] + bytes([plan[90] ^ 1]) + plan[91:], "plan"),
        (lambda plan: plan[:-8], "plan could not be read"),
        (lambda plan: b"x" + plan[1:], "plan could not be read"),
        (lambda plan: plan[:24] + b"x" + plan[25:], "is not what was planned"),
        (lambda plan: plan[:112] + bytes([plan[112] ^ 1]) + plan[113:], "not what was"),
        (lambda plan: plan[:104] + b"\xff" + plan[105:], "plan could not be read"),
    ],
)
def test_an_object_that_is_not_what_was_planned_is_left_alone(
    tmp_path, monkeypatch, capfd, change, reason
):
    """The tracer compares all bytes first, and the recorder says why there are no calls."""
    program = build(tmp_path, "entries")

    def changed(directory, build_id, plan):
        # Those of objects that are left alone are empty.
        return original(directory, build_id, change(plan) if plan else plan)

    original = plans._write
    monkeypatch.setattr(plans, "_write", changed)
    recording = record([program], tmp_path / "trace", patch=())
    assert recording.status == 0
    assert capfd.readouterr().out == output_of(program)
    [problem] = recording.collected.problems
    assert problem.startswith("no calls of entries: ")
    assert reason in problem
    assert not called(recording)


def test_a_plan_that_others_may_write_is_not_believed(tmp_path, monkeypatch):
    """Whoever could change it could run code in the program."""
    program = build(tmp_path, "entries")

    def opened(directory, build_id, plan):
        path = original(directory, build_id, plan)
        Path(path).chmod(0o622)
        return path

    original = plans._write
    monkeypatch.setattr(plans, "_write", opened)
    recording = record([program], tmp_path / "trace", patch=())
    assert recording.status == 0
    assert recording.collected.problems == [
        "no calls of entries: its plan could not be read"
    ]


def test_objects_that_cannot_be_planned_are_told(tmp_path):
    """Without a build ID nobody knows what is in memory; hooks are recorded anyway."""
    program = build(tmp_path, "entries", "-Wl,--build-id=none")
    done = run_recorded(tmp_path / "trace", [program], "--patch")
    assert done.returncode == 0
    assert "no calls of entries: it has no build ID" in done.stderr
    program = build(tmp_path, "entries", "-finstrument-functions")
    done = run_recorded(tmp_path / "hooked", [program], "--patch")
    assert "no calls of entries: it has hooks of its own" in done.stderr
    assert called(tmp_path / "hooked")["floats"] == 100


def test_own_libraries_are_planned_with_the_program(tmp_path):
    """Those outside of the system's directories; others by their names."""
    source = tmp_path / "library.c"
    source.write_text("int doubled(int n) { return n > 9 ? 7 * n : 2 * n; }\n")
    run_tool(["gcc", *EXACT, "-shared", "-fPIC", "-o", tmp_path / "libown.so", source])
    program = tmp_path / "program.c"
    program.write_text("int doubled(int); int main(void) { return doubled(2) - 4; }\n")
    flags = [f"-L{tmp_path}", "-lown", f"-Wl,-rpath,{tmp_path}"]
    run_tool(["gcc", *EXACT, "-o", tmp_path / "program", program, *flags])
    done = run_recorded(tmp_path / "trace", [tmp_path / "program"], "--patch")
    assert done.returncode == 0, done.stderr
    assert called(tmp_path / "trace") == {"main": 1, "doubled": 1}


@pytest.mark.parametrize(
    "command",
    [
        [
            "bash",
            "-c",
            "f() { [ $1 -gt 0 ] && f $(($1-1)); }; f 30; echo $((6*7)) | cat",
        ],
        [
            os.path.realpath(sys.executable),
            "-S",
            "-c",
            "import json; print(json.dumps([1, {}]))",
        ],
    ],
    ids=["bash", "python"],
)
def test_programs_of_others_do_not_notice(tmp_path, command):
    """Their output is what it was, also where they have no symbols."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"not installed: {command[0]}")
    expected = output_of(*command)
    done = run_recorded(tmp_path / "trace", command, "--patch", "--max-size=64M")
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_list_tells_of_each_function(tmp_path):
    """A method or a reason for each, for people and for programs."""
    program = build(tmp_path, "entries")
    command = [sys.executable, "-m", "vestige", "list", "--functions", program]
    text = output_of(*command)
    assert "12 of 12 functions can be recorded with --patch" in text
    assert "fibonacci: moved" in text
    assert "_start: no: " in text
    [facts] = json.loads(output_of(*command, "--json"))["objects"]
    methods = {row["name"]: row["method"] for row in facts["functions"]}
    assert {methods[name] for name in CALLS} == {"moved"}
    assert methods["_start"] is None


@pytest.mark.skipif(shutil.which("objcopy") is None, reason="not installed: objcopy")
@pytest.mark.parametrize("change", ["", "touched", "gone", "directories"])
def test_names_of_debug_files_are_kept(tmp_path, monkeypatch, change):
    """With the plan, as long as the file is the same, and is looked for at the same places."""
    monkeypatch.delenv("VESTIGE_CACHE_SIZE")
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    program = build(tmp_path, "entries")
    debug = strip(program, program)
    options = RecordingOptions(patch=("floats",))
    (tmp_path / "trace").mkdir()
    assert write_plans(tmp_path / "trace", options, str(program)).functions == 1
    if change == "touched":
        os.utime(debug, (1, 1))
    elif change == "gone":
        debug.unlink()
    elif change == "directories":
        monkeypatch.setenv("VESTIGE_DEBUG_PATH", str(tmp_path))
    searched = []

    def found(*_arguments, **_options):
        searched.append(1)

    monkeypatch.setattr(debug_names.DebugNames, "find", found)
    again = write_plans(tmp_path / "trace", options, str(program))
    assert (again.functions, len(searched)) == ((0, 1) if change else (1, 0))


@pytest.mark.skipif(shutil.which("objcopy") is None, reason="not installed: objcopy")
@pytest.mark.parametrize("damage", ["", "of another"])
def test_list_tells_of_functions_by_the_names_of_a_debug_file(tmp_path, damage):
    """As patterns find them; a file of another program gives none."""
    program = build(tmp_path, "entries")
    strip(program, build(tmp_path, "switching") if damage else program)
    command = [sys.executable, "-m", "vestige", "list", "--functions", program]
    text = output_of(*command)
    assert "of 12 functions can be recorded with --patch" in text
    assert (": moved" in text, "(no name): moved" in text) == (True, bool(damage))
    assert ("fibonacci: moved" in text) == (not damage)


def test_libraries_are_named_with_patch_only():
    """``patch_in`` alone would do nothing."""
    with pytest.raises(SelectionError, match="patch_in: expected with patch"):
        RecordingOptions(patch_in=("libc.so.6",))
