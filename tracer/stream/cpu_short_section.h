/*
 * Restartable sequences that append a short record to the ring of the CPU, as short_section.h has
 * them for a chunk of the thread.
 */
#ifndef VESTIGE_STREAM_CPU_SHORT_SECTION_H
#define VESTIGE_STREAM_CPU_SHORT_SECTION_H

#include "cpu_section.h"
#include "short_section.h"

#if defined(__x86_64__)

/*
 * Append a record to a channel; false when that does not go.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the record's place, then its end there, rdx the
 * time. That is kept for other channels after the commit, in vain where a handler comes between.
 */
/* clang-format off */
#define APPEND_SHORT_TO_CPU(time) \
	"movl %[tries], %%esi\n\t" \
	SECTION_ENTER("decl %%esi\n\t" \
	"jz %l[elsewhere]\n") \
	SECTION_STREAM_OF_CHANNEL \
	/* As in short_section.h. */ \
	"cmpl %k[of], %c[owner](%%rcx)\n\t" \
	"jne %l[elsewhere]\n\t" \
	SECTION_CHUNK_OF_CPU \
	"movl (%%r8), %%r9d\n\t" \
	"leal %c[room](%%r9), %%eax\n\t" \
	"cmpl %c[limit](%%rcx), %%eax\n\t" \
	"ja %l[elsewhere]\n\t" \
	time \
	"movq %%rdx, %%rax\n\t" \
	"shrq %[time_bits], %%rax\n\t" \
	"cmpl %c[epoch](%%r8), %%eax\n\t" \
	"jne %l[elsewhere]\n\t" \
	"movq %%rdx, %c[end](%%r8)\n\t" \
	"movl %%edx, %%eax\n\t" \
	"shll %[class_bits], %%eax\n\t" \
	"orl %k[class], %%eax\n\t" \
	"movl %%eax, (%%r8, %%r9)\n\t" \
	SECTION_COPY_VECTORS \
	"leal %c[header](%%r9, %q[size]), %%r9d\n\t" \
	"movl %%r9d, (%%r8)\n" \
	"2:\tmovq %%rdx, %c[made](%%rcx)\n\t"
/* clang-format on */

static INLINED bool append_to_cpu_in_section(const char *body, uint32_t size, uint32_t owner,
					     uint64_t channel, uint32_t class)
{
	_Static_assert(RECORD_BYTES == 48, "as in short_section.h");
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT_TO_CPU(SECTION_TIME)
		:
		: [body] "D"(body), SECTION_CPU_OFFSETS, [of] "r"(owner), [channel] "r"(channel),
		  [class] "r"(class), [size] "r"(size),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES),
		  [header] "i"(COMPACT_HEADER_SIZE), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

/* The same of a record whose time is known, unless others have come to the ring since. */
static INLINED bool append_later_to_cpu_in_section(const char *body, uint32_t size,
						   uint32_t owner, uint64_t channel,
						   uint32_t class, uint64_t time)
{
	/* clang-format off */
	__asm__ goto(
		APPEND_SHORT_TO_CPU(SECTION_GIVEN_TIME)
		:
		: [body] "D"(body), SECTION_CPU_OFFSETS, [of] "r"(owner), [channel] "r"(channel),
		  [class] "r"(class), [size] "r"(size), [time] "r"(time),
		  [room] "i"(COMPACT_HEADER_SIZE + RECORD_BYTES),
		  [header] "i"(COMPACT_HEADER_SIZE), [tries] "i"(SECTION_TRIES)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static INLINED bool append_to_cpu_in_section(const char *body, uint32_t size, uint32_t owner,
					     uint64_t channel, uint32_t class)
{
	return append_in_section(body, size, owner, channel, class);
}

static INLINED bool append_later_to_cpu_in_section(const char *body, uint32_t size,
						   uint32_t owner, uint64_t channel,
						   uint32_t class, uint64_t time)
{
	return append_later_in_section(body, size, owner, channel, class, time);
}

#endif

/* Whether the thread writes to the rings of CPUs for a channel. */
static INLINED bool goes_to_cpu(uint64_t channel)
{
	const struct stream *stream = streams_of_thread[channel];

	return stream && stream->cpus.count;
}

#endif
