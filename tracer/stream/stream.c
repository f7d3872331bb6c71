/* Data streams: how a thread gets one, what it has lost, and what becomes of it. */
#include "stream.h"

#include <string.h>

#include "../arena/slot.h"
#include "../arena/waiting.h"
#include "../base/clock.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "announce.h"
#include "cpu_ring.h"
#include "cpu_section.h"
#include "local.h"
#include "memory.h"
#include "perf_counter.h"
#include "section.h"

/* Records dropped at once after a thread found no memory for its stream. */
#define DROPPED_AFTER_FAILURE 1023

/* How many of those are still to come. */
static __thread unsigned int dropping __attribute__((tls_model("initial-exec")));
/* Whether the thread may do nothing any more that a hook does. */
static __thread bool is_closed __attribute__((tls_model("initial-exec")));
/* The chunk in which a record is announced while the thread forks; 0: none is. */
static __thread uint32_t interrupted_chunk __attribute__((tls_model("initial-exec")));
/* Called when a thread has got its first chunk. */
static void (*on_first_chunk)(void);

uint64_t stream_last_time(void)
{
	const struct stream *stream = stream_of_thread;

	return stream_is_open(stream) ? stream->chunk->packet.timestamp_end : 0;
}

/* What the stream has of another recording is nothing any more; where it is does not change, nor
 * whether the thread is in a probe. */
static void forget(struct stream *stream)
{
	stream->limit = 0;
	stream->open = NULL;
	stream->announced = NULL;
	stream->cpus.count = 0;
	compiler_barrier();
	stream->cpu_chunk = 0;
	stream->cpu_ring = (struct arena_ring) {.number = 0};
	stream->is_told = false;
	stream->chunk = NULL;
	stream->taken_count = 0;
	stream->keeps = false;
	stream->last_time = 0;
	stream->previous_end = 0;
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
	stream->owner = stream_owner(identity.vpid);
	stream->vtid = slot_claim(slot, &identity);
	/* An interrupted record of the parent must not take an announcement of ours for its own. */
	announce_start(stream, clock_read());
	stream->ring = (struct arena_ring) {
		.slot = arena_slot(slot),
		.ledger = arena_ledger(slot),
		.number = slot,
	};
	cpu_rings_find(stream);
	perf_counter_attend();
}

struct stream *stream_begin(struct stream *stream)
{
	const uint32_t slot = slot_take();

	if (!slot)
		return NULL;
	if (stream) {
		forget(stream);
		stream_memory_note(slot, stream);
	} else {
		stream = stream_memory_take(slot);
	}
	if (!stream) {
		slot_give(slot);
		dropping = DROPPED_AFTER_FAILURE;
		return NULL;
	}
	dropping = 0;
	claim(stream, slot);
	return stream;
}

bool stream_is_closed(void)
{
	return is_closed;
}

bool stream_cannot_begin(void)
{
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

void stream_tell_first_chunk(void)
{
	on_first_chunk();
}

void stream_count_lost(struct stream *stream)
{
	/* Where the counter may not be read, the thread has no stream either. */
	if (stream && !stream_needs_slot(stream))
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

	if (stream && !stream_needs_slot(stream))
		strncpy(stream->procname, name, PROCNAME_SIZE - 1);
}

void stream_before_fork(void)
{
	const struct stream *stream = stream_of_thread;

	/* Or completed by another record, and it may go on late. */
	interrupted_chunk =
		stream_is_open(stream) && announce_is_any(stream) ? stream->ring.chunk : 0;
}

void stream_after_fork(void)
{
	struct stream *stream = stream_of_thread;

	if (!stream || !stream_needs_slot(stream))
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
	cpu_section_is_usual = section_area && cpu_rings_are_there();
	slots_start();
	return stream_memory_start(arena.slot_count);
}

static void end_stream(struct stream *stream, void *unused)
{
	(void) unused;
	__atomic_store_n(&stream->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->open, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->announced, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->cpus.count, 0, __ATOMIC_RELAXED);
}

bool streams_end(void)
{
	if (!process_wait_for_recording())
		return false;
	/* Nobody opens one any more: threads look for room, and find that nothing is recorded. */
	stream_memory_each(end_stream, NULL);
	return true;
}
