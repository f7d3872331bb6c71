/* Making room for records: the slow path of data streams. */
#define _GNU_SOURCE
#include "room.h"

#include <errno.h>

#include "../arena/slot.h"
#include "../arena/waiting.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "cpu_ring.h"
#include "filling.h"
#include "local.h"
#include "lone.h"
#include "memory.h"
#include "scratch.h"
#include "shared_thread.h"
#include "stream.h"

/* What is used of a stack until signals are blocked, at most, and of that for a function's own. */
#define TOUCHED_BYTES 512u
#define FRAME_BYTES 256u
#define LEAST_PAGE 4096u

static void meet(void);

__thread struct vestige_thread stream_thread __attribute__((tls_model("initial-exec"))) = {
	.meet = meet,
};
/* Where the stack was when the thread came in here: what is instrumented and called from here is
 * not traced. NULL: it is not here. */
static __thread const char *busy __attribute__((tls_model("initial-exec")));

struct room {
	uint32_t channel;
	struct stream *stream;
	/* A slot that was taken for it; 0: it has one. */
	uint32_t slot;
	size_t size;
	/* The chunk that had none. */
	uint64_t seq;
	/* A record that needs several chunks, and how many with the one after; or NULL, and one. */
	const struct appending *record;
	uint64_t earlier;
	bool is_kept;
	/* Not in the ring of a CPU. */
	bool is_own;
	/* No record: what cannot be recorded is counted when it comes. */
	bool is_meeting;
	/* Nor a chunk. */
	bool is_for_notes;
	uint32_t chunks;
	struct stream *found;
	/* The one in which there is no room yet. */
	struct arena_ring *full;
	/* No slot was free, and how often one was thought to be. */
	bool lacks_slot;
	unsigned int attempts;
};

/* Others may be faster; and whoever may write to the arena can make it look as if a slot were
 * free. */
#define MOST_ATTEMPTS 100u

/* Whether a stream has told that its thread records. */
static bool has_begun(uint32_t channel, const struct stream *stream)
{
	return stream && stream->is_told && !stream_is_stale(channel, stream);
}

/* Tell that the thread records, if it has not. */
static void tell(uint32_t channel, struct stream *stream)
{
	const char *before = busy;

	if (stream->is_told)
		return;
	stream->is_told = true;
	/* The state dump makes records. */
	busy = NULL;
	stream_tell_first_chunk(channel);
	busy = before;
}

/* See to it that the ring of the CPU has room; false when that of the thread has to do. */
static bool make_room_on_cpu(struct room *room)
{
	struct stream *stream = room->stream;

	if (!stream->cpus.count || room->is_own || room->record)
		return false;
	switch (cpu_ring_make_room(stream, room->size)) {
	case CPU_ROOM_MADE:
		room->found = stream;
		tell(room->channel, stream);
		return true;
	case CPU_ROOM_LATER:
		room->full = &stream->cpu_ring;
		return true;
	default:
		return false;
	}
}

/* What is done on a stack of our own, where there is one. */
static void make_room(void *argument)
{
	struct room *room = argument;
	struct stream *stream = room->stream;
	bool is_first;

	if (room->slot) {
		stream_begin(room->channel, stream, room->slot);
		stream_thread.passage = &first_stream->passage;
	}
	room->full = NULL;
	if (room->is_for_notes)
		return;
	is_first = !stream_is_open(room->channel, stream);
	/* What is recorded once more into the same memory finds its slot, and no rings. */
	if (!stream->cpus.count)
		cpu_rings_find(room->channel, stream);
	if (make_room_on_cpu(room))
		return;
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
			room->full = &stream->ring;
			return;
		}
		stream->taken[stream->taken_count] = number;
		stream->taken_count++;
	}
	filling_open(room->channel, stream,
		     room->record ? filling_write_parts(stream, room->record, room->earlier,
							room->is_kept ? CHUNK_KEEP : 0)
				  : filling_go_on(stream, 0));
	room->found = stream;
	tell(room->channel, stream);
}

