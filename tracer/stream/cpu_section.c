/* Restartable sequences on the rings of CPUs: any record, and the step to another chunk. */
#include "cpu_section.h"

bool cpu_section_is_usual;

#if defined(__x86_64__)

#define OFFSET(field) offsetof(struct appending, field)

/* Registers: rdi the record, rcx the stream, r8 the chunk, r9 its place, then its end there,
 * rdx the time, r10 where the next byte goes. */
enum appended cpu_section_append(struct appending *record, uint32_t owner)
{
	_Static_assert(offsetof(struct arena_chunk, committed) == 0 &&
			       offsetof(struct arena_chunk, epoch) == 4,
		       "one word");
	record->tries = SECTION_TRIES;
	/* clang-format off */
	__asm__ goto(
		SECTION_ENTER("decl %c[tries](%[record])\n\t"
			      "jz %l[otherwise]\n")
		SECTION_STREAM_OF_RECORD
		"cmpl %k[of], %c[owner](%%rcx)\n\t"
		"jne %l[elsewhere]\n\t"
		SECTION_CHUNK_OF_CPU
		"movq %[record], %%rdi\n\t"
		"movl (%%r8), %%r9d\n\t"
		/* The room that is asked for is more than what is used in the end. */
		"movl %%r9d, %%eax\n\t"
		"addl %c[header_size](%%rdi), %%eax\n\t"
		"addl %c[copied](%%rdi), %%eax\n\t"
		"cmpl %c[limit](%%rcx), %%eax\n\t"
		"ja %l[elsewhere]\n\t"
		SECTION_TIME
		"leaq (%%r8, %%r9), %%r10\n\t"
		"cmpl %[compact], %c[header_size](%%rdi)\n\t"
		"jne 8f\n\t"
		"movq %%rdx, %%rax\n\t"
		"shrq %[time_bits], %%rax\n\t"
		"cmpl %c[epoch](%%r8), %%eax\n\t"
		"jne %l[extended]\n\t"
		"movl %%edx, %%eax\n\t"
		"shll %[class_bits], %%eax\n\t"
		"orl %c[class](%%rdi), %%eax\n\t"
		"movl %%eax, (%%r10)\n\t"
		"jmp 9f\n"
		"8:\tmovb $255, (%%r10)\n\t"
		"movl %c[class](%%rdi), %%eax\n\t"
		"movl %%eax, 1(%%r10)\n\t"
		"movq %%rdx, 5(%%r10)\n"
		"9:\tmovq %%rdx, %c[end](%%r8)\n\t"
		"movl %c[header_size](%%rdi), %%eax\n\t"
		"addq %%rax, %%r10\n\t"
		"addl %%eax, %%r9d\n\t"
		"addl %c[size](%%rdi), %%r9d\n\t"
		"movq %c[body](%%rdi), %%rsi\n\t"
		"movl %c[copied](%%rdi), %%eax\n\t"
		"cmpl %[few], %%eax\n\t"
		"jae 11f\n"
		/* From the last word to the first. */
		"10:\tmovups -16(%%rsi, %%rax), %%xmm0\n\t"
		"movups %%xmm0, -16(%%r10, %%rax)\n\t"
		"subl $16, %%eax\n\t"
		"jnz 10b\n\t"
		"jmp 12f\n"
		"11:\tmovl %%eax, %%ecx\n\t"
		"movq %%r10, %%rdi\n\t"
		"rep movsb\n"
		/* The end and the epoch, at once. */
		"12:\tshrq %[time_bits], %%rdx\n\t"
		"shlq $32, %%rdx\n\t"
		"orq %%r9, %%rdx\n\t"
		"movq %%rdx, (%%r8)\n"
		"2:\n\t"
		:
		: [record] "r"(record), [of] "r"(owner), SECTION_CPU_OFFSETS,
		  [body] "i"(OFFSET(body)), [class] "i"(OFFSET(class)),
		  [channel] "i"(OFFSET(channel)),
		  [size] "i"(OFFSET(size)), [copied] "i"(OFFSET(copied)),
		  [header_size] "i"(OFFSET(header_size)), [tries] "i"(OFFSET(tries)),
		  [compact] "i"(COMPACT_HEADER_SIZE), [few] "i"(FEW_BYTES)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "xmm0", "memory", "cc"
		: elsewhere, extended, otherwise);
	/* clang-format on */
	return APPENDED;
elsewhere:
	return APPEND_ELSEWHERE;
extended:
	return APPEND_EXTENDED;
otherwise:
	return APPEND_OTHERWISE;
}

/* Registers: rdi the body, rcx the stream, r8 the chunk, r9 the record's place, then its end there,
 * rdx the time, rsi from where, r10 where to, eax how much is left. */
