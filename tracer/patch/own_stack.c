/*
 * Where the stack is that a thread began on.
 *
 * The C library puts what the thread pointer points to at the end of the stack of a thread that it
 * starts: what is above may be other memory, which the kernel tells as one mapping with the stack. The
 * first stack of a process has a name, and grows.
 */
#define _GNU_SOURCE
#include "own_stack.h"

#include <stdint.h>

#include "../base/maps.h"
#include "../base/system.h"

#define FIRST_STACK "[stack]"
/* How far the first stack may grow at least, whatever else is mapped: see MIN_GAP in the kernel's
 * arch/x86/mm/mmap.c. */
#define FIRST_STACK_SIZE ((uintptr_t) 128 << 20)

static void find(struct maps *maps, uintptr_t *low, uintptr_t *size)
{
	const bool is_first = system_gettid() == system_getpid();
	const uintptr_t pointer = (uintptr_t) __builtin_thread_pointer();
	const int file = system_open(MAPS_FILE, O_RDONLY);
	struct mapping mapping;

	if (file < 0)
		return;
	if (is_first) {
		if (maps_find_path(maps, file, FIRST_STACK, &mapping)) {
			*low = mapping.end - FIRST_STACK_SIZE;
			*size = FIRST_STACK_SIZE;
		}
	} else if (maps_find_any(maps, file, pointer, &mapping)) {
		*low = mapping.start;
		*size = pointer - mapping.start;
	}
}

void own_stack_find(void *low, void *size)
{
	struct maps *maps = system_mmap(NULL, sizeof(*maps), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!maps)
		return;
	find(maps, low, size);
	system_munmap(maps, sizeof(*maps));
}
