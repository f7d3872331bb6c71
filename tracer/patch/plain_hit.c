/* Hits of probes that are recorded without vector registers. */
/* Callers have their arguments in vector registers. */
#include "general_registers.h"

#include "plain_hit.h"

#include "../stream/cpu_section.h"
#include "../stream/record.h"
#include "../stream/short_section.h"

#if defined(__x86_64__)

#define WORDS (RECORD_BYTES / sizeof(uint64_t))
#define WORD_BITS 64u

/* The body of a record on its way to memory. It is written in whole words, as it is read: what is read
 * across two stores that were just made has to wait for them. */
struct packing {
	uint64_t *at;
	uint64_t word;
	/* Of the word, how many there are. */
	uint32_t bits;
};

static INLINED void pack(struct packing *to, uint64_t value, uint32_t bits)
{
	if (bits < WORD_BITS)
		value &= ((uint64_t) 1 << bits) - 1;
	to->word |= value << to->bits;
	if (to->bits + bits >= WORD_BITS) {
		*to->at++ = to->word;
		to->word = to->bits ? value >> (WORD_BITS - to->bits) : 0;
	}
	to->bits = (to->bits + bits) % WORD_BITS;
}

static INLINED uint64_t fetch(const struct probe_hit *hit, const struct probe_value *value)
{
	if (LIKELY(value->place == PROBE_IN_REGISTER))
		return hit->general[value->number];
	if (value->place == PROBE_IN_VECTOR)
		return hit->vectors[value->number];
	if (value->place == PROBE_IN_NOTHING)
		return (uint64_t) value->offset;
	return value->type == PROBE_IS_FLOAT ? hit->vectors[0] : hit->general[0];
}

/* Whether a value is in a register, or nowhere; those that are not there are for others. */
static bool is_plain(const struct probe_value *value)
{
	static const struct probe_hit hit;

	if (value->type == PROBE_IS_TEXT)
		return false;
	switch ((enum probe_place) value->place) {
	case PROBE_IN_REGISTER:
		return value->number < sizeof(hit.general) / sizeof(*hit.general);
	case PROBE_IN_VECTOR:
		return value->number < sizeof(hit.vectors) / sizeof(*hit.vectors);
	case PROBE_IN_STACK:
		return false;
	case PROBE_IN_NOTHING:
	case PROBE_IN_RESULT:
		return true;
	}
	return false;
}

static bool is_in_vector(const struct probe_value *value)
{
	return value->place == PROBE_IN_VECTOR ||
		(value->place == PROBE_IN_RESULT && value->type == PROBE_IS_FLOAT);
}

void plain_hit_prepare(struct probe_event *event)
{
	uint32_t size = USUAL_CONTEXTS_SIZE;
	bool are_plain = true;

	for (uint32_t index = 0; index < event->count; index++) {
		are_plain = are_plain && is_plain(&event->values[index]);
		event->has_vectors |= is_in_vector(&event->values[index]);
		size += event->values[index].size;
	}
	if (are_plain && size <= RECORD_BYTES)
		event->plain_size = size;
}

/* Find the stream for a record of an event, where nothing is unusual: then, sections append it. What
 * is not known here is seen there. */
static INLINED const struct stream *find_stream(const struct vestige_event *chosen,
						uint32_t *class)
{
	const uint32_t recording =
		__atomic_load_n(&settings.channels[0].recording, __ATOMIC_ACQUIRE);
	const struct stream *stream = streams_of_thread[0];

	*class = __atomic_load_n(&chosen->id, __ATOMIC_RELAXED);
	if (UNLIKELY(chosen->filter || !section_is_usual || cpu_section_is_usual || !stream ||
		     *class < EVENT_CLASSES || *class >= HEADER_EXTENDED ||
		     settings_contexts(&settings.channels[0]).chosen != USUAL_CONTEXTS ||
		     (stream->owner ^ recording << OWNER_PROCESS_BITS) >> OWNER_PROCESS_BITS))
		return NULL;
	return stream;
}

bool plain_hit_record(const struct probe_hit *hit)
{
	const struct probe_event *event = hit->event;
	const struct vestige_event *chosen =
		__atomic_load_n(&event->point.event, __ATOMIC_ACQUIRE);
	uint64_t body[WORDS];
	struct packing packing = {.at = body};
	const struct stream *stream;
	uint32_t class;
	uint32_t owner;

	if (UNLIKELY(!event->plain_size || !chosen))
		return false;
	stream = find_stream(chosen, &class);
	if (UNLIKELY(!stream))
		return false;
	owner = stream->owner;
	pack(&packing, hit->function, 8 * PLACE_SIZE);
	pack(&packing, stream->vpid, 8 * ID_SIZE);
	for (uint32_t index = 0; index < event->count; index++) {
		const struct probe_value *value = &event->values[index];

		pack(&packing, fetch(hit, value), 8u * value->size);
	}
	if (packing.bits)
		*packing.at = packing.word;
	return append_words_in_section(body, event->plain_size, owner, class);
}

#else

void plain_hit_prepare(struct probe_event *event)
{
	(void) event;
}

bool plain_hit_record(const struct probe_hit *hit)
{
	(void) hit;
	return false;
}

#endif

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