bool cpu_section_append_wide(const char *body, uint32_t size, uint32_t owner, uint64_t channel,
			     uint32_t class, uint64_t time)
{
	const uint32_t copied = (size + 64) / 64 * 64;

	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%r11d\n\t"
		SECTION_ENTER("decl %%r11d\n\t"
			      "jz %l[elsewhere]\n")
		SECTION_STREAM_OF_CHANNEL
		/* A child process may have been forked since: the record names its parent. Or it is
		 * of another recording. */
		"cmpl %k[of], %c[owner](%%rcx)\n\t"
		"jne %l[elsewhere]\n\t"
		SECTION_CHUNK_OF_CPU
		"movl (%%r8), %%r9d\n\t"
		"leal %c[header](%%r9, %q[copied]), %%eax\n\t"
		"cmpl %c[limit](%%rcx), %%eax\n\t"
		"ja %l[elsewhere]\n\t"
		"movq %[time], %%rdx\n\t"
		"testq %%rdx, %%rdx\n\t"
		"jnz 7f\n\t"
		SECTION_TIME
		"jmp 8f\n"
		/* Not before what is there. */
		"7:\tcmpq %c[end](%%r8), %%rdx\n\t"
		"jb %l[elsewhere]\n"
		"8:\tmovq %%rdx, %%rax\n\t"
		"shrq %[time_bits], %%rax\n\t"
		"cmpl %c[epoch](%%r8), %%eax\n\t"
		"jne %l[elsewhere]\n\t"
		"movq %%rdx, %c[end](%%r8)\n\t"
		"movl %%edx, %%eax\n\t"
		"shll %[class_bits], %%eax\n\t"
		"orl %k[class], %%eax\n\t"
		"movl %%eax, (%%r8, %%r9)\n\t"
		"movq %%rdi, %%rsi\n\t"
		"leaq %c[header](%%r8, %%r9), %%r10\n\t"
		"movl %k[copied], %%eax\n"
		SECTION_COPY_WIDE
		"leal %c[header](%%r9, %q[size]), %%r9d\n\t"
		"movl %%r9d, (%%r8)\n"
		"2:\tmovq %%rdx, %c[made](%%rcx)\n\t"
		:
		: [body] "D"(body), [class] "r"(class), [size] "r"(size), [of] "r"(owner),
		  [channel] "r"(channel), [copied] "r"(copied), [time] "rm"(time),
		  [header] "i"(COMPACT_HEADER_SIZE), [tries] "i"(SECTION_TRIES),
		  SECTION_CPU_OFFSETS
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
		  "xmm3", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

bool cpu_section_go_on(const struct stream *stream, uint32_t cpu, uint32_t number, uint64_t seen)
{
	char *cur = stream->cpus.first + (size_t) cpu * sizeof(struct arena_slot);
	char *chunk = stream->cpus.chunks + number * stream->cpus.chunk_bytes;
	const uint64_t wanted = ((seen >> 32) + 1) << 32 | number;

	/* clang-format off */
	__asm__ goto(
		"movl %[tries], %%esi\n\t"
		SECTION_ENTER("decl %%esi\n\t"
			      "jz %l[elsewhere]\n")
		"cmpl %k[cpu], %%fs:" SECTION_CPU "(%%rax)\n\t"
		"jne %l[elsewhere]\n\t"
		"cmpq %[seen], (%[cur])\n\t"
		"jne %l[elsewhere]\n\t"
		SECTION_TIME
		"movq %%rdx, %c[begin](%[chunk])\n\t"
		"movq %%rdx, %c[end](%[chunk])\n\t"
		"shrq %[time_bits], %%rdx\n\t"
		"movl %%edx, %c[epoch](%[chunk])\n\t"
		/* Up to here it is that of the thread, should that be killed. */
		"leal 1(%k[cpu]), %%eax\n\t"
		"movl %%eax, %c[slot](%[chunk])\n\t"
		"movq %[wanted], (%[cur])\n"
		"2:\n\t"
		:
		: [cpu] "r"(cpu), [seen] "r"(seen), [cur] "r"(cur), [chunk] "r"(chunk),
		  [wanted] "r"(wanted), [tries] "i"(SECTION_TRIES),
		  [begin] "i"(offsetof(struct arena_chunk, packet.timestamp_begin)),
		  [slot] "i"(offsetof(struct arena_chunk, owner)), SECTION_CPU_OFFSETS
		: "rax", "rcx", "rdx", "rsi", "memory", "cc"
		: elsewhere);
	/* clang-format on */
	return true;
elsewhere:
	return false;
}

#else

enum appended cpu_section_append(struct appending *record, uint32_t owner)
{
	(void) record;
	(void) owner;
	return APPEND_OTHERWISE;
}

bool cpu_section_append_wide(const char *body, uint32_t size, uint32_t owner, uint64_t channel,
			     uint32_t class, uint64_t time)
{
	(void) body;
	(void) size;
	(void) owner;
	(void) channel;
	(void) class;
	(void) time;
	return false;
}

bool cpu_section_go_on(const struct stream *stream, uint32_t cpu, uint32_t number, uint64_t seen)
{
	(void) stream;
	(void) cpu;
	(void) number;
	(void) seen;
	return false;
}

#endif
