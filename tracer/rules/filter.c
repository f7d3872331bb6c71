/*
 * Judges functions when they are called for the first time.
 *
 * That may be in a signal handler, or while another thread holds the dynamic linker's lock,
 * so the object of a function is found in /proc/self/maps, which needs no lock.
 */
#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "../base/maps.h"
#include "../base/process.h"
#include "../base/system.h"
#include "../objects/loads.h"
#include "../objects/looks.h"
#include "function_names.h"

#define MOST_OBJECTS 1024u
/* A slot whose object has gone. */
#define FORGOTTEN 1u
/* Functions of unknown objects that are judged without looking, after no file could be opened
 * for want of descriptors or memory. */
#define SKIPPED_AFTER_FAILURE 1023u
/* How long to wait for another thread that reads an object: 2 s in steps of 50 µs. */
#define MOST_WAITS 40000u

uint64_t filter_slots[FILTER_SLOTS];

static struct filtered objects[MOST_OBJECTS];
static unsigned int object_count;
/* The process and the thread that read an object, or zero. */
static uint64_t reader;
/* How many of those are still to come; counted by the reader. */
static unsigned int skipping;
static __thread bool is_judging __attribute__((tls_model("initial-exec")));

/* Open a file; note when it may be possible later. */
static int open_patiently(const char *path, int flags)
{
	const int file = system_open(path, flags);

	if (file == -EMFILE || file == -ENFILE || file == -ENOMEM)
		skipping = SKIPPED_AFTER_FAILURE;
	return file;
}

static bool find_mapping(struct maps *maps, uintptr_t address, struct mapping *mapping)
{
	const int file = open_patiently(MAPS_FILE, O_RDONLY);

	return file >= 0 && maps_find(maps, file, address, mapping);
}

static bool is_program(const char *path)
{
	static char program[PATH_MAX];
	const long length = system_readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length <= 0)
		return false;
	program[length] = '\0';
	return !strcmp(path, program);
}

static bool read_object(struct filtered *object, const struct mapping *mapping)
{
	const bool is_first = is_program(mapping->path);
	struct stat status;
	bool is_read = false;
	/* A path may have become a pipe: opening that must not wait. */
	int file = open_patiently(mapping->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return false;
	for (unsigned int index = 0; index < patterns.count; index++) {
		if (pattern_applies(&patterns.all[index], mapping->path, is_first))
			object->applies[index / 64] |= 1ull << index % 64;
	}
	/* Another file may have taken the place of the one that is mapped. Devices are not
	 * compared: some file systems tell another than the kernel's list has. */
	if (system_fstat(file, &status) && S_ISREG(status.st_mode) &&
	    status.st_ino == mapping->inode)
		is_read = names_read(object, file, mapping->start, mapping->offset);
	system_close(file);
	return is_read;
}

static struct filtered *find_object(uintptr_t function)
{
	const unsigned int count = __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);

	for (unsigned int index = 0; index < count; index++) {
		struct filtered *object = &objects[index];
		const uintptr_t end = __atomic_load_n(&object->end, __ATOMIC_ACQUIRE);

		if (function < end &&
		    function >= __atomic_load_n(&object->start, __ATOMIC_RELAXED))
			return object;
	}
	return NULL;
}

/* Find a place in the list that is empty, or was emptied. */
static struct filtered *free_place(void)
{
	for (unsigned int index = 0; index < object_count; index++) {
		if (!objects[index].end)
			return &objects[index];
	}
	return object_count < MOST_OBJECTS ? &objects[object_count] : NULL;
}

static struct filtered *learn_object(uintptr_t function)
{
	static struct maps maps;
	struct filtered *known = find_object(function);
	struct filtered *place = free_place();
	struct filtered object = {0};
	struct mapping mapping;

