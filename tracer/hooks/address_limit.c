/*
 * setrlimit(), getrlimit() and prlimit() of the C library, for the limit of the address space.
 *
 * Arenas count to it, and are larger than what most programs limit themselves to: without
 * this, all that such a program asks the kernel for would be refused from then on. So the limit
 * is set higher by what the tracer has, and the program is shown the one that it has set. It is
 * raised by what the tracer asks for later, so that the program itself finds no more than it would
 * without it. A program that is executed inherits the higher one, in which there is room for its
 * own tracer. A hard limit that was there before is not exceeded.
 */
#define _GNU_SOURCE
#include "address_limit.h"

#include <errno.h>
#include <sys/resource.h>

#include "../base/settings.h"
#include "../base/system.h"
#include "original.h"

/* The tracer's libraries, and what the dynamic linker keeps of them. */
#define LIBRARY_BYTES ((rlim_t) 2 << 20)
/* What the tracer may ask for later, as for threads: a hard limit cannot be raised then. */
#define LATER_BYTES ((rlim_t) 16 << 20)

EXPORTED __typeof__(setrlimit) setrlimit;
EXPORTED __typeof__(setrlimit64) setrlimit64;
EXPORTED __typeof__(getrlimit) getrlimit;
EXPORTED __typeof__(getrlimit64) getrlimit64;
EXPORTED __typeof__(prlimit) prlimit;
EXPORTED __typeof__(prlimit64) prlimit64;

static __typeof__(setrlimit) *original_setrlimit;
static __typeof__(getrlimit) *original_getrlimit;
static __typeof__(prlimit) *original_prlimit;

/* What the program has asked for, and what was set for that. */
static struct rlimit asked = {RLIM_INFINITY, RLIM_INFINITY};
static struct rlimit set = {RLIM_INFINITY, RLIM_INFINITY};
/* By how much the soft one was raised since. */
static rlim_t raised;

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	FIND(setrlimit);
	FIND(getrlimit);
	FIND(prlimit);
}

/* Whether it is the one that was set, or that raised. */
static bool is_set(const struct rlimit *limit)
{
	return limit->rlim_max == set.rlim_max && limit->rlim_cur >= set.rlim_cur &&
		limit->rlim_cur - set.rlim_cur <= __atomic_load_n(&raised, __ATOMIC_RELAXED);
}

static rlim_t higher(rlim_t bytes, rlim_t more)
{
	return bytes < RLIM_INFINITY - more ? bytes + more : bytes;
}

/* 0, or what errno is then. */
static int ask_kernel(const struct rlimit *limit, struct rlimit *before)
{
	return (int) -system_call(SYS_prlimit64, 0, RLIMIT_AS, (long) limit, (long) before, 0, 0);
}

static int get(struct rlimit *limit)
{
	const int error = ask_kernel(NULL, limit);

	if (!error && is_set(limit))
		*limit = asked;
	return error;
}

/* Up to a hard limit that only the privileged may exceed, where the program itself does not. */
static int set_within(const struct rlimit *limit, struct rlimit *wanted)
{
	struct rlimit now;

	if (ask_kernel(NULL, &now) || limit->rlim_max > (is_set(&now) ? asked : now).rlim_max)
		return EPERM;
	wanted->rlim_max = now.rlim_max;
	if (wanted->rlim_cur > now.rlim_max)
		wanted->rlim_cur = now.rlim_max;
	return ask_kernel(wanted, NULL);
}

/* Let the tracer have so much more. */
static bool raise_limit(size_t size)
{
	rlim_t seen = __atomic_add_fetch(&raised, size, __ATOMIC_RELAXED);
	struct rlimit now;

	/* Once more if another thread has set a lower one, which did not know of this. */
	do {
		if (set.rlim_cur == RLIM_INFINITY || ask_kernel(NULL, &now) || !is_set(&now) ||
		    seen > now.rlim_max - set.rlim_cur)
			goto refused;
		now.rlim_cur = set.rlim_cur + seen;
		if (ask_kernel(&now, NULL))
			goto refused;
	} while (!__atomic_compare_exchange_n(&raised, &seen, seen, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
refused:
	__atomic_fetch_sub(&raised, size, __ATOMIC_RELAXED);
	return false;
}

static int change(const struct rlimit *limit)
{
	const rlim_t more = __atomic_load_n(&system_mapped, __ATOMIC_RELAXED) + LIBRARY_BYTES;
	struct rlimit wanted = {higher(limit->rlim_cur, more),
				higher(limit->rlim_max, more + LATER_BYTES)};
	int error;

	if (limit->rlim_cur > limit->rlim_max)
		return EINVAL;
	error = ask_kernel(&wanted, NULL);
	if (error == EPERM)
		error = set_within(limit, &wanted);
	if (!error) {
		asked = *limit;
		set = wanted;
		raised = 0;
		system_find_space = raise_limit;
	}
	return error;
}

/* Whether it is the limit of a process that has the arena mapped. */
static bool is_ours(int resource)
{
	return resource == RLIMIT_AS && settings.is_recording;
}

static int answer(int error)
{
	if (error)
		errno = error;
	return error ? -1 : 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	find();
	if (is_ours((int) resource))
		return answer(change(limit));
	return original_setrlimit ? original_setrlimit(resource, limit) : answer(ENOSYS);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	find();
	if (is_ours((int) resource))
		return answer(get(limit));
	return original_getrlimit ? original_getrlimit(resource, limit) : answer(ENOSYS);
}

int prlimit(__pid_t process, __rlimit_resource_t resource, const struct rlimit *limit,
	    struct rlimit *before)
{
	struct rlimit shown = {RLIM_INFINITY, RLIM_INFINITY};
	int error;

	find();
	if (!is_ours((int) resource) || (process && (uint32_t) process != system_getpid()))
		return original_prlimit ? original_prlimit(process, resource, limit, before)
					: answer(ENOSYS);
	error = get(&shown);
	if (!error && limit)
		error = change(limit);
	if (!error && before)
		*before = shown;
	return answer(error);
}

/* The same where words have 64 bits. */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "limits have 64 bits");

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return setrlimit(resource, (const struct rlimit *) (const void *) limit);
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
	return getrlimit(resource, (struct rlimit *) (void *) limit);
}

int prlimit64(__pid_t process, __rlimit_resource_t resource, const struct rlimit64 *limit,
	      struct rlimit64 *before)
{
	return prlimit(process, resource, (const struct rlimit *) (const void *) limit,
		       (struct rlimit *) (void *) before);
}

/* The soft limit: a hard one could not be taken back. */
static void put(rlim_t soft)
{
	struct rlimit now;

	if (ask_kernel(NULL, &now) || now.rlim_max != set.rlim_max || soft > now.rlim_max)
		return;
	now.rlim_cur = soft;
	ask_kernel(&now, NULL);
}

void address_limit_give_back(void)
{
	if (set.rlim_cur != asked.rlim_cur)
		put(asked.rlim_cur);
}

void address_limit_lend(void)
{
	struct rlimit now;

	if (set.rlim_cur != asked.rlim_cur && !ask_kernel(NULL, &now))
		put(set.rlim_cur + LATER_BYTES < now.rlim_max ? set.rlim_cur + LATER_BYTES
							      : now.rlim_max);
}

void address_limit_take_again(void)
{
	if (set.rlim_cur != asked.rlim_cur)
		put(set.rlim_cur + raised);
}
