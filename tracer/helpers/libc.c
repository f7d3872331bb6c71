/*
 * Stands in for the memory functions of the C library, and tells the tracer of each call.
 *
 * Preloaded by `vestige record --libc`. What comes next in the order of the dynamic linker
 * does the work: the C library, or an allocator that the program brings along. The tracer
 * allocates nothing, so no flag keeps it from coming back here.
 *
 * aligned_alloc() makes `memalign` events. The C library's own calls, as in strdup() or
 * reallocarray(), come through here as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#include "libc_events.h"

/* What dlsym() may ask for while it looks for the functions, on any C library. */
#define EARLY_SIZE 16384u
#define EARLY_ALIGNMENT 16u

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memalign)(size_t, size_t);
static const struct vestige_tracer *tracer;
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);

/* Memory that is never given back; in front of each piece is its size. */
static _Alignas(EARLY_ALIGNMENT) char early[EARLY_SIZE];
static size_t early_used;

static bool is_early(const void *place)
{
	return (const char *) place >= early && (const char *) place < early + EARLY_SIZE;
}

static void *early_alloc(size_t alignment, size_t size)
{
	size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED);
	size_t start;

	if (alignment < EARLY_ALIGNMENT)
		alignment = EARLY_ALIGNMENT;
	do {
		/* Not the address: the buffer has the smallest alignment only. */
		start = (used + sizeof(size_t) + (uintptr_t) early + alignment - 1) / alignment *
				alignment -
			(uintptr_t) early;
		if (size > EARLY_SIZE || start > EARLY_SIZE - size) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&early_used, &used, start + size, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(early + start - sizeof(size), &size, sizeof(size));
	return early + start;
}

static size_t early_size(const void *place)
{
	size_t size;

	memcpy(&size, (const char *) place - sizeof(size), sizeof(size));
	return size;
}

/* Whether nothing is left to be done before a call. */
static bool is_complete;

static bool meet_tracer(void)
{
	struct vestige_tracepoint *const points[] = {
		&VESTIGE_POINT(lttng_ust_libc, malloc),
		&VESTIGE_POINT(lttng_ust_libc, calloc),
		&VESTIGE_POINT(lttng_ust_libc, realloc),
		&VESTIGE_POINT(lttng_ust_libc, free),
		&VESTIGE_POINT(lttng_ust_libc, memalign),
		&VESTIGE_POINT(lttng_ust_libc, posix_memalign),
	};

	return helper_meet(tracer, vestige_start_provider_lttng_ust_libc, points,
			   sizeof(points) / sizeof(points[0]));
}

static bool find_functions(void)
{
	static bool is_looking;

	if (__atomic_exchange_n(&is_looking, true, __ATOMIC_ACQUIRE))
		return false;
	if (!next_free) {
		tracer = vestige_find_tracer();
		*(void **) &next_calloc = dlsym(RTLD_NEXT, "calloc");
		*(void **) &next_realloc = dlsym(RTLD_NEXT, "realloc");
		*(void **) &next_memalign = dlsym(RTLD_NEXT, "memalign");
		*(void **) &next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
		*(void **) &next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
		*(void **) &next_malloc = dlsym(RTLD_NEXT, "malloc");
		*(void **) &next_free = dlsym(RTLD_NEXT, "free");
	}
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

static inline bool is_ready(void)
{
	return LIKELY(__atomic_load_n(&is_complete, __ATOMIC_ACQUIRE)) || prepare();
}

EXPORTED void *malloc(size_t size)
{
	void *result;

	if (!is_ready())
		return early_alloc(1, size);
	result = next_malloc(size);
	lttng_ust_tracepoint(lttng_ust_libc, malloc, size, result, CALLER());
	return result;
}

EXPORTED void *calloc(size_t count, size_t size)
{
	void *result;

	if (!is_ready()) {
		if (size && count > SIZE_MAX / size) {
			errno = ENOMEM;
			return NULL;
		}
		return early_alloc(1, count * size);
	}
	result = next_calloc(count, size);
	lttng_ust_tracepoint(lttng_ust_libc, calloc, count, size, result, CALLER());
	return result;
}

static void *move_early(void *old, size_t size)
{
	const size_t before = early_size(old);
	void *result = is_ready() ? next_malloc(size) : early_alloc(1, size);

	if (result)
		memcpy(result, old, before < size ? before : size);
	return result;
}

EXPORTED void *realloc(void *old, size_t size)
{
	/* Told, but not used. */
	const uintptr_t before = (uintptr_t) old;
	void *result;

	if (UNLIKELY(is_early(old)))
		result = move_early(old, size);
	else if (!is_ready())
		return early_alloc(1, size);
	else
		result = next_realloc(old, size);
	lttng_ust_tracepoint(lttng_ust_libc, realloc, before, size, result, CALLER());
	return result;
}

EXPORTED void free(void *place)
{
	/* Not the time to look for anything: dlsym() itself may free an error. */
	if (UNLIKELY(is_early(place)) || UNLIKELY(!next_free))
		return;
	/* Before: another thread may get the same memory at once. */
	if (lttng_ust_tracepoint_enabled(lttng_ust_libc, free))
		lttng_ust_do_tracepoint(lttng_ust_libc, free, place, CALLER());
	next_free(place);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
	void *result;

	if (!is_ready())
		return early_alloc(alignment, size);
	result = next_memalign(alignment, size);
	lttng_ust_tracepoint(lttng_ust_libc, memalign, alignment, size, result, CALLER());
	return result;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	void *result;

	if (!is_ready())
		return early_alloc(alignment, size);
	result = next_aligned_alloc(alignment, size);
	lttng_ust_tracepoint(lttng_ust_libc, memalign, alignment, size, result, CALLER());
	return result;
}

EXPORTED int posix_memalign(void **place, size_t alignment, size_t size)
{
	int result;

	if (!is_ready()) {
		const int saved = errno;
		void *found = early_alloc(alignment, size);

		errno = saved;
		if (!found)
			return ENOMEM;
		*place = found;
		return 0;
	}
	result = next_posix_memalign(place, alignment, size);
	lttng_ust_tracepoint(lttng_ust_libc, posix_memalign, *place, alignment, size, result,
			     CALLER());
	return result;
}
