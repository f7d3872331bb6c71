/*
 * Records: to begin one for a channel, with its contexts, and to append it.
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

/* In place of a class, of what is no record but a part of several: it goes to several channels, see route.h. */
#define CLASS_ROUTED UINT32_MAX

/* What the size of contexts has too much where the program has contexts. */
#define APPLICATION_EXCESS (RECORD_BYTES + 1)

/* A record that is being written. */
struct record {
	char bytes[RECORD_BYTES];
	/* Where the next byte goes. */
	char *at;
	/* NULL: all is here. */
	struct draft *draft;
	/* And its channel, see destination_word(). */
	uint32_t class;
	/* Of the body. */
	uint32_t size;
	/* Of the stream for which it was begun. */
	uint32_t stream_owner;
	/* Of one that goes to several channels, see route.h. */
	uint32_t routed;
};

/* Make a draft for a record at `owner`, which has an earlier time if that is not 0; NULL when
 * there is none, and the record is lost. */
struct draft *record_draft(const void *owner, struct stream *stream,
			   struct context_choice contexts, struct destination to, size_t size,
			   uint64_t earlier) HIDDEN __attribute__((noinline));
/* Append a record that was begun. */
void record_commit(struct record *record) HIDDEN;
/* Append that of a draft. */
void record_commit_draft(struct draft *draft, const void *owner) HIDDEN;

/* The first draft, where it will do, as it does as a rule; else NULL. */
static INLINED struct draft *record_first_draft(const void *owner, struct stream *stream,
						struct destination to, size_t size)
{
	struct draft *draft = &stream_memory_drafts(stream)->drafts[0];

	if (UNLIKELY(draft->size < size + DRAFT_SLACK || !draft_mark(draft, NULL, owner)))
		return NULL;
	draft->time = 0;
	draft->class = destination_word(to.channel, to.class);
	draft->body_size = (uint32_t) size;
	draft->stream_owner = stream->owner;
	return draft;
}

/* The first draft or another one; NULL when there is none. What the program has is asked for
 * elsewhere. */
static inline struct draft *record_draft_usual(const void *owner, struct stream *stream,
					       struct context_choice contexts,
					       struct destination to, size_t size,
					       uint64_t earlier)
{
	struct draft *draft = NULL;

	if (LIKELY(!earlier && !(contexts.chosen & CONTEXT_APPLICATION)))
		draft = record_first_draft(owner, stream, to, size);
	return LIKELY(draft != NULL) ? draft
				     : record_draft(owner, stream, contexts, to, size, earlier);
}

/* Whether the present chunk will do, for all that one can tell. */
static inline bool record_has_room(const struct stream *stream, struct destination to,
				   size_t size)
{
	return append_is_kept(to) || append_is_large(to.channel, size)
		? stream->chunk != NULL
		: stream_has_room(stream, append_room(size));
}

/* Find the stream for a record, with room for it as a rule; NULL when it is lost. */
static inline struct stream *record_stream(struct destination to, size_t size)
{
	struct stream *stream = streams_of_thread[to.channel];

	if (LIKELY(stream && (record_has_room(stream, to, size) || stream->cpus.count)))
		return stream;
	return stream_make_room(to.channel, stream,
				append_is_large(to.channel, size) ? EXTENDED_HEADER_SIZE
								  : append_room(size));
}

/* Begin a record and write its contexts. It has the time when it is appended, or an earlier one
 * that is not before that of the record before; false when it is lost. */
static INLINED bool record_begin_at(struct record *record, struct destination to, const void *ip,
				    size_t payload, uint64_t earlier)
{
	const struct context_choice contexts = settings_contexts(&settings.channels[to.channel]);
	const size_t size = contexts.size + payload;
	struct stream *stream = record_stream(to, size);
	char *at = record->bytes;

	if (UNLIKELY(!stream))
		return false;
	record->draft = NULL;
	record->class = destination_word(to.channel, to.class);
	record->size = (uint32_t) size;
	record->stream_owner = stream->owner;
	if (UNLIKELY(size > RECORD_BYTES || earlier)) {
		record->draft = record_draft_usual(record, stream, contexts, to, size, earlier);
		if (!record->draft)
			return false;
		at = record->draft->memory;
	}
	record->at = put_contexts(at, contexts, stream, ip);
	return true;
}

