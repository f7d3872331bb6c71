/* A record on its way to a chunk. */
#ifndef VESTIGE_STREAM_APPENDING_H
#define VESTIGE_STREAM_APPENDING_H

#include "../agreement/agreement.h"
#include "state.h"

/* Of bodies that need no draft. */
#define RECORD_BYTES 48u
/* Bodies shorter than that are copied in whole words. */
#define FEW_BYTES 256u
#define WORD_BYTES 16u
/* Bodies of drafts are copied by so many bytes at once, if they have no more than that. */
#define WIDE_BYTES 64u
#define WIDE_MOST 1024u

enum appended {
	APPENDED,
	/* There is no chunk, it has no room, or it is not as it was expected. */
	APPEND_ELSEWHERE,
	/* The header must be the extended one. */
	APPEND_EXTENDED,
	/* Interrupted again and again. */
	APPEND_OTHERWISE,
};

/*
 * The class of a record that has been begun has its channel in the upper bits: so one test tells that
 * it is of the first, and has the compact header.
 */
#define CHANNEL_SHIFT 24

struct destination {
	uint32_t channel;
	uint32_t class;
};

static inline uint32_t destination_word(uint32_t channel, uint32_t class)
{
	return channel << CHANNEL_SHIFT | class;
}

static inline struct destination destination_of(uint32_t word)
{
	return (struct destination) {word >> CHANNEL_SHIFT, word & ((1u << CHANNEL_SHIFT) - 1)};
}

/* A record that is to be appended. Its header is made when it is. */
struct appending {
	/* As many bytes more can be read as whole words have. */
	const char *body;
	/* The record's, if it is given; 0: that of the moment. */
	uint64_t time;
	/* With a given time: what is expected to be the last before it. */
	struct arena_chunk *chunk;
	uint32_t committed;
	uint32_t class;
	/* Where it goes. */
	uint32_t channel;
	uint32_t size;
	/* How much is read and stored: whole words where they are few. */
	uint32_t copied;
	uint32_t header_size;
	/* How often it may be interrupted. */
	uint32_t tries;
};

static inline void appending_begin(struct appending *record, struct destination to,
				   const char *body, uint32_t size)
{
	record->body = body;
	record->time = 0;
	record->class = to.class;
	record->channel = to.channel;
	record->size = size;
	record->copied = size >= FEW_BYTES ? size : (size + WORD_BYTES) / WORD_BYTES * WORD_BYTES;
	record->header_size =
		to.class >= HEADER_EXTENDED ? EXTENDED_HEADER_SIZE : COMPACT_HEADER_SIZE;
}

#endif
