"""Programs that are built or loaded in a way that a tracer could disturb."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool
from support.recorded import counts, run_recorded
from support.tortured import IS_LONG, run_traced, run_untraced
from vestige.record import RecordingOptions
from vestige.record.backends.in_process.program_environment import fit_environment
from vestige.record.backends.in_process.tracer import library_path, tracer_environment

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

SOURCES = PROGRAMS / "torture"
TRACED = ["-g", "-O1", "-finstrument-functions"]
HELLO = """
#include <stdio.h>
__attribute__((noinline)) void hello(void) { puts("hello"); }
int main(void) { hello(); return 3; }
"""
IS_ROOT = os.geteuid() == 0
NOBODY = 65534


def build(directory: Path, text: str, *flags: str, compiler: str = "gcc") -> Path:
    """Compile a program whose source is given."""
    source = directory / "program.c"
    source.write_text(text)
    path = directory / "program"
    run_tool([compiler, *TRACED, "-o", path, source, *flags])
    return path


def same(program, directory, *options, environment=None):
    """Run a program both ways; return what its recording holds."""
    untraced = run_untraced(program, directory, environment)
    traced = run_traced(program, directory, *options, environment=environment)

    assert (traced.status, traced.output, traced.errors) == (
        untraced.status,
        untraced.output,
        untraced.errors,
    )
    assert traced.damage == ()
    return traced


def test_exceptions_leave_no_function_without_an_exit(tmp_path):
    """And destructors of thread-local objects are traced, too."""
    if shutil.which("g++") is None:
        pytest.skip("not installed: g++")
    path = tmp_path / "program"
    run_tool(["g++", *TRACED, "-o", path, SOURCES / "exceptions.cpp", "-pthread"])
    number = 100_000 if IS_LONG else 500
    traced = same([path, str(number)], tmp_path, "--buffer-size=8k")

    assert traced.lost == 0
    assert traced.events["func_entry"] == traced.events["func_exit"]
    # sink() and ~Guard() of each level, and again().
    assert traced.events["func_entry"] > 4 * number * (2 * 5 + 1)


def test_the_tracer_calls_nothing_that_the_program_replaced(tmp_path):
    """Its functions hold a lock while the tracer needs a new packet."""
    path = tmp_path / "program"
    source = SOURCES / "interposer.c"
    run_tool(["gcc", *TRACED, "-fno-builtin", "-o", path, source, "-pthread"])
    traced = same([path, "20"], tmp_path, "--buffer-size=8k", "-c", "none")

    assert traced.events["func_entry"] == traced.events["func_exit"] > 20 * 5 * 400
    assert traced.lost == 0


@pytest.mark.parametrize("kind", ["address", "thread", "undefined"])
def test_a_program_with_a_sanitizer(tmp_path, kind):
    """Its runtime wants to be the first library, and much thread-local storage."""
    try:
        path = build(tmp_path, HELLO, f"-fsanitize={kind}")
    except BuildError as error:
        pytest.skip(f"no runtime: {error}")
    traced = same([path], tmp_path)

    assert traced.status == 3
    assert traced.events["func_entry"] == 2


THREADS_OF_CHILDREN = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *job(void *argument) { return argument; }
static int serve(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, job, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 7;
}
int main(void)
{
    int status = 0;
    for (int i = 0; i < 3; i++) {
        if (fork() == 0)
            exit(serve());
        wait(&status);
        printf("%d\\n", WEXITSTATUS(status));
    }
    return 0;
}
"""


def test_threads_end_after_a_sanitizer_took_leave_of_them(tmp_path):
    """Its runtime replaces functions of the C library, and has no memory then."""
    try:
        path = build(tmp_path, THREADS_OF_CHILDREN, "-fsanitize=thread", "-pthread")
    except BuildError as error:
        pytest.skip(f"no runtime: {error}")
    traced = same([path], tmp_path)

    assert traced.events["func_entry"] == traced.events["func_exit"] == 1 + 3 * 4
    assert traced.lost == 0


@pytest.fixture
def needy(tmp_path):
    """A library with thread-local storage of a size, at the start of the program."""

    def make(size: int) -> Path:
        library = tmp_path / "libneedy.so"
        source = tmp_path / "needy.c"
        source.write_text(
            '__attribute__((tls_model("initial-exec"))) '
            f"__thread char many[{size}];\nint needy(void) {{ return many[5]; }}\n"
        )
        run_tool(["gcc", "-fPIC", "-shared", "-o", library, source])
        return library

    return make


NEEDY = "int needy(void); int main(void) { return needy(); }"


def test_libraries_that_need_static_thread_local_storage(tmp_path, needy):
    """More than the C library keeps free when an auditing library is loaded."""
    flags = ["-L", str(tmp_path), "-lneedy", f"-Wl,-rpath,{tmp_path}"]
    needy(200_000)

    path = build(tmp_path, NEEDY, *flags)
    assert same([path], tmp_path).events["func_entry"] == 1


def test_programs_that_others_start_have_room_for_an_allocator(tmp_path, needy):
    """The recorder does not see which they are."""
    flags = ["-L", str(tmp_path), "-lneedy", f"-Wl,-rpath,{tmp_path}"]
    needy(3000)

    path = build(tmp_path, NEEDY, *flags)
    assert same(["sh", "-c", f"{path}; exit $?"], tmp_path).status == 0


def test_preloaded_libraries_that_need_static_thread_local_storage(tmp_path, needy):
    """As an allocator that is put into any program."""
    library = needy(50_000)
    path = build(tmp_path, HELLO)
    traced = same([path], tmp_path, environment={"LD_PRELOAD": str(library)})

    assert traced.events["func_entry"] == 2


