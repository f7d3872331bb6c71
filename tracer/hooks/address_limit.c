/*
 * setrlimit(), getrlimit() and prlimit() of the C library, for the limit of the address space.
 *
 * The arena counts to it, and is larger than what most programs limit themselves to: without
 * this, all that such a program asks the kernel for would be refused from then on. So the limit
 * is set higher by what the tracer has, and the program is shown the one that it has set. A
 * program that is executed inherits the higher one, in which there is room for its own tracer.
 * A hard limit that was there before is not exceeded.
 */
#define _GNU_SOURCE
#include "address_limit.h"

#include <errno.h>
#include <sys/resource.h>

#include "../arena/map.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "original.h"

/* The tracer's libraries, and what it keeps of threads. */
#define OTHER_BYTES ((rlim_t) 16 << 20)

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

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	FIND(setrlimit);
	FIND(getrlimit);
	FIND(prlimit);
}

static bool is_same(const struct rlimit *one, const struct rlimit *other)
{
	return one->rlim_cur == other->rlim_cur && one->rlim_max == other->rlim_max;
}

static rlim_t higher(rlim_t bytes)
{
	const rlim_t more =
		arena.chunks_at + (rlim_t) arena.chunk_count * arena.chunk_bytes + OTHER_BYTES;

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

	if (!error && is_same(limit, &set))
		*limit = asked;
	return error;
}

/* Up to a hard limit that only the privileged may exceed, where the program itself does not. */
static int set_within(const struct rlimit *limit, struct rlimit *wanted)
{
	struct rlimit now;

	if (ask_kernel(NULL, &now) ||
	    limit->rlim_max > (is_same(&now, &set) ? asked : now).rlim_max)
		return EPERM;
	wanted->rlim_max = now.rlim_max;
	if (wanted->rlim_cur > now.rlim_max)
		wanted->rlim_cur = now.rlim_max;
	return ask_kernel(wanted, NULL);
}

static int change(const struct rlimit *limit)
{
	struct rlimit wanted = {higher(limit->rlim_cur), higher(limit->rlim_max)};
	int error;

	if (limit->rlim_cur > limit->rlim_max)
		return EINVAL;
	error = ask_kernel(&wanted, NULL);
	if (error == EPERM)
		error = set_within(limit, &wanted);
	if (!error) {
		asked = *limit;
		set = wanted;
	}
	return error;
}

/* Whether it is the limit of a process that has the arena mapped. */
static bool is_ours(int resource)
{
	return resource == RLIMIT_AS && settings.is_recording && arena.base;
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

void address_limit_take_again(void)
{
	if (set.rlim_cur != asked.rlim_cur)
		put(set.rlim_cur);
}
