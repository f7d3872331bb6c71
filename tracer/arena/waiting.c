/*
 * Waiting for the collector, and when to give up.
 *
 * As long as the collector drains chunks, of whatever slot, there is hope. When it has made
 * no progress for the time that the recording allows, or is not there any more, what finds no
 * room is lost, and at the price of a few loads: a program must not become slow because its
 * recording has.
 */
#define _GNU_SOURCE
#include "waiting.h"

#include "../base/system.h"
#include "slot.h"

/* How long one look at the state is good for. */
#define SLICE_NS 2000000
/* How long a thread waits for its first chunk where it waits for no other: the collector makes
 * memory a moment after it is needed, and many threads may begin at once. */
#define FIRST_WAIT_NS 50000000u
/* Free chunks that a thread goes on with, and for how many slices it waits for so many: with fewer
 * it would soon wait again. */
#define MOST_TO_GO_ON 64u
#define PATIENT_SLICES 4u
/* After those, slices are longer and longer. */
#define LONGEST_SLICE_NS 64000000
/* How long a thread looks that may make no system call: it cannot wake the collector, which
 * sleeps for up to 50 ms when there was nothing to do, and may then wait for a processor. */
#define LONGEST_SPIN_NS 100000000u
/* How often it looks to find out how long one look takes, and between two looks at whether there
 * is hope. */
#define TRIAL 1000u
#define TRIALS 8u

/* How long so many looks take. */
static uint64_t trial_ns = LONGEST_SPIN_NS / 1000;

static inline void pause_processor(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static uint64_t read_clock(void)
{
	struct timespec time = {0, 0};

	system_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long) &time, 0, 0, 0, 0);
	return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

void waiting_ring_bell(const struct arena *arena)
{
	struct arena_shared *shared = arena->shared;

	/* Without the call, the collector looks when its time has come; others may wake it. */
	if (system_is_confined || !atomic_load_explicit(&shared->asleep, memory_order_relaxed))
		return;
	atomic_fetch_add(&shared->doorbell, 1);
	atomic_store(&shared->asleep, 0);
	system_call(SYS_futex, (long) &shared->doorbell, FUTEX_WAKE, 1, 0, 0, 0);
}

void waiting_look_ahead(const struct arena_ring *ring)
{
	if (chunk_used(ring) * 2 >= ring->arena->ring_chunks)
		waiting_ring_bell(ring->arena);
}

/* Note what the collector has done; whether that is more than before. */
static bool has_progressed(struct arena_ring *ring)
{
	const uint32_t consumed =
		atomic_load_explicit(&ring->ledger->consumed, memory_order_acquire);
	const uint32_t progress =
		atomic_load_explicit(&ring->arena->control->progress, memory_order_relaxed);
	const bool is_more = consumed != ring->seen_consumed || progress != ring->seen_progress;

	ring->seen_consumed = consumed;
	ring->seen_progress = progress;
	ring->seen_state =
		atomic_load_explicit(&ring->arena->control->state, memory_order_relaxed);
	return is_more;
}

static bool is_over(const struct arena *arena, uint32_t state)
{
	return state & (ARENA_CLOSED | ARENA_FULL) ||
		atomic_load_explicit(&arena->control->life.word, memory_order_relaxed) &
		FUTEX_OWNER_DIED;
}

static bool is_hopeless(const struct arena_ring *ring)
{
	return is_over(ring->arena, ring->seen_state);
}

/* No longer than others wait. */
static uint64_t longest_spin(const struct arena *arena)
{
	return arena->wait_ns < LONGEST_SPIN_NS ? arena->wait_ns : LONGEST_SPIN_NS;
}

void waiting_confine(void)
{
	uint64_t least = LONGEST_SPIN_NS;

	/* The shortest of them: another program may run in the middle of one. */
	for (unsigned int trial = 0; trial < TRIALS; trial++) {
		const uint64_t before = read_clock();
		uint64_t time;

		for (unsigned int look = 0; look < TRIAL; look++)
			pause_processor();
		time = read_clock() - before;
		if (time && time < least)
			least = time;
	}
	trial_ns = least;
}

static bool spin(struct arena_ring *ring)
{
	const uint64_t most_looks = longest_spin(ring->arena) * TRIAL / trial_ns + 1;

	for (uint64_t look = 0; look < most_looks; look++) {
		if (chunk_is_there(ring))
			return true;
		if (look % TRIAL == 0) {
			has_progressed(ring);
			if (is_hopeless(ring))
				return false;
		}
		pause_processor();
	}
	has_progressed(ring);
	return false;
}

