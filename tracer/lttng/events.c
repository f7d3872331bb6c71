/*
 * A probe reserves a record, writes its fields with one call each, and commits. Between the
 * calls, what the tracer knows of the record is in the structure that the probe passes to each of
 * them: the probe does not look at it after it has reserved. The record itself is a draft, which
 * is found again when a handler has jumped out of the probe.
 */
#define _GNU_SOURCE
#include "events.h"

#include <lttng/tracepoint.h>
#include <string.h>
#include <vestige/write-fields.h>

#include "../rules/expression_run.h"
#include "../stream/record.h"
#include "lengths.h"
#include "unfinished.h"

static struct ust_recorded *event_of(const struct ust_context *context)
{
	char *recorder = context->client;

	return (struct ust_recorded *) (void *) (recorder -
						 offsetof(struct ust_recorded, recorder));
}

static int reserve(struct ust_context *context)
{
	const struct ust_recorded *event = event_of(context);
	const uint32_t class = event->own.id;
	/* In the call, not behind it: that may be another line. */
	const char *ip = (const char *) context->place->ip - 1;
	const size_t size = context->size;
	struct draft *draft;
	char *at;

	if (UNLIKELY(!class)) {
		stream_count_lost(0);
		return -1;
	}
	at = record_begin_draft(context, &draft, (struct destination) {0, class}, ip, size);
	if (!at)
		return -1;
	*in_place_of(context) = (struct unfinished) {draft, at, at + size};
	return 0;
}

/* How much of a field finds room in its record: all, unless the probe measured another one. */
static inline size_t fitting(const struct unfinished *record, size_t size)
{
	const size_t room = (size_t) (record->end - record->at);

	return LIKELY(size <= room) ? size : room;
}

static void commit(struct ust_context *context)
{
	const struct unfinished *record = in_place_of(context);

	if (UNLIKELY(record->at != record->end))
		memset(record->at, 0, (size_t) (record->end - record->at));
	record_commit_draft(record->draft, context);
}

static void write_field(struct ust_context *context, const void *from, size_t size,
			size_t alignment)
{
	struct unfinished *record = in_place_of(context);
	const size_t fits = fitting(record, size);
	char *at = record->at;

	(void) alignment;
	record->at = at + fits;
	/* The usual sizes as one load and one store. */
	switch (fits) {
	case 1:
		memcpy(at, from, 1);
		break;
	case 2:
		memcpy(at, from, 2);
		break;
	case 4:
		memcpy(at, from, 4);
		break;
	case 8:
		memcpy(at, from, 8);
		break;
	case 0:
		break;
	default:
		memcpy(at, from, fits);
	}
}

static void write_string(struct ust_context *context, const char *from, size_t size)
{
	struct unfinished *record = in_place_of(context);
	const size_t fits = fitting(record, size);

	if (LIKELY(fits))
		record->at = vestige_write_text(record->at, from, fits - 1);
}

static void write_text(struct ust_context *context, const char *from, size_t size)
{
	struct unfinished *record = in_place_of(context);
	const size_t fits = fitting(record, size);
	const size_t length = fits ? strnlen(from, fits) : 0;

	memcpy(record->at, from, length);
	memset(record->at + length, 0, fits - length);
	record->at += fits;
}

/* --- the same of events whose sequences may be longer than their lengths tell --- */

static inline struct counted *counted_in(struct ust_context *context)
{
	return (struct counted *) (void *) context;
}

static int reserve_counted(struct ust_context *context)
{
	struct ust_recorded *event = event_of(context);
	const int result = reserve(context);
	struct counted *counted = counted_in(context);

	if (!result)
		*counted = (struct counted) {.record = counted->record, .event = event};
	return result;
}

static void commit_counted(struct ust_context *context)
{
	lengths_end(context);
	commit(context);
}

static void write_counted_field(struct ust_context *context, const void *from, size_t size,
				size_t alignment)
{
	write_field(context, from, lengths_allow(counted_in(context), from, size), alignment);
}

static void write_counted_string(struct ust_context *context, const char *from, size_t size)
{
	write_string(context, from, lengths_allow(counted_in(context), from, size));
}

static void write_counted_text(struct ust_context *context, const char *from, size_t size)
{
	write_text(context, from, lengths_allow(counted_in(context), from, size));
}

/* --- filters --- */

/* The stack has a word for each field, and two for those with elements: length and address. */
static int run_filter(const struct ust_common *common, const char *stack, struct ust_place *place,
		      void *context)
{
	const struct ust_recorded *event = common->private_data;
	const struct vestige_event_class *class = &event->own_class;
	struct vestige_value values[class->field_count + 1];

	(void) context;
	for (uint32_t index = 0; index < class->field_count; index++) {
		const uint8_t kind = class->fields[index].kind;
		uint64_t words[2];

		memcpy(words, stack, sizeof(words[0]));
		stack += sizeof(words[0]);
		values[index].length = 1;
		values[index].as.integer = (int64_t) words[0];
		if (kind == VESTIGE_STRING) {
			values[index].length = strlen((const char *) (uintptr_t) words[0]);
		} else if (kind == VESTIGE_ARRAY || kind == VESTIGE_SEQUENCE) {
			memcpy(&words[1], stack, sizeof(words[1]));
			stack += sizeof(words[1]);
			values[index].length = words[0];
			values[index].as.bytes = (const void *) (uintptr_t) words[1];
		}
	}
	return expression_passes(event->own.filter, values, (const char *) place->ip - 1)
		? UST_ACCEPTED
		: UST_REJECTED;
}

/* The same of all events: whether they are recorded, the tracer knows by itself. */
static struct ust_session session = {.struct_size = sizeof(session), .is_active = 1};
static struct ust_operations operations = {
	.struct_size = sizeof(operations),
	.reserve = reserve,
	.commit = commit,
	.write = write_field,
	.write_string = write_string,
	.write_text = write_text,
};
static struct ust_operations counted_operations = {
	.struct_size = sizeof(counted_operations),
	.reserve = reserve_counted,
	.commit = commit_counted,
	.write = write_counted_field,
	.write_string = write_counted_string,
	.write_text = write_counted_text,
};

static struct ust_channel channel;
static struct ust_channel_common channel_common = {
	.struct_size = sizeof(channel_common),
	.child = &channel,
	.is_enabled = 1,
	.session = &session,
};
static struct ust_channel channel = {
	.struct_size = sizeof(channel),
	.common = &channel_common,
	.operations = &operations,
};
static struct ust_channel counted_channel;
static struct ust_channel_common counted_channel_common = {
	.struct_size = sizeof(counted_channel_common),
	.child = &counted_channel,
	.is_enabled = 1,
	.session = &session,
};
static struct ust_channel counted_channel = {
	.struct_size = sizeof(counted_channel),
	.common = &counted_channel_common,
	.operations = &counted_operations,
};

void events_enable(struct ust_recorded *event)
{
	event->recorder = (struct ust_recorder) {
		.struct_size = sizeof(event->recorder),
		.common = &event->common,
		.channel = lengths_may_be_short(event) ? &counted_channel : &channel,
	};
	event->common = (struct ust_common) {
		.struct_size = sizeof(event->common),
		.private_data = event,
		.child = &event->recorder,
		.is_enabled = 1,
		.is_filtered = event->own.filter != NULL,
		.filter = run_filter,
	};
	event->probes[0] = (struct ust_probe) {event->from->event_class->probe, &event->common};
}
