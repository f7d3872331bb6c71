/*
 * Which slots are called through, and which are read.
 *
 * It takes no disassembler: an instruction that uses a slot has its distance from the end of the
 * instruction in 4 bytes, after which up to 4 of an immediate value follow. All bytes that could be
 * such a distance are looked at. Those of `call *` and `jmp *` come after FF 15 and FF 25, which no
 * other instruction has there. What looks like a distance and is none makes a slot one that
 * is read, and so left alone.
 */
#include "called_slots.h"

#include <string.h>

#define SLOT_SIZE sizeof(uintptr_t)
#define CALL_BY_SLOT 0x15FF
#define JUMP_BY_SLOT 0x25FF
/* Of immediate values that may follow a distance, also none. */
#define MOST_IMMEDIATE 4u

static uint8_t use_at(uintptr_t at, uintptr_t start)
{
	uint16_t before;

	if (at - start < sizeof(before))
		return SLOT_READ;
	memcpy(&before, (const void *) (at - sizeof(before)), sizeof(before));
	return before == CALL_BY_SLOT || before == JUMP_BY_SLOT ? SLOT_CALLED : SLOT_READ;
}

void called_slots_find(const struct slot_uses *slots, uintptr_t start, uintptr_t end)
{
	const uintptr_t lowest = slots->start - MOST_IMMEDIATE;
	const uintptr_t size = slots->count * SLOT_SIZE + MOST_IMMEDIATE;

	for (uintptr_t at = start; at + sizeof(int32_t) <= end; at++) {
		int32_t distance;
		uintptr_t target;

		memcpy(&distance, (const void *) at, sizeof(distance));
		target = at + sizeof(distance) + (uintptr_t) (intptr_t) distance;
		if (target - lowest >= size)
			continue;
		for (uintptr_t added = 0; added <= MOST_IMMEDIATE; added++) {
			const uintptr_t slot = target + added - slots->start;

			if (slot >= slots->count * SLOT_SIZE || slot % SLOT_SIZE)
				continue;
			slots->uses[slot / SLOT_SIZE] |= added ? SLOT_READ : use_at(at, start);
		}
	}
}
