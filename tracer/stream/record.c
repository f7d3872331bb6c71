/* Records that are begun, and appended. */
#include "record.h"

#include <string.h>

#include "announce.h"
#include "application.h"
#include "context_list.h"
#include "cpu_short_section.h"
#include "filling.h"
#include "memory.h"
#include "section.h"
#include "short_section.h"

/* Without contexts of the program, or with room for them. */
static struct draft *make_draft(const void *owner, struct stream *stream, struct destination to,
				size_t size, uint64_t earlier)
{
	struct draft *draft = draft_take(stream_memory_drafts(stream), owner, size);

	if (!draft) {
		stream_count_lost(to.channel);
		return NULL;
	}
	if (earlier)
		filling_begin_earlier(to.channel, stream, earlier);
	draft->time = earlier;
	draft->class = destination_word(to.channel, to.class);
	draft->body_size = (uint32_t) size;
	draft->stream_owner = stream->owner;
	return draft;
}

/* What tells of objects is recorded where nothing of the program may be called. */
static bool asks_program(uint32_t class)
{
	return class <= EVENT_EXIT ||
		(class >= EVENT_PYTHON_CODE && class != EVENT_LIBRARY_FUNCTION);
}

static APART struct draft *make_long_draft(const void *owner, struct stream *stream,
					   struct context_choice contexts, struct destination to,
					   size_t size, uint64_t earlier)
{
	const struct context_list *list = context_list_get(contexts.list);
	const size_t fixed = contexts.size - APPLICATION_EXCESS;
	struct application_values values;
	struct draft *draft;
	size_t more;

	application_enter();
	more = application_ask_all(list, &values, asks_program(to.class));
	draft = make_draft(owner, stream, to, size - APPLICATION_EXCESS + more, earlier);
	if (draft)
		application_write(list, draft->memory + fixed, &values);
	application_leave();
	return draft;
}

struct draft *record_draft(const void *owner, struct stream *stream,
			   struct context_choice contexts, struct destination to, size_t size,
			   uint64_t earlier)
{
	if (UNLIKELY(contexts.chosen & CONTEXT_APPLICATION))
		return make_long_draft(owner, stream, contexts, to, size, earlier);
	return make_draft(owner, stream, to, size, earlier);
}

#if defined(__x86_64__)

/* Append a record that has no draft to the first channel; false when that does not go. All of it is read
 * where it is, which is cheaper than to hand it over. */
