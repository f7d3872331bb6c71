/*
 * Restartable sequences: records that a thread appends as if nothing could interrupt it.
 *
 * The kernel is told of a few instructions, see rseq(2). If a signal or another thread
 * interrupts them, they begin anew, and the last of them is the store that commits: until
 * then, nothing has happened. So there is no state between the beginning of a record and its
 * end that a handler could meet, or leave behind by siglongjmp().
 *
 * Everything is read inside, through the register that points to the thread: a coroutine may
 * go on in another thread. The C library registers each thread (2.35 and later); we use its
 * area, and leave nothing there that means anything outside of these instructions.
 */
#ifndef VESTIGE_STREAM_SECTION_H
#define VESTIGE_STREAM_SECTION_H

#include "appending.h"

/* More often than that in a row, nobody is interrupted but by a debugger that goes on by single
 * instructions: then they would begin anew for ever. */
#define SECTION_TRIES 8

/* Where the kernel's area is, from the thread pointer on; 0 where there is none. */
extern ptrdiff_t section_area HIDDEN;

/* Whether records of the first channel have the time that sections read, and may go to any chunk. */
extern bool section_is_usual HIDDEN;
/* Whether only those of events that programs describe may: records that are kept apart from them say which
 * object is where, and the limit of a chunk with such records keeps others out. */
extern bool section_is_of_programs HIDDEN;

/* Find the area, once. */
void section_start(void) HIDDEN;
/* Whether the kernel knows of this thread's area. */
bool section_is_possible(void) HIDDEN;
/* Append a record, if that goes. */
enum appended section_append(struct appending *record) HIDDEN;

#if defined(__x86_64__)

/* Where struct rseq has the number of the CPU, negative where it is not registered, and the address
 * of the description. */
#define SECTION_CPU "4"
#define SECTION_FIELD "8"
/* What the C library has told the kernel to look for in front of what is done instead. */
#define SECTION_SIGNATURE "0x53053053"

/* clang-format off */
/* These two are apart, so that tests/bench/ablation.py can leave them out. */
#ifndef SECTION_TELL
#define SECTION_TELL "movq %%rcx, %%fs:" SECTION_FIELD "(%%rax)\n"
#endif
#ifndef SECTION_TIME
#define SECTION_TIME \
	"rdtsc\n\t" \
	"shlq $32, %%rdx\n\t" \
	"orq %%rax, %%rdx\n\t"
#endif

/* The labels: 1 and 2 are the first instruction and the one after the last, 3 describes them,
 * 4 is where the kernel goes, 5 begins anew. */
#define SECTION_ENTER(count_try) \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n" \
	"3:\t.long 0, 0\n\t" \
	".quad 1f, 2f - 1f, 4f\n\t" \
	".popsection\n\t" \
	"jmp 5f\n\t" \
	/* An instruction that nobody executes, with the signature as its operand. */ \
	".byte 0x0f, 0xb9, 0x3d\n\t" \
	".long " SECTION_SIGNATURE "\n" \
	"4:\t" count_try \
	"5:\tmovq section_area(%%rip), %%rax\n\t" \
	"leaq 3b(%%rip), %%rcx\n\t" \
	SECTION_TELL \
	"1:\t"
/* Registers: rcx the stream of the first channel. */
#define SECTION_STREAM \
	"movq streams_of_thread@gottpoff(%%rip), %%rcx\n\t" \
	"movq %%fs:(%%rcx), %%rcx\n\t" \
	"testq %%rcx, %%rcx\n\t" \
	"jz %l[elsewhere]\n\t"
/* The same of a channel. */
#define SECTION_STREAM_OF_CHANNEL \
	"movq streams_of_thread@gottpoff(%%rip), %%rcx\n\t" \
	"movq %%fs:(%%rcx, %q[channel], 8), %%rcx\n\t" \
	"testq %%rcx, %%rcx\n\t" \
	"jz %l[elsewhere]\n\t"
/* The same of the channel of a record; r8 is used. */
#define SECTION_STREAM_OF_RECORD \
	"movl %c[channel](%[record]), %%r8d\n\t" \
	"movq streams_of_thread@gottpoff(%%rip), %%rcx\n\t" \
	"movq %%fs:(%%rcx, %%r8, 8), %%rcx\n\t" \
	"testq %%rcx, %%rcx\n\t" \
	"jz %l[elsewhere]\n\t"
