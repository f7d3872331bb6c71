/* Finding the functions of the C library that ours stand in for. */
#ifndef VESTIGE_HOOKS_ORIGINAL_H
#define VESTIGE_HOOKS_ORIGINAL_H

#include <dlfcn.h>

/* Look for `original_NAME`, unless it is known; NULL where there is no such function. */
#define FIND(name)                                                             \
	do {                                                                   \
		if (!original_##name)                                          \
			*(void **) &original_##name = dlsym(RTLD_NEXT, #name); \
	} while (0)

#endif
