/*
 * Keeping vector registers while others use them.
 *
 * See "Managing State Using the XSAVE Feature Set" in Intel's manual. The state is kept on the
 * stack: what uses the registers may be interrupted by handlers that do the same. Where there is
 * XSAVEC, parts that nobody uses are neither written nor read; else all are, which takes a thousand
 * cycles with those of AVX-512.
 */
#include "general_registers.h"

#include "vectors.h"

#include <stdint.h>

#if defined(__x86_64__)

/* Parts of the state: what is in xmm, what is above it in ymm, masks, zmm, and those from 16 on. */
#define VECTOR_PARTS 0xE6u
#define LEGACY_SIZE 512u
#define HEADER_SIZE 64u
#define HAS_XSAVE (1u << 27)
#define HAS_XSAVEC (1u << 1)

/* What the function below reads: which parts; 0 on a processor without. */
uint32_t vectors_parts HIDDEN;
/* Whether parts can be left out that nobody uses. */
uint32_t vectors_are_compact HIDDEN;
/* How much room they take. */
uint64_t vectors_size HIDDEN = LEGACY_SIZE;

struct registers {
	uint32_t a;
	uint32_t b;
	uint32_t c;
	uint32_t d;
};

static struct registers ask_processor(uint32_t leaf, uint32_t part)
{
	struct registers is;

	__asm__ volatile("cpuid"
			 : "=a"(is.a), "=b"(is.b), "=c"(is.c), "=d"(is.d)
			 : "a"(leaf), "c"(part));
	return is;
}

void vectors_start(void)
{
	uint32_t low;
	uint32_t high;
	uint64_t size = LEGACY_SIZE + HEADER_SIZE;

	if (vectors_parts || !(ask_processor(1, 0).c & HAS_XSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	low &= VECTOR_PARTS;
	for (uint32_t part = 2; part < 32; part++) {
		if (low & 1u << part) {
			const struct registers place = ask_processor(0xD, part);

			if ((uint64_t) place.a + place.b > size)
				size = (uint64_t) place.a + place.b;
		}
	}
	vectors_are_compact = ask_processor(0xD, 1).a & HAS_XSAVEC;
	/* In the other form, parts begin at multiples of 64 bytes, one after the other: it is no larger. */
	vectors_size = size;
	vectors_parts = low;
}

/* clang-format off */
__asm__(".text\n"
	".globl vectors_keep\n"
	".hidden vectors_keep\n"
	".type vectors_keep, @function\n"
	"vectors_keep:\n\t"
	".cfi_startproc\n\t"
	"pushq %rbp\n\t"
	".cfi_def_cfa_offset 16\n\t"
	".cfi_offset %rbp, -16\n\t"
	"movq %rsp, %rbp\n\t"
	".cfi_def_cfa_register %rbp\n\t"
	"subq vectors_size(%rip), %rsp\n\t"
	"andq $-64, %rsp\n\t"
	"movq %rdi, %r10\n\t"
	"movq %rsi, %rdi\n\t"
	"movq %rdx, %rsi\n\t"
	"movl vectors_parts(%rip), %eax\n\t"
	"testl %eax, %eax\n\t"
	"jz 1f\n\t"
	/* What is not saved is restored by what the header says: it must be zero. */
	"xorl %edx, %edx\n\t"
	"movq %rdx, 512(%rsp)\n\t"
	"movq %rdx, 520(%rsp)\n\t"
	"movq %rdx, 528(%rsp)\n\t"
	"movq %rdx, 536(%rsp)\n\t"
	"movq %rdx, 544(%rsp)\n\t"
	"movq %rdx, 552(%rsp)\n\t"
	"movq %rdx, 560(%rsp)\n\t"
	"movq %rdx, 568(%rsp)\n\t"
	"testl $2, vectors_are_compact(%rip)\n\t"
	"jz 3f\n\t"
	"xsavec64 (%rsp)\n\t"
	"jmp 4f\n"
	"3:\txsave64 (%rsp)\n"
	"4:\tcall *%r10\n\t"
	"movl vectors_parts(%rip), %eax\n\t"
	"xorl %edx, %edx\n\t"
	"xrstor64 (%rsp)\n\t"
	"jmp 2f\n"
	"1:\tfxsave64 (%rsp)\n\t"
	"call *%r10\n\t"
	"fxrstor64 (%rsp)\n"
	"2:\tmovq %rbp, %rsp\n\t"
	"popq %rbp\n\t"
	".cfi_def_cfa %rsp, 8\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size vectors_keep, . - vectors_keep\n");
/* clang-format on */

#else

void vectors_start(void)
{
}

void vectors_keep(void (*function)(void *, void *), void *first, void *second)
{
	function(first, second);
}

#endif

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
