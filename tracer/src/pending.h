/* Records that are reserved and not yet committed, when there is more than one. */
#ifndef VESTIGE_PENDING_H
#define VESTIGE_PENDING_H

#include "stream.h"

/* Whether a record is reserved and not committed. */
static inline bool pending_is_any(const struct stream *stream)
{
	return stream->chunk->committed != bytes_before(stream->chunk, stream->next);
}

/* Bring a chunk to an end, with all signals blocked: what is pending is given up, and what
 * cannot be told is counted. */
void pending_end(struct stream *stream) HIDDEN;

#endif
