/* Appending records without restartable sequences. */
#ifndef VESTIGE_STREAM_ANNOUNCE_H
#define VESTIGE_STREAM_ANNOUNCE_H

#include "appending.h"
#include "draft.h"

/* Let a stream announce its records from here on, with numbers from this one on. It has no chunk
 * yet. */
void announce_start(struct stream *stream, uint64_t first) HIDDEN;
/* Append a record to the present chunk, if it has room. */
enum appended announce_append(struct stream *stream, const struct appending *record) HIDDEN;
/* The same of a record without a draft, with the compact header, to the stream of the thread for the
 * first channel, if that has this owner; false when that does not go. Of its body, RECORD_BYTES can be read. */
bool announce_append_short(uint32_t owner, uint32_t class, const char *bytes,
			   uint32_t size) HIDDEN;
/* The same of the body of a draft. */
bool announce_append_draft(const struct draft *draft) HIDDEN;
/* The same of what hooks of functions usually write: `ip`, `vpid` and, at entries, the place once
 * more. On a machine whose lowest byte comes first. */
bool announce_append_entry(uint32_t class, const void *place) HIDDEN;
bool announce_append_exit(uint32_t class, const void *place) HIDDEN;
/* Whether an interrupted record may write to the present chunk when it goes on. */
bool announce_is_any(const struct stream *stream) HIDDEN;
/* The present chunk takes no more: complete what is announced, and let records that have begun
 * begin again. */
void announce_close(struct stream *stream) HIDDEN;

#endif