/* Whether we are on the stack of the slow path already. */
static bool is_on_scratch(const struct stream *stream, const char *stack)
{
	return stack < (const char *) stream && stack >= (const char *) stream - SCRATCH_SIZE;
}

/* Take a slot for the stream of the thread, and memory for that if it has none. All else is done on
 * a stack of our own, which is in that memory: a handler may have little of its own. */
static INLINED void take_stream(struct room *room)
{
	room->slot = slot_take(&arenas[room->channel]);
	room->lacks_slot = !room->slot;
	if (!room->slot)
		room->stream = NULL;
	else if (room->stream)
		stream_memory_note(room->channel, room->slot, room->stream);
	else
		room->stream = stream_memory_take(room->channel, room->slot);
	if (room->slot && !room->stream)
		stream_give_up(room->channel, room->slot);
}

/* Look for a chunk, with signals blocked. */
static void look_for_room(struct room *room)
{
	/* A handler may leave by siglongjmp(): none runs while we are busy. */
	const signals before = system_block_signals();

	room->full = NULL;
	room->lacks_slot = false;
	room->slot = 0;
	if (!process_enter_recording(room->channel)) {
		system_restore_signals(before);
		return;
	}
	busy = stack_pointer();
	/* A coroutine may have been taken to another thread before. */
	room->stream = streams_of_thread[room->channel];
	if (!room->stream || stream_needs_slot(room->channel, room->stream))
		take_stream(room);
	if (room->stream && (system_is_confined || is_on_scratch(room->stream, stack_pointer())))
		/* Handlers may run, and may need more than our stack has. */
		make_room(room);
	else if (room->stream)
		scratch_call((char *) room->stream, make_room, room);
	busy = NULL;
	process_leave_recording(room->channel);
	system_restore_signals(before);
}

/* Whether the thread is in here, further up on the stack. A handler that nobody could block may
 * have jumped away from here. */
static APART bool is_busy(const struct stream *stream)
{
	const char *stack = stack_pointer();

	if (busy && stack >= busy && !(stream && is_on_scratch(stream, stack)) &&
	    !system_is_on_signal_stack())
		busy = NULL;
	return busy;
}

/* Whether there is no hope that looking for room finds any; that is found out without a system
 * call, since it comes with each record. */
static bool is_vain(const struct room *room)
{
	const struct stream *stream = room->stream;

	if (is_busy(stream) || stream_is_closed() ||
	    room->size + sizeof(struct arena_chunk) > arenas[room->channel].chunk_bytes)
		return true;
	if (stream && stream->cpus.count && !room->is_own)
		return cpu_ring_is_vain(stream);
	if (stream && !stream_needs_slot(room->channel, stream))
		return waiting_is_vain(&stream->ring);
	return stream_cannot_begin(room->channel);
}

/* Stop, if it is still this recording that was closed. */
static APART void stop_if_closed(uint32_t channel)
{
	const signals before = system_block_signals();

	if (process_enter_recording(channel)) {
		if (waiting_is_closed(&arenas[channel]))
			settings_stop_channel(channel);
		process_leave_recording(channel);
	}
	system_restore_signals(before);
}

/* Where the stack of the program ends, its handler runs before signals are blocked. A handler has
 * a stack that may be small, and nothing that runs when it ends. */
static APART void touch_stack(void)
{
	volatile char touched[TOUCHED_BYTES] __attribute__((unused));

	touched[0] = 0;
}

/* Whether that is another page than the one where the stack is, for all that one can tell. */
static bool is_near_other_page(void)
{
	return (uintptr_t) stack_pointer() % LEAST_PAGE < TOUCHED_BYTES + FRAME_BYTES;
}

static APART bool is_on_small_stack(void)
{
	return system_is_on_signal_stack();
}

