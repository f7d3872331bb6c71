/*
 * Restartable sequences that append to the ring of a CPU.
 *
 * All threads on a CPU write to its ring, of all processes; only on that CPU, and only in such
 * sequences. What interrupts one, a signal or another thread, begins it anew, so that nobody ever
 * meets a half of anything: a record is there when the last instruction has stored where it ends,
 * and a ring goes on to another chunk with the store of one word, see cpu_ring.c.
 *
 * The compact header has the lower bits of the time. Whether the others are those of the record
 * before is told by `epoch`, which is one word with `committed`: so no store that came to nothing can
 * make it newer than that record.
 */
#ifndef VESTIGE_STREAM_CPU_SECTION_H
#define VESTIGE_STREAM_CPU_SECTION_H

#include "section.h"

/* Whether the records that threads make for the first channel go there. */
extern bool cpu_section_is_usual HIDDEN;

/* Append a record to the ring of the CPU, if the stream is the owner's still. */
enum appended cpu_section_append(struct appending *record, uint32_t owner) HIDDEN;
/* The same with the compact header, from a body of which whole words of 64 bytes can be read that its size needs;
 * at a given time, unless others have come to the ring since, or, where that is 0, at that of the moment. */
bool cpu_section_append_wide(const char *body, uint32_t size, uint32_t owner, uint64_t channel,
			     uint32_t class, uint64_t time) HIDDEN;
/* Let the ring of a CPU go on from `seen` to a chunk, which is empty and nobody's; false when the
 * thread is on another CPU, or the ring was faster. */
bool cpu_section_go_on(const struct stream *stream, uint32_t cpu, uint32_t number,
		       uint64_t seen) HIDDEN;

#if defined(__x86_64__)

/* clang-format off */
/* Registers: rcx the stream, r8 the chunk; rax is used. */
#define SECTION_CHUNK_OF_CPU \
	"movl %%fs:" SECTION_CPU "(%%rax), %%eax\n\t" \
	"cmpl %c[cpus](%%rcx), %%eax\n\t" \
	"jae %l[elsewhere]\n\t" \
	"shll $9, %%eax\n\t" \
	"movq %c[rings](%%rcx), %%r8\n\t" \
	"movl (%%r8, %%rax), %%eax\n\t" \
	/* Other programs may have written anything there. */ \
	"leal -1(%%rax), %%r8d\n\t" \
	"cmpl %c[chunk_count](%%rcx), %%r8d\n\t" \
	"jae %l[elsewhere]\n\t" \
	"imulq %c[chunk_bytes](%%rcx), %%rax\n\t" \
	"movq %c[chunks](%%rcx), %%r8\n\t" \
	"addq %%rax, %%r8\n\t"
/* clang-format on */

#define SECTION_CPU_OFFSETS                                                    \
	[cpus] "i"(offsetof(struct stream, cpus.count)),                       \
		[rings] "i"(offsetof(struct stream, cpus.first)),              \
		[chunks] "i"(offsetof(struct stream, cpus.chunks)),            \
		[chunk_bytes] "i"(offsetof(struct stream, cpus.chunk_bytes)),  \
		[chunk_count] "i"(offsetof(struct stream, cpus.chunk_count)),  \
		[limit] "i"(offsetof(struct stream, cpus.limit)),              \
		[vpid] "i"(offsetof(struct stream, vpid)),                     \
		[owner] "i"(offsetof(struct stream, owner)),                   \
		[made] "i"(offsetof(struct stream, cpu_time)),                 \
		[epoch] "i"(offsetof(struct arena_chunk, epoch)),              \
		[end] "i"(offsetof(struct arena_chunk, packet.timestamp_end)), \
		[time_bits] "i"(HEADER_TIME_BITS), [class_bits] "i"(HEADER_CLASS_BITS)

/*
 * Append what hooks of functions usually write there: the compact header, `ip`, `vpid`, `vtid` and,
 * if it is repeated, the place once more. False when that does not go.
 *
 * Registers: rcx the stream, r8 the chunk, r9 the end of the record, rdx the time.
 */
static inline __attribute__((always_inline)) bool
cpu_section_append_usual(const uint32_t class, const void *place, const bool is_repeated)
{
	_Static_assert(sizeof(struct arena_slot) == 512, "slots are found by a shift");
	_Static_assert(offsetof(struct stream, vtid) == offsetof(struct stream, vpid) + 4,
		       "both are read at once");
	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%esi\n\t"
		SECTION_ENTER("decl %%esi\n\t"
			      "jz %l[elsewhere]\n")
		SECTION_STREAM
		SECTION_CHUNK_OF_CPU
		"movl (%%r8), %%r9d\n\t"
		"addl %[size], %%r9d\n\t"
		"cmpl %c[limit](%%rcx), %%r9d\n\t"
		"ja %l[elsewhere]\n\t"
		SECTION_TIME
		"movq %%rdx, %%rax\n\t"
		"shrq %[time_bits], %%rax\n\t"
		"cmpl %c[epoch](%%r8), %%eax\n\t"
		"jne %l[elsewhere]\n\t"
		"movq %%rdx, %c[end](%%r8)\n\t"
		"shll %[class_bits], %%edx\n\t"
		"orl %[class], %%edx\n\t"
		"movl %%edx, 0-%c[size](%%r8, %%r9)\n\t"
		"movq %[place], 4-%c[size](%%r8, %%r9)\n\t"
		"movq %c[vpid](%%rcx), %%rax\n\t"
		"movq %%rax, 10-%c[size](%%r8, %%r9)\n\t"
		".if %c[repeated]\n\t"
		"movl %k[place], 18-%c[size](%%r8, %%r9)\n\t"
		"movq %[place], %%rax\n\t"
		"shrq $32, %%rax\n\t"
		"movw %%ax, 22-%c[size](%%r8, %%r9)\n\t"
		".endif\n\t"
		"movl %%r9d, (%%r8)\n"
		"2:\n\t"
		:
		: [place] "D"(place), [class] "i"(class), [repeated] "i"(is_repeated),
		  [size] "i"(COMPACT_HEADER_SIZE + PLACE_SIZE + 2 * ID_SIZE +
			     (is_repeated ? PLACE_SIZE : 0)),
		  [tries] "i"(SECTION_TRIES), SECTION_CPU_OFFSETS
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

static inline bool cpu_section_append_usual(uint32_t class, const void *place, bool is_repeated)
{
	(void) class;
	(void) place;
	(void) is_repeated;
	return false;
}

#endif

#endif
