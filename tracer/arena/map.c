/* Finds the arena and maps it. */
#define _GNU_SOURCE
#include "map.h"

#include <string.h>

#include "../base/system.h"
#include "../base/valgrind.h"
#include "descriptor.h"

/* With less than this for chunks, nothing is recorded. */
#define LEAST_CHUNKS ((uint64_t) 8 << 20)
#define MOST_IN_VALGRIND ((uint64_t) 128 << 20)
#define LARGEST_CHUNK (64u << 20)
#define LARGEST_ARENA ((uint64_t) 1 << 40)

struct arena arenas[CHANNELS];

static bool is_area(const struct arena_control *control, uint64_t at, uint64_t count,
		    uint64_t each)
{
	return at <= control->arena_bytes && at % 8 == 0 &&
		count <= (control->arena_bytes - at) / each;
}

/* Whether all areas lie where they may. */
static bool is_sound(const struct arena_control *control, uint64_t file_size)
{
	return control->arena_bytes <= file_size && control->arena_bytes <= LARGEST_ARENA &&
		control->shared_at % ARENA_ALIGNMENT == 0 &&
		control->shared_at >= sizeof(*control) &&
		is_area(control, control->shared_at, 1, sizeof(struct arena_shared)) &&
		control->rules_bytes <= control->shared_at &&
		control->rules_at <= control->shared_at - control->rules_bytes &&
		control->rules_at % 8 == 0 && control->rules_bytes <= UINT32_MAX &&
		is_area(control, control->ledgers_at, control->slot_count,
			sizeof(struct arena_ledger)) &&
		is_area(control, control->slots_at, control->slot_count,
			sizeof(struct arena_slot)) &&
		control->slots_at > control->shared_at &&
		is_area(control, control->classes_at, ARENA_MOST_CLASSES,
			sizeof(struct arena_class)) &&
		control->classes_at > control->shared_at &&
		is_area(control,
			control->classes_at + ARENA_MOST_CLASSES * sizeof(struct arena_class),
			control->classes_bytes, 1) &&
		control->chunk_bytes >= 4096 && control->chunk_bytes % 4096 == 0 &&
		control->chunk_bytes <= LARGEST_CHUNK &&
		is_area(control, control->chunks_at, control->chunk_count,
			control->chunk_bytes) &&
		control->chunks_at % 4096 == 0 && control->chunks_at > control->shared_at &&
		control->slot_count && control->chunk_count && control->ring_chunks &&
		control->ring_chunks <= ARENA_SPARES && control->first_class >= EVENT_CLASSES &&
		control->first_class <= UINT32_MAX - ARENA_MOST_CLASSES;
}

static bool is_ours(const struct arena_control *control)
{
	return !memcmp(control->magic, ARENA_MAGIC, sizeof(control->magic)) &&
		control->fingerprint == arena_fingerprint();
}

/* Map both regions side by side, so that offsets hold; NULL when there is no room. */
static char *map_regions(int file, uint64_t shared_at, uint64_t size)
{
	char *base = system_mmap(NULL, size, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!base)
		return NULL;
	if (system_mmap_at(base, shared_at, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) &&
	    system_mmap_at(base + shared_at, size - shared_at, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, shared_at))
		return base;
	system_munmap(base, size);
	return NULL;
}

/* All chunks, or fewer where RLIMIT_AS leaves less room: half as many again and again. Valgrind
 * runs one thread at a time, which needs few, and warns of mappings above 256 MiB. */
static bool map_chunks(struct arena *arena, int file, const struct arena_control *control)
{
	uint32_t count = control->chunk_count;

	while (valgrind_is_here() && (uint64_t) count * control->chunk_bytes > MOST_IN_VALGRIND)
		count /= 2;
	for (;;) {
		const uint64_t size = (uint64_t) count * control->chunk_bytes;

		arena->base = map_regions(file, control->shared_at, control->chunks_at + size);
		arena->chunk_count = count;
		if (arena->base)
			return true;
		if (size / 2 < LEAST_CHUNKS)
			return false;
		count /= 2;
	}
}

static void keep(struct arena *arena, const struct arena_control *control)
{
	arena->control = (const struct arena_control *) (const void *) arena->base;
	arena->shared = (struct arena_shared *) (void *) (arena->base + control->shared_at);
	arena->rules = control->rules_bytes ? arena->base + control->rules_at : NULL;
	arena->rules_size = control->rules_bytes;
	arena->classes = (struct arena_class *) (void *) (arena->base + control->classes_at);
	arena->class_text = (char *) (arena->classes + ARENA_MOST_CLASSES);
	arena->class_text_size = control->classes_bytes;
	arena->first_class = control->first_class;
	arena->slots_at = control->slots_at;
	arena->ledgers_at = control->ledgers_at;
	arena->chunks_at = control->chunks_at;
	arena->slot_count = control->slot_count;
	arena->chunk_bytes = control->chunk_bytes;
	arena->ring_chunks = control->ring_chunks;
	arena->wait_ns = control->wait_ns;
	arena->is_overwriting = control->flags & ARENA_OVERWRITE;
	arena->rings_overwrite = control->flags & ARENA_RINGS_OVERWRITE;
}

bool arena_map(struct arena *arena, const struct arena_place *place)
{
	struct arena_control control;
	struct stat status;
	const int file = descriptor_open(place);
	bool is_mapped;

	if (file < 0)
		return false;
	/* The numbers are looked at in a copy: they are used as they were then. */
	is_mapped = system_fstat(file, &status) &&
		system_pread(file, &control, sizeof(control), 0) == (long) sizeof(control) &&
		is_ours(&control) && is_sound(&control, (uint64_t) status.st_size) &&
		map_chunks(arena, file, &control);
	system_close(file);
	if (is_mapped)
		keep(arena, &control);
	return is_mapped;
}

struct arena_chunk *arena_find_aside(const struct arena *arena, uint32_t number)
{
	for (uint32_t index = 0; index < arena->aside_count; index++)
		if (arena->aside[index].number == number)
			return arena->aside[index].chunk;
	return NULL;
}

bool arena_set_aside(struct arena *arena, uint32_t number)
{
	struct arena_chunk *chunk = arena_chunk(arena, number);
	void *other;

	if (arena->aside_count == ARENA_MOST_ASIDE || arena_find_aside(arena, number))
		return false;
	/* Of a size of 0, that makes a second mapping, see mremap(2). */
	other = system_mremap(chunk, 0, arena->chunk_bytes, MREMAP_MAYMOVE);
	if (!other)
		return false;
	arena->aside[arena->aside_count] = (struct arena_aside) {number, other};
	arena->aside_count++;
	return system_mmap_at(chunk, arena->chunk_bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}
