/*
 * Where entries of functions lead to, and what functions return to.
 *
 * A processor predicts where a function returns to by the `call` that it has seen. So the stub of an
 * entry ends with a `call` itself, at the place of the return address: what that pushes is
 * the address of exit_stub(), to which the function returns as predicted. The
 * program's own call is still what the processor expects the next return to belong to, and that is the last
 * instruction of exit_stub(). Where the return address stays, the stub jumps.
 */
#include "stubs.h"

#if defined(__x86_64__)

/* Called by programs that were compiled with -pg -mfentry; see "-mfentry" in GCC's manual. */
EXPORTED void __fentry__(void);

/* clang-format off */

/* Registers that functions may change, and one that finds them again. */
#define SAVE \
	"pushq %rax\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %rcx\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %rdx\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %rsi\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %rdi\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %r8\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %r9\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %r10\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %r11\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"pushq %rbp\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	"movq %rsp, %rbp\n\t" \
	".cfi_def_cfa_register %rbp\n\t"
#define RESTORE \
	"movq %rbp, %rsp\n\t" \
	".cfi_def_cfa_register %rsp\n\t" \
	"popq %rbp\n\t" \
	".cfi_same_value %rbp\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %r11\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %r10\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %r9\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %r8\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %rdi\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %rsi\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %rdx\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %rcx\n\t" \
	".cfi_adjust_cfa_offset -8\n\t" \
	"popq %rax\n\t" \
	".cfi_adjust_cfa_offset -8\n\t"

/* On top of the stack is where to go on, then the return address of the function. Unwinders
 * take our caller for the function's: code of a thunk is described nowhere. */
#define BEGIN(name, handler) \
	".globl " name "\n" \
	".type " name ", @function\n" \
	name ":\n\t" \
	".cfi_startproc\n\t" \
	".cfi_def_cfa_offset 16\n\t" \
	SAVE \
	".cfi_offset %rbp, -96\n\t" \
	"andq $-16, %rsp\n\t" \
	"leaq 88(%rbp), %rdi\n\t" \
	"call " handler "\n\t"
#define END(name) \
	".cfi_endproc\n\t" \
	".size " name ", . - " name "\n"

/*
 * Where functions return to. The description says, in the language of DWARF's expressions, of a
 * frame whose canonical address is one byte above its stack pointer, so that it is none of its
 * neighbours:
 *
 *   the stack pointer of the caller      DW_CFA_val_expression: that address - 1
 *   its return address                   DW_CFA_expression: in the shadow of that address - 9,
 *                                        by the formula of shadow.h, with operations
 *                                        that Valgrind knows, too
 *
 * Unwinders look up what is before a return address: that is the end of the call, which so belongs
 * to this description. A handler that interrupts the call is at its beginning, in the one before.
 */
#define SHADOWED \
	".cfi_escape 0x16, 7, 2, 0x31, 0x1c\n\t" \
	".cfi_escape 0x10, 16, 21, 0x39, 0x1c, 0x31, 0x24, 0x31, 0x08, 44, 0x24, 0x1c, " \
	"0x0c, 0xff, 0xff, 0xff, 0x7f, 0x40, 0x24, 0x0a, 0xff, 0xff, 0x22, 0x1a\n\t"
/* Of branches to where nobody was meant to branch. It is all of the call that is not at its end. */
#define NOTRACK ".byte 0x3e\n\t"
/* `call *-16(%rsp)`: what is below the stack pointer is ours for 128 bytes. */
#define CALL_NEXT ".byte 0xff, 0x54, 0x24, 0xf0\n"

__asm__(".text\n"
	".hidden stub_probe\n"
	BEGIN("stub_probe", "calls_probe_entered")
	"jmp stub_calls\n\t"
	END("stub_probe")
	".hidden stub_library\n"
	BEGIN("stub_library", "calls_library_entered")
	"jmp stub_calls\n\t"
	END("stub_library")
	/* The call of this one is what the processor expects the next return to belong to: one
	 * is made, which it predicts wrongly. */
	BEGIN("__fentry__", "calls_fentry_entered")
	"testb %al, %al\n\t"
	"jz 1f\n\t"
	"leaq stub_calls(%rip), %rcx\n\t"
	"pushq %rcx\n\t"
	"ret\n"
	"1:\t"
	RESTORE
	"ret\n\t"
	END("__fentry__")
	".type stub_goes_on, @function\n"
	"stub_goes_on:\n\t"
	".cfi_startproc\n\t"
	".cfi_def_cfa %rbp, 96\n\t"
	".cfi_offset %rbp, -96\n\t"
	RESTORE
	"leaq 8(%rsp), %rsp\n\t"
	".cfi_def_cfa_offset 8\n\t"
	NOTRACK
	"jmp *-8(%rsp)\n\t"
	END("stub_goes_on")
	".hidden stub_function\n"
	BEGIN("stub_function", "calls_function_entered")
	"stub_calls:\n\t"
	"testb %al, %al\n\t"
	"jz stub_goes_on\n\t"
	RESTORE
	"leaq 16(%rsp), %rsp\n\t"
	".cfi_def_cfa_offset 0\n\t"
	NOTRACK
	END("stub_function")
	/* What debuggers call the frame. */
	".type recorded_call, @function\n"
	"recorded_call:\n\t"
	".cfi_startproc\n\t"
	".cfi_def_cfa %rsp, 1\n\t"
	SHADOWED
	CALL_NEXT
	".globl exit_stub\n"
	".hidden exit_stub\n"
	".type exit_stub, @function\n"
	"exit_stub:\n\t"
	/* The place of the return address, which is free. */
	"pushq %rax\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	SAVE
	/* DW_CFA_expression: the frame pointer is 89 bytes below the frame's address. */
	".cfi_escape 0x10, 6, 3, 0x08, 89, 0x1c\n\t"
	"andq $-16, %rsp\n\t"
	"leaq 80(%rbp), %rdi\n\t"
	"call calls_left\n\t"
	"movq %rax, 80(%rbp)\n\t"
	RESTORE
	"ret\n\t"
	".cfi_endproc\n\t"
	".size exit_stub, . - exit_stub\n\t"
	".size recorded_call, . - recorded_call\n");
/* clang-format on */

#else

void stub_function(void)
{
}

void stub_probe(void)
{
}

void stub_library(void)
{
}

void exit_stub(void)
{
}

#endif