static INLINED bool append_to_first(const struct record *record)
{
	_Static_assert(offsetof(struct record, bytes) == 0, "the body");
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT(SECTION_STREAM, "%c[of](%[body])", "%c[class](%[body])",
			     "%c[size](%[body])", SECTION_TIME, SECTION_COPY_VECTORS)
		:
		: [body] "D"(record), SECTION_OFFSETS,
		  [of] "i"(offsetof(struct record, stream_owner)),
		  [class] "i"(offsetof(struct record, class)),
		  [size] "i"(offsetof(struct record, size)),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

/*
 * Append the record of a draft, like a short one. As it was just written, it is read in words that are as wide as the
 * writers', as a rule.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the record's place, then its end there, rdx the
 * time, rsi from where, r10 where to, eax how much is left.
 */
static INLINED bool append_draft_in_section(const struct draft *draft, uint64_t channel,
					    uint32_t class)
{
	const uint32_t copied = (draft->body_size + WIDE_BYTES) / WIDE_BYTES * WIDE_BYTES;

	_Static_assert(WIDE_BYTES == 64 && WIDE_BYTES <= DRAFT_SLACK, "as below");
	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%r11d\n\t"
		SECTION_ENTER("decl %%r11d\n\t"
			      "jz %l[elsewhere]\n")
		SECTION_STREAM_OF_CHANNEL
		SECTION_CHUNK
		"movl %c[owner](%%rcx), %%eax\n\t"
		"cmpl %c[stream_owner](%[draft]), %%eax\n\t"
		"jne %l[elsewhere]\n\t"
		"movl (%%r8), %%r9d\n\t"
		"leal %c[header](%%r9, %q[copied]), %%eax\n\t"
		"cmpl %c[limit](%%rcx), %%eax\n\t"
		"ja %l[elsewhere]\n\t"
		SECTION_TIME
		"movq %%rdx, %%rax\n\t"
		"subq %c[last](%%rcx), %%rax\n\t"
		"shrq %[time_bits], %%rax\n\t"
		"jnz %l[elsewhere]\n\t"
		"movq %%rdx, %c[end](%%r8)\n\t"
		"movl %%edx, %%eax\n\t"
		"shll %[class_bits], %%eax\n\t"
		"orl %[class], %%eax\n\t"
		"movl %%eax, (%%r8, %%r9)\n\t"
		"movq %c[memory](%[draft]), %%rsi\n\t"
		"leaq %c[header](%%r8, %%r9), %%r10\n\t"
		"movl %[copied], %%eax\n"
		SECTION_COPY_WIDE
		"addl %[header], %%r9d\n\t"
		"addl %c[size](%[draft]), %%r9d\n\t"
		"movl %%r9d, (%%r8)\n"
		"2:\tmovq %%rdx, %c[last](%%rcx)\n\t"
		:
		: [draft] "D"(draft), [copied] "r"(copied), SECTION_OFFSETS,
		  [stream_owner] "i"(offsetof(struct draft, stream_owner)),
		  [channel] "r"(channel), [class] "r"(class),
		  [size] "i"(offsetof(struct draft, body_size)),
		  [memory] "i"(offsetof(struct draft, memory)),
		  [header] "i"(COMPACT_HEADER_SIZE), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
		  "xmm3", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static inline bool append_to_first(const struct record *record)
{
	(void) record;
	return false;
}

static inline bool append_draft_in_section(const struct draft *draft, uint64_t channel,
					   uint32_t class)
{
	(void) draft;
	(void) channel;
	(void) class;
	return false;
}

#endif

/* Whether a record is of this process and this recording. A child may have been forked since it
 * was begun: then the parent has it, and nothing is lost. */
static bool is_ours(struct destination to, uint32_t owner)
{
	const struct stream *stream = streams_of_thread[to.channel];

	return !stream || stream->owner == owner;
}

/* Whether records of a channel may have the compact header of a section; where they may, a stream that
 * has no chunk for sections tells that there are none. */
static INLINED bool is_usual(struct destination to)
{
	return to.class < HEADER_EXTENDED && section_area && settings.counter_is_clock &&
		!settings.channels[to.channel].is_overwriting;
}

/* Whether records are kept apart in the first channel, and this one is of those that are not. */
static INLINED bool is_of_program(struct destination to)
{
	return section_is_of_programs && !to.channel && to.class >= EVENT_CLASSES &&
		to.class < HEADER_EXTENDED;
}

/* Append that of a draft by any other way. */
static APART void commit_draft_otherwise(struct draft *draft, const void *owner)
{
	const struct destination to = destination_of(draft->class);
	struct appending appending;

	/* Somebody else has it, and perhaps wrote to it. */
	if (draft->owner != owner) {
		stream_count_lost(to.channel);
		return;
	}
	appending_begin(&appending, to, draft->memory, draft->body_size);
	if (!draft->time && draft->body_size <= WIDE_MOST && is_of_program(to) &&
	    append_draft_in_section(draft, 0, to.class)) {
		draft_give(draft, owner);
		return;
	}
	if (to.channel && !draft->time && draft->body_size <= WIDE_MOST && is_usual(to) &&
	    (goes_to_cpu(to.channel)
		     ? cpu_section_append_wide(draft->memory, draft->body_size,
					       draft->stream_owner, to.channel, to.class, 0)
		     : append_draft_in_section(draft, to.channel, to.class))) {
		draft_give(draft, owner);
		return;
	}
	if (is_ours(to, draft->stream_owner) &&
	    (draft->time || to.channel || !section_is_usual || goes_to_cpu(0) ||
	     section_append(&appending) != APPENDED))
		append_record(&appending, draft->time);
	draft_give(draft, owner);
}

static INLINED bool append_draft(const struct draft *draft)
{
	if (UNLIKELY(!section_is_usual))
		return announce_append_draft(draft);
	if (UNLIKELY(draft->body_size > WIDE_MOST))
		return false;
	return UNLIKELY(cpu_section_is_usual)
		? cpu_section_append_wide(draft->memory, draft->body_size, draft->stream_owner, 0,
					  draft->class, 0)
		: append_draft_in_section(draft, 0, draft->class);
}

void record_commit_draft(struct draft *draft, const void *owner)
{
	if (LIKELY(draft->owner == owner && draft->class < HEADER_EXTENDED && !draft->time) &&
	    append_draft(draft))
		draft_give(draft, owner);
	else
		commit_draft_otherwise(draft, owner);
}

static APART void commit_otherwise(const struct record *record)
{
	const struct destination to = destination_of(record->class);
	struct appending appending;

	if (is_of_program(to) && append_to_first(record))
		return;
	if (LIKELY(to.channel && is_usual(to)) &&
	    (goes_to_cpu(to.channel)
		     ? append_to_cpu_in_section(record->bytes, record->size, record->stream_owner,
						to.channel, to.class)
		     : append_in_section(record->bytes, record->size, record->stream_owner,
					 to.channel, to.class)))
		return;
	if (!is_ours(to, record->stream_owner))
		return;
	appending_begin(&appending, to, record->bytes, record->size);
	append_record(&appending, 0);
}

static INLINED bool announce_usual(const struct record *record)
{
	return record->class < HEADER_EXTENDED &&
		announce_append_short(record->stream_owner, record->class, record->bytes,
				      record->size);
}

static INLINED bool append_to_cpu(const struct record *record)
{
	return record->class < HEADER_EXTENDED &&
		append_to_cpu_in_section(record->bytes, record->size, record->stream_owner, 0,
					 record->class);
}

void record_commit(struct record *record)
{
	if (UNLIKELY(record->draft)) {
		record_commit_draft(record->draft, record);
	} else if (UNLIKELY(cpu_section_is_usual)) {
		if (!append_to_cpu(record))
			commit_otherwise(record);
	} else if (UNLIKELY(!section_is_usual ? !announce_usual(record)
					      : record->class >= HEADER_EXTENDED ||
					    !append_to_first(record))) {
		commit_otherwise(record);
	}
}