/* Wait for what is missing, where signals are not blocked; false when nothing came. */
static bool wait_for_more(struct room *room)
{
	if (room->full)
		return waiting_for_chunk(room->full);
	return room->lacks_slot && room->attempts++ < MOST_ATTEMPTS &&
		stream_wait_for_slot(room->channel);
}

static struct stream *find_room(struct room *room)
{
	const int saved = errno;
	struct stream *stream = room->stream;
	const uint32_t channel = room->channel;
	const volatile bool *is_recording = &settings.channels[channel].is_recording;

	if (UNLIKELY(!has_begun(channel, stream) && !process_is_followed()))
		settings_stop();
	if (!*is_recording)
		return NULL;
	if (shared_thread_is_paused())
		goto lost;
	if (!stream && streams_of_thread[channel])
		return streams_of_thread[channel];
	if (UNLIKELY(waiting_is_closed(&arenas[channel]))) {
		stop_if_closed(channel);
		return NULL;
	}
	if (is_vain(room))
		goto lost;
	/* As a rule, no system call is needed to find out. */
	if (is_near_other_page() && !system_is_confined && !is_on_small_stack())
		touch_stack();
	room->seq = stream ? stream->ring.seq : 0;
	do
		look_for_room(room);
	while (*is_recording && wait_for_more(room));
lost:
	if (!room->found && !room->is_meeting && *is_recording)
		stream_count_lost(channel);
	errno = saved;
	return room->found;
}

struct stream *stream_make_room(uint32_t channel, struct stream *stream, size_t size)
{
	struct room room = {.channel = channel, .stream = stream, .size = size, .chunks = 1};

	return find_room(&room);
}

struct stream *stream_make_own_room(uint32_t channel, struct stream *stream, size_t size)
{
	struct room room = {
		.channel = channel,
		.stream = stream,
		.size = size,
		.is_own = true,
		.chunks = 1,
	};

	return find_room(&room);
}

bool stream_append_parts(const struct appending *record, uint64_t earlier, bool is_kept)
{
	struct room room = {
		.channel = record->channel,
		.stream = streams_of_thread[record->channel],
		.record = record,
		.earlier = earlier,
		.is_kept = is_kept,
		/* One more, so that this packet is complete at once. */
		.chunks = filling_parts(record) + 1,
	};

	/* The present chunk is one of those that the thread may have. */
	if (room.chunks < arenas[room.channel].ring_chunks)
		return find_room(&room);
	stream_count_lost(room.channel);
	return false;
}

struct stream *stream_meet(uint32_t channel)
{
	struct room room = {
		.channel = channel,
		.size = EXTENDED_HEADER_SIZE,
		.is_meeting = true,
		.chunks = 1,
	};

	if (!streams_of_thread[channel])
		find_room(&room);
	return streams_of_thread[channel];
}

void streams_meet(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (settings.channels[channel].is_recording)
			stream_meet(channel);
}

void stream_meet_notes(void)
{
	for (uint32_t channel = 0; channel < CHANNELS && !first_stream; channel++) {
		struct room room = {
			.channel = channel,
			.size = EXTENDED_HEADER_SIZE,
			.is_meeting = true,
			.is_for_notes = true,
		};

		find_room(&room);
	}
}

/* What has no stream records nothing. Where nothing is to be recorded, tracepoints are passed for
 * triggers. */
static void meet(void)
{
	streams_meet();
	if (first_stream)
		return;
	if (!settings.is_recording)
		stream_thread.passage = lone_passage();
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (settings.channels[channel].is_recording)
			stream_count_lost(channel);
}

bool stream_keep(uint32_t channel, struct stream *stream, size_t size)
{
	if (!stream_is_open(channel, stream))
		return true;
	if (!stream->keeps && !filling_is_empty(stream) &&
	    !stream_make_room(channel, stream, size))
		return false;
	stream->keeps = true;
	stream->chunk->flags |= CHUNK_KEEP;
	stream->limit = stream->ring.arena->chunk_bytes;
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
