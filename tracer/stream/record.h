/*
 * Records: to begin one, with its contexts, and to append it.
 *
 * The body is made in the frame of who records it or, where it is long, in a draft. So an
 * interrupted record is nothing that others could meet.
 */
#ifndef VESTIGE_STREAM_RECORD_H
#define VESTIGE_STREAM_RECORD_H

#include "append.h"
#include "draft.h"
#include "fields.h"
#include "memory.h"
#include "room.h"
#include "stream.h"

/* What the size of contexts has too much where the program has contexts. */
#define APPLICATION_EXCESS (RECORD_BYTES + 1)

/* A record that is being written. */
struct record {
	char bytes[RECORD_BYTES];
	/* Where the next byte goes. */
	char *at;
	/* NULL: all is here. */
	struct draft *draft;
	uint32_t class;
	/* Of the body. */
	uint32_t size;
	/* Of the stream for which it was begun. */
	uint32_t stream_owner;
};

/* Make a draft for a record at `owner`, which has an earlier time if that is not 0; NULL when
 * there is none, and the record is lost. */
struct draft *record_draft(const void *owner, struct stream *stream, uint32_t class, size_t size,
			   uint64_t earlier) HIDDEN __attribute__((noinline));
/* Append a record that was begun. */
void record_commit(struct record *record) HIDDEN;
/* Append that of a draft. */
void record_commit_draft(struct draft *draft, const void *owner) HIDDEN;

/* The same where the first draft will do, as it does as a rule. What the program has is asked for
 * elsewhere. */
static inline struct draft *record_draft_usual(const void *owner, struct stream *stream,
					       struct context_choice contexts, uint32_t class,
					       size_t size, uint64_t earlier)
{
	struct draft *draft = &stream_memory_drafts(stream)->drafts[0];

	if (UNLIKELY(earlier || contexts.chosen & CONTEXT_APPLICATION ||
		     draft->size < size + DRAFT_SLACK || !draft_mark(draft, NULL, owner)))
		return record_draft(owner, stream, class, size, earlier);
	draft->time = 0;
	draft->class = class;
	draft->body_size = (uint32_t) size;
	draft->stream_owner = stream->owner;
	return draft;
}

/* Whether the present chunk will do, for all that one can tell. */
static inline bool record_has_room(const struct stream *stream, uint32_t class, size_t size)
{
	return append_is_kept(class) || append_is_large(size)
		? stream->chunk != NULL
		: stream_has_room(stream, append_room(size));
}

/* Find the stream for a record, with room for it as a rule; NULL when it is lost. */
static inline struct stream *record_stream(uint32_t class, size_t size)
{
	struct stream *stream = stream_of_thread;

	if (LIKELY(stream && record_has_room(stream, class, size)))
		return stream;
	return stream_make_room(stream,
				append_is_large(size) ? EXTENDED_HEADER_SIZE : append_room(size));
}

/* Begin a record and write its contexts. It has the time when it is appended, or an earlier one
 * that is not before that of the record before; false when it is lost. */
static INLINED bool record_begin_at(struct record *record, uint32_t class, const void *ip,
				    size_t payload, uint64_t earlier)
{
	const struct context_choice contexts = settings_contexts(&settings);
	const size_t size = contexts.size + payload;
	struct stream *stream = record_stream(class, size);
	char *at = record->bytes;

	if (UNLIKELY(!stream))
		return false;
	record->draft = NULL;
	record->class = class;
	record->size = (uint32_t) size;
	record->stream_owner = stream->owner;
	if (UNLIKELY(size > RECORD_BYTES || earlier)) {
		record->draft =
			record_draft_usual(record, stream, contexts, class, size, earlier);
		if (!record->draft)
			return false;
		at = record->draft->memory;
	}
	record->at = put_contexts(at, contexts.chosen, stream, ip);
	return true;
}

static INLINED bool record_begin(struct record *record, uint32_t class, const void *ip,
				 size_t payload)
{
	return record_begin_at(record, class, ip, payload, 0);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The same as record_begin() of an event that a program describes, where nothing is unusual: few
 * instructions. False when something is, and nothing has happened then. */
static INLINED bool record_begin_usual(struct record *record, uint32_t class, const void *ip,
				       size_t payload)
{
	const struct context_choice contexts = settings_contexts(&settings);
	struct stream *stream = stream_of_thread;
	uint64_t words[2];

	_Static_assert(USUAL_CONTEXTS_SIZE == PLACE_SIZE + ID_SIZE, "as below");
	if (UNLIKELY(contexts.chosen != USUAL_CONTEXTS || class < EVENT_CLASSES ||
		     payload > RECORD_BYTES - USUAL_CONTEXTS_SIZE || !stream ||
		     !stream_has_room(stream, append_room(USUAL_CONTEXTS_SIZE + payload))))
		return false;
	/* Whole words: what is behind the contexts is written after them. */
	words[0] = (uint64_t) (uintptr_t) ip << 16 >> 16 | (uint64_t) stream->vpid << 48;
	words[1] = stream->vpid >> 16;
	memcpy(record->bytes, words, sizeof(words));
	record->at = record->bytes + USUAL_CONTEXTS_SIZE;
	record->draft = NULL;
	record->class = class;
	record->size = (uint32_t) (USUAL_CONTEXTS_SIZE + payload);
	record->stream_owner = stream->owner;
	return true;
}
#else
static inline bool record_begin_usual(struct record *record, uint32_t class, const void *ip,
				      size_t payload)
{
	(void) record;
	(void) class;
	(void) ip;
	(void) payload;
	return false;
}
#endif

/* For who has no place to keep a record in: begin one in a draft. Returns where its fields go;
 * NULL when it is lost. */
static inline char *record_begin_draft(const void *owner, struct draft **draft, uint32_t class,
				       const void *ip, size_t payload)
{
	const struct context_choice contexts = settings_contexts(&settings);
	const size_t size = contexts.size + payload;
	struct stream *stream = record_stream(class, size);

	*draft = stream ? record_draft_usual(owner, stream, contexts, class, size, 0) : NULL;
	return *draft ? put_contexts((*draft)->memory, contexts.chosen, stream, ip) : NULL;
}

#endif
