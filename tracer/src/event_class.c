/*
 * Event record classes in the metadata, in TSDL (CTF 1.8.3).
 *
 * Several processes write to one metadata file. A list beside it, `.event-classes`, tells
 * which classes are there, by a digest of their description: the place in the list is the
 * ID. Who writes to either holds a lock on the list.
 */
#define _GNU_SOURCE
#include "event_class.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packet.h"
#include "settings.h"
#include "text.h"

#define NAME_SIZE (PATH_MAX + 32)
#define LARGEST_CLASS (1u << 20)
#define MOST_CLASSES (1u << 20)
#define ENTRIES_AT_ONCE 128
/* A process that was stopped while it held the lock must not stop others for long. */
#define LOCK_TRIES 200
#define LOCK_PAUSE 5000000

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

static void write_labels(struct text *text, const struct vestige_enum *labels)
{
	int64_t next = 0;

	for (size_t index = 0; index < labels->label_count; index++) {
		const struct vestige_label *label = &labels->labels[index];
		const int64_t first = label->is_automatic ? next : label->first;
		const int64_t last = label->is_automatic ? next : label->last;

		text_format(text, "%s ", index ? "," : "");
		text_quote(text, label->text);
		text_format(text, first == last ? " = %lld" : " = %lld ... %lld",
			    (long long) first, (long long) last);
		next = (int64_t) ((uint64_t) last + 1);
	}
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
		text_format(text,
			    "integer { size = %u; align = 8; signed = %d; } __%s_length; ",
			    field->length_size * 8u, (field->flags & VESTIGE_SIGNED_LENGTH) != 0,
			    field->name);
		write_integer(text, field);
		text_format(text, " _%s[__%s_length]", field->name, field->name);
		break;
	case VESTIGE_ENUM:
		text_format(text, "enum : ");
		write_integer(text, field);
		text_format(text, " {");
		write_labels(text, field->labels);
		text_format(text, " } _%s", field->name);
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

static int open_in_directory(const char *name, int flags)
{
	char path[NAME_SIZE];

	snprintf(path, sizeof(path), "%s/%s", settings.directory, name);
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static bool take_lock(int file)
{
	const struct timespec pause = {0, LOCK_PAUSE};

	for (int count = 0; count < LOCK_TRIES; count++) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
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
		pwrite(metadata, whole.start, text_size(&whole),
		       (off_t) entry->metadata_size) == (ssize_t) text_size(&whole);
	if (!is_written && ftruncate(metadata, (off_t) entry->metadata_size) != 0)
		is_written = false;
	text_close(&whole);
	return is_written;
}

/* Look at entries from *place on. Returns whether the search is over: one is the wanted one,
 * or it is the last and was not written. */
static bool look(const struct entry *entries, size_t count, const uint64_t wanted[2],
		 uint32_t *place)
{
	for (size_t index = 0; index < count; index++, ++*place)
		if (!entries[index].is_written ||
		    !memcmp(entries[index].digest, wanted, sizeof(entries[index].digest)))
			return true;
	return false;
}

/* Find the class in the list, or the place behind it; false when the list cannot be read. */
static bool find(int list, int metadata, const uint64_t wanted[2], uint32_t *place, bool *is_there)
{
	struct entry entries[ENTRIES_AT_ONCE];
	const struct entry *found;
	ssize_t size;

	*is_there = false;
	*place = 0;
	while (*place < MOST_CLASSES) {
		const uint32_t first = *place;

		size = pread(list, entries, sizeof(entries), (off_t) (first * sizeof(*entries)));
		if (size < 0)
			return false;
		if (!look(entries, (size_t) size / sizeof(*entries), wanted, place)) {
			if (size < (ssize_t) sizeof(entries))
				return true;
			continue;
		}
		found = &entries[*place - first];
		*is_there = found->is_written;
		/* A process died while it wrote this one, the last: it goes away. */
		return *is_there || ftruncate(metadata, (off_t) found->metadata_size) == 0;
	}
	return false;
}

static uint32_t add(int list, int metadata, const struct text *body)
{
	struct entry entry = {.is_written = 0};
	struct stat status;
	uint32_t place;
	bool is_there;
	off_t offset;

	digest(body->start, text_size(body), entry.digest);
	if (!find(list, metadata, entry.digest, &place, &is_there))
		return 0;
	if (is_there)
		return EVENT_CLASSES + place;
	if (fstat(metadata, &status) != 0)
		return 0;
	entry.metadata_size = (uint64_t) status.st_size;
	offset = (off_t) (place * sizeof(entry));
	if (pwrite(list, &entry, sizeof(entry), offset) != (ssize_t) sizeof(entry) ||
	    !append_class(metadata, &entry, EVENT_CLASSES + place, body))
		return 0;
	entry.is_written = 1;
	if (pwrite(list, &entry, sizeof(entry), offset) != (ssize_t) sizeof(entry))
		return 0;
	return EVENT_CLASSES + place;
}

uint32_t event_class_id(const struct vestige_provider *provider,
			const struct vestige_event *event)
{
	const int list = open_in_directory(".event-classes", O_RDWR | O_CREAT);
	const int metadata = open_in_directory("metadata", O_RDWR);
	struct text body;
	uint32_t id = 0;

	if (list >= 0 && metadata >= 0 && text_open(&body, LARGEST_CLASS)) {
		describe(&body, provider, event);
		if (!body.is_full && take_lock(list)) {
			id = add(list, metadata, &body);
			/* Closing the file would not do: a child that another thread made
			 * meanwhile has it, too. */
			flock(list, LOCK_UN);
		}
		text_close(&body);
	}
	if (metadata >= 0)
		close(metadata);
	if (list >= 0)
		close(list);
	return id;
}
