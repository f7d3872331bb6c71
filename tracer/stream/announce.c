/*
 * Records that are announced before they are written.
 *
 * A record takes a number, writes down what it will store and where, and announces that, if no
 * other has taken a number since. Then it stores its bytes, and commits. A record that finds
 * one announced that is not committed completes it first: it stores the same bytes in the same
 * place, and the commit of the second to come has no effect. So no matter where a record is
 * interrupted, by whom, and whether it ever goes on: before its announcement it has not
 * happened, after it, it has.
 *
 * The thread and its handlers alone come here, so that single instructions will do, which no other
 * thread waits for. A coroutine that is interrupted here and goes on in another thread finds out
 * that the stream is not that thread's, see is_here(); but for the one instruction after that look,
 * in which it must not meet the thread whose stream it is.
 *
 * One that goes on late stores its bytes once more, in a chunk that may be complete: the chunk
 * is marked as doubtful, and has no other use for a time.
 */
#include "announce.h"

#include <string.h>

#include "../base/clock.h"
#include "header.h"
#include "local.h"

/* In `announcing`: the number that was taken last, and below it that of the record that was
 * announced last; 0: there is none in this chunk. */
#define NUMBER_SHIFT 32
#define ONE_NUMBER ((uint64_t) 1 << NUMBER_SHIFT)

/* More often, only a handler that records with each single instruction interrupts. */
#define MOST_TRIES 1000

static INLINED uint64_t take_number(struct stream *stream)
{
	return local_add(&stream->announcing, ONE_NUMBER) + ONE_NUMBER;
}

static uint64_t look(const struct stream *stream)
{
	return *(const volatile uint64_t *) &stream->announcing;
}

static struct announcement *of_number(struct stream *stream, uint32_t number)
{
	return &stream->announcements[number % ANNOUNCEMENTS];
}

/* Whether what was announced, if anything was, has been committed. */
static bool is_complete(const struct stream *stream, uint64_t announcing)
{
	const uint32_t id = (uint32_t) announcing;
	const struct announced *one = &stream->announcements[id % ANNOUNCEMENTS].record;

	return !id || one->id != id || one->chunk->committed != one->start;
}

/* No byte more: the next record may be there. */
static INLINED void copy(char *to, const char *from, uint32_t size)
{
	if (UNLIKELY(size > ANNOUNCED_BYTES)) {
		memcpy(to, from, size);
		return;
	}
	for (; size >= 8; to += 8, from += 8, size -= 8)
		memcpy(to, from, 8);
	if (size & 4) {
		memcpy(to, from, 4);
		to += 4;
		from += 4;
	}
	if (size & 2) {
		memcpy(to, from, 2);
		to += 2;
		from += 2;
	}
	if (size & 1)
		*to = *from;
}

static INLINED void commit(struct arena_chunk *chunk, uint32_t start, uint32_t end, uint64_t time)
{
	/* Others may have come since, in this chunk, if this is stored once more. */
	if (chunk->packet.timestamp_end < time)
		chunk->packet.timestamp_end = time;
	publish_barrier();
	local_compare_exchange_half(&chunk->committed, start, end);
}

/* Store and commit a record. */
static INLINED void complete(const struct announced *one)
{
	struct arena_chunk *chunk = one->chunk;
	const uint32_t end = one->start + one->header_size + one->body_size;
	char *place = (char *) chunk + one->start;

	write_header(place, one->header_size, one->class, one->time);
	copy(place + one->header_size, one->body, one->body_size);
	commit(chunk, one->start, end, one->time);
}

/* Complete the record of somebody else, who may be the last to store all the same. */
static __attribute__((noinline, cold)) void help(struct stream *stream)
{
	const uint64_t seen = look(stream);
	struct announcement one;

	if (is_complete(stream, seen))
		return;
	one = *of_number(stream, (uint32_t) seen);
	compiler_barrier();
	/* Else somebody has, and the copy may be of two. */
	if (look(stream) != seen || one.record.id != (uint32_t) seen)
		return;
	if (one.record.body_size <= ANNOUNCED_BYTES)
		one.record.body = one.bytes;
	one.record.chunk->flags |= CHUNK_DOUBTFUL;
	complete(&one.record);
}

/* Find out what will be stored; false when the chunk does not take it. */
static INLINED bool prepare(const struct stream *stream, const struct appending *record,
			    struct announced *one)
{
	struct arena_chunk *chunk = stream->chunk;
	uint32_t start;

