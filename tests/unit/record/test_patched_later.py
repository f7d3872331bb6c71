"""Programs that others execute, and objects that are loaded later: planned when they ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.patched import (
    EXACT,
    build,
    build_loader,
    called,
    counted,
    needs_patching,
    output_of,
)
from support.recorded import run_recorded
from support.waiting import wait_until
from vestige.record import record
from vestige.record.backends.in_process import plans
from vestige.record.backends.in_process.tracer import can_audit

pytestmark = needs_patching

PATIENT = ("--patch", "--patch-wait=30s")
"""On a busy machine, recorders answer late."""
COUNTS = {"floats": 100, "integers": 100, "last": 100, "main": 1}
"""Of entries.c."""


def some(found):
    """Return how often some functions of entries.c were called."""
    return {name: found[name] for name in COUNTS}


def times(number):
    """Return how often those are called in so many runs."""
    return {name: number * count for name, count in COUNTS.items()}


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "{0}"],
        ["sh", "-c", "exec {0}"],
        ["env", "NAME=value", "{0}"],
        ["timeout", "60", "env", "{0}"],
    ],
    ids=lambda command: " ".join(command[:-1]),
)
def test_a_program_that_another_executes_is_recorded(tmp_path, command):
    """Whoever starts it, by exec alone or after fork and vfork."""
    program = build(tmp_path, "entries")
    command = [word.format(program) for word in command]
    done = run_recorded(tmp_path / "trace", command, *PATIENT)
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    assert "no calls of" not in done.stderr
    assert some(called(tmp_path / "trace")) == COUNTS
    assert not (tmp_path / "trace/.plans").exists()


def test_programs_ask_once_for_each_object(tmp_path):
    """The second time there is a plan, or a sign that there will be none."""
    program = build(tmp_path, "entries")
    asked = []

    class Counting(plans.Plans):
        def answer(self, request):
            asked.append(Path(request.path).name)
            super().answer(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "Plans", Counting)
        command = ["sh", "-c", f"{program} >&2; {program} >&2; {program} >&2"]
        recording = record(command, tmp_path / "trace", patch=(), patch_wait=30.0)
    assert recording.status == 0
    assert some(called(recording)) == times(3)
    assert asked.count("entries") == 1
    assert len(asked) == len(set(asked))


def test_who_is_not_answered_goes_on_and_is_told_of(tmp_path, monkeypatch):
    """What nobody plans runs as without a recorder."""
    program = build(tmp_path, "entries")
    monkeypatch.setattr(plans.Plans, "answer", lambda _self, _request: None)
    # Its own program has a plan.
    command = ["sh", "-c", f"{program} > {tmp_path / 'out'}; exit 3"]
    recording = record(command, tmp_path / "trace", patch=(), patch_wait=30.0)
    assert recording.status == 3
    assert (tmp_path / "out").read_text() == output_of(program)
    assert "no calls of entries: its plan was not ready in time (--patch-wait)" in (
        recording.collected.problems
    )
    assert not some(called(recording))["floats"]


def test_patterns_choose_functions_of_children_too(tmp_path):
    """As those of the program itself."""
    program = build(tmp_path, "entries")
    done = run_recorded(
        tmp_path / "trace", ["sh", "-c", program], "--patch=floats", PATIENT[1]
    )
    assert done.returncode == 0, done.stderr
    assert called(tmp_path / "trace") == {"floats": 100}
    assert "1 function patched" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_answered_who_cannot_read_the_trace(tmp_path):
    """Over the socket, where neither the user nor the directory matters."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = build(Path(folder), "entries")
        starter = Path(folder, "starter.c")
        starter.write_text(
            "#include <unistd.h>\n"
            "int main(int n, char **words) {\n"
            '  return n != 2 || setgid(65534) || setuid(65534) || chdir("/") ||\n'
            "    execv(words[1], words + 1);\n"
            "}\n"
        )
        run_tool(["gcc", "-o", Path(folder, "starter"), starter])
        expected = output_of(program)
        done = run_recorded(
            tmp_path / "trace", [Path(folder, "starter"), program], *PATIENT
        )
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
        assert "no calls of" not in done.stderr
        # The starter has one, too.
        assert some(called(tmp_path / "trace")) == {**COUNTS, "main": 2}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_what_another_user_cannot_do_is_told_too(tmp_path, monkeypatch):
    """Where it may not write to the trace, it says so over the socket."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = build(Path(folder), "entries")

        def damaged(directory, name, plan):
            return original(directory, name, plan[:-8] if plan else plan)

        original = plans._write
        monkeypatch.setattr(plans, "_write", damaged)
        code = f"import os; os.setuid(65534); os.execv('{program}', ['x'])"
        command = [sys.executable, "-S", "-c", code]
        recording = record(
            command, tmp_path / "trace", patch=("floats",), patch_wait=30.0
        )
    assert recording.status == 0
    assert any(
        line.startswith("no calls of ") and "its plan could not be read" in line
        for line in recording.collected.problems
    )


def plugin(directory, name, *flags):
    """Compile a plugin for loading.c."""
    path = directory / f"{name}.so"
    source = PROGRAMS / "plugin.c"
    shared = ["-shared", "-fPIC", f"-DNAME={name}", *flags]
    run_tool(["gcc", *EXACT, *shared, "-o", path, source])
    return path


needs_auditor = pytest.mark.skipif(not can_audit(), reason="needs glibc 2.35")


@needs_auditor
@pytest.mark.parametrize("way", ["reload", "threads"])
def test_objects_that_are_loaded_later_are_recorded(tmp_path, way):
    """From their constructors on, each time they are loaded, also where threads run."""
    program = build_loader(tmp_path)
    paths = [plugin(tmp_path, "alpha"), plugin(tmp_path, "bravo")]
    command = [program, way, "20", *map(str, paths)]
    done = run_recorded(tmp_path / "trace", command, *PATIENT)
    assert done.returncode == 0, done.stderr
    assert "no calls of" not in done.stderr
    found = called(tmp_path / "trace")
    for name in ("alpha", "bravo"):
        # In the constructor, from the program, in the destructor.
        assert found[f"{name}_begin"] == found[f"{name}_end"] == 20, found
        assert found[f"{name}_step"] == 60


@needs_auditor
def test_objects_may_be_loaded_in_other_ways(tmp_path):
    """Into namespaces of their own, by others, after fork, and in a handler."""
    program = build_loader(tmp_path)
    alpha, bravo = plugin(tmp_path, "alpha"), plugin(tmp_path, "bravo")
    for number, words in enumerate(
        (["space", alpha], ["nested", alpha, bravo], ["forked", alpha], ["late", alpha])
    ):
        trace = tmp_path / f"trace{number}"
        done = run_recorded(trace, [program, *words], *PATIENT)
        assert done.returncode == 0, (words, done.stderr)
        assert called(trace)["alpha_step"] >= 2, words


@needs_auditor
def test_memory_of_objects_that_are_gone_is_given_back(tmp_path):
    """Who loads and unloads for ever keeps its size."""
    program = tmp_path / "program.c"
    program.write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\n"
        "static int maps(void) {\n"
        '  FILE *file = fopen("/proc/self/maps", "r");\n'
        "  int count = 0, byte;\n"
        "  while ((byte = fgetc(file)) != EOF) count += byte == '\\n';\n"
        "  fclose(file);\n  return count;\n}\n"
        "int main(int n, char **words) {\n"
        "  int before = 0;\n"
        "  for (int round = 0; round < 300; round++) {\n"
        "    void *handle = dlopen(words[1], RTLD_NOW);\n"
        "    if (!handle || dlclose(handle)) return 2;\n"
        "    if (round == 3) before = maps();\n"
        "  }\n  return maps() > before + 3;\n}\n"
    )
    run_tool(["gcc", *EXACT, "-o", tmp_path / "program", program, "-ldl"])
    command = [tmp_path / "program", plugin(tmp_path, "alpha")]
    done = run_recorded(tmp_path / "trace", command, *PATIENT)
    assert done.returncode == 0, done.stderr
    assert called(tmp_path / "trace")["alpha_begin"] == 300


def test_processes_that_go_on_are_answered(tmp_path):
    """The collector in the background plans for those who outlive their program."""
    program = build(tmp_path, "entries")
    go = tmp_path / "go"
    code = f"while [ ! -e {go} ]; do sleep 0.05; done; {program} > {tmp_path / 'out'}"
    code = f"({code}; touch {tmp_path / 'done'}) > /dev/null 2>&1 &"
    command = ["sh", "-c", code]
    done = run_recorded(tmp_path / "trace", command, *PATIENT)
    assert done.returncode == 0, done.stderr
    go.touch()
    wait_until((tmp_path / "done").exists, "the program to end", 60)
    arena = tmp_path / "trace/.arena"
    wait_until(lambda: not arena.exists(), "the collector to end", 60)
    assert (tmp_path / "out").read_text() == output_of(program)
    assert some(called(tmp_path / "trace")) == COUNTS


@pytest.mark.skipif(shutil.which("git") is None, reason="not installed: git")
def test_subcommands_of_git_do_not_notice(tmp_path):
    """It executes itself, shells and others."""
    folder = tmp_path / "repository"
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "file").write_text("text\n")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    command = ["sh", "-c", f"git -C {folder} log --format=%s; git -C {folder} gc -q"]
    done = run_recorded(tmp_path / "trace", command, *PATIENT, "--max-size=64M")
    assert (done.returncode, done.stdout) == (0, "first\n"), done.stderr
    subprocess.run([*git, "fsck", "--strict"], check=True)


def test_greenlets_go_on(tmp_path):
    """They copy return addresses away and back, which must not be replaced then."""
    greenlet = pytest.importorskip("greenlet")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import greenlet\n"
        "def work(depth, number):\n"
        "    if depth:\n"
        "        return max([depth], key=lambda one: work(depth - 1, number))\n"
        "    for step in range(20):\n"
        "        main.switch(sorted([number, step], key=str))\n"
        "    return number\n"
        "main = greenlet.getcurrent()\n"
        "all = [greenlet.greenlet(lambda n=n: work(5 + 3 * n, n)) for n in range(6)]\n"
        "for step in range(21):\n"
        "    print([one.switch() for one in all])\n"
    )
    folder = str(Path(greenlet.__file__).parents[1])
    command = [os.path.realpath(sys.executable), "-S", str(program), folder]
    # Calls of the interpreter's library, which may be the system's.
    options = [*PATIENT, "--max-size=32M", "--patch-in=libpython3.11.so.1.0"]
    done = run_recorded(tmp_path / "trace", command, *options)
    assert (done.returncode, done.stdout) == (0, output_of(*command)), done.stderr
    assert "it has greenlets, which copy return addresses" in done.stderr


COPIER = """
#include <dlfcn.h>
int copied(void);
__attribute__((constructor, no_instrument_function)) static void begin(void)
{
	if (WHEN == 1)
		dlopen(COPIES, RTLD_NOW);
}
__attribute__((noinline)) int work(int number)
{
	__asm__ volatile("");
	return number + 1;
}
int main(void)
{
	int sum = 0;

	if (WHEN == 2)
		dlopen(COPIES, RTLD_NOW);
	for (int number = 0; number < 3; number++)
		sum += work(number);
	return WHEN ? sum - 6 : copied() + sum - 6;
}
"""


@pytest.mark.parametrize(
    ("when", "exits"),
    [("linked", 0), ("loaded before the first call", 0), ("loaded in a call", 1)],
)
def test_functions_with_fentry_leave_returns_to_greenlets(
    tmp_path, monkeypatch, when, exits
):
    """Whenever their library comes: what is open then ends, the others only begin."""
    number = ("linked", "loaded before the first call", "loaded in a call").index(when)
    if number and not can_audit():
        pytest.skip("the dynamic linker does not tell of what it loads")
    # Programs of -pg leave a file in the working directory.
    monkeypatch.chdir(tmp_path)
    library, source = tmp_path / "libgreenlet.so", tmp_path / "copier.c"
    (tmp_path / "own.c").write_text("int copied(void) { return 0; }\n")
    run_tool(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "own.c"])
    source.write_text(COPIER)
    run_tool(
        [
            *("gcc", "-g", "-O1", "-pg", "-mfentry", f"-DWHEN={number}"),
            *(f'-DCOPIES="{library}"', "-o", tmp_path / "copier", source, "-ldl"),
            *([library] if number == 0 else ["-Wl,--unresolved-symbols=ignore-all"]),
        ]
    )
    done = run_recorded(tmp_path / "trace", [tmp_path / "copier"])

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("it has greenlets, which copy return addresses") == 1
    assert called(tmp_path / "trace") == {"main": 1, "work": 3}
    assert counted(tmp_path / "trace") == [4, exits]
