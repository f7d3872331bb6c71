/* Records that are begun, and appended. */
#include "record.h"

#include <string.h>

#include "memory.h"
#include "section.h"

struct draft *record_draft(const void *owner, struct stream *stream, uint32_t class, size_t size,
			   uint64_t earlier)
{
	struct draft *draft = draft_take(stream_memory_drafts(stream), owner, size);

	if (!draft) {
		stream_count_lost(stream);
		return NULL;
	}
	if (earlier)
		stream_begin_earlier(stream, earlier);
	draft->time = earlier;
	draft->class = class;
	draft->body_size = (uint32_t) size;
	draft->vpid = stream->vpid;
	return draft;
}

#if defined(__x86_64__)

#define OFFSET(field) offsetof(struct record, field)

/*
 * Append a record that has no draft, with the compact header; false when that does not go.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the record's place, then its end there, rdx the
 * time.
 */
static inline bool append_in_section(const struct record *record)
{
	_Static_assert(OFFSET(bytes) == 0 && RECORD_BYTES == 48, "as below");
	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%esi\n\t"
		SECTION_BEGIN("decl %%esi\n\t"
			      "jz %l[elsewhere]\n")
		/* A child process may have been forked since: the record names its parent. */
		"movl %c[vpid](%%rcx), %%eax\n\t"
		"cmpl %c[process](%[record]), %%eax\n\t"
		"jne %l[elsewhere]\n\t"
		"movl (%%r8), %%r9d\n\t"
		"leal %c[room](%%r9), %%eax\n\t"
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
		"orl %c[class](%[record]), %%eax\n\t"
		"movl %%eax, (%%r8, %%r9)\n\t"
		/* All that may be used: less than a loop would cost. */
		"movups (%[record]), %%xmm0\n\t"
		"movups 16(%[record]), %%xmm1\n\t"
		"movups 32(%[record]), %%xmm2\n\t"
		"movups %%xmm0, 4(%%r8, %%r9)\n\t"
		"movups %%xmm1, 20(%%r8, %%r9)\n\t"
		"movups %%xmm2, 36(%%r8, %%r9)\n\t"
		"addl $4, %%r9d\n\t"
		"addl %c[size](%[record]), %%r9d\n\t"
		"movl %%r9d, (%%r8)\n"
		"2:\tmovq %%rdx, %c[last](%%rcx)\n\t"
		:
		: [record] "D"(record), SECTION_OFFSETS, [process] "i"(OFFSET(vpid)),
		  [class] "i"(OFFSET(class)), [size] "i"(OFFSET(size)),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static inline bool append_in_section(const struct record *record)
{
	(void) record;
	return false;
}

#endif

/* Whether a record is of this process: a child may have been forked since it was begun. Then the
 * parent has it, and nothing is lost. */
static bool is_ours(uint32_t vpid)
{
	const struct stream *stream = stream_of_thread;

	return !stream || stream->vpid == vpid;
}

/* The same of a draft whose body is short. */
static inline bool append_short_draft(const struct draft *draft)
{
	struct record record;

	memcpy(record.bytes, draft->memory, sizeof(record.bytes));
	record.class = draft->class;
	record.size = draft->body_size;
	record.vpid = draft->vpid;
	return append_in_section(&record);
}

void record_commit_draft(struct draft *draft, const void *owner)
{
	struct appending appending;

	/* Somebody else has it, and perhaps wrote to it. */
	if (draft->owner != owner) {
		stream_count_lost(stream_of_thread);
		return;
	}
	if (LIKELY(draft->body_size <= RECORD_BYTES && draft->class < HEADER_EXTENDED &&
		   !draft->time && section_is_usual) &&
	    append_short_draft(draft)) {
		draft_give(draft, owner);
		return;
	}
	appending_begin(&appending, draft->class, draft->memory, draft->body_size);
	if (is_ours(draft->vpid) &&
	    (draft->time || !section_is_usual || section_append(&appending) != APPENDED))
		append_record(&appending, draft->time);
	draft_give(draft, owner);
}

static APART void commit_otherwise(const struct record *record)
{
	struct appending appending;

	if (!is_ours(record->vpid))
		return;
	appending_begin(&appending, record->class, record->bytes, record->size);
	append_record(&appending, 0);
}

void record_commit(struct record *record)
{
	if (UNLIKELY(record->draft))
		record_commit_draft(record->draft, record);
	else if (UNLIKELY(record->class >= HEADER_EXTENDED || !section_is_usual ||
			  !append_in_section(record)))
		commit_otherwise(record);
}