	if (!chunk || stream->open)
		return false;
	start = chunk->committed;
	if (start + EXTENDED_HEADER_SIZE + record->copied > stream->limit)
		return false;
	if (LIKELY(!record->time))
		one->time = clock_read();
	else if (chunk == record->chunk && start == record->committed)
		one->time = record->time;
	else
		return false;
	one->chunk = chunk;
	one->body = record->body;
	one->start = start;
	one->class = record->class;
	one->header_size = header_size(record->class, one->time - stream->last_time);
	one->body_size = record->size;
	return true;
}

/* Write it down where those find it that interrupt us: we do not look there again. */
static INLINED void write_down(struct announcement *place, const struct announced *one)
{
	place->record.id = one->id;
	compiler_barrier();
	place->record.chunk = one->chunk;
	place->record.time = one->time;
	place->record.body = one->body;
	place->record.start = one->start;
	place->record.class = one->class;
	place->record.header_size = one->header_size;
	place->record.body_size = one->body_size;
	/* In whole words, of which there are as many in either place. */
	for (uint32_t done = 0; done < one->body_size && done < ANNOUNCED_BYTES;
	     done += WORD_BYTES)
		memcpy(place->bytes + done, one->body + done, WORD_BYTES);
}

/* Whether the stream is still that of the thread: a handler may switch coroutines, and another thread
 * go on with this one. A compiler may not keep the address of what a thread has. */
static INLINED bool is_here(uint64_t channel, const struct stream *stream)
{
#if defined(__x86_64__)
	const struct stream *present;

	__asm__ volatile("movq streams_of_thread@gottpoff(%%rip), %0\n\t"
			 "movq %%fs:(%0, %1, 8), %0"
			 : "=&r"(present)
			 : "r"(channel)
			 : "memory");
	return present == stream;
#else
	return streams_of_thread[channel] == stream;
#endif
}

enum appended announce_append(struct stream *stream, const struct appending *record)
{
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		const uint64_t taken = take_number(stream);
		struct announced one;

		if (UNLIKELY(!is_complete(stream, taken))) {
			help(stream);
			continue;
		}
		if (UNLIKELY(!prepare(stream, record, &one)))
			return APPEND_ELSEWHERE;
		one.id = (uint32_t) (taken >> NUMBER_SHIFT);
		if (UNLIKELY(!is_here(record->channel, stream)))
			return APPEND_ELSEWHERE;
		write_down(of_number(stream, one.id), &one);
		compiler_barrier();
		if (UNLIKELY(!is_here(record->channel, stream)))
			return APPEND_ELSEWHERE;
		if (UNLIKELY(!local_compare_exchange(&stream->announcing, taken,
						     taken >> NUMBER_SHIFT << NUMBER_SHIFT |
							     one.id)))
			continue;
		complete(&one);
		stream->last_time = one.time;
		return APPENDED;
	}
	return APPEND_OTHERWISE;
}

/* The body of a record: in memory, of which RECORD_BYTES can be read, in two words, or in a draft, of
 * which DRAFT_SLACK bytes more can be read. */
struct short_body {
	bool is_words;
	bool is_draft;
	uint32_t size;
	const char *bytes;
	uint64_t first;
	uint64_t second;
};

/* In whole words, of which there is room for as many. */
static INLINED void write_down_body(char *to, struct short_body body)
{
	if (body.is_words) {
		memcpy(to, &body.first, sizeof(body.first));
		memcpy(to + sizeof(body.first), &body.second, sizeof(body.second));
	} else if (!body.is_draft) {
		memcpy(to, body.bytes, RECORD_BYTES);
	} else if (body.size <= ANNOUNCED_BYTES) {
		memcpy(to, body.bytes, ANNOUNCED_BYTES);
	}
}

/* The last bytes of what is in memory overlap those before. */
static INLINED void store_half_words(char *to, struct short_body body)
{
	const uint32_t last = body.size - (uint32_t) sizeof(uint64_t);

	if (UNLIKELY(body.size < sizeof(uint64_t))) {
		copy(to, body.bytes, body.size);
		return;
	}
	memcpy(to, body.bytes, sizeof(uint64_t));
	memcpy(to + last, body.bytes + last, sizeof(uint64_t));
}

/* Of at least a word. */
static INLINED void store_draft(char *to, struct short_body body)
{
	const uint32_t last = body.size - WORD_BYTES;

	if (body.size > WIDE_MOST) {
		memcpy(to, body.bytes, body.size);
		return;
	}
	for (uint32_t done = 0; done < last; done += WORD_BYTES)
		memcpy(to + done, body.bytes + done, WORD_BYTES);
	memcpy(to + last, body.bytes + last, WORD_BYTES);
}

