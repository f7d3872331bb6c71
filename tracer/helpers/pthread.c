/*
 * Stands in for the functions that lock mutexes, and tells the tracer of each call.
 *
 * Preloaded by `vestige record --pthread`. What waits for a condition unlocks and locks in
 * the C library, and is not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "helper.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#include "pthread_events.h"

typedef int mutex_function(pthread_mutex_t *mutex);

static const struct vestige_tracer *tracer;
static mutex_function *next_lock;
static mutex_function *next_trylock;
static mutex_function *next_unlock;

/* Whether nothing is left to be done before a call. */
static bool is_complete;

static bool meet_tracer(void)
{
	struct vestige_tracepoint *const points[] = {
		&VESTIGE_POINT(lttng_ust_pthread, pthread_mutex_lock_req),
		&VESTIGE_POINT(lttng_ust_pthread, pthread_mutex_lock_acq),
		&VESTIGE_POINT(lttng_ust_pthread, pthread_mutex_trylock),
		&VESTIGE_POINT(lttng_ust_pthread, pthread_mutex_unlock),
	};

	return helper_meet(tracer, vestige_start_provider_lttng_ust_pthread, points,
			   sizeof(points) / sizeof(points[0]));
}

/* Returns false where this very thread is in here, further up. */
static bool find_functions(void)
{
	static bool is_looking;
	static pthread_t looking;

	while (__atomic_exchange_n(&is_looking, true, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&looking, __ATOMIC_RELAXED) == pthread_self())
			return false;
		sched_yield();
	}
	__atomic_store_n(&looking, pthread_self(), __ATOMIC_RELAXED);
	if (!next_lock) {
		tracer = vestige_find_tracer();
		*(void **) &next_trylock = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
		*(void **) &next_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
		*(void **) &next_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	}
	__atomic_store_n(&looking, (pthread_t) 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_looking, false, __ATOMIC_RELEASE);
	return true;
}

/* Before the first calls; false where a function is looked for, further up. */
static __attribute__((noinline, cold)) bool prepare(void)
{
	const int saved = errno;
	const bool is_found = find_functions();

	if (is_found && meet_tracer())
		__atomic_store_n(&is_complete, true, __ATOMIC_RELEASE);
	errno = saved;
	return is_found;
}

/* A thread that looks for the functions has nothing to lock. */
static inline bool is_ready(void)
{
	return LIKELY(__atomic_load_n(&is_complete, __ATOMIC_ACQUIRE)) || prepare();
}

#define TELL(name, ...) lttng_ust_tracepoint(lttng_ust_pthread, name, __VA_ARGS__, CALLER())

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int status;

	if (!is_ready())
		return 0;
	TELL(pthread_mutex_lock_req, mutex);
	status = next_lock(mutex);
	TELL(pthread_mutex_lock_acq, mutex, status);
	return status;
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int status;

	if (!is_ready())
		return 0;
	status = next_trylock(mutex);
	TELL(pthread_mutex_trylock, mutex, status);
	return status;
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int status;

	if (!is_ready())
		return 0;
	status = next_unlock(mutex);
	TELL(pthread_mutex_unlock, mutex, status);
	return status;
}
