"""Programs that a recorded one starts: recorded whatever their environment, or named."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from support.compilers import BuildError, run_tool
from support.public_folder import public_folder
from support.recorded import counts, run_recorded

CALLS = 100
CHILD = f"""
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void leaf(void) {{ __asm__ volatile(""); }}
int main(void)
{{
    for (int i = 0; i < {CALLS}; i++)
        leaf();
    printf("%s\\n", getenv("OWN") ? getenv("OWN") : "none");
    return 0;
}}
"""
# No hooks: what is counted are the calls of the child.
STARTER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IS(name) (!strcmp(words[1], name))
#define IN_CHILD(call) \
    do { if (fork() == 0) { call; _exit(99); } } while (0)

int main(int count, char **words)
{
    char *arguments[] = {words[2], NULL};
    char *nothing[] = {NULL};
    char *own[] = {"OWN=kept", words[3], NULL};
    const char *path = words[2];
    pid_t process;
    int status;

    if (IS("root")) {
        if (chroot(words[3]) || chdir("/"))
            return 98;
        if (posix_spawn(&process, path, NULL, NULL, arguments, environ))
            return 97;
    }
    if (IS("execve"))
        IN_CHILD(execve(path, arguments, environ));
    if (IS("execl"))
        IN_CHILD(execl(path, path, NULL));
    if (IS("execle"))
        IN_CHILD(execle(path, path, NULL, nothing));
    if (IS("execvp"))
        IN_CHILD(execvp(path, arguments));
    if (IS("fexecve"))
        IN_CHILD(fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ));
    if (IS("execveat"))
        IN_CHILD(execveat(AT_FDCWD, path, arguments, environ, 0));
    if (IS("SYS_execve"))
        IN_CHILD(syscall(SYS_execve, path, arguments, environ));
    if (IS("SYS_execveat"))
        IN_CHILD(syscall(SYS_execveat, AT_FDCWD, path, arguments, environ, 0));
    if (IS("SYS_execveat of a descriptor"))
        IN_CHILD(syscall(SYS_execveat, open(path, O_RDONLY), "", arguments, environ,
                         AT_EMPTY_PATH));
    if (IS("vfork") && vfork() == 0) {
        execv(path, arguments);
        _exit(99);
    }
    if (IS("posix_spawn") && posix_spawn(NULL, path, NULL, NULL, arguments, environ))
        return 97;
    if (IS("posix_spawnp") && posix_spawnp(&process, path, NULL, NULL, arguments, environ))
        return 97;
    if (IS("system") && system(path))
        return 97;
    if (IS("popen")) {
        FILE *file = popen(path, "r");

        while ((status = fgetc(file)) != EOF)
            putchar(status);
        pclose(file);
    }
    if (IS("without"))
        IN_CHILD(execve(path, arguments, nothing));
    if (IS("SYS_execve without"))
        IN_CHILD(syscall(SYS_execve, path, arguments, nothing));
    if (IS("SYS_execveat without"))
        IN_CHILD(syscall(SYS_execveat, AT_FDCWD, path, arguments, NULL, 0));
    if (IS("in its place without"))
        execve(path, arguments, nothing);
    if (IS("in a child's without") && vfork() == 0) {
        execve(path, arguments, nothing);
        _exit(99);
    }
    if (IS("spawned without"))
        posix_spawn(&process, path, NULL, NULL, arguments, nothing);
    if (IS("own"))
        IN_CHILD(execve(path, arguments, own));
    if (IS("cleared")) {
        clearenv();
        setenv("OWN", "kept", 1);
        status = system(path);
        if (strcmp(getenv("OWN"), "kept") || getenv("LD_PRELOAD"))
            return 96;
    }
    fflush(stdout);
    while (wait(&status) > 0)
        if (count > 4)
            printf("%d\n", WEXITSTATUS(status));
    return 0;
}
"""
WAYS = [
    "execve",
    "execl",
    "execle",
    "execvp",
    "fexecve",
    "execveat",
    "SYS_execve",
    "SYS_execveat",
    "SYS_execveat of a descriptor",
    "vfork",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "popen",
]
STATIC = "it is a static program, into which no library is loaded"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its root")


@pytest.fixture(scope="module")
def place():
    """A directory that all users can reach."""
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def build(place):
    """A function that compiles one of the programs."""

    def make(name: str, text: str, *flags: str) -> Path:
        source = place / f"{name}.c"
        source.write_text(text)
        run_tool(["gcc", "-O1", "-w", *flags, "-o", place / name, source])
        return place / name

    return make


