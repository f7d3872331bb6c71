/*
 * The probes of a recording, as the recorder has written them: to the tracer, each is an event of one
 * provider, with a tracepoint of its own.
 *
 * The file is believed under the conditions under which a plan is.
 */
#define _GNU_SOURCE
#include "probes.h"

#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../agreement/agreement.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracepoint.h"
#include "../objects/describe.h"
#include "plain_hit.h"

#define SMALLEST_FILE sizeof(struct probes_header)
#define LARGEST_FILE                          \
	(SMALLEST_FILE +                      \
	 MOST_PROBES *                        \
		 (sizeof(struct probe_head) + \
		  (MOST_PROBE_VALUES + 1) * sizeof(struct probe_value)))
/* An entry and a result for each. */
#define MOST_EVENTS (2 * MOST_PROBES)

/* Those that are known at the start, or those of an object that was loaded later, in one piece of
 * memory. It stays: threads may be in functions of an object that is unloaded. */
struct probes {
	struct probes *next;
	uint32_t count;
	struct probe all[MOST_PROBES];
	const struct probe_head *heads[MOST_PROBES];
	struct vestige_provider provider;
	uint32_t event_count;
	struct vestige_event *events[MOST_EVENTS];
	uint32_t field_count;
	struct vestige_field fields[MOST_EVENTS * MOST_PROBE_VALUES];
	char file[LARGEST_FILE];
};

static struct probes *_Atomic probes;

/* An object may be in several name spaces of the dynamic linker: where the functions of probes are
 * besides, the oldest first to go. */
#define MOST_COPIES 64u

static struct copy {
	_Atomic uintptr_t function;
	const struct probe *_Atomic probe;
} copies[MOST_COPIES];

static uint32_t next_copy;

static bool read_file(struct probes *read)
{
	static char path[PATH_MAX + 32];
	struct stat status;
	bool is_read;
	int file;

	snprintf(path, sizeof(path), "%s/%s/%s", settings.directory, PLANS_DIRECTORY,
		 PROBES_FILE);
	file = system_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return false;
	is_read = system_fstat(file, &status) && S_ISREG(status.st_mode) &&
		!(status.st_mode & (S_IWGRP | S_IWOTH)) &&
		(status.st_uid == 0 || status.st_uid == geteuid()) &&
		status.st_size >= (off_t) SMALLEST_FILE &&
		status.st_size <= (off_t) sizeof(read->file) &&
		system_pread_all(file, read->file, (size_t) status.st_size, 0) &&
		((const struct probes_header *) (const void *) read->file)->size ==
			(uint64_t) status.st_size;
	system_close(file);
	return is_read;
}

static bool is_good_value(const struct probe_value *value)
{
	return value->place <= PROBE_IN_RESULT && value->type <= PROBE_IS_TEXT &&
		value->name[sizeof(value->name) - 1] == '\0' &&
		(value->size == 8 ||
		 (value->size == 4 && value->type != PROBE_IS_TEXT &&
		  value->type != PROBE_IS_POINTER) ||
		 ((value->size == 2 || value->size == 1) && value->type <= PROBE_IS_UNSIGNED));
}

/* Check all; false if anything is not as it must be. */
static bool find_heads(struct probes *read)
{
	const struct probes_header *header = (const void *) read->file;
	size_t at = sizeof(*header);

	if (header->size < at || header->size > sizeof(read->file) ||
	    memcmp(header->magic, PROBES_MAGIC, sizeof(header->magic)) != 0 ||
	    header->probes > MOST_PROBES)
		return false;
	for (; read->count < header->probes; read->count++) {
		const struct probe_head *head = (const void *) (read->file + at);
		const struct probe_value *values = (const void *) (head + 1);

		if (header->size - at < sizeof(*head) || head->values > MOST_PROBE_VALUES + 1 ||
		    head->build_id_size > sizeof(head->build_id) ||
		    head->name[sizeof(head->name) - 1] ||
		    header->size - at - sizeof(*head) < head->values * sizeof(*values))
			return false;
		for (uint32_t index = 0; index < head->values; index++)
			if (!is_good_value(&values[index]))
				return false;
		read->heads[read->count] = head;
		at += sizeof(*head) + head->values * sizeof(*values);
	}
	return true;
}

