/* Going on to another chunk, and packets of several. */
#include "filling.h"

#include <string.h>

#include "../arena/waiting.h"
#include "../base/clock.h"
#include "../base/system.h"
#include "announce.h"
#include "header.h"
#include "local.h"
#include "section.h"
#include "stream.h"

/* Ticks of the clock, of the order of a millisecond, for which a thread has the name that it was asked
 * for: what it does to change it is seen, but for a system call of its own, and for what others
 * write to /proc. */
#define NAME_HOLDS (UINT64_C(1) << 21)
/* Packets for which it has it at most: a clock of the user's may tick seldom. */
#define NAME_PACKETS 64u

bool filling_is_empty(const struct stream *stream)
{
	return stream->chunk->committed == sizeof(struct arena_chunk) && !stream->keeps;
}

void filling_begin_earlier(uint32_t channel, struct stream *stream, uint64_t time)
{
	const uint64_t begin = time > stream->previous_end ? time : stream->previous_end;

	if (!stream_is_open(channel, stream) || !filling_is_empty(stream) ||
	    begin >= stream->last_time)
		return;
	stream->chunk->packet.timestamp_begin = begin;
	stream->chunk->packet.timestamp_end = begin;
	stream->last_time = begin;
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Asked for each packet, the name would cost as much as all that is copied to it. */
static void ask_name(struct stream *stream, uint64_t now)
{
	if (stream->named && now - stream->named < NAME_HOLDS && stream->ring.seq % NAME_PACKETS)
		return;
	system_thread_name(stream->procname);
	stream->named = now;
}

struct arena_chunk *filling_go_on(struct stream *stream, uint32_t flags)
{
	const uint64_t now = clock_read();
	const uint32_t number = stream->taken[stream->taken_count - 1];
	struct arena_chunk *before = stream->chunk;
	struct arena_chunk *chunk;

	/* Where signals are not blocked, a handler that comes by here finds no room, from the
	 * first store to the last. */
	stream->limit = 0;
	stream->open = NULL;
	stream->announced = NULL;
	compiler_barrier();
	announce_close(stream);
	ask_name(stream, now);
	chunk = chunk_prepare(&stream->ring, number, now);
	chunk->flags = flags;
	chunk->packet.vpid = stream->vpid;
	chunk->packet.vtid = stream->vtid;
	memcpy(chunk->packet.procname, stream->procname, sizeof(chunk->packet.procname));
	if (before)
		/* An interrupted record that somebody completed may store its time again. */
		before->least_end = before->packet.timestamp_end;
	/* A packet that begins earlier, see filling_begin_earlier(), is none with losses in it. */
	stream->previous_end = later(before ? before->packet.timestamp_end : 0,
				     chunk->first_lost ? chunk->last_lost : 0);
	/* A handler that nobody could block, and that took this for gone, may have had a chunk. */
	if (UNLIKELY(chunk->seq != stream->ring.seq + 1))
		return chunk;
	stream->last_time = chunk->packet.timestamp_begin;
	stream->keeps = false;
	stream->chunk = chunk;
	stream->taken_count--;
	chunk_show(&stream->ring, number);
	return chunk;
}

void filling_open(uint32_t channel, struct stream *stream, struct arena_chunk *chunk)
{
	if (UNLIKELY(stream->chunk != chunk))
		return;
	compiler_barrier();
	stream->limit = stream->ring.arena->chunk_bytes;
	/* Where CPUs have rings, the short ways lead to those. */
	if (!stream->cpus.count && section_is_possible())
		stream->open = chunk;
	else if (!stream->cpus.count && settings.counter_is_clock &&
		 !settings.channels[channel].is_overwriting)
		stream->announced = chunk;
	waiting_look_ahead(&stream->ring);
}

uint32_t filling_parts(const struct appending *record)
{
	const uint32_t in_chunk =
		arenas[record->channel].chunk_bytes - (uint32_t) sizeof(struct arena_chunk);

	return (EXTENDED_HEADER_SIZE + record->size + in_chunk - 1) / in_chunk;
}

/* Write a part of a record, as much as goes into a chunk. */
static uint32_t write_part(const struct stream *stream, struct arena_chunk *chunk, uint32_t start,
			   const char *bytes, uint32_t left)
{
	const uint32_t room = stream->ring.arena->chunk_bytes - start;
	const uint32_t size = left < room ? left : room;

	memcpy((char *) chunk + start, bytes, size);
	publish_barrier();
	__atomic_store_n(&chunk->committed, start + size, __ATOMIC_RELEASE);
	return size;
}

struct arena_chunk *filling_write_parts(struct stream *stream, const struct appending *record,
					uint64_t earlier, uint32_t kept)
{
	uint32_t left = filling_parts(record) - 1;
	struct arena_chunk *chunk = filling_go_on(stream, (left ? CHUNK_CONTINUES : 0) | kept);
	uint64_t time;
	uint32_t done;

	if (earlier)
		filling_begin_earlier(record->channel, stream, earlier);
	time = stream->last_time;
	write_header((char *) (chunk + 1), EXTENDED_HEADER_SIZE, record->class, time);
	done = write_part(stream, chunk, sizeof(*chunk) + EXTENDED_HEADER_SIZE, record->body,
			  record->size);
	for (; left; left--) {
		chunk = filling_go_on(stream,
				      CHUNK_CONTINUED | (left > 1 ? CHUNK_CONTINUES : 0) | kept);
		done += write_part(stream, chunk, sizeof(*chunk), record->body + done,
				   record->size - done);
	}
	return filling_go_on(stream, 0);
}