@pytest.fixture(scope="module")
def starter(build):
    """A program that starts another one in the way of its first argument."""
    return build("starter", STARTER)


@pytest.fixture(scope="module")
def child(build):
    """A program that is recorded if it gets the tracer."""
    return build("child", CHILD, "-finstrument-functions")


@pytest.fixture(scope="module")
def static(build):
    """One that is not, whatever it gets."""
    try:
        return build("static-child", CHILD, "-static")
    except BuildError as error:
        pytest.skip(f"no static C library: {error}")


def calls(trace: Path) -> int:
    """Return how many calls of the child are there."""
    return counts(trace).get("func_entry", 0)


def named(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str, str]]:
    """Return names, processes and reasons of what is said not to be recorded."""
    line = r"vestige: (\S+) \(([^)]*)\) (?:is|are) not recorded: (.*)"
    return re.findall(line, done.stderr)


@pytest.mark.parametrize("way", WAYS)
def test_a_program_is_recorded_however_it_is_started(tmp_path, starter, child, way):
    """And not named."""
    done = run_recorded(tmp_path / "trace", [starter, way, child])

    assert done.returncode == 0, done.stderr
    assert calls(tmp_path / "trace") == CALLS + 1
    assert "not recorded" not in done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_static_program_is_named_however_short_it_lives(
    tmp_path, starter, static, way
):
    """With its process ID, and why."""
    done = run_recorded(
        tmp_path / "trace", [starter, way, static], "-e", "lttng_ust_*:*"
    )

    assert done.returncode == 0, done.stderr
    [(name, process, reason)] = named(done)
    assert (name, reason.partition(":")[0]) == (static.name, STATIC)
    assert re.fullmatch(r"PID [1-9]\d*", process)


@pytest.mark.parametrize(
    "way",
    [
        "without",
        "SYS_execve without",
        "SYS_execveat without",
        "spawned without",
        "cleared",
    ],
)
def test_a_program_without_our_variables_is_recorded(tmp_path, starter, child, way):
    """They are added for the program alone."""
    done = run_recorded(tmp_path / "trace", [starter, way, child])

    assert done.returncode == 0, done.stderr
    assert done.stdout == ("kept\n" if way == "cleared" else "none\n")
    assert calls(tmp_path / "trace") == CALLS + 1
    assert "not recorded" not in done.stderr