static INLINED bool record_begin(struct record *record, struct destination to, const void *ip,
				 size_t payload)
{
	return record_begin_at(record, to, ip, payload, 0);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Write the usual contexts in whole words: what comes next is written after them. */
static INLINED char *put_usual_contexts(char *at, const struct stream *stream, const void *ip)
{
	const uint64_t words[2] = {
		(uint64_t) (uintptr_t) ip << 16 >> 16 | (uint64_t) stream->vpid << 48,
		stream->vpid >> 16,
	};

	memcpy(at, words, sizeof(words));
	return at + USUAL_CONTEXTS_SIZE;
}

/* As below, for a short record that goes to the ring of a CPU. */
static INLINED bool record_begin_for_cpu(struct record *record, uint32_t class, size_t payload)
{
	const struct context_choice contexts = settings_contexts(&settings.channels[0]);
	const struct stream *stream = streams_of_thread[0];

	if (UNLIKELY(contexts.chosen != WHOSE_CONTEXTS || class < EVENT_CLASSES || !stream ||
		     payload > RECORD_BYTES - WHOSE_CONTEXTS_SIZE || !stream->cpus.count))
		return false;
	record->draft = NULL;
	record->class = class;
	record->size = WHOSE_CONTEXTS_SIZE + (uint32_t) payload;
	record->stream_owner = stream->owner;
	record->at = put_whose_contexts(record->bytes, stream);
	return true;
}

/* The same as record_begin() for the first channel, of an event that a program describes, where nothing
 * is unusual: few instructions. False when something is, and nothing has happened then. */
static INLINED bool record_begin_usual(struct record *record, bool has_draft, uint32_t class,
				       const void *ip, size_t payload)
{
	const struct context_choice contexts = settings_contexts(&settings.channels[0]);
	const size_t size = USUAL_CONTEXTS_SIZE + payload;
	struct stream *stream = streams_of_thread[0];
	char *at = record->bytes;

	if (UNLIKELY(contexts.chosen != USUAL_CONTEXTS || class < EVENT_CLASSES || !stream ||
		     payload > (has_draft ? DRAFT_BYTES : RECORD_BYTES - USUAL_CONTEXTS_SIZE) ||
		     !stream_has_room(stream, append_room(size))))
		return false;
	record->draft = NULL;
	if (has_draft) {
		record->draft =
			record_first_draft(record, stream, (struct destination) {0, class}, size);
		if (UNLIKELY(!record->draft))
			return false;
		at = record->draft->memory;
	}
	record->class = class;
	record->size = (uint32_t) size;
	record->stream_owner = stream->owner;
	record->at = put_usual_contexts(at, stream, ip);
	return true;
}
#else
static inline char *put_usual_contexts(char *at, const struct stream *stream, const void *ip)
{
	const struct context_choice usual = {USUAL_CONTEXTS, USUAL_CONTEXTS_SIZE, 0};

	return put_contexts(at, usual, stream, ip);
}

static inline bool record_begin_usual(struct record *record, bool has_draft, uint32_t class,
				      const void *ip, size_t payload)
{
	(void) record;
	(void) has_draft;
	(void) class;
	(void) ip;
	(void) payload;
	return false;
}
#endif

/* For who has no place to keep a record in: begin one in a draft. Returns where its fields go;
 * NULL when it is lost. */
static inline char *record_begin_draft(const void *owner, struct draft **draft,
				       struct destination to, const void *ip, size_t payload)
{
	const struct context_choice contexts = settings_contexts(&settings.channels[to.channel]);
	const size_t size = contexts.size + payload;
	struct stream *stream = record_stream(to, size);

	*draft = stream ? record_draft_usual(owner, stream, contexts, to, size, 0) : NULL;
	return *draft ? put_contexts((*draft)->memory, contexts, stream, ip) : NULL;
}

#endif
