/*
 * Which objects are in the memory of the process: a table of our own.
 *
 * The state dump of a forked child comes from the child's copy of it: what the dynamic linker
 * knows may have been half changed by a thread that the child does not have, and the lock of
 * that thread is never released. So entries are shown by one store when they are complete,
 * and taken away by one: a copy that fork() makes at any moment is good.
 */
#ifndef VESTIGE_OBJECTS_TABLE_H
#define VESTIGE_OBJECTS_TABLE_H

#include "../base/compiler.h"
#include "../base/system.h"
#include "object.h"

struct entry {
	struct entry *next;
	_Atomic bool is_used;
	/* Mapped when the program began: until the process ends. */
	bool is_for_good;
	/* Its destructors have run. */
	bool closes;
	/* When they had, it was not yet said that anything would be unmapped. */
	bool closes_first;
	/* The last look at the linker's list that found it, and a hash of its name there. */
	uint64_t seen;
	uint64_t name;
	struct object object;
};

/* While the table is used, nothing interrupts or ends the thread. */
struct guard {
	signals blocked;
	int error;
	bool is_nested;
};

/* The first entry; entries stay where they are, used or not. */
extern struct entry *table_entries HIDDEN;

/* Called with the place of each object that is gone; NULL: nobody wants to know. */
extern void (*table_on_drop)(uintptr_t start, uintptr_t end) HIDDEN;

/* Be the only thread that uses the table; a thread may be so twice. */
void table_enter(struct guard *guard) HIDDEN;
void table_leave(const struct guard *guard) HIDDEN;
/* Find the object that has its dynamic section at an address. */
struct entry *table_find(uint64_t dynamic) HIDDEN;
/* An entry that is not shown yet; NULL when memory is short. */
struct entry *table_new(void) HIDDEN;
void table_show(struct entry *entry) HIDDEN;
/* Record that an object is gone, and take it away. */
void table_drop(struct entry *entry) HIDDEN;

#endif
