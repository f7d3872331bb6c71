/* Records that are reserved and not yet committed, when there is more than one. */
#ifndef VESTIGE_STREAM_PENDING_H
#define VESTIGE_STREAM_PENDING_H

#include "state.h"

/* Whether a record is reserved and not committed. */
static inline bool pending_is_any(const struct stream *stream)
{
	return stream->chunk->committed != bytes_before(stream->chunk, stream->next);
}

/* Commit the records behind one that is committed. */
void pending_commit_behind(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* Before a record is reserved while another is pending. Find out whether that one was
 * abandoned, and put a filler in its place if so. Returns the generation, or another number
 * where the record must have another chunk. */
uint64_t pending_nest(struct stream *stream, const char *stack) HIDDEN
	__attribute__((noinline, cold));
/* That record was not reserved after all. */
void pending_unnest(struct stream *stream, uint64_t generation) HIDDEN
	__attribute__((noinline, cold));
/* Commit a record that was reserved while another was pending. */
void pending_commit(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* A record that was given up has been written in its place after all. */
void pending_return(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* Bring a chunk to an end, with all signals blocked: what is pending is given up, and what
 * cannot be told is counted. */
void pending_end(struct stream *stream) HIDDEN;

#endif
