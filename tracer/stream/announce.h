/* Appending records without restartable sequences. */
#ifndef VESTIGE_STREAM_ANNOUNCE_H
#define VESTIGE_STREAM_ANNOUNCE_H

#include "appending.h"

/* Let a stream announce its records from here on, with numbers from this one on. It has no chunk
 * yet. */
void announce_start(struct stream *stream, uint64_t first) HIDDEN;
/* Append a record to the present chunk, if it has room. */
enum appended announce_append(struct stream *stream, const struct appending *record) HIDDEN;
/* Whether an interrupted record may write to the present chunk when it goes on. */
bool announce_is_any(const struct stream *stream) HIDDEN;
/* The present chunk takes no more: complete what is announced, and let records that have begun
 * begin again. */
void announce_close(struct stream *stream) HIDDEN;

#endif
