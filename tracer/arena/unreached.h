/* Telling of programs that will not be recorded. */
#ifndef VESTIGE_ARENA_UNREACHED_H
#define VESTIGE_ARENA_UNREACHED_H

#include "../base/compiler.h"
#include "map.h"

struct unreached {
	enum unreached_reason reason;
	/* 0 if it is not known: then the parent's is. */
	uint32_t process;
	uint32_t parent;
	uint64_t pid_namespace;
	/* Without directories. */
	const char *name;
};

/* Leave word of it in the arena, if there is one. No system call is made. */
void unreached_tell(const struct arena *arena, const struct unreached *program) HIDDEN;

#endif
