"""What fails leaves no trace behind: neither counts nor states of a thread."""

from __future__ import annotations

import re
import shutil
import time
from datetime import datetime

import pytest

import vestige
from support.compilers import run_tool
from support.instrumented import Sources, record_instrumented
from support.recorded import counts, run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

LOOP = """
static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
int main(void) { for (int i = 0; i < 20000; i++) leaf(); return 0; }
"""

# The flags contradict each other: the kernel refuses them.
CLONE = """
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
static char stack[65536];
static int child(void *argument) { (void) argument; return 0; }
static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
int main(void)
{
    const int flags = CLONE_VM | CLONE_CHILD_SETTID | CLONE_THREAD;
    int id;
    leaf();
    if (clone(child, stack + sizeof(stack), flags, NULL, NULL, NULL, &id) >= 0)
        return 1;
    leaf();
    return 0;
}
"""

LENGTHS_HEADER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lengths
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lengths.h"
#if !defined(LENGTHS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LENGTHS_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(lengths, at, LTTNG_UST_TP_ARGS(const int *, a, int, count),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(int, b, a, uint8_t, count)))
#endif
#include <lttng/tracepoint-event.h>
"""
LENGTHS = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lengths.h"
static int values[300];
int main(void)
{
    lttng_ust_tracepoint(lengths, at, values, 3);
    lttng_ust_tracepoint(lengths, at, values, 255);
    lttng_ust_tracepoint(lengths, at, values, 256);
    lttng_ust_tracepoint(lengths, at, values, 4);
    return 0;
}
"""


def build(directory, text):
    """Compile a program with calls of the hooks."""
    source = directory / "program.c"
    source.write_text(text, encoding="utf-8")
    program = directory / "program"
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    return program


def test_a_thread_goes_on_after_clone_failed(tmp_path):
    """A child that shares its memory would have stopped its recording for good."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, [build(tmp_path, CLONE)])

    assert done.returncode == 0
    # main() and both calls.
    assert counts(trace)["func_entry"] == counts(trace)["func_exit"] == 3


def test_a_length_that_its_field_cannot_hold_costs_one_record(tmp_path):
    """What comes behind it is read all the same."""
    sources = Sources(tmp_path)
    sources.write("lengths.h", LENGTHS_HEADER)
    sources.write("lengths.c", LENGTHS)
    program = sources.build("lengths", "lengths.c")
    trace = vestige.open(record_instrumented(tmp_path / "trace", [program]))
    found = [event["b"] for event in trace if event.name == "lengths:at"]

    assert [len(values) for values in found] == [3, 255, 4]
    assert sum(loss.count or 0 for loss in trace.losses) == 1
    assert not trace.damage


def test_a_trace_was_created_when_its_recording_began(tmp_path):
    """However often its metadata are written again."""
    before = int(time.time())
    # The metadata are written for the last time after it: more than a second later.
    script = ["sh", "-c", "date +%s; sleep 2.5"]
    done = run_recorded(tmp_path / "trace", script)
    text = (tmp_path / "trace" / "metadata").read_text()
    [found] = re.findall(r'trace_creation_datetime = "(.*)"', text)
    created = datetime.strptime(found, "%Y%m%dT%H%M%S%z").timestamp()

    assert before <= created <= int(done.stdout)