@pytest.mark.parametrize(
    ("way", "expected"),
    [("in its place without", CALLS + 1), ("in a child's without", 0)],
)
def test_without_children_what_the_program_executes_is_recorded(
    tmp_path, starter, child, static, way, expected
):
    """Whatever its environment; a child of vfork() is a child."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, [starter, way, child], "--no-follow-fork")
    other = run_recorded(tmp_path / "other", [starter, way, static], "--no-follow-fork")

    assert (done.returncode, done.stdout) == (0, "none\n"), done.stderr
    assert calls(trace) == expected
    assert not named(done)
    assert [name for name, _, _ in named(other)] == ([static.name] if expected else [])


def test_a_program_with_a_preloaded_library_of_its_own(tmp_path, build, starter, child):
    """Both are loaded, ours first, as when the recorder starts it."""
    text = (
        '#include <stdlib.h>\nchar *getenv(const char *n) { return "from-library"; }\n'
    )
    library = build("libown.so", text, "-shared", "-fPIC")
    done = run_recorded(
        tmp_path / "trace", [starter, "own", child, f"LD_PRELOAD={library}"]
    )

    assert (done.returncode, done.stdout) == (0, "from-library\n"), done.stderr
    assert calls(tmp_path / "trace") == CALLS + 1


@pytest.mark.parametrize("program", ["child", "static"])
def test_what_is_switched_off_is_neither_recorded_nor_named(
    tmp_path, starter, child, static, program
):
    """It is what somebody wanted."""
    path = child if program == "child" else static
    words = [starter, "own", path, "VESTIGE_TRACER_OFF=1"]
    done = run_recorded(tmp_path / "trace", words, "-e", "lttng_ust_*:*")

    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr
    assert not named(done)
    assert calls(tmp_path / "trace") == 0


@pytest.mark.parametrize("way", ["execve", "execvp", "posix_spawn"])
def test_what_is_not_started_is_not_named(tmp_path, starter, place, way):
    """As where the file may not be executed, or is damaged."""
    broken = place / "broken"
    broken.write_bytes(b"\x7fELF" + bytes(100))
    broken.chmod(0o755)
    done = run_recorded(
        tmp_path / "trace", [starter, way, broken], "-e", "lttng_ust_*:*"
    )

    assert not named(done)


def test_a_script_is_its_interpreter(tmp_path, starter, child, static, place):
    """However many there are in between."""
    good, bad = place / "good", place / "bad"
    good.write_text(f"#!/bin/sh\nexec {child}\n")
    bad.write_text(f"#! {static} -x\n")
    for path in (good, bad):
        path.chmod(0o755)
    recorded = run_recorded(tmp_path / "good", [starter, "execve", good])
    other = run_recorded(tmp_path / "bad", [starter, "execve", bad], "-e", "lttng_*:*")

    assert not named(recorded)
    assert calls(tmp_path / "good") == CALLS + 1
    assert [(name, reason[: len(STATIC)]) for name, _, reason in named(other)] == [
        ("bad", STATIC)
    ]


@needs_root
@pytest.mark.parametrize(
    ("mode", "prefix", "expected"),
    [
        (0o4755, [], "it runs with another user's rights"),
        (0o2755, [], "it runs with another group's rights"),
        (0o4755, ["setpriv", "--no-new-privs"], None),
        (0o755, [], None),
    ],
)
def test_a_program_that_gets_other_rights(
    tmp_path, place, starter, child, mode, prefix, expected
):
    """It is named if the kernel gives it what its file says, and recorded if not."""
    path = Path(shutil.copy(child, place / f"rights-{mode:o}-{len(prefix)}"))
    os.chown(path, 65534, 65534)
    path.chmod(mode)
    trace = tmp_path / "trace"
    done = run_recorded(trace, [*prefix, starter, "execve", path], "-e", "fgtrace:*")

    reasons = [(name, reason.partition(":")[0]) for name, _, reason in named(done)]
    assert reasons == ([(path.name, expected)] if expected else [])


@needs_root
def test_a_program_in_a_root_without_the_library(tmp_path, starter, child):
    """Its dynamic linker does not complain of what is not there."""
    root = tmp_path / "root"
    listed = subprocess.run(["ldd", child], capture_output=True, text=True, check=True)
    needed = {word for word in listed.stdout.split() if word.startswith("/")}
    for name in {*needed, str(child)}:
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    done = run_recorded(
        tmp_path / "trace", [starter, "root", child, root], "-e", "lttng_ust_*:*"
    )

    assert (done.returncode, done.stdout) == (0, "none\n"), done.stderr
    assert "ld.so" not in done.stderr
    [(name, process, reason)] = named(done)
    assert (name, reason) == (
        child.name,
        "the tracer is not reachable from its root directory",
    )
    assert process.startswith("PID ")


def test_many_programs_take_few_lines(tmp_path, static):
    """Of all, the number is told."""
    many = 150
    line = (
        f"i=0; while [ $i -lt {many} ]; do {shlex.quote(str(static))}; i=$((i+1)); done"
    )
    done = run_recorded(tmp_path / "trace", ["sh", "-c", line], "-e", "lttng_ust_*:*")

    assert done.stdout == "none\n" * many
    [(name, processes, _)] = named(done)
    numbers = re.fullmatch(r"PID \d+, PID \d+, PID \d+ and (\d+) more", processes)
    [rest] = re.findall(r"vestige: (\d+) more processes not recorded", done.stderr)
    assert name == static.name
    assert 3 + int(numbers[1]) + int(rest) == many


ALONE = ["unshare", "--net", "--map-root-user", "--mount", "sh", "-c"]
NO_MEMORY = "mount -t tmpfs tmpfs /dev/shm && exec "


@pytest.mark.skipif(
    subprocess.run(
        [*ALONE, f"{NO_MEMORY} true"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="needs namespaces of users, networks and mounts",
)
@pytest.mark.parametrize("options", [(), ("--inherit-socket",)])
def test_a_program_that_cannot_reach_the_memory(tmp_path, child, options):
    """It is named unless it can, however short it lives."""
    words = [*ALONE, f"{NO_MEMORY}{shlex.quote(str(child))}"]
    done = run_recorded(tmp_path / "trace", words, "-e", "*:*", *options)

    assert (done.returncode, done.stdout) == (0, "none\n"), done.stderr
    found = [(name, reason) for name, _, reason in named(done) if name == child.name]
    reason = "it cannot reach the memory of the recording"
    assert found == ([] if options else [(child.name, reason)])
