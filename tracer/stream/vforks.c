/*
 * Children of vfork(): in such a child, the kernel keeps no restartable sequences, so it must not write
 * to the rings of CPUs. What stands in for the function tells of it (base/vfork.c): it is in the
 * tracer, which is found first where it is preloaded, and in programs with our headers.
 *
 * Where neither is, the tracer was loaded by something else into a program that calls the C
 * library's function. Such a program has the rings of threads. Python programs do not call theirs
 * to run anything that is recorded: the child has another program at once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "../base/system.h"
#include "../base/vfork.h"
#include "cpu_ring.h"

#define PYTHON_FUNCTION "Py_IsInitialized"

/* What the child has done to its system calls concerns nobody else. */
static void come_back(void)
{
	if (system_child_is_confined) {
		system_child_is_confined = false;
		system_is_confined = false;
	}
	cpu_rings_return();
}

/* Early, before anything is recorded: later, a thread may wait for us with the lock of the dynamic linker. */
static __attribute__((constructor(101))) void find(void)
{
	char *function = dlsym(RTLD_DEFAULT, "vfork");
	struct vestige_vfork_calls *calls = function ? vestige_vfork_calls_of(function) : NULL;

	if (calls) {
		__atomic_store_n(&calls->come_back, come_back, __ATOMIC_RELEASE);
		__atomic_store_n(&calls->leave, cpu_rings_leave, __ATOMIC_RELEASE);
	}
	cpu_rings_are_possible = calls || dlsym(RTLD_DEFAULT, PYTHON_FUNCTION);
}
