/*
 * The tracer's units that deal with the arena, one by one, for sanitizers.
 *
 *   units MODE ARENA
 *
 * ARENA is the path of the file to be made. Each mode ends with status 0, or says what is wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../expect.h"
#include "chunk.h"
#include "classes.h"
#include "maker.h"
#include "map.h"
#include "slot.h"
#include "waiting.h"

#define THREADS 4
#define ROUNDS 20000u

static struct wanted wanted = {
	.chunk = 4096,
	.chunks = 64,
	.ring = 8,
	.slots = 16,
	.wait_ms = 60000,
};
static struct arena_place place;
static struct arena *const arena = &arenas[0];

static void find_place(void)
{
	struct stat status;

	EXPECT(fstat(arena_file, &status) == 0);
	place.inode = status.st_ino;
}

static void make_and_map(void)
{
	make_arena(place.path, &wanted);
	find_place();
	EXPECT(arena_map(arena, &place));
	slots_start();
}

static void in_threads(unsigned int count, void *(*function)(void *) )
{
	pthread_t threads[64];

	for (unsigned long index = 0; index < count; index++)
		EXPECT(pthread_create(&threads[index], NULL, function, (void *) index) == 0);
	for (unsigned int index = 0; index < count; index++)
		pthread_join(threads[index], NULL);
}

static _Atomic uint32_t *tracer_link(const struct arena *arena, uint32_t number)
{
	return arena_has_chunk(arena, number) ? &arena_chunk(arena, number)->next_free : NULL;
}

static void *pop_and_push(void *argument)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint32_t mine[8];
		int count = 0;

		while (count < 8 &&
		       (mine[count] = stack_pop(&arena->shared->free_chunks, tracer_link, arena)))
			count++;
		for (int index = 0; index < count; index++) {
			/* Nobody else has it. */
			EXPECT(!atomic_exchange(&arena_chunk(arena, mine[index])->owner, 1));
			STORE(arena_chunk(arena, mine[index])->owner, 0);
			stack_push(&arena->shared->free_chunks, tracer_link, arena, mine[index]);
		}
	}
	return argument;
}

/* What several threads take and give back is there once, at any time. */
static void mode_stacks(void)
{
	bool is_there[65] = {false};
	uint32_t number;

	make_and_map();
	in_threads(THREADS, pop_and_push);
	while ((number = stack_pop(&arena->shared->free_chunks, tracer_link, arena))) {
		EXPECT(!is_there[number]);
		is_there[number] = true;
	}
	for (number = 1; number <= 64; number++)
		EXPECT(is_there[number]);
}

/* A number that is none is not followed. */
static void mode_hostile(void)
{
	make_and_map();
	STORE(shared->free_chunks, 5000);
	EXPECT(stack_pop(&arena->shared->free_chunks, tracer_link, arena) == 0);
	STORE(shared->free_slots, 5000);
	EXPECT(slot_take(arena) == 0);
}

static void *claim(void *argument)
{
	const struct slot_identity identity = {.vpid = 7, .procname = "claims"};
	const uint32_t number = slot_take(arena);

	EXPECT(number);
	EXPECT(!LOAD(slot_at(number)->claimed));
	EXPECT(slot_claim(arena, number, &identity) == (uint32_t) gettid());
	EXPECT(LOAD(shared->slots_high) >= number);
	EXPECT(!(LOAD(slot_at(number)->life.word) & FUTEX_OWNER_DIED));
	slot_count_lost(arena_slot(arena, number), 5);
	slot_count_lost(arena_slot(arena, number), 9);
	return argument;
}

/* The kernel tells of the end of each thread that has claimed a slot. */
static void mode_claims(void)
{
	make_and_map();
	for (int round = 0; round < 200; round++) {
		unsigned int ended = 0;

		in_threads(THREADS, claim);
		for (uint32_t number = 1; number <= control->slot_count; number++) {
			struct arena_slot *slot = slot_at(number);

			if (!LOAD(slot->claimed))
				continue;
			/* The kernel may be a moment behind pthread_join(). */
			while (!(LOAD(slot->life.word) & FUTEX_OWNER_DIED))
				sched_yield();
			EXPECT(slot->vpid == 7 && !strcmp(slot->procname, "claims"));
			EXPECT(LOAD(slot->lost) == 2 && LOAD(slot->first_lost) == 5 &&
			       LOAD(slot->last_lost) == 9);
			memset(slot, 0, sizeof(*slot));
			make_robust(&slot->life.mutex);
			stack_push(&shared->free_slots, slot_place, NULL, number);
			ended++;
		}
		EXPECT(ended == THREADS);
	}
}

