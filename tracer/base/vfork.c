/*
 * Stands in for vfork() where CPUs have rings: in the tracer, and in programs with our headers, which load
 * the tracer later.
 *
 * The child has the memory of its parent, also what the kernel keeps there for restartable
 * sequences; but it does not keep it for the child. So a sequence of the child would not begin
 * anew, and would take for its CPU the one on which the parent was. While the child has the
 * memory, the thread writes to its own ring; the parent waits meanwhile.
 *
 * The child returns from here before the parent does, and its calls write over this frame. So the
 * return address is kept in a register.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "vfork.h"

#include <errno.h>
#include <unistd.h>

#include "compiler.h"

#if defined(__x86_64__)

#define UNTRACED __attribute__((no_instrument_function))
/* A program may have a function of this name, and link what is here twice, see link/linked.h. */
#define WEAK __attribute__((weak))

/* What the tracer has put there. */
struct vestige_vfork_calls vestige_vfork_calls HIDDEN WEAK;

/* Called by what follows. */
void vestige_vfork_begin(void) HIDDEN UNTRACED WEAK;
pid_t vestige_vfork_end(long result) HIDDEN UNTRACED WEAK;

void vestige_vfork_begin(void)
{
	void (*const leave)(void) = __atomic_load_n(&vestige_vfork_calls.leave, __ATOMIC_ACQUIRE);

	if (leave)
		leave();
}

/* In the parent. */
pid_t vestige_vfork_end(long result)
{
	/* One that was not told that it begins is not told that it ends: both are there, or the
	 * tracer came meanwhile, and the thread has no stream yet. */
	void (*const come_back)(void) =
		__atomic_load_n(&vestige_vfork_calls.come_back, __ATOMIC_ACQUIRE);

	if (come_back)
		come_back();
	if (result >= 0)
		return (pid_t) result;
	errno = (int) -result;
	return -1;
}

/* clang-format off */
__asm__(".pushsection .text\n\t"
	".balign 16\n\t"
	/* As vfork.h has it. */
	".quad vestige_vfork_calls - .\n\t"
	".ascii \"" VESTIGE_VFORK_MARK "\"\n\t"
	".weak vfork\n\t"
	".type vfork, @function\n"
	"vfork:\n\t"
	"subq $8, %rsp\n\t"
	"call vestige_vfork_begin\n\t"
	"addq $8, %rsp\n\t"
	"popq %rdi\n\t"
	/* SYS_vfork */
	"movl $58, %eax\n\t"
	"syscall\n\t"
	"pushq %rdi\n\t"
	"testq %rax, %rax\n\t"
	"jz 1f\n\t"
	"movq %rax, %rdi\n\t"
	"jmp vestige_vfork_end\n"
	"1:\tret\n\t"
	".size vfork, . - vfork\n\t"
	".popsection");
/* clang-format on */

#endif