static void describe_field(struct vestige_field *field, const struct probe_value *value)
{
	static const uint8_t kinds[] = {
		[PROBE_IS_SIGNED] = VESTIGE_INTEGER,  [PROBE_IS_UNSIGNED] = VESTIGE_INTEGER,
		[PROBE_IS_POINTER] = VESTIGE_INTEGER, [PROBE_IS_FLOAT] = VESTIGE_FLOAT,
		[PROBE_IS_TEXT] = VESTIGE_STRING,
	};
	static const uint8_t flags[] = {
		[PROBE_IS_SIGNED] = VESTIGE_SIGNED,       [PROBE_IS_UNSIGNED] = 0,
		[PROBE_IS_POINTER] = VESTIGE_HEXADECIMAL, [PROBE_IS_FLOAT] = 0,
		[PROBE_IS_TEXT] = VESTIGE_TEXT,
	};

	field->name = value->name;
	field->kind = kinds[value->type];
	field->flags = flags[value->type];
	field->size = value->size;
}

/* Make an event of some values of a probe. */
static void add_event(struct probes *read, struct probe_event *made, const char *name,
		      const char *suffix, const struct probe_value *values, uint32_t count)
{
	struct vestige_field *fields = &read->fields[read->field_count];

	snprintf(made->name, sizeof(made->name), "%s%s", name, suffix);
	made->values = values;
	made->count = count;
	plain_hit_prepare(made);
	for (uint32_t index = 0; index < count; index++)
		describe_field(&fields[index], &values[index]);
	read->field_count += count;
	made->class = (struct vestige_event_class) {
		.struct_size = sizeof(made->class),
		.field_count = count,
		.fields = fields,
	};
	made->event = (struct vestige_event) {
		.struct_size = sizeof(made->event),
		.name = made->name,
		.event_class = &made->class,
		.log_level = 13,
	};
	made->point = (struct vestige_tracepoint) {
		.struct_size = sizeof(made->point),
		.provider = PROBE_PROVIDER,
		.name = made->name,
	};
	read->events[read->event_count++] = &made->event;
}

static void make_events(struct probes *read)
{
	for (uint32_t index = 0; index < read->count; index++) {
		const struct probe_head *head = read->heads[index];
		const struct probe_value *values = (const void *) (head + 1);
		struct probe *probe = &read->all[index];
		const uint32_t results = head->flags & PROBE_HAS_RESULT && head->values ? 1 : 0;
		uint32_t count = head->values - results;

		if (count > MOST_PROBE_VALUES)
			count = MOST_PROBE_VALUES;
		probe->flags = head->flags;
		if (probe->flags & PROBE_HAS_ENTRY)
			add_event(read, &probe->entry, head->name, "", values, count);
		if (probe->flags & PROBE_HAS_RESULT)
			add_event(read, &probe->exit, head->name, "_return", values + count,
				  results);
	}
	read->provider = (struct vestige_provider) {
		.struct_size = sizeof(read->provider),
		.event_count = read->event_count,
		.name = PROBE_PROVIDER,
		.events = read->events,
	};
}

static bool is_of(const struct probe_head *head, const struct object *object)
{
	return object->build_id_size && head->build_id_size == object->build_id_size &&
		memcmp(head->build_id, object->build_id, object->build_id_size) == 0;
}

/* Whether a place is where an object is now. */
static bool is_in(const struct dl_phdr_info *info, uintptr_t place)
{
	for (unsigned int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];

		if (header->p_type == PT_LOAD &&
		    place - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
			return true;
	}
	return false;
}

