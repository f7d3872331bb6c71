/* Restartable sequences: where they go, and any record. */
#include "section.h"

#include "../base/cpu.h"
#include "../base/settings.h"

ptrdiff_t section_area;
bool section_is_usual;
bool section_is_of_programs;

#if defined(__x86_64__)

/* Where struct rseq says on which CPU the thread is, negative where it is not registered. */
#define CPU_FIELD 4

void section_start(void)
{
	bool is_possible;

	if (&__rseq_offset && &__rseq_size && __rseq_size)
		section_area = __rseq_offset;
	is_possible = section_area && settings.counter_is_clock;
	section_is_of_programs = is_possible && settings.channels[0].is_overwriting;
	section_is_usual = is_possible && !section_is_of_programs;
}

bool section_is_possible(void)
{
	const char *area = (const char *) __builtin_thread_pointer() + section_area;

	return section_area && *(const volatile int32_t *) (area + CPU_FIELD) >= 0;
}

#define OFFSET(field) offsetof(struct appending, field)

/* Registers: rdi the record, rcx the stream, r8 the chunk, r9 its place, then its end there,
 * rdx the time, r10 where the next byte goes. */
enum appended section_append(struct appending *record)
{
	_Static_assert(HEADER_EXTENDED == 255 && EXTENDED_HEADER_SIZE == 13, "as below");
	record->tries = SECTION_TRIES;
	/* clang-format off */
	__asm__ goto(
		SECTION_ENTER("decl %c[tries](%[record])\n\t"
			      "jz %l[otherwise]\n")
		SECTION_STREAM_OF_RECORD
		SECTION_CHUNK
		"movq %[record], %%rdi\n\t"
		"movl (%%r8), %%r9d\n\t"
		/* The room that is asked for is more than what is used in the end. */
		"movl %%r9d, %%eax\n\t"
		"addl %c[header_size](%%rdi), %%eax\n\t"
		"addl %c[copied](%%rdi), %%eax\n\t"
		"cmpl %c[limit](%%rcx), %%eax\n\t"
		"ja %l[elsewhere]\n\t"
		"movq %c[time](%%rdi), %%rdx\n\t"
		"testq %%rdx, %%rdx\n\t"
		"jnz 6f\n\t"
		SECTION_TIME
		"jmp 7f\n"
		/* A given time holds if nothing has come since. */
		"6:\tcmpq %c[chunk](%%rdi), %%r8\n\t"
		"jne %l[elsewhere]\n\t"
		"cmpl %c[committed](%%rdi), %%r9d\n\t"
		"jne %l[elsewhere]\n"
		"7:\tleaq (%%r8, %%r9), %%r10\n\t"
		"cmpl %[compact], %c[header_size](%%rdi)\n\t"
		"jne 8f\n\t"
		"movq %%rdx, %%rax\n\t"
		"subq %c[last](%%rcx), %%rax\n\t"
		"shrq %[time_bits], %%rax\n\t"
		"jnz %l[extended]\n\t"
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
		"11:\tmovq %%rcx, %%r11\n\t"
		"movl %%eax, %%ecx\n\t"
		"movq %%r10, %%rdi\n\t"
		"rep movsb\n\t"
		"movq %%r11, %%rcx\n"
		"12:\tmovl %%r9d, (%%r8)\n"
		"2:\tmovq %%rdx, %c[last](%%rcx)\n\t"
		:
		: [record] "r"(record), SECTION_OFFSETS, [body] "i"(OFFSET(body)),
		  [time] "i"(OFFSET(time)), [chunk] "i"(OFFSET(chunk)),
		  [committed] "i"(OFFSET(committed)), [class] "i"(OFFSET(class)),
		  [channel] "i"(OFFSET(channel)),
		  [size] "i"(OFFSET(size)), [copied] "i"(OFFSET(copied)),
		  [header_size] "i"(OFFSET(header_size)), [tries] "i"(OFFSET(tries)),
		  [compact] "i"(COMPACT_HEADER_SIZE), [few] "i"(FEW_BYTES)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "memory",
		  "cc"
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

#else

void section_start(void)
{
}

bool section_is_possible(void)
{
	return false;
}

enum appended section_append(struct appending *record)
{
	(void) record;
	return APPEND_OTHERWISE;
}

#endif
