/* The fast path of records: to reserve one, with its header and contexts, and to commit it. */
#ifndef VESTIGE_STREAM_RECORD_H
#define VESTIGE_STREAM_RECORD_H

#include "../base/clock.h"
#include "fields.h"
#include "pending.h"
#include "stream.h"

/*
 * Reserve a record and write its header and contexts. It has the present time, or an earlier
 * one that is not before that of the record before.
 *
 * Always inlined, so that sizes, classes and whether there is a time are constants where it
 * is called.
 */
static INLINED bool record_begin_at(struct record *record, uint32_t class, const void *ip,
				    size_t payload, uint64_t earlier)
{
	struct stream *stream = stream_of_thread;
	const size_t body = settings.context_size + payload;
	const char *stack = stack_pointer();
	/* Which object is where must outlive the calls that it tells about. */
	const bool is_kept =
		class > EVENT_EXIT && class <= EVENT_PYTHON_CODE && settings.is_overwriting;
	size_t header;
	uint64_t generation;
	bool is_nested;
	char *start;
	uint64_t time;
	uint64_t last;

	if (UNLIKELY(!stream)) {
		stream = stream_make_room(NULL, EXTENDED_HEADER_SIZE + body);
		if (!stream)
			return false;
	}
	for (;;) {
		if (earlier)
			stream_begin_earlier(stream, earlier);
		if (is_kept && !stream_keep(stream, EXTENDED_HEADER_SIZE + body))
			return false;
		generation = *(volatile uint64_t *) &stream->generation;
		start = *(char *volatile *) &stream->next;
		last = *(volatile uint64_t *) &stream->last_time;
		time = !earlier ? clock_read() : earlier > last ? earlier : last;
		/* Also when the time is before the last one, as a huge difference. */
		header = UNLIKELY(time - last >= 1u << HEADER_TIME_BITS ||
				  class >= HEADER_EXTENDED)
			? EXTENDED_HEADER_SIZE
			: COMPACT_HEADER_SIZE;
		/* The limit of a chunk that stays may lie below. */
		if (UNLIKELY(stream->limit - start < (ptrdiff_t) (header + body))) {
			if (!stream_make_room(stream, EXTENDED_HEADER_SIZE + body))
				return false;
			stream = stream_of_thread;
			continue;
		}
		if (LIKELY(stream->chunk->committed == bytes_before(stream->chunk, start))) {
			stream->pending_stack = stack;
			stream->pending_time = time;
			stream->pending = pending_word(
				time, (size_t) (start - (char *) stream->chunk), header + body);
			is_nested = false;
		} else {
			const uint64_t present = pending_nest(stream, stack);

			if (present != generation) {
				pending_unnest(stream, present);
				continue;
			}
			is_nested = true;
		}
		compiler_barrier();
		if (LIKELY(local_compare_exchange(address_of_next(stream), (uintptr_t) start,
						  (uintptr_t) start + header + body)))
			break;
		if (is_nested)
			pending_unnest(stream, generation);
	}
	if (UNLIKELY(*(volatile uint64_t *) &stream->generation != generation) &&
	    bytes_before(stream->chunk, start) < arena.chunk_bytes) {
		/* Handlers filled chunks since the time was read, this one among them, up to this
		 * place. In a chunk that is complete, the record was given up, and keeps the time
		 * that its filler has. */
		generation = stream->generation;
		time = clock_read();
		if (time - stream->last_time >= 1u << HEADER_TIME_BITS)
			time = stream->last_time;
	}
	if (is_kept)
		stream_limit(stream, generation, start + header + body);
	/* If a handler has gone on to another chunk, an earlier time does no harm there. */
	stream->last_time = time;
	record->stream = stream;
	record->start = start;
	record->at = start;
	record->end = start + header + body;
	record->time = time;
	record->generation = generation;
	record->is_nested = is_nested;
	if (UNLIKELY(header != COMPACT_HEADER_SIZE)) {
		write_u8(record, HEADER_EXTENDED);
		write_u32(record, class);
		write_u64(record, time);
		write_contexts(record, ip);
	} else if (IS_LITTLE_ENDIAN && LIKELY(settings.contexts == USUAL_CONTEXTS)) {
		write_usual_start(record, compact_header(class, time), ip);
	} else {
		write_u32(record, compact_header(class, time));
		if (settings.context_size)
			write_contexts(record, ip);
	}
	return true;
}

static INLINED bool record_begin(struct record *record, uint32_t class, const void *ip,
				 size_t payload)
{
	return record_begin_at(record, class, ip, payload, 0);
}

static INLINED void record_commit(struct record *record)
{
	struct stream *stream = record->stream;
	struct arena_chunk *chunk = stream->chunk;

	if (UNLIKELY(record->is_nested)) {
		pending_commit(record);
		return;
	}
	if (LIKELY(chunk->committed == bytes_before(chunk, record->start))) {
		chunk->packet.timestamp_end = record->time;
		publish_barrier();
		/* A handler may give the record up even here. */
		if (LIKELY(local_commit(&chunk->committed,
					(uint32_t) bytes_before(chunk, record->start),
					(uint32_t) bytes_before(chunk, record->end)))) {
			if (UNLIKELY(*(char *volatile *) &stream->next != record->end))
				pending_commit_behind(record);
			return;
		}
	}
	pending_return(record);
}

#endif
