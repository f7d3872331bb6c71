"""Limits of the system: the program does the same, and what is lost is counted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections import Counter

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import build_program, counts, record_command, run_recorded
from vestige.record import RecordingOptions, record
from vestige.record.backends.in_process import collector, cost
from vestige.record.backends.in_process.recovery import recover

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

CALLS = 200_000
TRACED = ("-g", "-O1", "-finstrument-functions")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("limits"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def read(trace):
    """Return how many events there are of each name, and how many are told lost."""
    opened = vestige.open(trace, debug_info=False)
    found = Counter((event.name or "").partition(":")[2] for event in opened)
    assert not opened.damage
    lost = (loss.count or 0 for loss in opened.losses if loss.kind == "events")
    return found, sum(lost)


def grow_and_recover(disk, trace):
    """Make room on a full disk, and write what was kept in memory."""
    subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
    assert all(one.is_drained for one in recover(trace))


def test_a_disk_on_which_a_recording_cannot_begin_is_left_as_it_was(small_disk):
    """There is room for the collector's register, and for no more."""
    filler = small_disk / "filler"
    filler.write_bytes(bytes((2 << 20) - (4 << 10)))
    done = run_recorded(small_disk / "trace", ["true"])

    assert done.returncode == 125, done.stderr
    assert "No space left on device" in done.stderr
    assert list(small_disk.iterdir()) == [filler]


@pytest.mark.parametrize(
    "options",
    [
        ("--mode=block=200ms",),
        ("--mode=discard",),
        # What has no room waits before it is lost, as long as in the first mode.
        ("--mode=block=200ms", "--mode=overwrite"),
        ("--max-size=1G", "--mode=discard"),
    ],
)
@pytest.mark.parametrize("what", ["calls", "threads"])
def test_a_full_disk(small_disk, program, what, options):
    """What is not written is kept in memory or counted as lost."""
    # Of eight threads, memory may keep all.
    made = CALLS if what == "calls" else CALLS // 4
    done = run_recorded(small_disk / "trace", [program, what, str(made)], *options)
    assert "make room, then 'vestige record --recover" in done.stderr
    told = re.search(r"; ([\d,]+|no) events? lost", done.stderr)
    grow_and_recover(small_disk, small_disk / "trace")
    found, missing = read(small_disk / "trace")
    calls = made + 2 if what == "calls" else 8 * (made + 1) + 1

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert found["func_entry"] > 1000
    assert found["func_entry"] + found["func_exit"] + missing == 2 * calls
    assert told is not None
    assert int(told[1].replace("no", "0").replace(",", "")) == missing


def test_no_room_is_left_for_a_measurement(small_disk, program, monkeypatch):
    """What a call costs is not looked for on a full disk."""
    asked = []
    monkeypatch.setattr(cost, "call_cost", lambda *_, **__: asked.append("call_cost"))
    monkeypatch.setattr(collector, "PATIENCE", 0.0)
    options = RecordingOptions(mode="discard")
    record([program, "calls", str(CALLS)], small_disk / "trace", options)
    assert asked == []

    grow_and_recover(small_disk, small_disk / "trace")
    record([program, "calls", str(CALLS)], small_disk / "whole", options)
    assert asked == ["call_cost"]


def test_a_disk_that_is_full_when_a_thread_begins(small_disk, program):
    """Nothing is recorded, and the program runs."""
    (small_disk / "filler").write_bytes(bytes((2 << 20) - (40 << 10)))
    done = run_recorded(small_disk / "trace", [program, "threads", "1000"])

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    grow_and_recover(small_disk, small_disk / "trace")
    found, missing = read(small_disk / "trace")
    total = found["func_entry"] + found["func_exit"] + missing
    assert total in {2 * (8 * 1001 + 1), 2 * (8 * 1001 + 1) + 1}