	if (known || !place || !find_mapping(&maps, function, &mapping) ||
	    !read_object(&object, &mapping))
		return known;
	/* All but the end, by which others see it. */
	place->bias = object.bias;
	memcpy(place->applies, object.applies, sizeof(place->applies));
	place->found = object.found;
	place->count = object.count;
	place->found_size = object.found_size;
	__atomic_store_n(&place->start, object.start, __ATOMIC_RELAXED);
	__atomic_store_n(&place->end, object.end, __ATOMIC_RELEASE);
	if (place == &objects[object_count])
		__atomic_store_n(&object_count, object_count + 1, __ATOMIC_RELEASE);
	return place;
}

/* Become the only thread that reads objects. One that fork() left behind holds nothing. */
static void take_turn(void)
{
	const struct timespec pause = {.tv_nsec = 50000};
	/* An address of its own tells the thread from others, and takes no system call. */
	static __thread char place __attribute__((tls_model("initial-exec")));
	const uint64_t process = (uint64_t) process_id() << 32;
	const uint64_t own = process | (uint32_t) (uintptr_t) &place;

	for (unsigned int waits = 0;; waits++) {
		uint64_t other = __atomic_load_n(&reader, __ATOMIC_ACQUIRE);

		if (other && other >> 32 == process >> 32 && waits < MOST_WAITS)
			system_sleep(&pause);
		else if (__atomic_compare_exchange_n(&reader, &other, own, false,
						     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
}

static void remember(uintptr_t function, bool passes)
{
	const uint64_t answer = (uint64_t) function << 2 | 2 | passes;
	const uint64_t hash = filter_hash(function);

	for (unsigned int probe = 0; probe < FILTER_TRIES; probe++) {
		uint64_t *slot = &filter_slots[(hash + probe) % FILTER_SLOTS];
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (seen >> 2 == function)
			return;
		if (seen <= FORGOTTEN &&
		    __atomic_compare_exchange_n(slot, &seen, answer, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
	}
}

static bool judge(uintptr_t function, bool *is_final)
{
	struct filtered *object;
	unsigned int verdict = 0;

	*is_final = true;
	objects_look(function);
	if (!patterns.count)
		return true;
	object = find_object(function);
	if (!object) {
		take_turn();
		*is_final = !skipping;
		if (skipping)
			skipping--;
		else
			object = learn_object(function);
		*is_final = *is_final && !skipping;
		__atomic_store_n(&reader, 0, __ATOMIC_RELEASE);
	}
	/* What is in no file that we can read has no name, and no address in a file. */
	if (object)
		verdict = names_verdict(object, function);
	return (!patterns.has_includes || (verdict & VERDICT_INCLUDED)) &&
		!(verdict & VERDICT_EXCLUDED);
}

bool filter_judge(uintptr_t function)
{
	const int saved = errno;
	signals before;
	bool is_final;
	bool passes;

	/* Functions of the program that we call are not recorded. */
	if (is_judging)
		return false;
	/* A handler may leave by siglongjmp(): none runs meanwhile. */
	before = system_block_signals();
	is_judging = true;
	passes = judge(function, &is_final);
	if (is_final)
		remember(function, passes);
	is_judging = false;
	system_restore_signals(before);
	errno = saved;
	return passes;
}

void filter_forget(uintptr_t start, uintptr_t end)
{
	signals before;

	if (!patterns.count && objects_are_told())
		return;
	before = system_block_signals();
	take_turn();
	for (unsigned int index = 0; index < object_count; index++) {
		struct filtered *object = &objects[index];

		if (!object->end || object->start >= end || object->end <= start)
			continue;
		__atomic_store_n(&object->end, 0, __ATOMIC_RELEASE);
		if (object->found)
			system_munmap(object->found, object->found_size);
		object->found = NULL;
	}
	for (unsigned int index = 0; index < FILTER_SLOTS; index++) {
		const uint64_t address = filter_slots[index] >> 2;

		if (address >= start && address < end)
			__atomic_store_n(&filter_slots[index], FORGOTTEN, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&reader, 0, __ATOMIC_RELEASE);
	system_restore_signals(before);
}
