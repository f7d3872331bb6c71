/* The size of a recording, and the queue of what goes away first. */
#define _GNU_SOURCE
#include "budget.h"

#include <stdatomic.h>
#include <stdio.h>

#include "../agreement/agreement.h"
#include "files.h"
#include "settings.h"
#include "system.h"

/* Into how many chunks a recording is divided. */
#define PARTS 64u
#define LARGEST_CHUNK (64u << 20)
/* So many chunks of others later, a thread that records seldom begins a new one: else its
 * new packets would go away with its old ones. */
#define OLD_AFTER 4u

/* A slot of the queue is one word: what became of the chunk, its size, and its number. */
#define PHASE_BITS 2
#define SIZE_BITS 28
#define SIZE_UNIT 8u
enum phase { NOT_THERE, THERE, GONE };

static struct control *control;

static uint64_t word(uint64_t number, uint64_t size, enum phase phase)
{
	return number << (PHASE_BITS + SIZE_BITS) | size / SIZE_UNIT << PHASE_BITS | phase;
}

static uint64_t number_of(uint64_t slot)
{
	return slot >> (PHASE_BITS + SIZE_BITS);
}

static uint64_t size_of(uint64_t slot)
{
	return (slot >> PHASE_BITS & ((1u << SIZE_BITS) - 1)) * SIZE_UNIT;
}

static bool is_chunk(uint64_t slot, uint64_t number, enum phase phase)
{
	return number_of(slot) == number && (slot & ((1u << PHASE_BITS) - 1)) == phase;
}

bool budget_start(void)
{
	const size_t size = settings.is_overwriting ? sizeof(struct control)
						    : offsetof(struct control, slots);
	char name[NAME_SIZE];
	struct stat status;
	int file;

	if (!settings.max_size)
		return true;
	snprintf(name, sizeof(name), "%s/" CONTROL_FILE, settings.directory);
	file = system_open(name, O_RDWR | O_NOFOLLOW);
	if (file < 0)
		return false;
	if (system_fstat(file, &status) && (size_t) status.st_size >= size)
		control = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file);
	system_close(file);
	return control;
}

/* Take the oldest chunk away; false when there is none. */
static bool remove_oldest(void)
{
	for (;;) {
		uint64_t number = atomic_load(&control->head);
		_Atomic uint64_t *slot = &control->slots[number % BUDGET_SLOTS];
		uint64_t seen = atomic_load(slot);
		bool is_done = false;

		if (number >= atomic_load(&control->tail))
			return false;
		if (number_of(seen) > number)
			/* Others were faster, by a whole round. */
			continue;
		if (is_chunk(seen, number, GONE)) {
			/* Whoever took it away may have died before it did so. */
			files_remove_chunk(number);
		} else if (!atomic_compare_exchange_strong(slot, &seen, word(number, 0, GONE))) {
			continue;
		} else if (is_chunk(seen, number, THERE)) {
			files_remove_chunk(number);
			atomic_fetch_sub(&control->bytes, size_of(seen));
			atomic_fetch_add(&control->overwritten, size_of(seen));
			is_done = true;
		}
		atomic_compare_exchange_strong(&control->head, &number, number + 1);
		if (is_done)
			return true;
	}
}

bool budget_take(uint64_t bytes)
{
	if (!control)
		return true;
	atomic_fetch_add(&control->bytes, bytes);
	while (atomic_load(&control->bytes) > settings.max_size) {
		if (settings.is_overwriting && remove_oldest())
			continue;
		atomic_fetch_sub(&control->bytes, bytes);
		return false;
	}
	return true;
}

bool budget_take_for_memory(uint64_t bytes, bool is_first)
{
	/* A thread may begin rather than another one have a larger packet. */
	const uint64_t most = settings.max_size / (is_first ? 2 : 8);

	if (!control)
		return true;
	if (atomic_fetch_add(&control->memory, bytes) + bytes <= most && budget_take(bytes))
		return true;
	atomic_fetch_sub(&control->memory, bytes);
	return false;
}

void budget_give(uint64_t bytes)
{
	if (control)
		atomic_fetch_sub(&control->bytes, bytes);
}

void budget_give_memory(uint64_t bytes)
{
	if (control)
		atomic_fetch_sub(&control->memory, bytes);
	budget_give(bytes);
}

bool budget_keep(uint64_t bytes)
{
	if (atomic_fetch_add(&control->kept, bytes) + bytes <= settings.max_size / 4)
		return true;
	atomic_fetch_sub(&control->kept, bytes);
	return false;
}

void budget_unkeep(uint64_t bytes)
{
	atomic_fetch_sub(&control->kept, bytes);
}

uint64_t budget_new_chunk(void)
{
	for (;;) {
		const uint64_t number = atomic_fetch_add(&control->tail, 1);
		_Atomic uint64_t *slot = &control->slots[number % BUDGET_SLOTS];
		uint64_t seen;

		while (number >= atomic_load(&control->head) + BUDGET_SLOTS)
			remove_oldest();
		seen = atomic_load(slot);
		/* Who came to this slot before us has given it up. */
		while (!is_chunk(seen, number, GONE) && number_of(seen) <= number) {
			if (atomic_compare_exchange_strong(slot, &seen, word(number, 0, THERE)))
				return number;
		}
	}
}

bool budget_add_to_chunk(uint64_t number, uint64_t bytes)
{
	_Atomic uint64_t *slot = &control->slots[number % BUDGET_SLOTS];
	uint64_t seen = atomic_load(slot);

	while (is_chunk(seen, number, THERE)) {
		if (atomic_compare_exchange_strong(slot, &seen,
						   word(number, size_of(seen) + bytes, THERE)))
			return true;
	}
	return false;
}

bool budget_take_from_chunk(uint64_t number, uint64_t bytes)
{
	/* In the arithmetic of unsigned numbers, that is a subtraction. */
	return budget_add_to_chunk(number, -bytes);
}

void budget_retake(uint64_t bytes)
{
	atomic_fetch_add(&control->bytes, bytes);
}

bool budget_is_old_chunk(uint64_t number)
{
	return atomic_load(&control->tail) > number + OLD_AFTER;
}

uint64_t budget_chunk_size(void)
{
	const uint64_t part = settings.max_size / PARTS;

	return part < LARGEST_CHUNK ? part : LARGEST_CHUNK;
}