/* As Recording::chunks_to_go_on() of the collector has it. */
static uint32_t chunks_to_go_on(const struct arena *arena)
{
	uint32_t count = arena->ring_chunks;

	/* What there is room for may be fewer than these. */
	if (arena->control->max_bytes)
		return 1;
	if (count > arena->chunk_count / 32)
		count = arena->chunk_count / 32;
	return count > MOST_TO_GO_ON ? MOST_TO_GO_ON : count;
}

/* Whether it is worth going on: if many threads fill one chunk each and wait again, they do little
 * but wait. The first chunk of a thread may last for its whole life. */
static bool can_go_on(const struct arena_ring *ring, unsigned int slices)
{
	const uint32_t free_chunks = atomic_load_explicit(&ring->arena->shared->free_chunk_count,
							  memory_order_relaxed);

	return chunk_is_there(ring) &&
		(!ring->chunk || slices >= PATIENT_SLICES || chunk_has_spare(ring) ||
		 free_chunks >= chunks_to_go_on(ring->arena));
}

/* Wait for so long without progress, or for so long in all. */
static bool wait_in_slices(struct arena_ring *ring, uint64_t most_ns, bool is_in_all)
{
	struct timespec slice = {0, SLICE_NS};
	uint64_t since = read_clock();

	for (unsigned int slices = 0;; slices++) {
		/* Thousands of threads may wait; the collector wakes those that can go on. */
		if (slices >= PATIENT_SLICES && slice.tv_nsec < LONGEST_SLICE_NS)
			slice.tv_nsec *= 2;
		if (has_progressed(ring) && !is_in_all)
			since = read_clock();
		/* After the count that is waited for was read. */
		if (can_go_on(ring, slices))
			return true;
		if (is_hopeless(ring) || read_clock() - since >= most_ns)
			return false;
		waiting_ring_bell(ring->arena);
		atomic_store(&ring->slot->waiting, 1);
		system_call(SYS_futex, (long) &ring->ledger->consumed, FUTEX_WAIT,
			    ring->seen_consumed, (long) &slice, 0, 0);
		atomic_store(&ring->slot->waiting, 0);
	}
}

bool waiting_for_chunk(struct arena_ring *ring)
{
	bool is_there = false;

	has_progressed(ring);
	if (!is_hopeless(ring) && ring->arena->wait_ns)
		is_there = system_is_confined ? spin(ring)
					      : wait_in_slices(ring, ring->arena->wait_ns, false);
	else if (!is_hopeless(ring) && !ring->chunk && !system_is_confined)
		is_there = wait_in_slices(ring, FIRST_WAIT_NS, true);
	else
		waiting_ring_bell(ring->arena);
	ring->is_dropping = !is_there;
	return is_there;
}

/* The upper half changes with each slot that is taken or given back. */
uint32_t waiting_slot_changes(const struct arena *arena)
{
	return (uint32_t) (atomic_load_explicit(&arena->shared->free_slots,
						memory_order_relaxed) >>
			   32);
}

/* Whether nobody will give slots back. */
static bool has_no_collector(const struct arena *arena)
{
	return is_over(arena, atomic_load_explicit(&arena->control->state, memory_order_relaxed));
}

/* Without a system call. */
static bool spin_for_slot(const struct arena *arena)
{
	const uint64_t most_looks = longest_spin(arena) * TRIAL / trial_ns + 1;

	for (uint64_t look = 0; look < most_looks && !has_no_collector(arena); look++) {
		if (slot_is_free(arena))
			return true;
		pause_processor();
	}
	return false;
}

/* Sleep until the stack of free slots is not empty, or a slice is over. */
static void sleep_for_slot(const struct arena *arena)
{
	static const struct timespec slice = {0, LONGEST_SLICE_NS};
	/* The number of the first one: the lower half, wherever that is in memory. */
	const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint32_t *number = (uint32_t *) (void *) &arena->shared->free_slots + (is_little ? 0 : 1);

	waiting_ring_bell(arena);
	atomic_fetch_add(&arena->shared->slot_waiters, 1);
	system_call(SYS_futex, (long) number, FUTEX_WAIT, 0, (long) &slice, 0, 0);
	atomic_fetch_sub(&arena->shared->slot_waiters, 1);
}

bool waiting_for_slot(const struct arena *arena)
{
	uint32_t changes = waiting_slot_changes(arena);
	uint64_t since;

	if (system_is_confined)
		return arena->wait_ns && spin_for_slot(arena);
	for (since = read_clock(); !slot_is_free(arena); sleep_for_slot(arena)) {
		const uint32_t now_changes = waiting_slot_changes(arena);
		const bool waits = arena->wait_ns;

		if (waits && changes != now_changes)
			since = read_clock();
		changes = now_changes;
		if (has_no_collector(arena) ||
		    read_clock() - since >= (waits ? arena->wait_ns : FIRST_WAIT_NS))
			return false;
	}
	return true;
}
