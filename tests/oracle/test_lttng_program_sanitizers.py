"""Programs that were compiled with LTTng-UST's headers and a sanitizer."""

from __future__ import annotations

import subprocess

import pytest

from support.compilers import BuildError
from support.instrumented import Sources, payloads
from support.lttng import missing_requirement
from support.recorded import run_recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(missing_requirement() is not None, reason="needs LTTng"),
]

PROVIDER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER watched
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./watched-tp.h"
#if !defined(WATCHED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WATCHED_TP_H
#include <stdint.h>
#include <string.h>
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(watched, step, LTTNG_UST_TP_ARGS(int, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_string(string, text)
		lttng_ust_field_sequence_text(char, text, text, uint8_t, strlen(text))
		lttng_ust_field_sequence(uint8_t, bytes, text, uint16_t, strlen(text))))
#endif
#include <lttng/tracepoint-event.h>
"""
PROBES = """
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "watched-tp.h"
"""
# The second thread knows that the first one has ended, from the kernel, and nobody else does.
PROGRAM = """
#define _GNU_SOURCE
#include "watched-tp.h"
#include <lttng/tracef.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>

static int first;

static void steps(void)
{
	static __thread char text[5000];

	for (int number = 0; number < 100; number++) {
		memset(text, 'x', (size_t) number * 40);
		lttng_ust_tracepoint(watched, step, number, text);
	}
	lttng_ust_tracef("%d", 1);
}

static void *one(void *nothing)
{
	steps();
	__atomic_store_n(&first, (int) syscall(SYS_gettid), __ATOMIC_RELAXED);
	return nothing;
}

static void *two(void *nothing)
{
	int thread;

	while (!(thread = __atomic_load_n(&first, __ATOMIC_RELAXED)))
		usleep(100);
	while (!syscall(SYS_tgkill, getpid(), thread, 0))
		usleep(100);
	steps();
	return nothing;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, two, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["--keep-lttng"]])
@pytest.mark.parametrize("sanitizer", ["address", "undefined", "thread"])
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_nothing_is_found_in_us(tmp_path, compiler, sanitizer, options):
    """Also where a thread writes to what was another's before."""
    language = "c++" if compiler == "g++" else "c"
    build = Sources(tmp_path, (compiler, "-x", language, "-g", "-O1", "-w"), True)
    build.write("watched-tp.h", PROVIDER)
    build.write("watched.c", PROGRAM)
    build.write("probes.c", PROBES)
    flag = f"-fsanitize={sanitizer}"
    objects = [build.compile(name, flag) for name in ("watched.c", "probes.c")]
    program = tmp_path / "watched"
    try:
        build.run(compiler, flag, "-o", program, *objects, *build.libraries)
    except BuildError:
        pytest.skip("not installed: the sanitizer's library")
    if subprocess.run([program], capture_output=True, check=False).returncode:
        pytest.skip("the sanitizer does not run on this machine")
    done = run_recorded(tmp_path / "trace", [program], *options)
    found = payloads(tmp_path / "trace")

    assert done.returncode == 0
    assert "anitizer" not in done.stderr
    assert "runtime error" not in done.stderr
    steps = [fields for name, fields in found if name == "watched:step"]
    assert [one["number"] for one in steps] == 2 * list(range(100))
    for one in steps:
        length = one["number"] * 40
        assert (len(one["string"]), len(one["bytes"])) == (length, length)
        assert one["text"] == "x" * (length % 256)
    assert len(found) == 202
