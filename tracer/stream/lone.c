/* Keeps passages of threads that record nothing. */
#define _GNU_SOURCE
#include "lone.h"

#include <errno.h>

#include "../base/process.h"
#include "../base/system.h"

#define MOST_LONE 4096u
/* Looks at one, with a pause between two: 2 s or a little more. */
#define MOST_LOOKS 2000u

static struct lone all[MOST_LONE];
static uint32_t count;
__thread struct lone *lone_own;

static const struct timespec look_pause = {.tv_nsec = 1000000};

static bool is_there(const struct lone *lone)
{
	const uint32_t thread = __atomic_load_n(&lone->thread, __ATOMIC_ACQUIRE);

	return thread && system_call(SYS_tgkill, process_id(), thread, 0, 0, 0, 0) != -ESRCH;
}

/* That of a thread that has ended, if this one is the first to take it. */
static bool take_left(struct lone *lone, uint32_t thread)
{
	uint32_t before = __atomic_load_n(&lone->thread, __ATOMIC_ACQUIRE);

	if (is_there(lone) ||
	    !__atomic_compare_exchange_n(&lone->thread, &before, thread, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	lone->passage.inside = 0;
	/* Of the one that has ended. */
	lone->known.is_there = 0;
	return true;
}

struct vestige_passage *lone_passage(void)
{
	const uint32_t thread = system_gettid();
	const uint32_t place = lone_own ? 0 : __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);

	if (lone_own)
		return &lone_own->passage;
	if (place < MOST_LONE) {
		lone_own = &all[place];
		__atomic_store_n(&lone_own->thread, thread, __ATOMIC_RELEASE);
		return &lone_own->passage;
	}
	__atomic_store_n(&count, MOST_LONE, __ATOMIC_RELAXED);
	for (uint32_t index = 0; index < MOST_LONE && !lone_own; index++)
		if (take_left(&all[index], thread))
			lone_own = &all[index];
	return lone_own ? &lone_own->passage : NULL;
}

static bool wait_for(const struct lone *lone)
{
	for (uint32_t looks = 0; looks < MOST_LOOKS; looks++) {
		if (!__atomic_load_n(&lone->passage.inside, __ATOMIC_ACQUIRE) || !is_there(lone))
			return true;
		system_sleep(&look_pause);
	}
	return false;
}

bool lone_wait(void)
{
	const uint32_t used = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
	bool have_left = !lone_own || !lone_own->passage.inside;

	for (uint32_t index = 0; index < used && index < MOST_LONE; index++)
		if (&all[index] != lone_own && !wait_for(&all[index]))
			have_left = false;
	return have_left;
}

void lone_after_fork(void)
{
	if (lone_own)
		__atomic_store_n(&lone_own->thread, system_gettid(), __ATOMIC_RELEASE);
}
