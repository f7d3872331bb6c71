/*
 * Which objects are in the memory of the process: a table of our own.
 *
 * The state dump of a forked child comes from the child's copy of it: what the dynamic linker
 * knows may have been half changed by a thread that the child does not have, and the lock of
 * that thread is never released. So entries are shown by one store when they are complete,
 * and taken away by one: a copy that fork() makes at any moment is good.
 */
#ifndef VESTIGE_OBJECT_TABLE_H
#define VESTIGE_OBJECT_TABLE_H

#include "object.h"
#include "system.h"

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

#define TABLE_HIDDEN __attribute__((visibility("hidden")))

/* The first entry; entries stay where they are, used or not. */
extern struct entry *table_entries TABLE_HIDDEN;

/* Be the only thread that uses the table; a thread may be so twice. */
void table_enter(struct guard *guard) TABLE_HIDDEN;
void table_leave(const struct guard *guard) TABLE_HIDDEN;
/* Find the object that has its dynamic section at an address. */
struct entry *table_find(uint64_t dynamic) TABLE_HIDDEN;
/* An entry that is not shown yet; NULL when memory is short. */
struct entry *table_new(void) TABLE_HIDDEN;
void table_show(struct entry *entry) TABLE_HIDDEN;
/* Record that an object is gone, and take it away. */
void table_drop(struct entry *entry) TABLE_HIDDEN;

#endif
