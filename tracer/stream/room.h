/* Making room for records: chunks come and go. */
#ifndef VESTIGE_STREAM_ROOM_H
#define VESTIGE_STREAM_ROOM_H

#include "../base/settings.h"
#include "appending.h"
#include "memory.h"
#include "state.h"

/* What a thread has for tracepoints whose provider may be unloaded, see passage.h. */
extern __thread struct vestige_thread stream_thread HIDDEN
	__attribute__((tls_model("initial-exec")));

/* Make room for a record in another chunk, or in the first; NULL when it is dropped. The stream is
 * that of the thread for the channel. */
struct stream *stream_make_room(uint32_t channel, struct stream *stream, size_t size) HIDDEN
	__attribute__((noinline, cold));
/* The same in its own ring, though CPUs have rings. */
struct stream *stream_make_own_room(uint32_t channel, struct stream *stream, size_t size) HIDDEN
	__attribute__((noinline, cold));
/* Let the thread have a stream, which may have no chunk yet, without a record; NULL when there is
 * none. */
struct stream *stream_meet(uint32_t channel) HIDDEN __attribute__((noinline, cold));
/* The same for all channels. */
void streams_meet(void) HIDDEN __attribute__((noinline, cold));
/* Let the thread have a stream that takes nothing from the pool, if it has none: only for its notes. */
void stream_meet_notes(void) HIDDEN __attribute__((noinline, cold));

/* What this thread has noted, or can note from now on; NULL where it cannot record. */
static inline struct notes *room_notes(void)
{
	/* Nothing is recorded where tracepoints are passed for triggers alone. */
	if (UNLIKELY(!first_stream) && settings.is_recording)
		stream_meet_notes();
	return stream_memory_notes();
}
/* Append a record that no chunk has room for, as a packet of several; false when it is lost. */
bool stream_append_parts(const struct appending *record, uint64_t earlier, bool is_kept) HIDDEN
	__attribute__((noinline, cold));
/* In overwrite mode, see to it that the next record comes into a chunk that stays. */
bool stream_keep(uint32_t channel, struct stream *stream, size_t size) HIDDEN
	__attribute__((noinline, cold));
/* Let nothing more come into a chunk that stays, but what is kept. */
void stream_limit(struct stream *stream) HIDDEN __attribute__((noinline, cold));

#endif
