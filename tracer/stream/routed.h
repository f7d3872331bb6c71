/* What is kept of a record that goes to several channels, in the place of a record. */
#ifndef VESTIGE_STREAM_ROUTED_H
#define VESTIGE_STREAM_ROUTED_H

#include "address.h"

/*
 * Of one whose fields are few: the record of the first of its channels, but for the class.
 * With its contexts it is there already.
 */
struct routed {
	char bytes[RECORD_BYTES];
	const struct route *route;
	const void *ip;
	uint32_t class;
	uint32_t size;
	uint32_t stream_owner;
	/* The addresses that it goes to, by bits. */
	uint16_t chosen;
	/* Bytes of the contexts, before the fields. */
	uint8_t contexts;
	bool has_draft;
};

/* Whether a stream or a record is of another recording. */
static INLINED bool is_of_other(uint32_t owner, const struct address *address)
{
	return (owner ^ address->recording << OWNER_PROCESS_BITS) >> OWNER_PROCESS_BITS;
}

/* Whether the thread has a stream for an address, so that a child process will see that it has not. */
static INLINED bool has_stream(const struct address *address)
{
	const struct stream *stream = streams_of_thread[address->channel];

	return LIKELY(stream && !is_of_other(stream->owner, address));
}

/* Note what a short record needs; its contexts are those of the first address. */
static INLINED void note_short(struct routed *routed, const struct route *route,
			       const struct address *first, uint32_t chosen, const void *ip,
			       size_t size)
{
	routed->route = route;
	routed->ip = ip;
	routed->class = CLASS_ROUTED;
	routed->contexts = (uint8_t) first->contexts.size;
	routed->size = first->contexts.size + (uint32_t) size;
	routed->stream_owner = streams_of_thread[first->channel]->owner;
	routed->chosen = (uint16_t) chosen;
	routed->has_draft = false;
}

#endif
