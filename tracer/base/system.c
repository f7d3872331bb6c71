#include "system.h"

/* How often it is asked: others may take what was found for us. */
#define MOST_TRIES 3

bool system_is_confined;
bool system_child_is_confined;
size_t system_mapped;
bool (*system_find_space)(size_t size);

void *system_mmap(void *place, size_t size, int protection, int flags, int file)
{
	long result = system_mmap_result(place, size, protection, flags, file, 0);

	for (int tries = 0; tries < MOST_TRIES && result == -ENOMEM; tries++) {
		if (!system_find_space || !system_find_space(size))
			return NULL;
		result = system_mmap_result(place, size, protection, flags, file, 0);
	}
	if (system_is_error(result))
		return NULL;
	__atomic_fetch_add(&system_mapped, size, __ATOMIC_RELAXED);
	return (void *) result;
}

void system_munmap(void *place, size_t size)
{
	if (system_call(SYS_munmap, (long) place, (long) size, 0, 0, 0, 0) == 0)
		__atomic_fetch_sub(&system_mapped, size, __ATOMIC_RELAXED);
}
