/*
 * Event record classes in the metadata, in TSDL (CTF 1.8.3).
 *
 * Several processes write to one metadata file. A list beside it, `.event-classes`, tells
 * which classes are there, by a digest of their description: the place in the list is the
 * ID. Who writes to either holds a lock on the list.
 */
#define _GNU_SOURCE
#include "event_class.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "disk.h"
#include "packet.h"
#include "settings.h"
#include "system.h"
#include "text.h"

#define NAME_SIZE (PATH_MAX + 32)
#define LARGEST_CLASS (1u << 20)
#define MOST_CLASSES (1u << 20)
/* A process that was stopped while it held the lock must not stop others for long: so often
 * a process waits, whatever it registers. */
#define MOST_PAUSES 200u
#define LOCK_PAUSE 5000000
/* Entries of the list that are read at once. */
#define ENTRIES_AT_ONCE 64u

struct entry {
	uint64_t digest[2];
	/* Where the metadata ended before the class was written. */
	uint64_t metadata_size;
	/* Whether all of it was. */
	uint64_t is_written;
};

static void write_integer(struct text *text, const struct vestige_field *field)
{
	text_format(text, "integer { size = %u; align = 8; signed = %d; base = %d;%s%s }",
		    field->size * 8u, (field->flags & VESTIGE_SIGNED) != 0,
		    field->flags & VESTIGE_HEXADECIMAL ? 16 : 10,
		    field->flags & VESTIGE_TEXT ? " encoding = UTF8;" : "",
		    field->flags & VESTIGE_BIG_ENDIAN ? " byte_order = be;" : "");
}

static void write_labels(struct text *text, const struct vestige_field *field)
{
	const struct vestige_enum *labels = field->labels;
	/* Smaller ones hold no value that would look negative. */
	const bool is_unsigned = !(field->flags & VESTIGE_SIGNED) && field->size == 8;
	int64_t next = 0;

	text_format(text, " {");
	for (size_t index = 0; index < labels->label_count; index++) {
		const struct vestige_label *label = &labels->labels[index];
		const int64_t first = label->is_automatic ? next : label->first;
		const int64_t last = label->is_automatic ? next : label->last;

		text_format(text, "%s ", index ? "," : "");
		text_quote(text, label->text);
		text_format(text, is_unsigned ? " = %llu ... %llu" : " = %lld ... %lld",
			    (long long) first, (long long) last);
		next = (int64_t) ((uint64_t) last + 1);
	}
	text_format(text, " }");
}

static void write_field(struct text *text, const struct vestige_field *field)
{
	switch (field->kind) {
	case VESTIGE_INTEGER:
		write_integer(text, field);
		text_format(text, " _%s", field->name);
		break;
	case VESTIGE_FLOAT:
		text_format(text,
			    "floating_point { exp_dig = %d; mant_dig = %d; align = 8; } _%s",
			    field->size == 4 ? 8 : 11, field->size == 4 ? 24 : 53, field->name);
		break;
	case VESTIGE_STRING:
		text_format(text, "string _%s", field->name);
		break;
	case VESTIGE_ARRAY:
		write_integer(text, field);
		text_format(text, " _%s[%u]", field->name, field->length);
		break;
	case VESTIGE_SEQUENCE:
		/* Readers take no signed length; none is negative. */
		text_format(text,
			    "integer { size = %u; align = 8; signed = 0; } __%s_length; ",
			    field->length_size * 8u, field->name);
		write_integer(text, field);
		text_format(text, " _%s[__%s_length]", field->name, field->name);
		break;
	case VESTIGE_ENUM:
		/* One without labels is none to readers. */
		if (field->labels->label_count)
			text_format(text, "enum : ");
		write_integer(text, field);
		if (field->labels->label_count)
			write_labels(text, field);
		text_format(text, " _%s", field->name);
		break;
	default:
		return;
	}
	text_format(text, "; ");
}

/* All of the class but its ID. */
static void describe(struct text *text, const struct vestige_provider *provider,
		     const struct vestige_event *event)
{
	const struct vestige_event_class *class = event->event_class;

	text_format(text, "\tname = \"%s:%s\";\n\tstream_id = 0;\n\tloglevel = %d;\n",
		    provider->name, event->name, event->log_level);
	if (event->model_emf_uri) {
		text_format(text, "\tmodel.emf.uri = ");
		text_quote(text, event->model_emf_uri);
		text_format(text, ";\n");
	}
	text_format(text, "\tfields := struct { ");
	for (uint32_t index = 0; index < class->field_count; index++)
		if (!(class->fields[index].flags & VESTIGE_NOT_WRITTEN))
			write_field(text, &class->fields[index]);
	text_format(text, "};\n");
}

/* FNV-1a, twice with other beginnings: no secrets here, and few classes. */
static void digest(const char *bytes, size_t size, uint64_t result[2])
{
	result[0] = 0xcbf29ce484222325u;
	result[1] = 0x9ae16a3b2f90404fu;
	for (size_t index = 0; index < size; index++) {
		result[0] = (result[0] ^ (uint8_t) bytes[index]) * 0x100000001b3u;
		result[1] = (result[1] ^ (uint8_t) bytes[index]) * 0x100000001b3u;
		result[1] ^= result[1] >> 29;
	}
}