#define SECTION_BEGIN(count_try) \
	SECTION_ENTER(count_try) \
	SECTION_STREAM \
	SECTION_CHUNK
#define SECTION_CHUNK \
	"movq %c[open](%%rcx), %%r8\n\t" \
	"testq %%r8, %%r8\n\t" \
	"jz %l[elsewhere]\n\t"
/* The label 6; registers: rsi from where, r10 where to, eax how much is left. */
#define SECTION_COPY_WIDE \
	"6:\tmovups (%%rsi), %%xmm0\n\t" \
	"movups 16(%%rsi), %%xmm1\n\t" \
	"movups 32(%%rsi), %%xmm2\n\t" \
	"movups 48(%%rsi), %%xmm3\n\t" \
	"movups %%xmm0, (%%r10)\n\t" \
	"movups %%xmm1, 16(%%r10)\n\t" \
	"movups %%xmm2, 32(%%r10)\n\t" \
	"movups %%xmm3, 48(%%r10)\n\t" \
	"addq $64, %%rsi\n\t" \
	"addq $64, %%r10\n\t" \
	"subl $64, %%eax\n\t" \
	"jnz 6b\n\t"
/* clang-format on */

#define SECTION_OFFSETS                                                                         \
	[open] "i"(offsetof(struct stream, open)), [limit] "i"(offsetof(struct stream, limit)), \
		[vpid] "i"(offsetof(struct stream, vpid)),                                      \
		[owner] "i"(offsetof(struct stream, owner)),                                    \
		[last] "i"(offsetof(struct stream, last_time)),                                 \
		[end] "i"(offsetof(struct arena_chunk, packet.timestamp_end)),                  \
		[time_bits] "i"(HEADER_TIME_BITS), [class_bits] "i"(HEADER_CLASS_BITS)

/*
 * Append what hooks of functions usually write: the compact header, `ip`, `vpid` and, if it is
 * repeated, the place once more. False when that does not go.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the end of the record, rdx the time.
 */
static inline __attribute__((always_inline)) bool
section_append_usual(const uint32_t class, const void *place, const bool is_repeated)
{
	_Static_assert(offsetof(struct arena_chunk, committed) == 0, "the first word");
	_Static_assert(COMPACT_HEADER_SIZE == 4 && PLACE_SIZE == 6 && ID_SIZE == 4, "as below");
	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%esi\n\t"
		SECTION_BEGIN("decl %%esi\n\t"
			      "jz %l[elsewhere]\n")
		"movl (%%r8), %%r9d\n\t"
		"addl %[size], %%r9d\n\t"
		"cmpl %c[limit](%%rcx), %%r9d\n\t"
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
		"movq %[place], %%r10\n\t"
		"shlq $32, %%r10\n\t"
		"orq %%rax, %%r10\n\t"
		"movq %%r10, 0-%c[size](%%r8, %%r9)\n\t"
		"movl %c[vpid](%%rcx), %%eax\n\t"
		"shlq $32, %%rax\n\t"
		"movq %[place], %%r10\n\t"
		"shrq $16, %%r10\n\t"
		"orq %%rax, %%r10\n\t"
		"movq %%r10, 6-%c[size](%%r8, %%r9)\n\t"
		".if %c[repeated]\n\t"
		"movl %k[place], 14-%c[size](%%r8, %%r9)\n\t"
		"shrq $16, %%r10\n\t"
		"movw %%r10w, 18-%c[size](%%r8, %%r9)\n\t"
		".endif\n\t"
		"movl %%r9d, (%%r8)\n"
		"2:\tmovq %%rdx, %c[last](%%rcx)\n\t"
		:
		: [place] "D"(place), [class] "i"(class), [repeated] "i"(is_repeated),
		  [size] "i"(COMPACT_HEADER_SIZE + PLACE_SIZE + ID_SIZE +
			     (is_repeated ? PLACE_SIZE : 0)),
		  [tries] "i"(SECTION_TRIES), SECTION_OFFSETS
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static inline bool section_append_usual(uint32_t class, const void *place, bool is_repeated)
{
	(void) class;
	(void) place;
	(void) is_repeated;
	return false;
}

#endif

#endif
