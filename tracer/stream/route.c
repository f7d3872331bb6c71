/* Records that go to several channels: how they begin, and what becomes of them. */
#include "route.h"

#include <string.h>

#include "../base/process.h"
#include "plain_route.h"

/* The same as struct routed, where there is a draft for the fields. */
struct routed_draft {
	const struct route *route;
	const void *ip;
	uint64_t earlier;
	char unused[RECORD_BYTES - 24];
	char *at;
	struct draft *draft;
	uint32_t class;
	uint32_t size;
	/* The process. */
	uint32_t owner;
	uint16_t chosen;
	/* As above, where the route is plain; 0: they are not there. */
	uint8_t contexts;
	bool has_draft;
};

#define SAME_PLACE(type, member, other) \
	_Static_assert(offsetof(type, member) == offsetof(struct record, other), "as in a record")
SAME_PLACE(struct routed, class, class);
SAME_PLACE(struct routed, size, size);
SAME_PLACE(struct routed, stream_owner, stream_owner);
SAME_PLACE(struct routed, chosen, routed);
SAME_PLACE(struct routed_draft, at, at);
SAME_PLACE(struct routed_draft, draft, draft);
SAME_PLACE(struct routed_draft, class, class);
SAME_PLACE(struct routed_draft, chosen, routed);
_Static_assert(sizeof(struct routed) == sizeof(struct record) &&
		       sizeof(struct routed_draft) == sizeof(struct record) && CHANNELS <= 16,
	       "there is room for what is kept");

static INLINED bool is_recording(const struct address *address)
{
	return *(const volatile bool *) &settings.channels[address->channel].is_recording;
}

/* Whether a channel is still what it was when the route was made. */
static INLINED bool is_present(const struct address *address)
{
	const struct channel_settings *channel = &settings.channels[address->channel];

	return is_recording(address) &&
		__atomic_load_n(&channel->recording, __ATOMIC_ACQUIRE) == address->recording;
}

/* Begin the record of one channel. */
static APART bool begin_at(const struct address *address, struct record *record, const void *ip,
			   size_t size, uint64_t earlier)
{
	const struct destination to = {address->channel, address->class};

	if (UNLIKELY(!address->class)) {
		stream_count_lost(address->channel);
		return false;
	}
	if (!record_begin_at(record, to, ip, size, earlier))
		return false;
	if (LIKELY(!is_of_other(record->stream_owner, address)))
		return true;
	if (record->draft)
		draft_give(record->draft, record);
	return false;
}

/* The addresses that have to do with an event. */
static INLINED uint32_t choose(const struct route *route, uint32_t passed)
{
	uint32_t chosen = 0;

	for (uint32_t index = 0; index < route->count; index++) {
		const struct address *address = &route->to[index];

		if ((!address->filter || passed & 1u << index) && is_present(address))
			chosen |= 1u << index;
	}
	return chosen;
}

static void count_lost(const struct route *route, uint32_t chosen)
{
	for (uint32_t index = 0; index < route->count; index++)
		if (chosen & 1u << index)
			stream_count_lost(route->to[index].channel);
}

/* A stream of the thread, whose drafts will do. */
static struct stream *find_stream(const struct route *route, uint32_t chosen)
{
	for (uint32_t index = 0; index < route->count; index++) {
		const uint32_t channel = route->to[index].channel;
		struct stream *stream = streams_of_thread[channel];

		if (!(chosen & 1u << index))
			continue;
		if (UNLIKELY(!stream))
			stream = stream_meet(channel);
		if (LIKELY(stream != NULL))
			return stream;
	}
	return NULL;
}

/* Begin one that needs a draft. */
static APART char *begin_long(const struct route *route, struct record *record, uint32_t chosen,
			      const void *ip, size_t size, uint64_t earlier)
{
	struct routed_draft *routed = (struct routed_draft *) (void *) record;
	struct stream *stream = find_stream(route, chosen);
	struct draft *draft =
		stream ? draft_take(stream_memory_drafts(stream), record, size) : NULL;

	if (UNLIKELY(!draft)) {
		count_lost(route, chosen);
		return NULL;
	}
	*routed = (struct routed_draft) {
		.route = route,
		.ip = ip,
		.earlier = earlier,
		.at = draft->memory,
		.draft = draft,
		.class = CLASS_ROUTED,
		.size = (uint32_t) size,
		.owner = process_id(),
		.chosen = (uint16_t) chosen,
		.has_draft = true,
	};
	return draft->memory;
}

