/*
 * Stands in for vfork() where CPUs have rings.
 *
 * The child has the memory of its parent, also what the kernel keeps there for restartable
 * sequences; but it does not keep it for the child. So a sequence of the child would not begin
 * anew, and would take for its CPU the one on which the parent was. While the child has the
 * memory, the thread writes to its own ring; the parent waits meanwhile.
 *
 * The child returns from here before the parent does, and its calls write over this frame. So the
 * return address is kept in a register.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "../base/compiler.h"

#if defined(__x86_64__)

/* Of the tracer. */
void vestige_leave_cpu_rings(void) __attribute__((weak));
void vestige_return_to_cpu_rings(void) __attribute__((weak));

/* Called by what follows. */
void vfork_begin(void) HIDDEN;
pid_t vfork_end(long result) HIDDEN;

void vfork_begin(void)
{
	if (vestige_leave_cpu_rings)
		vestige_leave_cpu_rings();
}

/* In the parent. */
pid_t vfork_end(long result)
{
	if (vestige_return_to_cpu_rings)
		vestige_return_to_cpu_rings();
	if (result >= 0)
		return (pid_t) result;
	errno = (int) -result;
	return -1;
}

/* clang-format off */
__asm__(".pushsection .text\n\t"
	".globl vfork\n\t"
	".type vfork, @function\n"
	"vfork:\n\t"
	"subq $8, %rsp\n\t"
	"call vfork_begin\n\t"
	"addq $8, %rsp\n\t"
	"popq %rdi\n\t"
	/* SYS_vfork */
	"movl $58, %eax\n\t"
	"syscall\n\t"
	"pushq %rdi\n\t"
	"testq %rax, %rax\n\t"
	"jz 1f\n\t"
	"movq %rax, %rdi\n\t"
	"jmp vfork_end\n"
	"1:\tret\n\t"
	".size vfork, . - vfork\n\t"
	".popsection");
/* clang-format on */

#endif
