/*
 * Slots that are only called through.
 *
 * Code that is compiled with -fno-plt calls through slots from which other code may read the
 * address of a function, to compare it with one that somebody else has read. So only slots of which no
 * instruction reads are changed.
 */
#ifndef VESTIGE_PATCH_CALLED_SLOTS_H
#define VESTIGE_PATCH_CALLED_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"

enum slot_use {
	SLOT_CALLED = 1,
	SLOT_READ = 2,
};

/* A range of slots, each of 8 bytes, and what is known of each: added up, enum slot_use. */
struct slot_uses {
	uintptr_t start;
	size_t count;
	uint8_t *uses;
};

/* Look through code for instructions that use the slots. */
void called_slots_find(const struct slot_uses *slots, uintptr_t start, uintptr_t end) HIDDEN;

#endif
