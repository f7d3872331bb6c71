/* Data streams: their beginning and their end. */
#ifndef VESTIGE_STREAM_STREAM_H
#define VESTIGE_STREAM_STREAM_H

#include "state.h"

/* Whether the stream has a chunk, of this process and this recording. */
static inline bool stream_is_open(uint32_t channel, const struct stream *stream)
{
	return stream && stream->ring.chunk && !stream_is_stale(channel, stream);
}

/* Whether fork() has filled the stream with zeros, or it is of another recording. */
static inline bool stream_needs_slot(uint32_t channel, const struct stream *stream)
{
	return stream && (!stream->ring.slot || stream_is_stale(channel, stream));
}

/* Whether fork() has filled the stream of the thread with zeros, and it has none yet. */
static inline bool stream_is_of_child(uint32_t channel)
{
	const struct stream *stream = streams_of_thread[channel];

	return stream && !stream->owner;
}

/* Give a slot back for which there is no memory. */
void stream_give_up(uint32_t channel, uint32_t slot) HIDDEN;
/* Make a stream the thread's, with a slot that was taken for it. */
void stream_begin(uint32_t channel, struct stream *stream, uint32_t slot) HIDDEN;
/* Wait for a slot, where signals are not blocked; false when there is none, and at once after that
 * until there is. */
bool stream_wait_for_slot(uint32_t channel) HIDDEN;
/* Whether there is neither now, as far as that can be found out without a system call. */
bool stream_cannot_begin(uint32_t channel) HIDDEN;
/* Whether the thread has left, see stream_leave(). */
bool stream_is_closed(void) HIDDEN;
/* The thread has its first chunk. */
void stream_tell_first_chunk(uint32_t channel) HIDDEN;
/* Before fork(), and in the child, in the only thread that it has. */
void stream_before_fork(void) HIDDEN;
void stream_after_fork(void) HIDDEN;
/* Let the thread have no streams any more: what it does is counted as lost. */
void stream_leave(void) HIDDEN;
/* The thread has another name; so has the packet that it fills. */
void stream_rename(const char *name) HIDDEN;
/* Before the program filters its system calls: make what new threads will need. */
void streams_confine(void) HIDDEN;
/* After settings_stop_channel(): let no record come into a chunk any more, but those that threads append
 * at this moment. False if another recording must not begin, since a thread may be in the middle
 * of taking chunks from this one. */
bool streams_end(uint32_t channel) HIDDEN;
/* Make what streams need, for each recording; false when there is no memory. The function is called when a
 * thread has got its first chunk, in each process, and may make records. */
bool streams_start(uint32_t channel, void (*first_chunk)(uint32_t channel)) HIDDEN;
/* No record of the thread has come after this time. */
uint64_t stream_last_time(uint32_t channel) HIDDEN;
/* Count a record of the thread that found no place. */
void stream_count_lost(uint32_t channel) HIDDEN __attribute__((noinline, cold));

#endif