/* One that was taken and given back is free, and none is taken when all are. */
static void mode_given(void)
{
	uint32_t taken[17];
	uint32_t count = 0;

	make_and_map();
	while ((taken[count] = slot_take(arena)))
		count++;
	EXPECT(count == 16 && !slot_is_free(arena));
	slot_give(arena, taken[3]);
	EXPECT(slot_is_free(arena) && slot_take(arena) == taken[3]);
	arena_count_lost(arena);
	EXPECT(LOAD(shared->lost) == 1);
}

/* A handler that interrupted an operation on a robust mutex claims nothing: the list of those
 * has room for one operation. */
static void mode_operation(void)
{
	struct robust_list_head *head;
	size_t size;
	struct robust_list other;

	make_and_map();
	EXPECT(syscall(SYS_get_robust_list, 0, &head, &size) == 0);
	head->list_op_pending = &other;
	EXPECT(slot_is_free(arena) && slot_take(arena) == 0);
	head->list_op_pending = NULL;
	EXPECT(slot_take(arena));
}

static atomic_uint filled;

static void *fill(void *argument)
{
	const struct slot_identity identity = {.vpid = 7};
	const uint32_t number = slot_take(arena);
	struct arena_ring ring = {
		.arena = arena,
		.slot = arena_slot(arena, number),
		.ledger = arena_ledger(arena, number),
		.number = number,
	};

	slot_claim(arena, number, &identity);
	for (uint32_t round = 1; round <= ROUNDS / 10;) {
		const uint32_t taken = chunk_take(&ring);
		struct arena_chunk *chunk;

		if (!taken) {
			EXPECT(waiting_for_chunk(&ring));
			continue;
		}
		chunk = chunk_prepare(&ring, taken, round);
		memcpy(chunk + 1, &round, sizeof(round));
		chunk_show(&ring, taken);
		__atomic_store_n(&chunk->committed, (uint32_t) (sizeof(*chunk) + sizeof(round)),
				 __ATOMIC_RELEASE);
		EXPECT(chunk_used(&ring) <= wanted.ring);
		waiting_look_ahead(&ring);
		round++;
	}
	atomic_fetch_add(&filled, 1);
	/* Until all are done: the last chunk of each is not complete. */
	while (atomic_load(&filled) < THREADS)
		sched_yield();
	return argument;
}

/* Drain the chunks of one slot that are complete; each second one comes back as a spare. */
static void drain(uint32_t number, uint64_t *drained)
{
	struct arena_ledger *ledger = ledger_at(number);
	const uint64_t cur = LOAD(slot_at(number)->cur);
	uint32_t list[64];
	uint32_t count = 0;
	uint64_t seq = cur >> 32;

	for (uint32_t one = (uint32_t) cur; seq > *drained; seq--, one = chunk_at(one)->prev)
		if (seq != cur >> 32) {
			EXPECT(count < 64);
			list[count++] = one;
		}
	while (count) {
		struct arena_chunk *chunk = chunk_at(list[--count]);
		uint32_t round;

		memcpy(&round, chunk + 1, sizeof(round));
		EXPECT(chunk->committed == sizeof(*chunk) + sizeof(round));
		EXPECT(LOAD(chunk->seq) == ++*drained && round == *drained);
		EXPECT(LOAD(chunk->owner) == number);
		chunk->committed = 0;
		if (round % 2) {
			STORE(ledger->spares[LOAD(ledger->given) % ARENA_SPARES], list[count]);
			STORE(ledger->given, LOAD(ledger->given) + 1);
		} else {
			push_chunk(list[count]);
			STORE(ledger->returned, LOAD(ledger->returned) + 1);
		}
		atomic_fetch_add(&ledger->consumed, 1);
		atomic_fetch_add(&control->progress, 1);
	}
}

static void *drain_all(void *argument)
{
	uint64_t drained[17] = {0};
	uint64_t sum = 0;

	while (sum < (uint64_t) THREADS * (ROUNDS / 10 - 1)) {
		sum = 0;
		for (uint32_t number = 1; number <= control->slot_count; number++) {
			if (LOAD(slot_at(number)->claimed))
				drain(number, &drained[number]);
			sum += drained[number];
		}
		sched_yield();
	}
	return argument;
}

