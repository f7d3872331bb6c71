/*
 * Thunks of library calls: blocks of them, and which one a function has.
 *
 * Functions are bound by any thread, and in handlers that interrupt another binding. So there is no
 * lock: numbers are given out by one addition, and a block or an entry of the table is shown by one
 * exchange. Who comes second makes another thunk for the same function, which is no harm.
 */
#include "library_thunks.h"

#include <stddef.h>
#include <string.h>

#include "../base/system.h"
#include "stubs.h"

#if defined(__x86_64__)

/* Places where a function's thunk is looked for, from that of its hash on. */
#define TABLE_SIZE 8192u
#define TABLE_STEPS 16u

/* A number given out: in the upper half a block, in the lower one a thunk of it. */
static uint32_t next_thunk = LIBRARY_THUNKS;
struct library_block *library_blocks[LIBRARY_BLOCKS];
static struct library_call *table[TABLE_SIZE];

static void put_distance(uint8_t *at, const void *target)
{
	const int32_t distance = (int32_t) ((const uint8_t *) target - (at + sizeof(int32_t)));

	memcpy(at, &distance, sizeof(distance));
}

static void write_thunk(struct library_block *block, uint32_t number, uint32_t name)
{
	/* endbr64, pushq with a number, jmp through the slot at a distance. */
	static const uint8_t thunk[LIBRARY_THUNK_SIZE] = {
		0xF3, 0x0F, 0x1E, 0xFA, 0x68, 0, 0, 0, 0, 0xFF, 0x25,
	};
	uint8_t *code = block->code + (size_t) number * LIBRARY_THUNK_SIZE;

	memcpy(code, thunk, sizeof(thunk));
	memcpy(code + 5, &name, sizeof(name));
	put_distance(code + 11, &block->calls[0].target);
}

static struct library_block *make_block(uint32_t block_number)
{
	struct library_block *block = system_mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!block)
		return NULL;
	block->calls[0].target = (uintptr_t) stub_library;
	for (uint32_t number = 1; number < LIBRARY_THUNKS; number++)
		write_thunk(block, number, block_number * LIBRARY_THUNKS + number);
	if (system_call(SYS_mprotect, (long) block->code, sizeof(block->code),
			PROT_READ | PROT_EXEC, 0, 0, 0) == 0)
		return block;
	system_munmap(block, sizeof(*block));
	return NULL;
}

/* Have a block of a number; NULL where there is no memory. */
static struct library_block *find_block(uint32_t number)
{
	struct library_block *block = __atomic_load_n(&library_blocks[number], __ATOMIC_ACQUIRE);
	struct library_block *made;

	if (block)
		return block;
	made = make_block(number);
	if (made &&
	    !__atomic_compare_exchange_n(&library_blocks[number], &block, made, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		/* Another was faster. */
		system_munmap(made, sizeof(*made));
		return block;
	}
	return made;
}

static struct library_call *new_call(void)
{
	uint32_t number;
	struct library_block *block;

	do {
		number = __atomic_load_n(&next_thunk, __ATOMIC_RELAXED);
		if (number / LIBRARY_THUNKS > LIBRARY_BLOCKS)
			return NULL;
		number = __atomic_fetch_add(&next_thunk, 1, __ATOMIC_RELAXED);
		/* The first of a block is none. */
	} while (number % LIBRARY_THUNKS == 0);
	if (number / LIBRARY_THUNKS > LIBRARY_BLOCKS)
		return NULL;
	block = find_block(number / LIBRARY_THUNKS - 1);
	return block ? &block->calls[number % LIBRARY_THUNKS] : NULL;
}

static uintptr_t thunk_of(const struct library_call *call)
{
	return (uintptr_t) call - LIBRARY_BLOCK;
}

static size_t place_of(const struct library_call *call)
{
	return (size_t) ((call->target * 0x9E3779B97F4A7C15u) >> 40);
}

uintptr_t library_thunk(const struct library_call *call, bool *is_new)
{
	const size_t first = place_of(call);
	struct library_call *made = NULL;

	*is_new = false;
	for (size_t step = 0; step < TABLE_STEPS; step++) {
		struct library_call **place = &table[(first + step) % TABLE_SIZE];
		struct library_call *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!found) {
			if (!made)
				made = new_call();
			if (!made)
				return 0;
			*made = *call;
			*is_new = true;
			if (__atomic_compare_exchange_n(place, &found, made, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return thunk_of(made);
		}
		if (found->function == call->function && found->target == call->target) {
			*is_new = false;
			return thunk_of(found);
		}
	}
	if (!made)
		made = new_call();
	if (!made)
		return 0;
	*made = *call;
	*is_new = true;
	return thunk_of(made);
}

bool library_thunk_is_at(uintptr_t address)
{
	for (uint32_t number = 0; number < LIBRARY_BLOCKS; number++) {
		const struct library_block *block =
			__atomic_load_n(&library_blocks[number], __ATOMIC_ACQUIRE);

		if (block && address - (uintptr_t) block < LIBRARY_BLOCK)
			return true;
	}
	return false;
}

#endif
