/* The memory of streams: that of a thread which has ended is for the next one. */
#ifndef VESTIGE_STREAM_MEMORY_H
#define VESTIGE_STREAM_MEMORY_H

#include "draft.h"
#include "notes.h"
#include "state.h"

/* Of a page; a stream has one, and what a child process has as it was comes after. */
extern size_t stream_page_size HIDDEN;

struct beside_stream {
	struct drafts drafts;
	/* Used in the first stream of a thread alone. */
	struct notes notes;
};

static inline struct beside_stream *stream_memory_beside(struct stream *stream)
{
	return (struct beside_stream *) (void *) ((char *) stream + stream_page_size);
}

/* The drafts of its thread. */
static inline struct drafts *stream_memory_drafts(struct stream *stream)
{
	return &stream_memory_beside(stream)->drafts;
}

/* What this thread has noted; NULL as long as it has no stream. */
static inline struct notes *stream_memory_notes(void)
{
	struct stream *stream = first_stream;

	return stream ? &stream_memory_beside(stream)->notes : NULL;
}

/* Make the table of it, for each recording of a channel; false when there is no memory. */
bool stream_memory_start(uint32_t channel, uint32_t slots) HIDDEN;
/* Call a function with each stream that a thread may have; of this recording, or of one before,
 * since a thread keeps that until it records. */
void stream_memory_each(void (*visit)(struct stream *stream, void *data), void *data) HIDDEN;
/* The same with those of a channel. */
void stream_memory_each_of(uint32_t channel, void (*visit)(struct stream *stream, void *data),
			   void *data) HIDDEN;
/* Find memory for the thread that has a slot, filled with zeros; NULL when there is none. Below
 * it is the stack of the slow path. */
struct stream *stream_memory_take(uint32_t channel, uint32_t slot) HIDDEN;
/* The stream of the thread that has a slot, or had it last; NULL when none has. */
struct stream *stream_memory_at(uint32_t channel, uint32_t slot) HIDDEN;
/* A stream goes with a slot from now on. */
void stream_memory_note(uint32_t channel, uint32_t slot, struct stream *stream) HIDDEN;
/* Make memory for threads that come when no more can be had. */
void stream_memory_reserve(void) HIDDEN;

#endif