/* Write the contexts of a channel; returns where they end. */
static INLINED char *put_contexts_of(const struct address *address, char *bytes, const void *ip)
{
	const struct stream *stream = streams_of_thread[address->channel];

	if (LIKELY(address->contexts.chosen == WHOSE_CONTEXTS))
		return put_whose_contexts(bytes, stream);
	return address->contexts.chosen == USUAL_CONTEXTS
		? put_usual_contexts(bytes, stream, ip)
		: put_contexts(bytes, address->contexts, stream, ip);
}

/* Begin one that needs a draft on a plain route, with its contexts; NULL when that does not go. */
static APART char *begin_plain_long(const struct route *route, struct record *record,
				    const void *ip, size_t size)
{
	struct routed_draft *routed = (struct routed_draft *) (void *) record;
	const struct address *first = route->to;
	const size_t whole = first->contexts.size + size;
	struct draft *draft;

	if (whole <= RECORD_BYTES || whole > WIDE_MOST || !first->contexts.size ||
	    first->contexts.size > UINT8_MAX || UNLIKELY(!plain_route_has_streams(route)))
		return NULL;
	draft = draft_take(stream_memory_drafts(streams_of_thread[first->channel]), record,
			   whole);
	if (UNLIKELY(!draft))
		return NULL;
	routed->route = route;
	routed->ip = ip;
	routed->earlier = 0;
	routed->draft = draft;
	routed->class = CLASS_ROUTED;
	routed->size = (uint32_t) size;
	routed->owner = process_id();
	routed->chosen = (uint16_t) ((1u << route->count) - 1);
	routed->contexts = (uint8_t) first->contexts.size;
	routed->has_draft = true;
	routed->at = put_contexts_of(first, draft->memory, ip);
	return routed->at;
}

/* Begin one that is not short. */
static APART char *begin_otherwise(const struct route *route, struct record *record,
				   uint32_t chosen, const void *ip, size_t size, uint64_t earlier)
{
	if (!chosen)
		return NULL;
	if (chosen & (chosen - 1))
		return begin_long(route, record, chosen, ip, size, earlier);
	return begin_at(&route->to[__builtin_ctz(chosen)], record, ip, size, earlier) ? record->at
										      : NULL;
}

char *route_begin(const struct route *route, struct record *record, uint32_t passed,
		  const void *ip, size_t size, uint64_t earlier)
{
	struct routed *routed = (struct routed *) (void *) record;
	const struct address *first = NULL;
	uint32_t chosen = 0;

	if (LIKELY(route->is_plain && !earlier)) {
		char *fields = begin_plain_long(route, record, ip, size);

		if (LIKELY(fields != NULL))
			return fields;
	}
	for (uint32_t index = route->count; index--;) {
		const struct address *address = &route->to[index];

		if (address->filter && !(passed & 1u << index))
			continue;
		/* One that records nothing any more has no room. */
		if (UNLIKELY(earlier || !has_stream(address)))
			return begin_otherwise(route, record, choose(route, passed), ip, size,
					       earlier);
		first = address;
		chosen |= 1u << index;
	}
	if (!first)
		return NULL;
	if (UNLIKELY(first->contexts.size + size > RECORD_BYTES))
		return begin_otherwise(route, record, choose(route, passed), ip, size, earlier);
	note_short(routed, route, first, chosen, ip, size);
	return put_contexts_of(first, routed->bytes, ip);
}

/* Append a record to one channel. */
static APART void commit_at(const struct address *address, const void *ip, const char *fields,
			    size_t size, uint64_t earlier)
{
	struct record one;

	if (!begin_at(address, &one, ip, size, earlier))
		return;
	memcpy(one.at, fields, size);
	record_commit(&one);
}

/* Append a record that has the contexts of another channel, at the time of that if it is not 0. */
static INLINED bool append_same(const struct address *address, const struct record *record,
				uint64_t time)
{
	const uint32_t owner = streams_of_thread[address->channel]->owner;

	if (LIKELY(address->is_of_cpus))
		return time
			? append_later_to_cpu_in_section(record->bytes, record->size, owner,
							 address->channel, address->class, time)
			: append_to_cpu_in_section(record->bytes, record->size, owner,
						   address->channel, address->class);
	return time ? append_later_in_section(record->bytes, record->size, owner,
					      address->channel, address->class, time)
		    : append_in_section(record->bytes, record->size, owner, address->channel,
					address->class);
}