@pytest.mark.parametrize("limit", ["-n 4", "-v 40000", "-f 0", "-f 16"])
def test_limits_of_the_process(tmp_path, program, limit):
    """Of descriptors, of memory, and of files."""
    limited = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]
    words = [program, "calls", str(CALLS)]
    done = run_recorded(tmp_path / "trace", [*limited, *words], "-c", "none")
    found, missing = read(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    total = found["func_entry"] + found["func_exit"] + missing
    # Without a file, the state dump is one more.
    assert total in {2 * (CALLS + 2), 2 * (CALLS + 2) + 1}


SMALL = 20 << 20
"""Bytes of address space: less than the memory of a recording, more than programs need."""

LIMITED = """
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int after(void) { return 0; }

int main(int count, char **words)
{
    struct rlimit limit = {atol(words[1]), atol(words[2])}, shown, again;
    char *arguments[] = {words[3], NULL};
    pid_t child;

    if (count < 4 || setrlimit(RLIMIT_AS, &limit))
        return 97;
    after();
    if (getrlimit(RLIMIT_AS, &shown) || prlimit(0, RLIMIT_AS, NULL, &again))
        return 96;
    if (!malloc(1 << 20) || malloc(limit.rlim_cur + (400 << 20)))
        return 95;
    if (posix_spawn(&child, words[3], NULL, NULL, arguments, environ))
        return 94;
    waitpid(child, NULL, 0);
    printf("%ld %ld\\n", (long) shown.rlim_cur, (long) shown.rlim_max);
    return shown.rlim_cur != again.rlim_cur || shown.rlim_max != again.rlim_max;
}
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A program that limits its address space, and starts another one."""
    directory = tmp_path_factory.mktemp("limited")
    (directory / "limited.c").write_text(LIMITED)
    run_tool(["gcc", *TRACED, "-o", directory / "limited", directory / "limited.c"])
    return directory / "limited"


@pytest.mark.parametrize("hard", [SMALL, SMALL * 2, -1])
def test_a_program_that_limits_its_own_address_space(tmp_path, limited, hard):
    """It has room as without the tracer, sees its own limit, and so do its children."""
    words = [str(limited), str(SMALL), str(hard), "/bin/true"]
    plain = subprocess.run(words, capture_output=True, text=True, check=True)
    done = run_recorded(tmp_path / "trace", words)
    found = vestige.open(tmp_path / "trace").call_tree().functions()

    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert done.stdout == f"{SMALL} {hard}\n"
    assert {one.function.name: one.calls for one in found} == {"main": 1, "after": 1}
    assert "not recorded" not in done.stderr


GREEDY = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static int pipes[2];

int late(void) { return 0; }

__attribute__((no_instrument_function)) static void *wait_for_the_end(void *argument)
{
    char byte;

    if (read(pipes[0], &byte, 1) == 1)
        late();
    return argument;
}

int main(int count, char **words)
{
    struct rlimit limit = {atol(words[1]), atol(words[1])};
    pthread_attr_t attributes;
    pthread_t threads[THREADS];
    int taken = 0;

    if (count < 2 || pipe(pipes) || setrlimit(RLIMIT_AS, &limit))
        return 97;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    for (int one = 0; one < THREADS; one++)
        if (pthread_create(&threads[one], &attributes, wait_for_the_end, NULL))
            return 96;
    while (mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        taken++;
    while (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        ;
    if (write(pipes[1], "1234", THREADS) != THREADS)
        return 95;
    for (int one = 0; one < THREADS; one++)
        pthread_join(threads[one], NULL);
    if (fork() == 0) {
        late();
        _exit(0);
    }
    wait(NULL);
    getrlimit(RLIMIT_AS, &limit);
    printf("%d %ld\\n", taken, (long) limit.rlim_cur);
    return 0;
}
"""


@pytest.fixture(scope="module")
def greedy(tmp_path_factory):
    """A program that limits its address space and takes all of it."""
    directory = tmp_path_factory.mktemp("greedy")
    (directory / "greedy.c").write_text(GREEDY)
    program = directory / "greedy"
    run_tool(["gcc", *TRACED, "-o", program, directory / "greedy.c", "-pthread"])
    return program


def test_a_program_has_no_more_room_than_it_asks_for(tmp_path, greedy):
    """And threads and processes that begin to record when it has none left are recorded."""
    words = [str(greedy), str(SMALL)]
    plain = subprocess.run(words, capture_output=True, text=True, check=True)
    done = run_recorded(tmp_path / "trace", words)
    found = vestige.open(tmp_path / "trace").call_tree().functions()
    taken, shown = map(int, done.stdout.split())
    taken_without, shown_without = map(int, plain.stdout.split())

    assert done.returncode == 0, done.stderr
    assert shown == shown_without == SMALL
    assert abs(taken - taken_without) <= 2
    assert {one.function.name: one.calls for one in found} == {"main": 1, "late": 5}
    assert "no events lost" in done.stderr


def test_more_threads_at_once_than_the_memory_has_packets(tmp_path):
    """By default each has one besides; with a limit, the advice names that."""
    steps = tmp_path / "steps"
    source = PROGRAMS / "arena" / "steps.c"
    run_tool(["gcc", *TRACED, "-o", steps, source, "-pthread"])
    words = [steps, "at-once", "300"]
    # Packets of 1 MiB.
    done = run_recorded(tmp_path / "all", words, "--buffer-size=64M")
    options = ("--buffer-size=64M", "--arena-size=32M", "--mode=block=100ms")
    other = run_recorded(tmp_path / "some", words, *options)
    found, fewer = counts(tmp_path / "all"), counts(tmp_path / "some")

    assert "no events lost" in done.stderr
    assert (found["func_entry"], found["func_exit"]) == (300 * 20, 300 * 20)
    assert 20 <= fewer["func_entry"] < 32 * 20
    assert "vestige: --arena-size=64M may keep them, or none: " in other.stderr


def test_threads_do_not_wait_in_vain_one_after_the_other(tmp_path, monkeypatch):
    """Those that come when all have a place wait once, and not each the whole time."""
    program = tmp_path / "one_by_one"
    source = PROGRAMS / "one_by_one.c"
    run_tool(["gcc", *TRACED, "-o", program, source, "-pthread"])
    monkeypatch.setattr(collector, "THREADS", 4)
    options = RecordingOptions(timeout=1.0)
    begin = time.monotonic()
    record([program, "8", "100"], tmp_path / "t", options)

    # Otherwise it would be at least 100 seconds.
    assert time.monotonic() - begin < 100
    names, missing = read(tmp_path / "t")
    found = names["func_entry"]
    assert 0 < found <= 4
    assert missing == 2 * (8 + 100 - found)


def test_a_shell_that_limits_what_it_starts(tmp_path, program):
    """The program inherits a limit in which there is room for its tracer."""
    script = 'ulimit -v 20000; ulimit -v; ulimit -v 10000; ulimit -v; exec "$@"'
    words = ["sh", "-c", script, "sh", program, "calls", str(CALLS)]
    done = run_recorded(tmp_path / "trace", words, "-c", "none")
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "20000\n10000\n0 handled\n")
    assert found["func_entry"] == found["func_exit"] == CALLS + 2
    assert "no events lost" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_a_hard_limit_that_was_lowered_stays(tmp_path):
    """For who has no privilege: the tracer's memory is no way round it."""
    script = "ulimit -v 20000; ulimit -v 30000; ulimit -v"
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = run_recorded(tmp_path / "trace", [*user, "sh", "-c", script])

    assert done.stdout == "20000\n"
    assert "Operation not permitted" in done.stderr


@pytest.mark.parametrize("mode", ["discard", "overwrite"])
def test_a_directory_that_is_removed(tmp_path, program, mode):
    """The program goes on."""
    trace = tmp_path / "trace"
    # The recorder may make files meanwhile.
    script = f'while [ -e {trace} ]; do rm -rf {trace}; done; exec "$@"'
    # Where nothing may be lost, more than memory keeps would be waited for.
    made = CALLS if mode == "discard" else CALLS // 10
    words = ["sh", "-c", script, "sh", program, "calls", str(made)]
    command = record_command(trace, words, f"--mode={mode}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout == "0 handled\n"
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert "it is gone" in done.stderr
