/*
 * Restartable sequences that append a short record to a chunk of the thread.
 *
 * The compact header is written, and all bytes are copied that the body may have. The owner is that of
 * the stream for which it was begun, which another one must not take.
 */
#ifndef VESTIGE_STREAM_SHORT_SECTION_H
#define VESTIGE_STREAM_SHORT_SECTION_H

#include "section.h"

#if defined(__x86_64__)

/*
 * Append a record to a channel; false when that does not go.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the record's place, then its end there, rdx the
 * time.
 */
/* clang-format off */
/* A child process may have been forked since a record was begun: it names its parent. Or it is of another
 * recording. All bytes are copied that may be used: less than a loop would cost. */
#define APPEND_SHORT(stream, owner, class, size, time, copy) \
	"movl %[tries], %%esi\n\t" \
	SECTION_ENTER("decl %%esi\n\t" \
	"jz %l[elsewhere]\n") \
	stream \
	SECTION_CHUNK \
	"movl %c[owner](%%rcx), %%eax\n\t" \
	"cmpl " owner ", %%eax\n\t" \
	"jne %l[elsewhere]\n\t" \
	"movl (%%r8), %%r9d\n\t" \
	"leal %c[room](%%r9), %%eax\n\t" \
	"cmpl %c[limit](%%rcx), %%eax\n\t" \
	"ja %l[elsewhere]\n\t" \
	time \
	"movq %%rdx, %%rax\n\t" \
	"subq %c[last](%%rcx), %%rax\n\t" \
	"shrq %[time_bits], %%rax\n\t" \
	"jnz %l[elsewhere]\n\t" \
	"movq %%rdx, %c[end](%%r8)\n\t" \
	"movl %%edx, %%eax\n\t" \
	"shll %[class_bits], %%eax\n\t" \
	"orl " class ", %%eax\n\t" \
	"movl %%eax, (%%r8, %%r9)\n\t" \
	copy \
	"addl $4, %%r9d\n\t" \
	"addl " size ", %%r9d\n\t" \
	"movl %%r9d, (%%r8)\n" \
	"2:\tmovq %%rdx, %c[last](%%rcx)\n\t"
/* The body, after the header. */
#define SECTION_COPY_VECTORS \
	"movups (%[body]), %%xmm0\n\t" \
	"movups 16(%[body]), %%xmm1\n\t" \
	"movups 32(%[body]), %%xmm2\n\t" \
	"movups %%xmm0, 4(%%r8, %%r9)\n\t" \
	"movups %%xmm1, 20(%%r8, %%r9)\n\t" \
	"movups %%xmm2, 36(%%r8, %%r9)\n\t"
/* The same where vector registers are the program's. */
#define SECTION_COPY_TWO(first, second) \
	"movq " first "(%[body]), %%rax\n\t" \
	"movq " second "(%[body]), %%r10\n\t" \
	"movq %%rax, 4+" first "(%%r8, %%r9)\n\t" \
	"movq %%r10, 4+" second "(%%r8, %%r9)\n\t"
#define SECTION_COPY_WORDS \
	SECTION_COPY_TWO("0", "8") \
	SECTION_COPY_TWO("16", "24") \
	SECTION_COPY_TWO("32", "40")
/* Not before what is there; a record that was begun again may have left a later time. */
#define SECTION_GIVEN_TIME \
	"movq %[time], %%rdx\n\t" \
	"cmpq %c[end](%%r8), %%rdx\n\t" \
	"jb %l[elsewhere]\n\t"
/* clang-format on */

static INLINED bool append_in_section(const char *body, uint32_t size, uint32_t owner,
				      uint64_t channel, uint32_t class)
{
	_Static_assert(RECORD_BYTES == 48, "as above");
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT(SECTION_STREAM_OF_CHANNEL, "%[of]", "%[class]", "%[size]", SECTION_TIME,
			     SECTION_COPY_VECTORS)
		:
		: [body] "D"(body), SECTION_OFFSETS, [of] "r"(owner),
		  [channel] "r"(channel), [class] "r"(class), [size] "r"(size),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

/* The same of a record whose time is known. */
static INLINED bool append_later_in_section(const char *body, uint32_t size, uint32_t owner,
					    uint64_t channel, uint32_t class, uint64_t time)
{
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT(SECTION_STREAM_OF_CHANNEL, "%[of]", "%[class]", "%[size]",
			     SECTION_GIVEN_TIME, SECTION_COPY_VECTORS)
		:
		: [body] "D"(body), SECTION_OFFSETS, [of] "r"(owner),
		  [channel] "r"(channel), [class] "r"(class), [size] "r"(size),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES), [tries] "i"(SECTION_TRIES),
		  [time] "r"(time)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

/* Append a record to the first channel, with no vector register. */
static INLINED bool append_words_in_section(const uint64_t *body, uint32_t size, uint32_t owner,
					    uint32_t class)
{
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT(SECTION_STREAM, "%[of]", "%[class]", "%[size]", SECTION_TIME,
			     SECTION_COPY_WORDS)
		:
		: [body] "D"(body), SECTION_OFFSETS, [of] "r"(owner), [class] "r"(class),
		  [size] "r"(size), [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES),
		  [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static INLINED bool append_words_in_section(const uint64_t *body, uint32_t size, uint32_t owner,
					    uint32_t class)
{
	(void) body;
	(void) size;
	(void) owner;
	(void) class;
	return false;
}

static INLINED bool append_in_section(const char *body, uint32_t size, uint32_t owner,
				      uint64_t channel, uint32_t class)
{
	(void) body;
	(void) size;
	(void) owner;
	(void) channel;
	(void) class;
	return false;
}

static INLINED bool append_later_in_section(const char *body, uint32_t size, uint32_t owner,
					    uint64_t channel, uint32_t class, uint64_t time)
{
	(void) body;
	(void) size;
	(void) owner;
	(void) channel;
	(void) class;
	(void) time;
	return false;
}

#endif

#endif
