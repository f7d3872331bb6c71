/* Thunks: where there is room for them, and what is in them. */
#define _GNU_SOURCE
#include "thunks.h"

#include <string.h>

#include "../agreement/agreement.h"
#include "../base/system.h"
#include "stubs.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE_SIZE 4096u
/* `pushq` and `jmp` of what is at a distance, which follows. */
static const uint8_t push[] = {0xFF, 0x35};
static const uint8_t jump[] = {0xFF, 0x25};

/* Of two slots: for functions, and for those that have probes. */
#define SLOT_SIZE 16u
/* Objects whose thunks can be given back; those of others stay. */
#define MOST_KEPT 1024u

static struct thunks kept[MOST_KEPT];

/* Places are tried in steps, first below the object: above it, the heap grows. */
#define STEP ((uintptr_t) 16 << 20)
#define FURTHEST ((uintptr_t) 1792 << 20)
#define LOWEST ((uintptr_t) 1 << 20)

static size_t thunk_size(const struct plan_entry *entry)
{
	return (sizeof(struct thunk) + entry->function->code_size + 15) & ~(size_t) 15;
}

bool thunks_put_distance(uint8_t *at, uintptr_t from, uintptr_t target)
{
	const intptr_t distance = (intptr_t) (target - from - sizeof(int32_t));
	const int32_t stored = (int32_t) distance;

	memcpy(at, &stored, sizeof(stored));
	return stored == distance;
}

/* The first and the last byte of an object. */
static void find_bounds(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
	*low = UINTPTR_MAX;
	*high = 0;
	for (unsigned int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];
		const uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (start < *low)
			*low = start;
		if (start + header->p_memsz > *high)
			*high = start + header->p_memsz;
	}
	*low &= ~(uintptr_t) (PAGE_SIZE - 1);
	*high = (*high + PAGE_SIZE - 1) & ~(uintptr_t) (PAGE_SIZE - 1);
}

static bool map_at(struct thunks *thunks, uintptr_t place)
{
	void *found = system_mmap((void *) place, thunks->size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);

	if (found && found != (void *) place) {
		/* A kernel before Linux 4.17 takes the place for a wish. */
		system_munmap(found, thunks->size);
		found = NULL;
	}
	thunks->place = found;
	return found;
}

/* Find room within reach of an object. */
static bool map_near(struct thunks *thunks, const struct dl_phdr_info *info)
{
	uintptr_t low;
	uintptr_t high;

	find_bounds(info, &low, &high);
	if (high <= low || high - low + thunks->size > FURTHEST)
		return false;
	for (uintptr_t away = 0; away <= FURTHEST - (high - low) - thunks->size; away += STEP)
		if (low > LOWEST + thunks->size + away &&
		    map_at(thunks, low - thunks->size - away))
			return true;
	/* From far to near. */
	for (uintptr_t away = FURTHEST - (high - low) - thunks->size; away >= STEP; away -= STEP)
		if (map_at(thunks, (high + away) & ~(uintptr_t) (PAGE_SIZE - 1)))
			return true;
	return false;
}

static bool put_operand(uint8_t *instruction, uintptr_t target)
{
	return thunks_put_distance(instruction + 2, (uintptr_t) instruction + 2, target);
}

/* Write one; false if something is out of reach. */
static bool write_thunk(const struct thunks *thunks, uint8_t *at, const struct plan_entry *entry,
			uintptr_t bias)
{
	const struct plan_function *function = entry->function;
	struct thunk *thunk = (struct thunk *) (void *) at;
	uint8_t *code = at + sizeof(*thunk);
	const uintptr_t stub =
		(uintptr_t) thunks->place + (function->flags & PLAN_PROBED ? sizeof(stub) : 0);

	thunk->function = bias + function->address;
	thunk->next = (uintptr_t) code;
	memcpy(thunk->push, push, sizeof(push));
	memcpy(thunk->jump, jump, sizeof(jump));
	if (!put_operand(thunk->push, (uintptr_t) &thunk->next) ||
	    !put_operand(thunk->jump, stub))
		return false;
	memcpy(code, entry->code, function->code_size);
	for (unsigned int index = 0; index < function->fixups; index++) {
		const struct plan_fixup *fixup = &entry->fixups[index];

		if (!thunks_put_distance(code + fixup->at, (uintptr_t) code + fixup->at,
					 bias + fixup->target))
			return false;
	}
	return true;
}

uintptr_t thunks_next(const struct thunks *thunks, size_t *at, const struct plan_entry *entry)
{
	uint8_t *thunk = thunks->place + (*at ? *at : SLOT_SIZE);

	*at = (size_t) (thunk - thunks->place) + thunk_size(entry);
	return (uintptr_t) thunk + offsetof(struct thunk, push);
}

/* No byte is read after the end of an instruction: the page may end there. */
static bool is_begun(const uint8_t *code, const uint8_t instruction[2])
{
	return code[0] == instruction[0] && code[1] == instruction[1];
}

uintptr_t thunks_stub_of(const uint8_t *code)
{
	const size_t size = sizeof(((struct thunk *) NULL)->push);
	int32_t distance;
	uintptr_t stub;

	if (!is_begun(code, push) || !is_begun(code + size, jump))
		return 0;
	memcpy(&distance, code + size + sizeof(jump), sizeof(distance));
	memcpy(&stub, code + 2 * size + distance, sizeof(stub));
	return stub;
}

const char *thunks_make(struct thunks *thunks, const struct plan *plan,
			const struct dl_phdr_info *info)
{
	const uintptr_t entry_address = (uintptr_t) stub_function;
	const uintptr_t probe_address = (uintptr_t) stub_probe;
	struct plan_entry entry;
	uintptr_t end;
	size_t next = 0;
	size_t at = 0;

	thunks->size = SLOT_SIZE;
	find_bounds(info, &thunks->object, &end);
	while (plan_next(plan, &next, &entry))
		thunks->size += thunk_size(&entry);
	thunks->size = (thunks->size + PAGE_SIZE - 1) & ~(size_t) (PAGE_SIZE - 1);
	if (!map_near(thunks, info))
		return UNPATCHED_MEMORY;
	memcpy(thunks->place, &entry_address, sizeof(entry_address));
	memcpy(thunks->place + sizeof(entry_address), &probe_address, sizeof(probe_address));
	next = 0;
	while (plan_next(plan, &next, &entry)) {
		const uintptr_t code = thunks_next(thunks, &at, &entry);

		if (!write_thunk(thunks, (uint8_t *) code - offsetof(struct thunk, push), &entry,
				 info->dlpi_addr)) {
			thunks_drop(thunks);
			return UNPATCHED_MEMORY;
		}
	}
	return NULL;
}

bool thunks_seal(const struct thunks *thunks)
{
	return system_call(SYS_mprotect, (long) thunks->place, (long) thunks->size,
			   PROT_READ | PROT_EXEC, 0, 0, 0) == 0;
}

void thunks_drop(struct thunks *thunks)
{
	system_munmap(thunks->place, thunks->size);
	thunks->place = NULL;
}

void thunks_keep(const struct thunks *thunks)
{
	for (size_t index = 0; index < MOST_KEPT; index++) {
		if (!kept[index].place) {
			kept[index] = *thunks;
			return;
		}
	}
}

void thunks_forget(uintptr_t object)
{
	for (size_t index = 0; index < MOST_KEPT; index++)
		if (kept[index].place && kept[index].object == object)
			thunks_drop(&kept[index]);
}
