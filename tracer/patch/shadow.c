/*
 * The shadow of stacks: which parts of it are mapped.
 *
 * Any function may be the first on a stack, also a handler's, and in any thread. So a block is mapped
 * with all signals blocked, by one thread at a time; who holds the lock is known by its process,
 * since fork() copies a lock that nobody in the child will open.
 */
/* Callers have their arguments in vector registers. */
#include "general_registers.h"

#include "../base/system.h"
#include "shadow.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define BLOCK_SIZE ((uintptr_t) 1 << SHADOW_BLOCK_BITS)
#define BLOCKS ((uintptr_t) 1 << (SHADOW_ADDRESS_BITS - SHADOW_BLOCK_BITS))
/* Bytes of a stack whose shadow is a page. */
#define PAGE_SLOTS ((uintptr_t) 4096 / 2)
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

uint64_t *shadow_blocks;

/* The process whose thread maps a block; 0 when none does. */
static uint32_t holder;

bool shadow_start(void)
{
	uint64_t *blocks;

	if (shadow_blocks)
		return true;
	blocks = system_mmap(NULL, BLOCKS / 4, PROT_READ | PROT_WRITE, RESERVED, -1);
	__atomic_store_n(&shadow_blocks, blocks, __ATOMIC_RELEASE);
	return blocks;
}

static void take(uint32_t process)
{
	uint32_t seen = 0;

	while (!__atomic_compare_exchange_n(&holder, &seen, process, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		/* Another process: this one was forked while it was held. */
		if (seen == process) {
			system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
			seen = 0;
		}
	}
}

static enum shadow_state map_block(uintptr_t slot)
{
	const uintptr_t block = slot & -BLOCK_SIZE;
	void *wanted = shadow_at(block);
	void *place = system_mmap(wanted, 2 * BLOCK_SIZE, PROT_READ | PROT_WRITE,
				  RESERVED | MAP_FIXED_NOREPLACE, -1);

	if (place == wanted)
		return SHADOW_MAPPED;
	/* A kernel before Linux 4.17 takes the place for a wish. */
	if (place)
		system_munmap(place, 2 * BLOCK_SIZE);
	return SHADOW_REFUSED;
}

struct shadow *shadow_map(uintptr_t slot)
{
	const uintptr_t block = slot >> SHADOW_BLOCK_BITS;
	const uint32_t process = system_getpid();
	enum shadow_state state = shadow_state_of(slot);
	signals before;

	/* Who may make no system call gets no memory either. */
	if (state != SHADOW_REFUSED && process) {
		before = system_block_signals();
		take(process);
		state = shadow_state_of(slot);
		if (state == SHADOW_UNKNOWN) {
			state = map_block(slot);
			__atomic_fetch_or(&shadow_blocks[block / 32],
					  (uint64_t) state << block % 32 * 2, __ATOMIC_RELEASE);
		}
		__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
		system_restore_signals(before);
	}
	return state == SHADOW_MAPPED ? shadow_at(slot) : NULL;
}

void shadow_give_back(uintptr_t low, uintptr_t end)
{
	/* Whole pages of the shadow. */
	low = (low + PAGE_SLOTS - 1) & -PAGE_SLOTS;
	end &= -PAGE_SLOTS;
	while (shadow_blocks && low < end) {
		const uintptr_t next = (low | (BLOCK_SIZE - 1)) + 1;
		const uintptr_t stop = next < end ? next : end;

		if (shadow_state_of(low) == SHADOW_MAPPED)
			system_madvise(shadow_at(low), 2 * (stop - low), MADV_DONTNEED);
		low = stop;
	}
}

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
