/*
 * Registering event record classes.
 *
 * A class is there when it is counted, and stays. So who finds its class needs no lock, and
 * who dies while adding one leaves nothing to be mended: its text is written again over what
 * it wrote.
 */
#define _GNU_SOURCE
#include "classes.h"

#include <string.h>
#include <threads.h>

#include "../base/hash.h"
#include "../base/system.h"
#include "waiting.h"

/* A process that is stopped while it holds the lock must not stop others for long; neither
 * must a collector that makes no room: so often a process waits, whatever it registers. */
#define MOST_PAUSES 200u
#define PAUSE_NS 5000000

/* Two hashes with other beginnings, since one may be the same by chance. */
static void digest(const char *bytes, size_t size, uint64_t result[2])
{
	result[0] = HASH_START;
	result[1] = 0x9ae16a3b2f90404fu;
	for (size_t index = 0; index < size; index++) {
		result[0] = hash_byte(result[0], bytes[index]);
		result[1] = hash_byte(result[1], bytes[index]);
		result[1] ^= result[1] >> 29;
	}
}

/* Called by one thread at a time; false when there were too many pauses. */
static bool make_pause(const struct arena *arena)
{
	static unsigned int pauses;
	const struct timespec time = {0, PAUSE_NS};

	if (pauses == MOST_PAUSES)
		return false;
	pauses++;
	waiting_ring_bell(arena);
	system_sleep(&time);
	return true;
}

static bool take_lock(const struct arena *arena)
{
	union arena_life *lock = &arena->shared->class_lock;

	for (;;) {
		const int status = mtx_trylock((mtx_t *) (void *) &lock->mutex);

		if (status == thrd_success)
			return true;
		/* Whoever had it has died; C11 has no word for that. */
		if (status != thrd_busy)
			return pthread_mutex_consistent(&lock->mutex) == 0;
		if (!make_pause(arena))
			return false;
	}
}

static void release_lock(const struct arena *arena)
{
	mtx_unlock((mtx_t *) (void *) &arena->shared->class_lock.mutex);
}

static uint32_t count_classes(const struct arena *arena)
{
	const uint32_t count =
		atomic_load_explicit(&arena->shared->class_count, memory_order_acquire);

	return count < ARENA_MOST_CLASSES ? count : ARENA_MOST_CLASSES;
}

static int look_up(const struct arena *arena, const uint64_t wanted[2], uint32_t first,
		   uint32_t count)
{
	for (uint32_t place = first; place < count; place++)
		if (!memcmp(arena->classes[place].digest, wanted, sizeof(uint64_t[2])))
			return (int) place;
	return -1;
}

/* The collector sees to it that the text's memory is there before it is written to. */
static bool has_room(const struct arena *arena, uint64_t end)
{
	if (end > arena->class_text_size)
		return false;
	while (atomic_load_explicit(&arena->shared->class_text_ready, memory_order_acquire) < end)
		if (!make_pause(arena))
			return false;
	return true;
}

static int add(const struct arena *arena, const uint64_t digests[2], const char *text,
	       size_t size, uint32_t process)
{
	struct arena_shared *shared = arena->shared;
	const uint32_t place = count_classes(arena);
	const uint32_t at = shared->class_text_used;

	if (place == ARENA_MOST_CLASSES || !has_room(arena, (uint64_t) at + size))
		return -1;
	memcpy(arena->class_text + at, text, size);
	arena->classes[place] = (struct arena_class) {
		.digest = {digests[0], digests[1]},
		.text_at = at,
		.text_size = (uint32_t) size,
		.process = process,
	};
	shared->class_text_used = at + (uint32_t) size;
	atomic_store_explicit(&shared->class_count, place + 1, memory_order_release);
	return (int) place;
}

int classes_find(struct arena *arena, const char *text, size_t size, uint32_t process)
{
	uint32_t count = count_classes(arena);
	uint64_t digests[2];
	int place;

	digest(text, size, digests);
	place = look_up(arena, digests, 0, count);
	if (place >= 0 || !take_lock(arena))
		return place;
	place = look_up(arena, digests, count, count_classes(arena));
	if (place < 0)
		place = add(arena, digests, text, size, process);
	release_lock(arena);
	return place;
}
