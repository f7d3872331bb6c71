/* The slow path of data streams: their first chunk, and what to do when a chunk is full. */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <string.h>

#include "../arena/slot.h"
#include "../arena/waiting.h"
#include "../base/clock.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "announce.h"
#include "header.h"
#include "local.h"
#include "memory.h"
#include "perf_counter.h"
#include "scratch.h"
#include "section.h"
#include "shared_thread.h"

/* Records dropped at once after a thread found no memory for its stream. */
#define DROPPED_AFTER_FAILURE 1023

static void meet(void);

__thread struct vestige_thread stream_thread __attribute__((tls_model("initial-exec"))) = {
	.meet = meet,
};
/* Where the stack was when the thread came in here: what is instrumented and called from here is
 * not traced. NULL: it is not here. */
static __thread const char *busy __attribute__((tls_model("initial-exec")));
/* How many of those are still to come. */
static __thread unsigned int dropping __attribute__((tls_model("initial-exec")));
/* Whether the thread may do nothing any more that a hook does. */
static __thread bool is_closed __attribute__((tls_model("initial-exec")));
/* The chunk in which a record is announced while the thread forks; 0: none is. */
static __thread uint32_t interrupted_chunk __attribute__((tls_model("initial-exec")));
/* Called when a thread has got its first chunk. */
static void (*on_first_chunk)(void);

/* Whether the stream has a chunk, of this process. */
static bool is_open(const struct stream *stream)
{
	return stream && stream->ring.chunk;
}

/* Whether fork() has filled the stream with zeros. */
static bool is_new_process(const struct stream *stream)
{
	return stream && !stream->ring.slot;
}

static bool is_empty(const struct stream *stream)
{
	return stream->chunk->committed == sizeof(struct arena_chunk) && !stream->keeps;
}

void stream_begin_earlier(struct stream *stream, uint64_t time)
{
	const uint64_t begin = time > stream->previous_end ? time : stream->previous_end;

	if (!is_open(stream) || !is_empty(stream) || begin >= stream->last_time)
		return;
	stream->chunk->packet.timestamp_begin = begin;
	stream->chunk->packet.timestamp_end = begin;
	stream->last_time = begin;
}