/* Each chunk is drained once, in order, whether it comes from the pool or as a spare. */
static void mode_rings(void)
{
	pthread_t collector;

	make_and_map();
	/* At the addresses of the tracer, so that sanitizers see both sides. */
	EXPECT(mprotect(arena->base, (size_t) ((char *) arena->shared - arena->base),
			PROT_READ | PROT_WRITE) == 0);
	base = arena->base;
	control = (struct arena_control *) base;
	shared = arena->shared;
	pthread_create(&collector, NULL, drain_all, NULL);
	in_threads(THREADS, fill);
	pthread_join(collector, NULL);
}

/* Nobody waits for a collector that is gone, or for longer than is allowed. */
static void mode_vain(void)
{
	struct arena_ring ring = {.arena = arena, .number = 1};

	wanted.wait_ms = 20;
	wanted.chunks = 1;
	make_and_map();
	ring.slot = arena_slot(arena, 1);
	ring.ledger = arena_ledger(arena, 1);
	EXPECT(chunk_is_there(&ring) && chunk_take(&ring) == 1 && !chunk_is_there(&ring));
	EXPECT(!waiting_is_vain(&ring) && !waiting_for_chunk(&ring) && waiting_is_vain(&ring));
	/* Something has happened. */
	atomic_fetch_add(&control->progress, 1);
	EXPECT(!waiting_is_vain(&ring) && !waiting_for_chunk(&ring) && waiting_is_vain(&ring));
	STORE(control->state, ARENA_FULL);
	EXPECT(!waiting_is_vain(&ring));
	push_chunk(1);
	EXPECT(chunk_take(&ring) == 0 && !waiting_for_chunk(&ring));
	STORE(control->state, 0);
	EXPECT(!waiting_is_vain(&ring) && chunk_take(&ring) == 1);
	STORE(control->life.word, FUTEX_OWNER_DIED);
	control->wait_ns = 0;
	EXPECT(!waiting_for_chunk(&ring));
}

static void go_on_to(struct arena_ring *ring, uint32_t number)
{
	chunk_prepare(ring, number, 1);
	chunk_show(ring, number);
}

/* A ring that overwrites fills its oldest chunk anew, but for those that the collector has taken,
 * or that interrupted code may write to. */
static void mode_oldest(void)
{
	struct arena_ring ring = {.arena = arena, .number = 1};
	uint32_t numbers[23];

	wanted.overwrite_rings = 1;
	wanted.ring = 4;
	make_and_map();
	ring.slot = arena_slot(arena, 1);
	ring.ledger = arena_ledger(arena, 1);
	for (uint32_t seq = 1; seq <= 20; seq++) {
		numbers[seq] = chunk_take(&ring);
		EXPECT(numbers[seq] && LOAD(ring.slot->gone) == (seq > 3 ? seq - 3 : 0));
		/* Three are in the ring, and the fourth is for what the collector has. */
		EXPECT(LOAD(ring.slot->popped) == (seq > 3 ? 3 : seq));
		EXPECT(seq < 4 || numbers[seq] == numbers[seq - 3]);
		go_on_to(&ring, numbers[seq]);
	}
	/* It takes the oldest. */
	EXPECT(atomic_fetch_add(&ring.slot->gone, 1) == 17);
	numbers[21] = chunk_take(&ring);
	EXPECT(LOAD(ring.slot->gone) == 18 && LOAD(ring.slot->popped) == 4);
	go_on_to(&ring, numbers[21]);
	arena_chunk(arena, numbers[19])->flags |= CHUNK_DOUBTFUL;
	EXPECT(chunk_take(&ring) == numbers[20] && LOAD(ring.slot->gone) == 20);
	/* The present one stays. */
	EXPECT(!chunk_is_there(&ring) && !chunk_take(&ring));
}

static void add_classes(int first)
{
	for (int index = 0; index < 500; index++) {
		char text[64];
		const int size = sprintf(text, "class %d", (first + index) % 600);
		const int found = classes_find(arena, text, (size_t) size, 7);
		const struct arena_class *class = &arena->classes[found];

		EXPECT(found >= 0 && class->text_size == (uint32_t) size);
		EXPECT(!memcmp(arena->class_text + class->text_at, text, (size_t) size));
		EXPECT(classes_find(arena, text, (size_t) size, 7) == found);
	}
}

/* A class has one place, whatever process finds it first, and also when one dies with the
 * lock. */
