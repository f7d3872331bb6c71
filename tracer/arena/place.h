/* Where to find the arena. */
#ifndef VESTIGE_ARENA_PLACE_H
#define VESTIGE_ARENA_PLACE_H

#include <limits.h>
#include <stdint.h>

#define ARENA_TOKEN_SIZE 16
/* Without the zero in front of it that makes it abstract, see unix(7). */
#define ARENA_SOCKET_SIZE 107

/* Where to find the arena: as a file or, where that cannot be opened, from the collector. */
struct arena_place {
	char path[PATH_MAX];
	/* Of the file: another one is refused. */
	uint64_t inode;
	char socket[ARENA_SOCKET_SIZE + 1];
	uint8_t token[ARENA_TOKEN_SIZE];
	/* A descriptor that all programs have inherited, if they were to; 0: none. Another file may
	 * have the number by now. */
	int inherited;
	uint64_t inherited_inode;
};

#endif
