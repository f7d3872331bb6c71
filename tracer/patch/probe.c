/*
 * Recording hits of probes: values are copied from where registers were kept, and texts from where
 * they point to.
 *
 * A pointer may lead anywhere, so what is there is read by the kernel, which refuses what cannot be
 * read and does not send a signal.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "../base/system.h"
#include "../hooks/tracepoint.h"

#define PAGE_SIZE 4096u
/* Of all texts of a hit: stacks may be small. */
#define TEXTS_SIZE 1024u

struct texts {
	char bytes[TEXTS_SIZE];
	size_t used;
};

/* Read memory that may not be there, within one page; how much of it could be read. */
static size_t read_page(void *to, uintptr_t from, size_t size)
{
	const struct iovec local = {to, size};
	const struct iovec remote = {(void *) from, size};
	const long got = system_call(SYS_process_vm_readv, (long) system_getpid(), (long) &local,
				     1, (long) &remote, 1, 0);

	return got > 0 ? (size_t) got : 0;
}

/* Read a text, with the zero if it has one there: no more than one page after the first. */
static size_t read_characters(char *to, uintptr_t from, size_t size)
{
	const size_t first = PAGE_SIZE - from % PAGE_SIZE;
	size_t got;

	if (size <= first)
		return read_page(to, from, size);
	got = read_page(to, from, first);
	if (got < first || memchr(to, '\0', first))
		return got;
	return got + read_page(to + first, from + first, size - first);
}

/* Keep the text at an address, as far as it can be read; or in brackets, why it cannot. */
static void read_text(struct texts *texts, uintptr_t address, struct vestige_value *value)
{
	char *to = texts->bytes + texts->used;
	size_t room = sizeof(texts->bytes) - texts->used;
	size_t length = 0;

	value->as.bytes = "";
	value->length = 0;
	if (!room)
		return;
	if (room > LONGEST_PROBE_TEXT + 1)
		room = LONGEST_PROBE_TEXT + 1;
	if (!address) {
		length = (size_t) snprintf(to, room, "(null)");
	} else {
		const size_t got = read_characters(to, address, room - 1);

		length = strnlen(to, got);
		if (!got)
			length = (size_t) snprintf(to, room, "(unreadable: 0x%lx)",
						   (unsigned long) address);
	}
	if (length >= room)
		length = room - 1;
	to[length] = '\0';
	texts->used += length + 1;
	value->as.bytes = to;
	value->length = length;
}

/* The bytes that a value is made of. */
static uint64_t fetch(const struct probe_hit *hit, const struct probe_value *value)
{
	uint64_t bits = 0;

	switch ((enum probe_place) value->place) {
	case PROBE_IN_REGISTER:
		bits = value->number < sizeof(hit->general) / sizeof(*hit->general)
			? hit->general[value->number]
			: 0;
		break;
	case PROBE_IN_VECTOR:
		bits = hit->vectors[value->number % 8];
		break;
	case PROBE_IN_STACK:
		/* Arguments are aligned: it is in one page. */
		read_page(&bits, hit->stack + (uintptr_t) value->offset, sizeof(bits));
		break;
	case PROBE_IN_NOTHING:
		bits = (uint64_t) value->offset;
		break;
	case PROBE_IN_RESULT:
		bits = value->type == PROBE_IS_FLOAT ? hit->vectors[0] : hit->general[0];
		break;
	}
	return bits;
}

static void convert(struct vestige_value *to, const struct probe_value *value, uint64_t bits,
		    struct texts *texts)
{
	const unsigned int unused = 64 - 8u * value->size;
	float single;

	switch ((enum probe_type) value->type) {
	case PROBE_IS_SIGNED:
		to->as.integer = (int64_t) (bits << unused) >> unused;
		break;
	case PROBE_IS_UNSIGNED:
	case PROBE_IS_POINTER:
		to->as.integer = (int64_t) (bits << unused >> unused);
		break;
	case PROBE_IS_FLOAT:
		if (value->size == sizeof(single)) {
			memcpy(&single, &bits, sizeof(single));
			to->as.real = (double) single;
		} else {
			memcpy(&to->as.real, &bits, sizeof(to->as.real));
		}
		break;
	case PROBE_IS_TEXT:
		read_text(texts, bits, to);
		break;
	}
}

static char *write_value(char *at, const struct probe_value *value,
			 const struct vestige_value *from)
{
	float single;

	if (value->type == PROBE_IS_TEXT) {
		memcpy(at, from->as.bytes, from->length);
		at[from->length] = '\0';
		return at + from->length + 1;
	}
	if (value->type == PROBE_IS_FLOAT && value->size == sizeof(single)) {
		single = (float) from->as.real;
		memcpy(at, &single, sizeof(single));
	} else {
		memcpy(at, &from->as, value->size);
	}
	return at + value->size;
}

void probe_record(void *data, void *unused)
{
	const struct probe_hit *hit = data;
	const struct probe_event *event = hit->event;
	const struct vestige_event *chosen =
		__atomic_load_n(&event->point.event, __ATOMIC_ACQUIRE);
	struct vestige_value values[MOST_PROBE_VALUES];
	struct vestige_record record;
	struct texts texts;
	size_t size = 0;
	char *at;

	(void) unused;
	if (!chosen)
		return;
	texts.used = 0;
	for (uint32_t index = 0; index < event->count; index++) {
		const struct probe_value *value = &event->values[index];

		values[index].length = 0;
		convert(&values[index], value, fetch(hit, value), &texts);
		size += value->type == PROBE_IS_TEXT ? values[index].length + 1 : value->size;
	}
	if (chosen->filter && !vestige_tracer.passes(chosen, values, (void *) hit->function))
		return;
	if (!vestige_tracer.begin(chosen, &record, size, (void *) hit->function))
		return;
	at = record.at;
	for (uint32_t index = 0; index < event->count; index++)
		at = write_value(at, &event->values[index], &values[index]);
	vestige_tracer.commit(&record);
}