static void mode_classes(void)
{
	int status;

	make_and_map();
	if (!fork()) {
		pthread_mutex_lock(&arena->shared->class_lock.mutex);
		/* As if it had died in the middle. */
		memcpy(arena->class_text, "half", 4);
		_exit(0);
	}
	wait(&status);
	for (int child = 0; child < 4; child++)
		if (!fork()) {
			add_classes(150 * child);
			_exit(0);
		}
	for (int child = 0; child < 4; child++) {
		wait(&status);
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	EXPECT(LOAD(shared->class_count) == 600);
	add_classes(0);
	EXPECT(LOAD(shared->class_count) == 600);
}

/* A list or a text that is full takes no more. */
static void mode_crowd(void)
{
	static char text[TEXT_BYTES];

	make_and_map();
	memset(text, 'x', sizeof(text));
	EXPECT(classes_find(arena, text, 100, 7) == 0);
	EXPECT(classes_find(arena, text, sizeof(text) - 99, 7) < 0);
	for (unsigned int index = 1; index < ARENA_MOST_CLASSES; index++) {
		memcpy(text, &index, sizeof(index));
		EXPECT(classes_find(arena, text, 8, 7) == (int) index);
	}
	memset(text, 'y', 8);
	EXPECT(classes_find(arena, text, 8, 7) < 0);
}

/* What a child process writes where its parent's chunk was stays with it, and the chunk has
 * another place. */
static void mode_aside(void)
{
	struct arena_chunk *chunk;
	int status;

	make_and_map();
	chunk = arena_chunk(arena, 5);
	memcpy(chunk + 1, "parent", 7);
	if (!fork()) {
		EXPECT(arena_set_aside(arena, 5) && !arena_set_aside(arena, 5));
		memcpy(chunk + 1, "child!", 7);
		EXPECT(arena_chunk(arena, 5) != chunk);
		EXPECT((char *) arena_chunk(arena, 6) == (char *) chunk + wanted.chunk);
		EXPECT(!strcmp((char *) (arena_chunk(arena, 5) + 1), "parent"));
		strcpy((char *) (arena_chunk(arena, 5) + 1), "shared");
		_exit(0);
	}
	wait(&status);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EXPECT(!strcmp((char *) (chunk + 1), "shared"));
}

/* Only what is sound is mapped. */
static void mode_refused(void)
{
	struct arena_control good;

	make_arena(place.path, &wanted);
	find_place();
	good = *control;
#define REFUSED(change)                               \
	do {                                          \
		change;                               \
		if (arena_map(arena, &place))         \
			fail("taken: %s", #change);   \
		memcpy(control, &good, sizeof(good)); \
	} while (0)
	REFUSED(control->magic[0] = 'v');
	REFUSED(control->fingerprint++);
	REFUSED(control->arena_bytes += 4096);
	REFUSED(control->shared_at += 8);
	REFUSED(control->shared_at = control->arena_bytes);
	REFUSED(control->rules_bytes = UINT64_MAX);
	REFUSED(control->rules_at = UINT64_MAX);
	REFUSED(control->ledgers_at = UINT64_MAX - 7);
	REFUSED(control->slots_at = 0);
	REFUSED(control->slots_at = UINT64_MAX - 511);
	REFUSED(control->slot_count = UINT32_MAX);
	REFUSED(control->slot_count = 0);
	REFUSED(control->classes_at = control->arena_bytes - 64);
	REFUSED(control->classes_bytes = UINT64_MAX);
	REFUSED(control->chunks_at = 0);
	REFUSED(control->chunks_at += 8);
	REFUSED(control->chunk_bytes = 0);
	REFUSED(control->chunk_bytes = 1 << 30);
	REFUSED(control->chunk_count++);
	REFUSED(control->chunk_count = 0);
	REFUSED(control->ring_chunks = 0);
	REFUSED(control->ring_chunks = 65);
	REFUSED(control->first_class = EVENT_CLASSES - 1);
	REFUSED(control->first_class = UINT32_MAX);
	REFUSED(place.inode++);
	place.inode--;
	EXPECT(arena_map(arena, &place));
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} modes[] = {
		{"stacks", mode_stacks}, {"hostile", mode_hostile},     {"claims", mode_claims},
		{"given", mode_given},   {"operation", mode_operation}, {"rings", mode_rings},
		{"vain", mode_vain},     {"classes", mode_classes},     {"crowd", mode_crowd},
		{"aside", mode_aside},   {"refused", mode_refused},     {"oldest", mode_oldest},
	};

	if (count != 3)
		return 2;
	strncpy(place.path, words[2], sizeof(place.path) - 1);
	for (size_t index = 0; index < sizeof(modes) / sizeof(*modes); index++)
		if (!strcmp(modes[index].name, words[1])) {
			modes[index].function();
			return 0;
		}
	return 2;
}