/* Neither is made here: a recording that has ended without us takes no more classes. */
static int open_in_directory(const char *name)
{
	char path[NAME_SIZE];

	snprintf(path, sizeof(path), "%s/%s", settings.directory, name);
	return system_open(path, O_RDWR | O_NOFOLLOW);
}

/* Called by one thread at a time. */
static bool take_lock(int list)
{
	static unsigned int pauses;
	const struct timespec pause = {0, LOCK_PAUSE};

	for (;;) {
		const long result = system_call(SYS_flock, list, LOCK_EX | LOCK_NB, 0, 0, 0, 0);

		if (result == 0)
			return true;
		if ((result != -EWOULDBLOCK && result != -EINTR) || pauses == MOST_PAUSES)
			return false;
		pauses++;
		system_sleep(&pause);
	}
}

/* A child of fork() may have the file open, too, so that closing it here is not enough. */
static void release_lock(int list)
{
	system_call(SYS_flock, list, LOCK_UN, 0, 0, 0, 0);
}

static bool truncate_file(int file, uint64_t size)
{
	return system_call(SYS_ftruncate, file, (long) size, 0, 0, 0, 0) == 0;
}

/* Write a class behind the metadata, all of it or nothing. */
static bool append_class(int metadata, struct entry *entry, uint32_t id, const struct text *body)
{
	char head[64];
	const int length = snprintf(head, sizeof(head), "\nevent {\n\tid = %u;\n", id);
	struct text whole;
	bool is_written;

	if (!text_open(&whole, LARGEST_CLASS + sizeof(head)))
		return false;
	text_append(&whole, head, (size_t) length);
	text_append(&whole, body->start, text_size(body));
	text_append(&whole, "};\n", 3);
	is_written = !whole.is_full &&
		disk_write(metadata, whole.start, text_size(&whole), entry->metadata_size);
	/* Whoever comes next does it again, should it fail. */
	if (!is_written)
		truncate_file(metadata, entry->metadata_size);
	text_close(&whole);
	return is_written;
}

/* Read some entries; their number, negative when the list cannot be read. */
static long read_entries(int list, uint32_t place, struct entry entries[ENTRIES_AT_ONCE])
{
	const long size = system_pread(list, entries, ENTRIES_AT_ONCE * sizeof(*entries),
				       (uint64_t) place * sizeof(*entries));

	return size < 0 ? size : size / (long) sizeof(*entries);
}

/* Find the class in the list, or the place behind it; false when the list cannot be read. */
static bool find(int list, int metadata, const uint64_t wanted[2], uint32_t *place, bool *is_there)
{
	struct entry entries[ENTRIES_AT_ONCE];
	long count;

	*is_there = false;
	*place = 0;
	while (*place < MOST_CLASSES) {
		count = read_entries(list, *place, entries);
		if (count <= 0)
			return count == 0;
		for (long index = 0; index < count; index++, ++*place) {
			/* A process died while it wrote this one, the last: it goes away. */
			if (!entries[index].is_written)
				return truncate_file(metadata, entries[index].metadata_size);
			if (memcmp(entries[index].digest, wanted, sizeof(entries->digest)) != 0)
				continue;
			*is_there = true;
			return true;
		}
	}
	return false;
}

static bool write_entry(int list, uint32_t place, const struct entry *entry)
{
	return disk_write(list, entry, sizeof(*entry), (uint64_t) place * sizeof(*entry));
}

static uint32_t add(int list, int metadata, const struct text *body)
{
	struct entry entry = {.is_written = 0};
	struct stat status;
	uint32_t place;
	bool is_there;

	digest(body->start, text_size(body), entry.digest);
	if (!find(list, metadata, entry.digest, &place, &is_there))
		return 0;
	if (is_there)
		return EVENT_CLASSES + place;
	if (!system_fstat(metadata, &status))
		return 0;
	entry.metadata_size = (uint64_t) status.st_size;
	if (!write_entry(list, place, &entry) ||
	    !append_class(metadata, &entry, EVENT_CLASSES + place, body))
		return 0;
	entry.is_written = 1;
	return write_entry(list, place, &entry) ? EVENT_CLASSES + place : 0;
}

uint32_t event_class_id(const struct vestige_provider *provider,
			const struct vestige_event *event)
{
	const int list = open_in_directory(CLASS_LIST_FILE);
	const int metadata = open_in_directory(METADATA_FILE);
	struct text body;
	uint32_t id = 0;

	if (list >= 0 && metadata >= 0 && text_open(&body, LARGEST_CLASS)) {
		describe(&body, provider, event);
		if (!body.is_full && take_lock(list)) {
			id = add(list, metadata, &body);
			release_lock(list);
		}
		text_close(&body);
	}
	if (metadata >= 0)
		system_close(metadata);
	if (list >= 0)
		system_close(list);
	return id;
}