uint64_t stream_last_time(void)
{
	const struct stream *stream = stream_of_thread;

	return is_open(stream) ? stream->chunk->packet.timestamp_end : 0;
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/*
 * Go on to a chunk that was taken.
 *
 * Where signals are not blocked, since the program filters its system calls, a handler that
 * comes by here finds no room, from the first store to the last.
 */
static struct arena_chunk *install(struct stream *stream, uint32_t flags)
{
	const uint32_t number = stream->taken[stream->taken_count - 1];
	struct arena_chunk *before = stream->chunk;
	struct arena_chunk *chunk;

	stream->limit = 0;
	stream->open = NULL;
	compiler_barrier();
	announce_close(stream);
	system_thread_name(stream->procname);
	chunk = chunk_prepare(&stream->ring, number, clock_read());
	chunk->flags = flags;
	chunk->packet.vpid = stream->vpid;
	chunk->packet.vtid = stream->vtid;
	memcpy(chunk->packet.procname, stream->procname, sizeof(chunk->packet.procname));
	if (before)
		/* An interrupted record that somebody completed may store its time again. */
		before->least_end = before->packet.timestamp_end;
	/* A packet that begins earlier, see stream_begin_earlier(), is none with losses in it. */
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

/* Let records come into a chunk that was installed. */
static void open_chunk(struct stream *stream, struct arena_chunk *chunk)
{
	if (UNLIKELY(stream->chunk != chunk))
		return;
	compiler_barrier();
	stream->limit = arena.chunk_bytes;
	stream->open = section_is_possible() ? chunk : NULL;
	waiting_look_ahead(&stream->ring);
}

/* Claim the slot that was taken for this thread. */
static void claim(struct stream *stream, uint32_t slot)
{
	struct slot_identity identity = {
		.vpid = process_id(),
		.pid_namespace = process_pid_namespace(),
		.process_start = process_start_time(),
	};

	process_thread_name(stream->procname);
	/* A child of vfork() acts as the thread whose memory it has; the lock knows that one. */
	if (system_getpid() == identity.vpid)
		identity.vtid = system_gettid();
	memcpy(identity.procname, stream->procname, sizeof(identity.procname));
	stream->vpid = identity.vpid;
	stream->vtid = slot_claim(slot, &identity);
	/* An interrupted record of the parent must not take an announcement of ours for its own. */
	announce_start(stream, clock_read());
	stream->ring = (struct arena_ring) {
		.slot = arena_slot(slot),
		.ledger = arena_ledger(slot),
		.number = slot,
	};
	perf_counter_attend();
}

/* Give the thread a stream, or its stream a slot in a child process; NULL when there is no
 * slot, or no memory. */
static struct stream *open_stream(struct stream *stream)
{
	const uint32_t slot = slot_take();

	if (!slot)
		return NULL;
	if (stream)
		stream_memory_note(slot, stream);
	else
		stream = stream_memory_take(slot);
	if (!stream) {
		slot_give(slot);
		dropping = DROPPED_AFTER_FAILURE;
		return NULL;
	}
	dropping = 0;
	claim(stream, slot);
	stream_thread.passage = &stream->passage;
	return stream;
}

struct room {
	struct stream *stream;
	size_t size;
	/* The chunk that had none. */
	uint64_t seq;
	/* A record that needs several chunks, and how many with the one after; or NULL, and one. */
	const struct appending *record;
	uint64_t earlier;
	bool is_kept;
	uint32_t chunks;
	struct stream *found;
	bool must_wait;
};

/* Write a part of a record, as much as goes into a chunk. */
static uint32_t write_part(struct arena_chunk *chunk, uint32_t start, const char *bytes,
			   uint32_t left)
{
	const uint32_t size = left < arena.chunk_bytes - start ? left : arena.chunk_bytes - start;

	memcpy((char *) chunk + start, bytes, size);
	publish_barrier();
	__atomic_store_n(&chunk->committed, start + size, __ATOMIC_RELEASE);
	return size;
}

/*
 * Write a record to as many chunks as it needs, which are one packet, and go on to another. When
 * the last of them has bytes, the record is complete.
 */
static struct arena_chunk *write_parts(struct stream *stream, const struct room *room)
{
	const struct appending *record = room->record;
	const uint32_t kept = room->is_kept ? CHUNK_KEEP : 0;
	uint32_t left = room->chunks - 2;
	struct arena_chunk *chunk = install(stream, (left ? CHUNK_CONTINUES : 0) | kept);
	uint64_t time;
	uint32_t done;

	if (room->earlier)
		stream_begin_earlier(stream, room->earlier);
	time = stream->last_time;
	write_header((char *) (chunk + 1), EXTENDED_HEADER_SIZE, record->class, time);
	done = write_part(chunk, sizeof(*chunk) + EXTENDED_HEADER_SIZE, record->body,
			  record->size);
	for (; left; left--) {
		chunk = install(stream,
				CHUNK_CONTINUED | (left > 1 ? CHUNK_CONTINUES : 0) | kept);
		done += write_part(chunk, sizeof(*chunk), record->body + done,
				   record->size - done);
	}
	return install(stream, 0);
}

/* What is done on a stack of our own, where there is one. */
static void make_room(void *argument)
{
	struct room *room = argument;
	struct stream *stream = room->stream;
	const bool is_first = !is_open(stream);
	const char *before = busy;

	room->must_wait = false;
	/* A handler that ran while we waited may have got us a chunk. */
	if (!room->record && !is_first && stream->ring.seq != room->seq &&
	    stream_has_room(stream, room->size)) {
		room->found = stream;
		return;
	}
	/* A handler that nobody could block may have jumped away since some were taken. */
	while (stream->taken_count < room->chunks) {
		const uint32_t number = chunk_take(&stream->ring);

		if (!number) {
			room->must_wait = true;
			return;
		}
		stream->taken[stream->taken_count] = number;
		stream->taken_count++;
	}
	open_chunk(stream, room->record ? write_parts(stream, room) : install(stream, 0));
	room->found = stream;
	if (!is_first)
		return;
	/* The state dump makes records. */
	busy = NULL;
	on_first_chunk();
	busy = before;
}

/* Whether we are on the stack of the slow path already. */
static bool is_on_scratch(const struct stream *stream, const char *stack)
{
	return stack < (const char *) stream && stack >= (const char *) stream - SCRATCH_SIZE;
}

/* Look for a chunk, with signals blocked. */
static void look_for_room(struct room *room)
{
	/* A handler may leave by siglongjmp(): none runs while we are busy. */
	const signals before = system_block_signals();

	busy = stack_pointer();
	/* A coroutine may have been taken to another thread before. */
	room->stream = stream_of_thread;
	if (!room->stream || is_new_process(room->stream)) {
		room->stream = open_stream(room->stream);
		stream_of_thread = room->stream ? room->stream : stream_of_thread;
	}
	if (!room->stream)
		room->must_wait = false;
	else if (system_is_confined || is_on_scratch(room->stream, stack_pointer()))
		/* Handlers may run, and may need more than our stack has. */
		make_room(room);
	else
		scratch_call((char *) room->stream, make_room, room);
	busy = NULL;
	system_restore_signals(before);
}

/* Whether the thread is in here, further up on the stack. A handler that nobody could block may
 * have jumped away from here. */
static bool is_busy(const struct stream *stream)
{
	const char *stack = stack_pointer();

	if (busy && stack >= busy && !(stream && is_on_scratch(stream, stack)) &&
	    !system_is_on_signal_stack())
		busy = NULL;
	return busy;
}

/* Whether there is no hope that looking for room finds any; that is found out without a system
 * call, since it comes with each record. */
static bool is_vain(const struct stream *stream, size_t size)
{
	if (is_busy(stream) || is_closed || size + sizeof(struct arena_chunk) > arena.chunk_bytes)
		return true;
	if (stream && !is_new_process(stream))
		return waiting_is_vain(&stream->ring);
	if (dropping) {
		dropping--;
		return true;
	}
	if (slot_is_free())
		return false;
	/* The collector frees those of threads that have ended. */
	waiting_ring_bell();
	return true;
}

static struct stream *find_room(struct room *room)
{
	/* Where the stack of the program ends, its handler runs before signals are blocked. */
	volatile char touched[512] __attribute__((unused));
	const int saved = errno;
	struct stream *stream = room->stream;

	touched[0] = 0;
	if (UNLIKELY(!is_open(stream) && !process_is_followed()))
		settings_stop();
	if (!settings.is_recording)
		return NULL;
	if (shared_thread_is_paused(&stream_of_thread))
		goto lost;
	if (!stream && stream_of_thread)
		return stream_of_thread;
	if (UNLIKELY(waiting_is_closed())) {
		settings_stop();
		return NULL;
	}
	if (is_vain(stream, room->size))
		goto lost;
	room->seq = stream ? stream->ring.seq : 0;
	do
		look_for_room(room);
	while (room->must_wait && waiting_for_chunk(&room->stream->ring));
lost:
	if (!room->found)
		stream_count_lost(stream_of_thread);
	errno = saved;
	return room->found;
}

struct stream *stream_make_room(struct stream *stream, size_t size)
{
	struct room room = {.stream = stream, .size = size, .chunks = 1};

	return find_room(&room);
}

bool stream_append_parts(const struct appending *record, uint64_t earlier, bool is_kept)
{
	const uint32_t in_chunk = arena.chunk_bytes - (uint32_t) sizeof(struct arena_chunk);
	struct room room = {
		.stream = stream_of_thread,
		.record = record,
		.earlier = earlier,
		.is_kept = is_kept,
		/* One more, so that this packet is complete at once. */
		.chunks = (EXTENDED_HEADER_SIZE + record->size + in_chunk - 1) / in_chunk + 1,
	};

	/* The present chunk is one of those that the thread may have. */
	if (room.chunks < arena.ring_chunks)
		return find_room(&room);
	stream_count_lost(room.stream);
	return false;
}

/* What has no stream records nothing. */
static void meet(void)
{
	stream_make_room(NULL, EXTENDED_HEADER_SIZE);
}

bool stream_keep(struct stream *stream, size_t size)
{
	if (!is_open(stream))
		return true;
	if (!stream->keeps && !is_empty(stream) && !stream_make_room(stream, size))
		return false;
	stream->keeps = true;
	stream->chunk->flags |= CHUNK_KEEP;
	stream->limit = arena.chunk_bytes;
	return true;
}

void stream_limit(struct stream *stream)
{
	/* A handler that goes on to another chunk has another limit. */
	const signals before = system_block_signals();

	if (stream && stream->keeps)
		stream->limit = stream->chunk->committed;
	system_restore_signals(before);
}

void stream_count_lost(struct stream *stream)
{
	/* Where the counter may not be read, the thread has no stream either. */
	if (stream && !is_new_process(stream))
		slot_count_lost(stream->ring.slot, clock_read());
	else
		arena_count_lost();
}

void stream_leave(void)
{
	/* Its chunk stays where it is; the collector finds it when the thread has ended. */
	is_closed = true;
	stream_of_thread = NULL;
}

void stream_rename(const char *name)
{
	struct stream *stream = stream_of_thread;

	if (stream && !is_new_process(stream))
		strncpy(stream->procname, name, PROCNAME_SIZE - 1);
}

void stream_before_fork(void)
{
	const struct stream *stream = stream_of_thread;

	/* Or completed by another record, and it may go on late. */
	interrupted_chunk = is_open(stream) && announce_is_any(stream) ? stream->ring.chunk : 0;
}

void stream_after_fork(void)
{
	struct stream *stream = stream_of_thread;

	if (!stream || !is_new_process(stream))
		return;
	/* A handler that interrupted a hook may have forked. In the child, the hook goes on: it
	 * finds memory in place of the parent's chunk. Where that cannot be had, the child does
	 * not record. */
	if (interrupted_chunk && !arena_set_aside(interrupted_chunk))
		settings_stop();
	interrupted_chunk = 0;
}

void streams_confine(void)
{
	stream_memory_reserve();
	waiting_confine();
}

bool streams_start(void (*first_chunk)(void))
{
	on_first_chunk = first_chunk;
	section_start();
	slots_start();
	return stream_memory_start(arena.slot_count);
}