def test_another_library_may_be_preloaded(tmp_path):
    """Before and behind the tracer."""
    source = tmp_path / "other.c"
    source.write_text(
        '#include <stdio.h>\nint puts(const char *t) { return printf("<%s>\\n", t); }\n'
    )
    other = tmp_path / "libother.so"
    run_tool(["gcc", "-fno-builtin", "-fPIC", "-shared", "-o", other, source])
    path = build(tmp_path, HELLO)
    traced = run_traced(["env", f"LD_PRELOAD={other}:{library_path()}", path], tmp_path)

    assert (traced.status, traced.output, traced.errors) == (3, "<hello>\n", "")
    assert traced.events["func_entry"] == 2


def test_clang_instruments_after_inlining(tmp_path):
    """The same hooks, called from fewer functions."""
    if shutil.which("clang") is None:
        pytest.skip("not installed: clang")
    source = tmp_path / "program.c"
    source.write_text(HELLO)
    path = tmp_path / "program"
    run_tool(
        ["clang", "-O2", "-finstrument-functions-after-inlining", source, "-o", path]
    )

    assert same([path], tmp_path).events["func_entry"] == 2


def test_a_static_program_runs_as_it_is(tmp_path):
    """The dynamic linker has no part in it."""
    assert same([build(tmp_path, HELLO, "-static")], tmp_path).status == 3


def test_a_32_bit_program_runs_as_it_is(tmp_path):
    """Its dynamic linker would complain of a library for 64 bits."""
    root = Path("/usr/i686-linux-gnu/lib")
    compiler = "i686-linux-gnu-gcc"
    if shutil.which(compiler) is None or not (root / "ld-linux.so.2").exists():
        pytest.skip(f"not installed: {compiler} and its C library")
    path = build(
        tmp_path,
        HELLO,
        f"-Wl,--dynamic-linker={root}/ld-linux.so.2,-rpath,{root}",
        compiler=compiler,
    )

    assert same([path], tmp_path).status == 3


@pytest.mark.skipif(not IS_ROOT, reason="only root may make a set-user-ID program")
def test_a_set_user_id_program_runs_as_it_is(tmp_path):
    """The dynamic linker leaves the tracer's variables alone."""
    path = build(tmp_path, HELLO)
    public = Path("/usr/local/bin") / f"vestige-test-{uuid4().hex}"
    shutil.copy(path, public)
    try:
        public.chmod(0o4755)
        trace = tmp_path / "trace"
        trace.mkdir()
        done = subprocess.run(
            [public],
            env=environment_for(trace, str(public)),
            user=NOBODY,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        public.unlink()

    assert (done.returncode, done.stdout, done.stderr) == (3, "hello\n", "")
    assert list(trace.iterdir()) == []


def environment_for(trace: Path, program: str) -> dict[str, str]:
    """Return the environment in which a program is recorded."""
    memory = {"arena": "/absent", "arena-id": 1, "socket": "", "token": ""}
    memory["inherited"] = ""
    environment = tracer_environment(
        trace, RecordingOptions(), memory, is_counter=False
    )
    fit_environment(environment, program)
    return environment


@pytest.mark.parametrize("inert", ["off", "unset", "other-agreement"])
def test_a_tracer_that_is_not_asked_for_does_nothing(tmp_path, inert):
    """No file, and no output."""
    path = build(tmp_path, HELLO)
    trace = tmp_path / "trace"
    trace.mkdir()
    environment = environment_for(trace, str(path))
    if inert == "off":
        environment["VESTIGE_TRACER_OFF"] = "1"
    elif inert == "unset":
        del environment["VESTIGE_TRACER"]
    else:
        environment["VESTIGE_TRACER"] = "3" + environment["VESTIGE_TRACER"][1:]
    done = subprocess.run(
        [path], env=environment, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (3, "hello\n", "")
    assert list(trace.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)]
    if (
        not IS_ROOT
        or subprocess.run(command, capture_output=True, check=False).returncode
    ):
        pytest.skip("only root may mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("taken", [0, 150, 260])
def test_a_full_disk_loses_events_and_not_the_program(tmp_path, small_disk, taken):
    """In one thread and in many, and when not even a first packet fits."""
    path = tmp_path / "program"
    sources = [
        SOURCES / f"{part}.c"
        for part in ("main", "processes", "ends", "stacks", "surroundings")
    ]
    run_tool(["gcc", *TRACED, "-o", path, *sources, "-pthread"])
    (small_disk / "other").write_bytes(bytes(taken << 10))
    trace = small_disk / "trace"
    counter = tmp_path / "counter"
    for mode in ("calls", "threads"):
        counter.write_bytes(bytes(4096))
        command = ["env", f"TORTURE_COUNTER={counter}", path, mode, "5000"]
        # For less than ten seconds, what it waits for usually.
        options = ["--buffer-size=16k", "-c", "none", "--mode=block=200ms"]
        done = run_recorded(trace, command, *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("done 5000\n")
        found = counts(trace)
        calls = int.from_bytes(counter.read_bytes()[:8], sys.byteorder)
        assert found["func_entry"] <= calls
        assert "events lost" in done.stderr
        shutil.rmtree(trace)


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    """The program is not started."""
    path = build(tmp_path, HELLO)
    home = tmp_path / "home"
    home.write_text("no directory")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from vestige.cli.start import entry_point; entry_point()",
            *["record", "--", str(path)],
        ],
        env={
            **os.environ,
            "VESTIGE_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 125
    assert "is above it, is a file" in done.stderr
    assert done.stdout == ""
