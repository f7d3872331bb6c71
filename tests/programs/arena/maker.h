/*
 * Makes an arena, as the collector does: for tests. Includes the tracer's own layout.
 */
#ifndef TEST_ARENA_MAKER_H
#define TEST_ARENA_MAKER_H

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"
#include "stack.h"

#define TEXT_BYTES ((uint64_t) 1 << 20)

/* How it is to be. */
struct wanted {
	long chunk, chunks, ring, slots, wait_ms, overwrite, overwrite_rings, state;
	/* 0: that of the tracer. */
	long fingerprint;
	/* A file, or NULL. */
	const char *rules;
};

static char *base;
static struct arena_control *control;
static struct arena_shared *shared;
static int arena_file;

#define LOAD(place) atomic_load_explicit(&(place), memory_order_acquire)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_release)

static inline struct arena_slot *slot_at(uint32_t number)
{
	return (struct arena_slot *) (base + control->slots_at) + number - 1;
}

static inline struct arena_ledger *ledger_at(uint32_t number)
{
	return (struct arena_ledger *) (base + control->ledgers_at) + number - 1;
}

static inline struct arena_chunk *chunk_at(uint32_t number)
{
	return (struct arena_chunk *) (base + control->chunks_at +
				       (uint64_t) (number - 1) * control->chunk_bytes);
}

static inline _Atomic uint32_t *slot_place(const struct arena *unused, uint32_t number)
{
	(void) unused;
	return &slot_at(number)->next_free;
}

static inline _Atomic uint32_t *chunk_place(const struct arena *unused, uint32_t number)
{
	(void) unused;
	return &chunk_at(number)->next_free;
}

static inline void make_robust(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	memset(mutex, 0, sizeof(*mutex));
	pthread_mutex_init(mutex, &attributes);
}

static inline void push_chunk(uint32_t number)
{
	STORE(chunk_at(number)->owner, 0);
	stack_push(&shared->free_chunks, chunk_place, NULL, number);
	atomic_fetch_add(&shared->free_chunk_count, 1);
}

static inline uint64_t up(uint64_t size)
{
	return (size + ARENA_ALIGNMENT - 1) & ~((uint64_t) ARENA_ALIGNMENT - 1);
}

static inline size_t read_rules(const char *name, char *text)
{
	FILE *file = name ? fopen(name, "rb") : NULL;
	const size_t size = file ? fread(text, 1, LARGEST_RULES, file) : 0;

	if (file)
		fclose(file);
	return size;
}

/* Where everything lies; the length is the result. */
static inline struct arena_control lay_out(const struct wanted *wanted, uint64_t rules)
{
	struct arena_control made = {
		.magic = {'V', 'E', 'S', 'T', 'A', 'R', 'N', '1'},
		.fingerprint = wanted->fingerprint ? (uint64_t) wanted->fingerprint
						   : arena_fingerprint(),
		.uuid = "vestige-test-run",
		.ledgers_at = sizeof(made),
		.rules_bytes = rules,
		.classes_bytes = TEXT_BYTES,
		.chunk_bytes = (uint32_t) wanted->chunk,
		.chunk_count = (uint32_t) wanted->chunks,
		.slot_count = (uint32_t) wanted->slots,
		.ring_chunks = (uint32_t) wanted->ring,
		.first_class = EVENT_CLASSES,
		.wait_ns = (uint64_t) wanted->wait_ms * 1000000u,
		.state = (uint32_t) wanted->state,
		.flags = (wanted->overwrite ? ARENA_OVERWRITE : 0) |
			(wanted->overwrite_rings ? ARENA_RINGS_OVERWRITE : 0),
	};
	const uint64_t slots = made.slot_count;

	made.rules_at = made.ledgers_at + slots * sizeof(struct arena_ledger);
	made.shared_at = up(made.rules_at + rules);
	made.slots_at = up(made.shared_at + sizeof(struct arena_shared));
	made.classes_at = up(made.slots_at + slots * sizeof(struct arena_slot));
	made.chunks_at = up(made.classes_at + ARENA_MOST_CLASSES * sizeof(struct arena_class) +
			    TEXT_BYTES);
	made.arena_bytes = made.chunks_at + (uint64_t) made.chunk_bytes * made.chunk_count;
	return made;
}

static inline void make_arena(const char *name, const struct wanted *wanted)
{
	char *rules = malloc(LARGEST_RULES);
	const struct arena_control made = lay_out(wanted, read_rules(wanted->rules, rules));

	arena_file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (arena_file < 0 || ftruncate(arena_file, (off_t) made.arena_bytes))
		exit(90);
	base = mmap(NULL, made.arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena_file, 0);
	if (base == MAP_FAILED)
		exit(91);
	control = (struct arena_control *) base;
	shared = (struct arena_shared *) (base + made.shared_at);
	memcpy(control, &made, sizeof(made));
	memcpy(base + made.rules_at, rules, made.rules_bytes);
	free(rules);
	shared->class_text_ready = TEXT_BYTES;
	make_robust(&control->life.mutex);
	make_robust(&shared->class_lock.mutex);
	for (uint32_t slot = control->slot_count; slot; slot--) {
		make_robust(&slot_at(slot)->life.mutex);
		stack_push(&shared->free_slots, slot_place, NULL, slot);
	}
	for (uint32_t chunk = control->chunk_count; chunk; chunk--)
		push_chunk(chunk);
}

#endif