/* Like copy(): no byte more. */
static INLINED void store_body(char *to, struct short_body body)
{
	if (body.is_words) {
		memcpy(to, &body.first, sizeof(body.first));
		memcpy(to + sizeof(body.first), &body.second, body.size - sizeof(body.first));
	} else if (body.is_draft && body.size >= WORD_BYTES) {
		store_draft(to, body);
	} else if (body.size < WORD_BYTES) {
		store_half_words(to, body);
	} else {
		memcpy(to, body.bytes, WORD_BYTES);
		if (body.size > 2 * WORD_BYTES)
			memcpy(to + WORD_BYTES, body.bytes + WORD_BYTES, WORD_BYTES);
		memcpy(to + body.size - WORD_BYTES, body.bytes + body.size - WORD_BYTES,
		       WORD_BYTES);
	}
}

/* Append a record with the compact header, if nothing is unusual: the same steps as those of
 * announce_append(), of which less is decided while the program runs. */
static INLINED bool append_short(struct stream *stream, uint32_t class, struct short_body body)
{
	const uint64_t taken = take_number(stream);
	const uint64_t id = taken >> NUMBER_SHIFT;
	struct arena_chunk *chunk = stream->announced;
	struct announcement *place;
	uint64_t time;
	uint32_t start;
	char *to;

	if (UNLIKELY(!is_complete(stream, taken) || !chunk))
		return false;
	start = *(volatile uint32_t *) &chunk->committed;
	time = clock_counter();
	if (UNLIKELY(start + COMPACT_HEADER_SIZE + body.size > stream->limit ||
		     (time - stream->last_time) >> HEADER_TIME_BITS || !is_here(0, stream)))
		return false;
	place = of_number(stream, (uint32_t) id);
	place->record.id = (uint32_t) id;
	compiler_barrier();
	place->record.chunk = chunk;
	place->record.time = time;
	place->record.body = body.bytes;
	place->record.start = start;
	place->record.class = class;
	place->record.header_size = COMPACT_HEADER_SIZE;
	place->record.body_size = body.size;
	write_down_body(place->bytes, body);
	compiler_barrier();
	if (UNLIKELY(!is_here(0, stream)))
		return false;
	if (UNLIKELY(
		    !local_compare_exchange(&stream->announcing, taken, id << NUMBER_SHIFT | id)))
		return false;
	to = (char *) chunk + start;
	write_header(to, COMPACT_HEADER_SIZE, class, time);
	store_body(to + COMPACT_HEADER_SIZE, body);
	commit(chunk, start, start + COMPACT_HEADER_SIZE + body.size, time);
	stream->last_time = time;
	return true;
}

bool announce_append_short(uint32_t owner, uint32_t class, const char *bytes, uint32_t size)
{
	struct stream *stream = streams_of_thread[0];

	return LIKELY(stream && stream->owner == owner) &&
		append_short(stream, class, (struct short_body) {.size = size, .bytes = bytes});
}

bool announce_append_draft(const struct draft *draft)
{
	struct stream *stream = streams_of_thread[0];

	return LIKELY(stream && stream->owner == draft->stream_owner) &&
		append_short(stream, draft->class,
			     (struct short_body) {
				     .is_draft = true,
				     .size = draft->body_size,
				     .bytes = draft->memory,
			     });
}

static INLINED bool append_place(uint32_t class, uint64_t place, uint32_t size)
{
	struct stream *stream = streams_of_thread[0];

	return LIKELY(stream) &&
		append_short(stream, class,
			     (struct short_body) {
				     .is_words = true,
				     .size = size,
				     .first = place << 16 >> 16 | (uint64_t) stream->vpid << 48,
				     .second = place << 16 | stream->vpid >> 16,
			     });
}

bool announce_append_entry(uint32_t class, const void *place)
{
	return append_place(class, (uintptr_t) place, PLACE_SIZE + ID_SIZE + PLACE_SIZE);
}

bool announce_append_exit(uint32_t class, const void *place)
{
	return append_place(class, (uintptr_t) place, PLACE_SIZE + ID_SIZE);
}

void announce_start(struct stream *stream, uint64_t first)
{
	stream->announcing = first << NUMBER_SHIFT;
}

bool announce_is_any(const struct stream *stream)
{
	return !is_complete(stream, look(stream)) || (stream->chunk->flags & CHUNK_DOUBTFUL);
}

void announce_close(struct stream *stream)
{
	uint64_t seen;

	take_number(stream);
	do {
		help(stream);
		seen = look(stream);
	} while (!local_compare_exchange(&stream->announcing, seen,
					 ((seen >> NUMBER_SHIFT) + 1) << NUMBER_SHIFT));
}
