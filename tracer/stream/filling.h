/* The chunk that a stream fills, and the next one. */
#ifndef VESTIGE_STREAM_FILLING_H
#define VESTIGE_STREAM_FILLING_H

#include "appending.h"

/* Whether nothing is in the present chunk. */
bool filling_is_empty(const struct stream *stream) HIDDEN;
/* Let an empty packet begin with a record of an earlier time. */
void filling_begin_earlier(uint32_t channel, struct stream *stream, uint64_t time) HIDDEN;
/* Go on to the chunk that was taken last; it has no room yet. Signals are blocked, unless the
 * program filters its system calls. */
struct arena_chunk *filling_go_on(struct stream *stream, uint32_t flags) HIDDEN;
/* Let records come into the chunk that it went on to. */
void filling_open(uint32_t channel, struct stream *stream, struct arena_chunk *chunk) HIDDEN;
/* How many chunks a record needs that no chunk has room for. */
uint32_t filling_parts(const struct appending *record) HIDDEN;
/*
 * Write such a record to as many chunks as it needs, which are one packet, and go on to another:
 * one more than those were taken. When the last of them has bytes, the record is complete.
 */
struct arena_chunk *filling_write_parts(struct stream *stream, const struct appending *record,
					uint64_t earlier, uint32_t kept) HIDDEN;

#endif