/* The same with its own contexts. */
static INLINED bool append_other(const struct address *address, const struct routed *routed,
				 uint64_t time)
{
	const char *fields = routed->bytes + routed->contexts;
	uint32_t size = routed->size - routed->contexts;
	struct record one;

	if (UNLIKELY(address->contexts.size + size > RECORD_BYTES))
		return false;
	one.at = put_contexts_of(address, one.bytes, routed->ip);
	one.size = address->contexts.size + size;
	for (; size >= sizeof(uint64_t); size -= (uint32_t) sizeof(uint64_t)) {
		one.at = put_bytes(one.at, fields, sizeof(uint64_t));
		fields += sizeof(uint64_t);
	}
	for (; size; size--)
		*one.at++ = *fields++;
	return append_same(address, &one, time);
}

/* Append the record of a draft to all channels of a plain route. */
static INLINED void commit_plain_long(const struct routed_draft *routed)
{
	const struct draft *draft = routed->draft;
	const struct address *to = routed->route->to;
	uint64_t time = 0;

	for (uint32_t index = 0; index < routed->route->count; index++, to++) {
		const uint32_t owner = to->recording << OWNER_PROCESS_BITS | routed->owner;

		if (LIKELY(cpu_section_append_wide(draft->memory, routed->contexts + routed->size,
						   owner, to->channel, to->class, time)))
			time = time ? time : streams_of_thread[to->channel]->cpu_time;
		else if (routed->owner == process_id())
			commit_at(to, routed->ip, draft->memory + routed->contexts, routed->size,
				  0);
	}
}

static APART void commit_long(struct record *record)
{
	const struct routed_draft *routed = (const struct routed_draft *) (void *) record;
	struct draft *draft = routed->draft;

	/* Somebody else has it, and perhaps wrote to it. */
	if (UNLIKELY(draft->owner != record)) {
		count_lost(routed->route, routed->chosen);
		return;
	}
	if (LIKELY(routed->contexts)) {
		commit_plain_long(routed);
		draft_give(draft, record);
		return;
	}
	/* Where a child has been forked since, the parent has it. */
	for (uint32_t index = 0; index < routed->route->count && routed->owner == process_id();
	     index++)
		if (routed->chosen & 1u << index)
			commit_at(&routed->route->to[index], routed->ip, draft->memory,
				  routed->size, routed->earlier);
	draft_give(draft, record);
}

/* Where a child has been forked since the record began, the parent has it. */
static APART void commit_otherwise(const struct address *address, const struct routed *routed)
{
	if (!stream_is_of_child(address->channel))
		commit_at(address, routed->ip, routed->bytes + routed->contexts,
			  routed->size - routed->contexts, 0);
}

static INLINED bool append_first(const struct address *address, const struct record *record)
{
	return LIKELY(address->is_of_cpus)
		? append_to_cpu_in_section(record->bytes, record->size, record->stream_owner,
					   address->channel, address->class)
		: append_in_section(record->bytes, record->size, record->stream_owner,
				    address->channel, address->class);
}

static APART void commit_all(const struct record *record)
{
	const struct routed *routed = (const struct routed *) (const void *) record;
	const struct address *to = routed->route->to;
	const struct address *first = &to[__builtin_ctz(routed->chosen)];
	uint64_t time = 0;

	if (UNLIKELY(!first->is_usual || !append_first(first, record)))
		commit_otherwise(first, routed);
	else
		/* The counter is read once for all of them. */
		time = first->is_of_cpus ? streams_of_thread[first->channel]->cpu_time
					 : streams_of_thread[first->channel]->last_time;
	for (uint32_t rest = routed->chosen & (routed->chosen - 1u); rest; rest &= rest - 1) {
		const struct address *address = &to[__builtin_ctz(rest)];

		if (UNLIKELY(!address->is_usual || !has_stream(address) ||
			     !(settings_are_same(address->contexts, first->contexts)
				       ? append_same(address, record, time)
				       : append_other(address, routed, time))))
			commit_otherwise(address, routed);
	}
}

void route_commit(struct record *record)
{
	const struct routed *routed = (const struct routed *) (const void *) record;

	if (UNLIKELY(routed->has_draft))
		commit_long(record);
	else if (LIKELY(routed->route->is_plain))
		plain_route_commit(routed, commit_otherwise);
	else
		commit_all(record);
}

bool route_is_usual(uint32_t channel, uint32_t class)
{
	return class >= EVENT_CLASSES && class < HEADER_EXTENDED && section_area &&
		settings.counter_is_clock && !settings.channels[channel].is_overwriting &&
		!(settings_contexts(&settings.channels[channel]).chosen & CONTEXT_APPLICATION);
}

bool route_is_later(const struct route *route, uint64_t time)
{
	for (uint32_t index = 0; index < route->count; index++)
		if (stream_last_time(route->to[index].channel) > time)
			return true;
	return false;
}
