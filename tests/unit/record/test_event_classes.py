"""The classes of tracepoints in the metadata, where writing them is made difficult."""

from __future__ import annotations

import os
import shutil
import subprocess
import time

import pytest

import vestige
from support.instrumented import Sources, record_instrumented
from support.recorded import PreparedTrace
from vestige.record import RecordingOptions

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

EVENTS = 150
SECONDS = 120

# Registers an event, and forks while a thread waits for the list of classes.
LATE = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vestige/tracepoint-abi.h>

static const struct vestige_tracer *tracer;
static struct vestige_event_class class = {sizeof(class), 0, 0, (void (*)(void)) abort};
static struct vestige_event event = {sizeof(event), 0, "at", &class};
static struct vestige_event *const events[] = {&event, NULL};
static struct vestige_provider provider = {sizeof(provider), 1, "late", events};
static struct vestige_tracepoint point = {sizeof(point), 0, "late", "at"};

static void *add(void *unused)
{
    tracer->add_provider(&provider);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int status;
    tracer = dlsym(NULL, "vestige_tracer");
    tracer->add_tracepoint(&point);
    pthread_create(&thread, NULL, add, NULL);
    usleep(200000);
    if (fork() == 0) {
        alarm(60);
        tracer->remove_tracepoint(&point);
        _exit(3);
    }
    wait(&status);
    pthread_join(thread, NULL);
    printf("%d", status);
    return 0;
}
"""


@pytest.fixture
def sources(tmp_path):
    """A directory for one program."""
    return Sources(tmp_path)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A program with many tracepoints, each of which it comes to once."""
    sources = Sources(tmp_path_factory.mktemp("many"))
    names = [f"event{number}" for number in range(EVENTS)]
    events = "\n".join(
        f"LTTNG_UST_TRACEPOINT_EVENT(many, {name}, LTTNG_UST_TP_ARGS(int, a), "
        "LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a)))"
        for name in names
    )
    sources.write(
        "many.h",
        f"""
        #undef LTTNG_UST_TRACEPOINT_PROVIDER
        #define LTTNG_UST_TRACEPOINT_PROVIDER many
        #undef LTTNG_UST_TRACEPOINT_INCLUDE
        #define LTTNG_UST_TRACEPOINT_INCLUDE "./many.h"
        #if !defined(MANY_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
        #define MANY_H
        #include <lttng/tracepoint.h>
        {events}
        #endif
        #include <lttng/tracepoint-event.h>
        """,
    )
    hits = "\n".join(f"lttng_ust_tracepoint(many, {name}, 1);" for name in names)
    sources.write(
        "many.c",
        f"""
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "many.h"
        int main(void) {{ {hits} return 0; }}
        """,
    )
    return sources.build("many", "many.c")


def seen_and_lost(trace):
    """Return how many events of the program are in a trace, and how many are lost."""
    opened = vestige.open(trace)
    seen = sum((event.name or "").startswith("many:") for event in opened)
    assert not opened.damage
    return seen, sum(loss.count or 0 for loss in opened.losses)


def test_a_child_does_not_wait_for_a_thread_of_its_parent(tmp_path, sources):
    """That one was registering an event when the process forked."""
    sources.write("late.c", LATE)
    program = sources.build("late", "late.c", flags=["-pthread"])
    prepared = PreparedTrace(tmp_path / "trace", RecordingOptions())
    with prepared.locked_classes():
        done = subprocess.run(
            [program],
            env=prepared.variables,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )

    prepared.close()
    assert os.waitstatus_to_exitcode(int(done.stdout)) == 3


def test_a_process_waits_once_for_one_that_was_stopped(tmp_path, many):
    """However many events it has; they are counted as lost."""
    prepared = PreparedTrace(tmp_path / "trace", RecordingOptions())
    started = time.monotonic()
    with prepared.locked_classes():
        subprocess.run([many], env=prepared.variables, timeout=SECONDS, check=True)

    # A second for each of them would be too long for the time limit above.
    assert time.monotonic() - started < SECONDS
    prepared.close()
    assert seen_and_lost(tmp_path / "trace") == (0, EVENTS)


def test_nothing_is_recorded_when_the_recording_has_ended(tmp_path, many):
    """Whoever has its variables in the environment runs as if nothing was there."""
    trace = tmp_path / "trace"
    prepared = PreparedTrace(trace, RecordingOptions())
    prepared.close()
    before = (trace / "metadata").read_bytes()
    done = subprocess.run(
        [many],
        env=prepared.variables,
        timeout=SECONDS,
        capture_output=True,
        check=True,
    )

    assert done.stderr == b""
    assert (trace / "metadata").read_bytes() == before
    assert [path.name for path in trace.iterdir()] == ["metadata"]


def test_a_limit_of_the_size_of_files_is_none_for_the_trace(tmp_path, many):
    """The program writes no file."""
    # Blocks of 512 bytes, for which the metadata are too long.
    command = ["sh", "-c", "ulimit -f 8; exec $0", str(many)]
    trace = record_instrumented(tmp_path / "trace", command)

    assert seen_and_lost(trace) == (EVENTS, 0)


def test_two_processes_have_the_same_classes(tmp_path, many):
    """Each is in the metadata once."""
    trace = record_instrumented(tmp_path / "trace", ["sh", "-c", "$0; $0", str(many)])

    assert seen_and_lost(trace) == (2 * EVENTS, 0)
    text = (trace / "metadata").read_text()
    assert text.count('name = "many:') == EVENTS
