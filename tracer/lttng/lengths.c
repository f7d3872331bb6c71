#define _GNU_SOURCE
#include "lengths.h"

#include <string.h>

#include "../agreement/agreement.h"
#include "skipped.h"

static bool is_written(const struct vestige_field *field)
{
	return !(field->flags & VESTIGE_NOT_WRITTEN);
}

bool lengths_may_be_short(const struct ust_recorded *event)
{
	const struct vestige_event_class *class = &event->own_class;

	for (uint32_t index = 0; index < class->field_count; index++) {
		const struct vestige_field *field = &class->fields[index];

		if (field->kind == VESTIGE_SEQUENCE && is_written(field) &&
		    field->length_size < sizeof(uint32_t))
			return true;
	}
	return false;
}

/* The field that is written next; NULL behind the last one. */
static const struct vestige_field *next_field(struct counted *record)
{
	const struct vestige_event_class *class = &record->event->own_class;

	while (record->field < class->field_count && !is_written(&class->fields[record->field]))
		record->field++;
	return record->field < class->field_count ? &class->fields[record->field] : NULL;
}

static uint32_t read_length(const void *from, size_t size)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;

	switch (size) {
	case sizeof(byte):
		memcpy(&byte, from, sizeof(byte));
		return byte;
	case sizeof(half):
		memcpy(&half, from, sizeof(half));
		return half;
	case sizeof(word):
		memcpy(&word, from, sizeof(word));
		return word;
	default:
		return UINT32_MAX;
	}
}

static void tell_once(struct ust_recorded *event)
{
	if (!__atomic_exchange_n(&event->is_cut, true, __ATOMIC_RELAXED))
		skipped_tell(SKIPPED_LENGTH, event->provider, event->own.name);
}

size_t lengths_allow(struct counted *record, const void *from, size_t size)
{
	const struct vestige_field *field = next_field(record);
	size_t most;

	if (!field)
		return size;
	if (field->kind == VESTIGE_SEQUENCE && !record->has_length) {
		record->has_length = true;
		record->length = read_length(from, size);
		return size;
	}
	record->field++;
	record->has_length = false;
	most = (size_t) record->length * field->size;
	if (field->kind != VESTIGE_SEQUENCE || LIKELY(size <= most))
		return size;
	record->cut += (uint32_t) (size - most);
	tell_once(record->event);
	return most;
}

void lengths_end(struct ust_context *context)
{
	struct counted *counted = (struct counted *) (void *) context;
	struct unfinished *record = &counted->record;
	const size_t left = (size_t) (record->end - record->at);
	const size_t cut = counted->cut < left ? counted->cut : left;

	/* It may be another record's by now. */
	if (!cut || record->draft->owner != context)
		return;
	record->end -= cut;
	record->draft->body_size -= (uint32_t) cut;
}
