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
#include "shared_thread.h"

/* Records dropped at once after a thread found no memory for its stream. */
#define DROPPED_AFTER_FAILURE 1023

/* How many of those are still to come. */
static __thread unsigned int dropping __attribute__((tls_model("initial-exec")));
/* Whether the thread has waited for a slot in vain. */
static __thread bool has_waited __attribute__((tls_model("initial-exec")));
/* How often slots had moved when a thread of this process or of its parent did so. */
#define SOMEBODY_HAS ((uint64_t) 1 << 32)
static _Atomic uint64_t waited_in_vain[CHANNELS];
/* Whether the thread may do nothing any more that a hook does. */
static __thread bool is_closed __attribute__((tls_model("initial-exec")));
/* Called when a thread has got its first chunk. */
static void (*on_first_chunk)(uint32_t channel);

uint64_t stream_last_time(uint32_t channel)
{
	const struct stream *stream = streams_of_thread[channel];

	return stream_is_open(channel, stream) ? stream->chunk->packet.timestamp_end : 0;
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
static void claim(uint32_t channel, struct stream *stream, uint32_t slot)
{
	struct arena *arena = &arenas[channel];
	struct slot_identity identity = {
		.vpid = process_id(),
		.pid_namespace = process_pid_namespace(),
		.process_start = process_start_time(channel),
	};

	process_thread_name(stream->procname);
	/* A child of vfork() acts as the thread whose memory it has; the lock knows that one. */
	if (system_getpid() == identity.vpid)
		identity.vtid = system_gettid();
	memcpy(identity.procname, stream->procname, sizeof(identity.procname));
	stream->vpid = identity.vpid;
	stream->owner = stream_owner(channel, identity.vpid);
	stream->vtid = slot_claim(arena, slot, &identity);
	/* An interrupted record of the parent must not take an announcement of ours for its own. */
	announce_start(stream, clock_read());
	stream->ring = (struct arena_ring) {
		.arena = arena,
		.slot = arena_slot(arena, slot),
		.ledger = arena_ledger(arena, slot),
		.number = slot,
	};
	cpu_rings_find(channel, stream);
}

void stream_give_up(uint32_t channel, uint32_t slot)
{
	slot_give(&arenas[channel], slot);
	dropping = DROPPED_AFTER_FAILURE;
}

void stream_begin(uint32_t channel, struct stream *stream, uint32_t slot)
{
	dropping = 0;
	has_waited = false;
	if (streams_of_thread[channel])
		forget(stream);
	claim(channel, stream, slot);
	streams_of_thread[channel] = stream;
	if (!first_stream)
		first_stream = stream;
	perf_counter_attend();
}

bool stream_is_closed(void)
{
	return is_closed;
}

bool stream_cannot_begin(uint32_t channel)
{
	if (dropping) {
		dropping--;
		return true;
	}
	if (!has_waited || slot_is_free(&arenas[channel]))
		return false;
	/* The collector frees those of threads that have ended. */
	waiting_ring_bell(&arenas[channel]);
	return true;
}

/* The next thread waits only if slots have moved since one has waited in vain: a server that makes
 * a thread or a child for each request would else be held for the whole time by each. */
bool stream_wait_for_slot(uint32_t channel)
{
	const struct arena *arena = &arenas[channel];

	if (has_waited)
		return false;
	has_waited = atomic_load_explicit(&waited_in_vain[channel], memory_order_relaxed) ==
			(SOMEBODY_HAS | waiting_slot_changes(arena)) ||
		!waiting_for_slot(arena);
	if (has_waited)
		atomic_store_explicit(&waited_in_vain[channel],
				      SOMEBODY_HAS | waiting_slot_changes(arena),
				      memory_order_relaxed);
	return !has_waited;
}

void stream_tell_first_chunk(uint32_t channel)
{
	on_first_chunk(channel);
}

void stream_count_lost(uint32_t channel)
{
	const struct stream *stream = streams_of_thread[channel];

	/* Where the counter may not be read, the thread has no stream either. */
	if (stream && !stream_needs_slot(channel, stream))
		slot_count_lost(stream->ring.slot, clock_read());
	else
		arena_count_lost(&arenas[channel]);
}

void stream_leave(void)
{
	/* Its chunks stay where they are; the collector finds them when the thread has ended. */
	is_closed = true;
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		streams_of_thread[channel] = NULL;
	first_stream = NULL;
}

void stream_rename(const char *name)
{
	/* A handler may go on to another chunk, and the present one be another thread's then. */
	const signals before = system_block_signals();

	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		struct stream *stream = streams_of_thread[channel];

		if (!stream || stream_needs_slot(channel, stream))
			continue;
		strncpy(stream->procname, name, PROCNAME_SIZE - 1);
		if (stream_is_open(channel, stream) && !system_is_confined)
			memcpy(stream->chunk->packet.procname, stream->procname,
			       sizeof(stream->chunk->packet.procname));
	}
	system_restore_signals(before);
}

void stream_before_fork(void)
{
	struct notes *notes = shared_thread_notes();

	if (!notes)
		return;
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		const struct stream *stream = streams_of_thread[channel];

		/* Or completed by another record, and it may go on late. */
		notes->before_fork.interrupted_chunks[channel] =
			stream_is_open(channel, stream) && announce_is_any(stream)
			? stream->ring.chunk
			: 0;
	}
}

void stream_after_fork(void)
{
	struct notes *notes = stream_memory_notes();

	if (!notes)
		return;
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		const struct stream *stream = streams_of_thread[channel];
		const uint32_t chunk = notes->before_fork.interrupted_chunks[channel];

		if (!stream || !stream_needs_slot(channel, stream))
			continue;
		/* A handler that interrupted a hook may have forked. In the child, the hook goes
		 * on: it finds memory in place of the parent's chunk. Where that cannot be had,
		 * the child does not record. */
		if (chunk && !arena_set_aside(&arenas[channel], chunk))
			settings_stop();
		notes->before_fork.interrupted_chunks[channel] = 0;
	}
}

void streams_confine(void)
{
	stream_memory_reserve();
	waiting_confine();
}

bool streams_start(uint32_t channel, void (*first_chunk)(uint32_t channel))
{
	on_first_chunk = first_chunk;
	section_start();
	if (channel == 0)
		cpu_section_is_usual = section_area && cpu_rings_are_there(channel);
	slots_start();
	return stream_memory_start(channel, arenas[channel].slot_count);
}

static void end_stream(struct stream *stream, void *unused)
{
	(void) unused;
	__atomic_store_n(&stream->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->open, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->announced, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->cpus.count, 0, __ATOMIC_RELAXED);
}

bool streams_end(uint32_t channel)
{
	if (!process_wait_for_recording(channel))
		return false;
	/* Nobody opens one any more: threads look for room, and find that nothing is recorded. */
	stream_memory_each_of(channel, end_stream, NULL);
	return true;
}
