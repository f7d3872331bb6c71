/*
 * A library that stands in for liblttng-ust.so.1 and liblttng-ust-tracepoint.so.1 in programs that
 * are recorded. It has the symbols that programs and LTTng's own small libraries look for; the
 * work is done in the tracer.
 *
 * The symbols of <lttng/tracepoint.h> and <lttng/ust-events.h> are here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "../../base/compiler.h"
#include "../interface.h"

/* NULL in a process without the tracer, as in a name space of its own: then nothing is
 * recorded. */
extern const struct vestige_lttng vestige_lttng __attribute__((weak));

/* What a provider gets that is not recorded: programs end without. */
static char nothing;

EXPORTED void *lttng_ust_probe_register(const struct ust_provider *provider);
EXPORTED void lttng_ust_probe_unregister(void *added);
EXPORTED int lttng_ust_tracepoint_module_register(struct ust_point *const *points, int count);
EXPORTED int lttng_ust_tracepoint_module_unregister(struct ust_point *const *points);
EXPORTED void lttng_ust_tp_rcu_read_lock(void);
EXPORTED void lttng_ust_tp_rcu_read_unlock(void);
EXPORTED void *lttng_ust_tp_rcu_dereference_sym(void *pointer);
EXPORTED void lttng_ust_tp_disable_destructors(void);
EXPORTED int lttng_ust_tp_get_destructors_state(void);

void *lttng_ust_probe_register(const struct ust_provider *provider)
{
	void *added = &vestige_lttng ? vestige_lttng.add_provider(provider) : NULL;

	return added ? added : &nothing;
}

void lttng_ust_probe_unregister(void *added)
{
	if (added && added != &nothing)
		vestige_lttng.remove_provider(added);
}

int lttng_ust_tracepoint_module_register(struct ust_point *const *points, int count)
{
	if (&vestige_lttng)
		vestige_lttng.add_points(points, count);
	return 0;
}

int lttng_ust_tracepoint_module_unregister(struct ust_point *const *points)
{
	if (&vestige_lttng)
		vestige_lttng.remove_points(points);
	return 0;
}

/* --- threads in probes --- */

/*
 * Programs that were compiled with _LGPL_SOURCE have these in their own code: the thread's
 * reader, whose counter becomes that of `gp` at the first of nested entries, and whether a
 * reader must show other processors what it has written.
 */
EXPORTED __attribute__((aligned(64))) struct {
	unsigned long counter;
	char reserved[120];
} lttng_ust_urcu_gp = {.counter = 1};
EXPORTED int lttng_ust_urcu_has_sys_membarrier;
EXPORTED __thread unsigned long *lttng_ust_urcu_reader __attribute__((tls_model("initial-exec")));

EXPORTED void lttng_ust_urcu_register(void);
EXPORTED void lttng_ust_urcu_register_thread(void);
EXPORTED void lttng_ust_urcu_read_lock(void);
EXPORTED void lttng_ust_urcu_read_unlock(void);
EXPORTED int lttng_ust_urcu_read_ongoing(void);
EXPORTED void lttng_ust_urcu_synchronize_rcu(void);
EXPORTED void *lttng_ust_rcu_dereference_sym(void *pointer);

/* The same as lttng_ust_urcu_reader, which may be another library's. */
static __thread unsigned long *nesting_of_thread __attribute__((tls_model("initial-exec")));
/* Of threads that record nothing. */
static unsigned long nobody;
static bool is_fenced;

static APART __attribute__((cold)) unsigned long *find_nesting(void)
{
	const int saved = errno;
	unsigned long *found = &vestige_lttng ? vestige_lttng.nesting() : NULL;

	nesting_of_thread = found ? found : &nobody;
	lttng_ust_urcu_reader = nesting_of_thread;
	errno = saved;
	return nesting_of_thread;
}

static inline void show(void)
{
	if (LIKELY(is_fenced))
		__asm__ volatile("" ::: "memory");
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void lttng_ust_tp_rcu_read_lock(void)
{
	unsigned long *nesting = nesting_of_thread;

	if (UNLIKELY(!nesting))
		nesting = find_nesting();
	++*(volatile unsigned long *) nesting;
	show();
}

void lttng_ust_tp_rcu_read_unlock(void)
{
	unsigned long *nesting = nesting_of_thread;

	if (UNLIKELY(!nesting))
		return;
	show();
	__atomic_store_n(nesting, *nesting - 1, __ATOMIC_RELEASE);
}

void *lttng_ust_tp_rcu_dereference_sym(void *pointer)
{
	return pointer;
}

void lttng_ust_urcu_register(void)
{
	if (!nesting_of_thread)
		find_nesting();
	lttng_ust_urcu_reader = nesting_of_thread;
}

void lttng_ust_urcu_register_thread(void)
{
	lttng_ust_urcu_register();
}

void lttng_ust_urcu_read_lock(void)
{
	lttng_ust_tp_rcu_read_lock();
}

void lttng_ust_urcu_read_unlock(void)
{
	lttng_ust_tp_rcu_read_unlock();
}

int lttng_ust_urcu_read_ongoing(void)
{
	return nesting_of_thread && *nesting_of_thread;
}

void lttng_ust_urcu_synchronize_rcu(void)
{
	if (&vestige_lttng)
		vestige_lttng.wait();
}

void *lttng_ust_rcu_dereference_sym(void *pointer)
{
	return pointer;
}

/*
 * A program with _LGPL_SOURCE that has no probes links liblttng-ust-common.so.1 alone, which has
 * readers of its own: what comes here when a provider is loaded, comes too late for its points.
 * They are waited for with LTTng's function, for as long as LTTng would.
 */
static void *find_in_common(const char *name)
{
	static void *volatile library;

	if (!library)
		library = dlopen("liblttng-ust-common.so.1", RTLD_NOW | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* Its readers are threads of this process; a child has their marks, and not the threads. */
static pid_t process;

static bool wait_for_common(void)
{
	typedef void wait_function(void);
	typedef int test_function(void);
	test_function *const is_inside =
		(test_function *) find_in_common("lttng_ust_urcu_read_ongoing");
	wait_function *const wait =
		(wait_function *) find_in_common("lttng_ust_urcu_synchronize_rcu");

	if (!is_inside || !wait)
		return true;
	if (getpid() != process || is_inside())
		return false;
	wait();
	return true;
}

/* --- the end of programs --- */

static int runs_destructors = 1;

void lttng_ust_tp_disable_destructors(void)
{
	runs_destructors = 0;
}

int lttng_ust_tp_get_destructors_state(void)
{
	return runs_destructors;
}

/* Programs define it when they want to know. */
extern int lttng_ust_loaded __attribute__((weak));

static __attribute__((constructor(101))) void start(void)
{
	if (&lttng_ust_loaded)
		lttng_ust_loaded = 1;
	if (!&vestige_lttng)
		return;
	process = getpid();
	vestige_lttng.wait_also(wait_for_common);
	is_fenced = vestige_lttng.is_fenced();
	lttng_ust_urcu_has_sys_membarrier = is_fenced;
}
