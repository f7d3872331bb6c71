"""Programs that run in Valgrind are recorded, and Memcheck finds nothing of ours in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import counts, run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("valgrind") is None,
    reason="not installed: gcc or valgrind",
)

ERRORS_FOUND = 9
THREADS = 3
CALLS = 4_000
SIGNALS = 50
PROGRAM = f"""
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OURS __attribute__((no_instrument_function))

static __attribute__((noinline)) void leaf(void) {{ __asm__ volatile(""); }}
static __attribute__((noinline)) void handled(void) {{ __asm__ volatile(""); }}

OURS static void handle(int number)
{{
    (void) number;
    handled();
}}

OURS static void *run(void *argument)
{{
    stack_t stack = {{.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}};
    sigaltstack(&stack, NULL);
    for (int i = 0; i < {CALLS}; i++) {{
        leaf();
        if (i < {SIGNALS})
            raise(SIGUSR1);
    }}
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
    return argument;
}}

OURS static void load(const char *path)
{{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        _exit(98);
    ((void (*)(void)) dlsym(library, "plugged"))();
    dlclose(library);
}}

OURS int main(int count, char **words)
{{
    struct sigaction action = {{.sa_handler = handle, .sa_flags = SA_ONSTACK}};
    pthread_t threads[{THREADS}];

    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < {THREADS}; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < {THREADS}; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < count; i++)
        load(words[i]);
    if (fork() == 0) {{
        leaf();
        exit(0);
    }}
    wait(NULL);
    return 3;
}}
"""
PLUGIN = """
__attribute__((visibility("default"))) void plugged(void) { __asm__ volatile(""); }
"""
CHILD = """
#include <unistd.h>
int main(int count, char **words)
{
    return count > 1 ? execv(words[1], words + 1) : 0;
}
"""
MEMCHECK = ["valgrind", "-q", f"--error-exitcode={ERRORS_FOUND}"]
OWN = "vestige: "


def build(directory: Path, name: str, text: str, *flags: str) -> Path:
    """Compile a program with hooks."""
    source = directory / f"{name}.c"
    source.write_text(text)
    flags = ("-g", "-O1", "-pthread", "-finstrument-functions", *flags)
    run_tool(["gcc", *flags, "-o", directory / name, source])
    return directory / name


def others_lines(done) -> list[str]:
    """Return what was said that the recorder did not say."""
    return [line for line in done.stderr.splitlines() if not line.startswith(OWN)]


def calls(trace: Path) -> dict[str, int]:
    """Return how often each function was entered."""
    found: dict[str, int] = {}
    for event in vestige.open(trace).events("*:func_entry"):
        name = event.debug_info.function
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize(
    "tool",
    [["-q", f"--error-exitcode={ERRORS_FOUND}"], ["-q", "--tool=none"]],
    ids=["memcheck", "none"],
)
def test_each_call_is_recorded_and_nothing_is_reported(tmp_path, tool):
    """Of threads, handlers on stacks of their own, plugins and a child process."""
    program = build(tmp_path, "program", PROGRAM)
    plugins = [
        build(tmp_path, name, PLUGIN, "-shared", "-fPIC") for name in ("one", "two")
    ]
    trace = tmp_path / "trace"
    done = run_recorded(trace, ["valgrind", *tool, program, *plugins])

    assert (done.returncode, others_lines(done)) == (3, [])
    assert "not recorded" not in done.stderr
    assert "no events lost" in done.stderr
    assert calls(trace) == {
        "leaf": THREADS * CALLS + 1,
        "handled": THREADS * SIGNALS,
        "plugged": 2,
    }


@pytest.mark.parametrize("follows", ["yes", "no"])
def test_programs_that_valgrind_executes_are_recorded(tmp_path, follows):
    """When a shell starts Valgrind, and whether or not that follows children."""
    program = build(tmp_path, "program", CHILD)
    words = f"{' '.join(MEMCHECK)} --trace-children={follows} {program} {program}"
    trace = tmp_path / "trace"
    done = run_recorded(trace, ["sh", "-c", words])

    assert (done.returncode, others_lines(done)) == (0, [])
    assert counts(trace)["func_entry"] == len(["main"] * 2)


def test_errors_of_the_program_are_reported(tmp_path):
    """As without the recorder: there the tracer hides none."""
    program = build(
        tmp_path,
        "program",
        "#include <stdlib.h>\n"
        "int main(void) { int *p = malloc(4); free(p); return *(volatile int *) p & 0; }",
    )
    trace = tmp_path / "trace"
    done = run_recorded(trace, [*MEMCHECK, program])

    assert done.returncode == ERRORS_FOUND
    assert "Invalid read of size 4" in done.stderr
    assert counts(trace)["func_entry"] == 1
