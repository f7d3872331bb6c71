"""Packages of probes that are loaded and unloaded while threads pass their tracepoints."""

from __future__ import annotations

import pytest

import vestige
from support.instrumented import Sources, record_instrumented
from support.lttng import missing_requirement

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(missing_requirement() is not None, reason="needs LTTng"),
]

PROVIDER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER busy
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./busy-tp.h"
#if !defined(BUSY_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BUSY_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(busy, step, LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)))
#endif
#include <lttng/tracepoint-event.h>
"""
PACKAGE = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "busy-tp.h"
"""
POINTS = """
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
"""
PROGRAM = """
#include "busy-tp.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS 5
#define MOST_PACKAGES 4

static int is_over;
static long found;

static void *pass(void *argument)
{
	for (int number = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); number++) {
		if (lttng_ust_tracepoint_enabled(busy, step))
			__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
		lttng_ust_tracepoint(busy, step, number);
	}
	return argument;
}

static void *load(void *name)
{
	for (int round = 0; round < ROUNDS; round++) {
		void *package = dlopen(name, RTLD_NOW);
		const long before = __atomic_load_n(&found, __ATOMIC_RELAXED);

		if (!package)
			exit(2);
		while (__atomic_load_n(&found, __ATOMIC_RELAXED) < before + 100)
			sched_yield();
		dlclose(package);
	}
	return name;
}

int main(int count, char **arguments)
{
	pthread_t passing[THREADS], loading[MOST_PACKAGES];

	for (int index = 0; index < THREADS; index++)
		pthread_create(&passing[index], NULL, pass, NULL);
	for (int index = 1; index < count; index++)
		pthread_create(&loading[index - 1], NULL, load, arguments[index]);
	for (int index = 1; index < count; index++)
		pthread_join(loading[index - 1], NULL);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int index = 0; index < THREADS; index++)
		pthread_join(passing[index], NULL);
	return 0;
}
"""
COMMON = "-llttng-ust-common"


@pytest.mark.parametrize(
    ("has_lttng", "flags", "libraries"),
    [
        (True, (), ("-llttng-ust",)),
        (True, ("-D_LGPL_SOURCE",), ("-llttng-ust", COMMON)),
        (True, ("-D_LGPL_SOURCE",), (COMMON,)),
        (False, (), ()),
    ],
    ids=["usual", "readers inlined", "readers of the common library", "our headers"],
)
def test_threads_are_never_in_a_package_that_is_gone(
    tmp_path, has_lttng, flags, libraries
):
    """Others with the same events are there, so that threads are in probes all the time."""
    build = Sources(tmp_path, ("gcc", "-O1", "-w"), has_lttng)
    build.write("busy-tp.h", PROVIDER)
    build.write("busy.c", f"{POINTS}{PROGRAM}")
    build.write("package.c", PACKAGE)
    common = (COMMON,) if flags else ()
    part = build.compile("package.c", "-fPIC", *flags)
    packages = [
        build.link(name, "-shared", part, *build.libraries, *common)
        for name in ("one.so", "two.so", "three.so")
    ]
    program = build.link(
        "busy", build.compile("busy.c", *flags), *libraries, "-ldl", "-lpthread"
    )
    options = ["--mode=overwrite", "--max-size=2M"]
    trace = tmp_path / "trace"
    record_instrumented(trace, [program, *packages], *options)

    assert "busy:step" in {event.name for event in vestige.open(trace)}


FORKING = """
#include "busy-tp.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define CHILDREN 30

static int is_over;
static long found;

static void *pass(void *argument)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		lttng_ust_tracepoint(busy, step, 1);
		__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
	}
	return argument;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	void *package = dlopen(arguments[1], RTLD_NOW);
	int status = !package || count < 2 || !dlopen(arguments[2], RTLD_NOW);

	for (int index = 0; index < THREADS; index++)
		pthread_create(&threads[index], NULL, pass, NULL);
	for (int child = 0; child < CHILDREN && !status; child++) {
		const long before = __atomic_load_n(&found, __ATOMIC_RELAXED);

		while (__atomic_load_n(&found, __ATOMIC_RELAXED) < before + 100)
			sched_yield();
		if (!fork()) {
			alarm(20);
			dlclose(package);
			exit(0);
		}
		wait(&status);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
	return status != 0;
}
"""


@pytest.mark.parametrize("flags", [(), ("-D_LGPL_SOURCE",)], ids=["usual", "inlined"])
def test_a_child_does_not_wait_for_threads_that_it_has_not(tmp_path, flags):
    """Not even where their marks are in the library that is LTTng's still."""
    build = Sources(tmp_path, ("gcc", "-O1", "-w"), has_lttng=True)
    build.write("busy-tp.h", PROVIDER)
    build.write("forking.c", f"{POINTS}{FORKING}")
    build.write("package.c", PACKAGE)
    part = build.compile("package.c", "-fPIC", *flags)
    packages = [
        build.link(name, "-shared", part, *build.libraries, COMMON)
        for name in ("one.so", "two.so")
    ]
    libraries = (COMMON if flags else "-llttng-ust", "-ldl", "-lpthread")
    program = build.link("forking", build.compile("forking.c", *flags), *libraries)
    options = ["--mode=overwrite", "--max-size=2M"]
    record_instrumented(tmp_path / "trace", [program, *packages], *options)