static void keep_copy(const struct probe *probe)
{
	struct copy *copy = &copies[next_copy++ % MOST_COPIES];

	atomic_store_explicit(&copy->function, 0, memory_order_relaxed);
	atomic_store_explicit(&copy->probe, probe, memory_order_release);
	atomic_store_explicit(&copy->function, probe->function, memory_order_release);
}

/* Those of objects that are gone. */
static void drop_copies(const struct dl_phdr_info *info)
{
	for (uint32_t index = 0; index < MOST_COPIES; index++)
		if (is_in(info,
			  atomic_load_explicit(&copies[index].function, memory_order_relaxed)))
			atomic_store_explicit(&copies[index].function, 0, memory_order_relaxed);
}

/* Find out where the functions of an object are, and which are gone from there; whether it has
 * any. */
static bool place(struct probes *all, const struct dl_phdr_info *info)
{
	static struct object object;
	bool has_any = false;

	object.build_id_size = 0;
	object_find_build_id(&object, info);
	drop_copies(info);
	for (struct probes *some = all; some; some = some->next) {
		for (uint32_t index = 0; index < some->count; index++) {
			struct probe *probe = &some->all[index];
			const bool is_its = is_of(some->heads[index], &object);

			if (is_in(info, probe->function))
				probe->function = 0;
			if (is_its && probe->function)
				keep_copy(probe);
			if (is_its)
				probe->function = info->dlpi_addr + some->heads[index]->address;
			has_any = has_any || is_its;
		}
	}
	return has_any;
}

static int place_in(struct dl_phdr_info *info, size_t size, void *read)
{
	(void) size;
	place(read, info);
	return 0;
}

static void offer(struct probe_event *made)
{
	if (made->event.name)
		vestige_tracer.add_tracepoint(&made->point);
}

static void offer_all(struct probes *read)
{
	vestige_tracer.add_provider(&read->provider);
	for (uint32_t index = 0; index < read->count; index++) {
		offer(&read->all[index].entry);
		offer(&read->all[index].exit);
	}
	read->next = atomic_load_explicit(&probes, memory_order_relaxed);
	atomic_store_explicit(&probes, read, memory_order_release);
}

static struct probes *map_probes(void)
{
	return system_mmap(NULL, sizeof(struct probes), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

bool probes_start(void)
{
	struct probes *read = map_probes();

	if (!read)
		return false;
	if (!read_file(read) || !find_heads(read)) {
		system_munmap(read, sizeof(*read));
		return false;
	}
	make_events(read);
	dl_iterate_phdr(place_in, read);
	offer_all(read);
	return true;
}

bool probes_load(const struct dl_phdr_info *info, const char *bytes, size_t size)
{
	struct probes *read;

	/* It may have been here before. */
	if (place(atomic_load_explicit(&probes, memory_order_relaxed), info) || !size)
		return true;
	if (size < SMALLEST_FILE || size > sizeof(read->file))
		return false;
	read = map_probes();
	if (!read)
		return false;
	memcpy(read->file, bytes, size);
	if (((const struct probes_header *) (const void *) read->file)->size != size ||
	    !find_heads(read)) {
		system_munmap(read, sizeof(*read));
		return false;
	}
	make_events(read);
	place(read, info);
	offer_all(read);
	return true;
}

const struct probe *probes_find(uintptr_t function)
{
	const struct probes *some = atomic_load_explicit(&probes, memory_order_acquire);

	for (; some; some = some->next)
		for (uint32_t index = 0; index < some->count; index++)
			if (some->all[index].function == function)
				return &some->all[index];
	for (uint32_t index = 0; index < MOST_COPIES; index++)
		if (atomic_load_explicit(&copies[index].function, memory_order_acquire) ==
		    function)
			return atomic_load_explicit(&copies[index].probe, memory_order_acquire);
	return NULL;
}
