/*
 * Stands in for prctl() and syscall() in programs with our headers, which load the tracer later: so
 * it learns before the program that its system calls will be filtered, and makes none from then on.
 * Libraries of the program, such as libseccomp, find these functions, too, before the C library's.
 *
 * Weak: a program may have functions of these names. What is called in the end is what would have been
 * called without us; before constructors have run, and in programs without dynamic linking, the kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <lttng/tracepoint.h>

#include "../base/compiler.h"
#include "linked.h"
#include "waiting.h"

#if defined(__x86_64__)

#define UNTRACED __attribute__((no_instrument_function))
#define WEAK __attribute__((weak))
/* Of the tracer, see its hooks/confined.c. */
#define TRACER_FUNCTION "vestige_expect"

typedef void expect_function(long number, long first, long second, long third);
typedef long syscall_function(long number, ...);
typedef int prctl_function(int option, ...);

EXPORTED WEAK UNTRACED prctl_function prctl;

/* Called by what follows, and read. */
void vestige_link_expect(long number, long first, long second, long third) HIDDEN WEAK UNTRACED;
long vestige_link_failure(long result) HIDDEN WEAK UNTRACED;
long vestige_link_system_call(long number, ...) HIDDEN WEAK UNTRACED;
LINKED syscall_function *vestige_link_next_syscall;

static prctl_function *next_prctl;
/* NULL while there is no tracer. */
static expect_function *tell_tracer;

/* Early: later, the dynamic linker may be in the middle of something. */
static __attribute__((constructor(101))) UNTRACED void find(void)
{
	*(void **) &vestige_link_next_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **) &next_prctl = dlsym(RTLD_NEXT, "prctl");
}

static UNTRACED void start(const struct vestige_tracer *tracer)
{
	expect_function *found = NULL;

	if (tracer)
		*(void **) &found = dlsym(RTLD_DEFAULT, TRACER_FUNCTION);
	__atomic_store_n(&tell_tracer, found, __ATOMIC_RELEASE);
}

/* After the tracer has been looked for. */
static __attribute__((constructor(141))) UNTRACED void wait_for_tracer(void)
{
	static struct vestige_waiter waiter = {start, NULL};
	const int saved = errno;

	vestige_begin(&waiter);
	errno = saved;
}

/* Whether the kernel will let the program do less. Libraries ask without a filter, or with what
 * it refuses, what it can do. */
static UNTRACED bool is_confining(long number, long first, long second, long third)
{
	if (number == SYS_prctl)
		return first == PR_SET_SECCOMP && (second == SECCOMP_MODE_STRICT || third);
	return (first == SECCOMP_SET_MODE_STRICT && !second) ||
		(first == SECCOMP_SET_MODE_FILTER && third);
}

/* Before such a call. */
void vestige_link_expect(long number, long first, long second, long third)
{
	const int saved = errno;
	expect_function *tell;

	/* It may begin with the tracer meanwhile. */
	if (is_confining(number, first, second, third))
		vestige_link_end_waiting();
	tell = __atomic_load_n(&tell_tracer, __ATOMIC_ACQUIRE);
	if (tell)
		tell(number, first, second, third);
	errno = saved;
}

int prctl(int option, ...)
{
	long arguments[4];
	va_list rest;

	va_start(rest, option);
	for (int index = 0; index < 4; index++)
		arguments[index] = va_arg(rest, long);
	va_end(rest);
	if (option == PR_SET_SECCOMP || option == PR_SET_TSC)
		vestige_link_expect(SYS_prctl, option, arguments[0], arguments[1]);
	if (next_prctl)
		return next_prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
	return (int) vestige_link_system_call(SYS_prctl, (long) option, arguments[0],
					      arguments[1], arguments[2], arguments[3]);
}

long vestige_link_failure(long result)
{
	errno = (int) -result;
	return -1;
}

/* Without a frame: the call may be one that comes back on another stack, or twice. */
/* clang-format off */
__asm__(".pushsection .text\n\t"
	".balign 16\n\t"
	".weak syscall\n\t"
	".type syscall, @function\n"
	"syscall:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"cmpl $317, %edi\n\t" /* SYS_seccomp */
	"je 1f\n\t"
	"cmpl $157, %edi\n\t" /* SYS_prctl */
	"je 1f\n"
	"0:\n\t"
	"movq vestige_link_next_syscall(%rip), %r11\n\t"
	"testq %r11, %r11\n\t"
	"je vestige_link_system_call\n\t"
	"jmp *%r11\n"
	"1:\n\t"
	"pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rcx\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %r8\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %r9\n\t.cfi_adjust_cfa_offset 8\n\t"
	"subq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
	"call vestige_link_expect\n\t"
	"addq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %r9\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %r8\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rcx\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
	"jmp 0b\n\t"
	".cfi_endproc\n\t"
	".size syscall, . - syscall\n\t"
	/* The kernel takes its number and six more in registers of its own. */
	".balign 16\n\t"
	".weak vestige_link_system_call\n\t"
	".hidden vestige_link_system_call\n\t"
	".type vestige_link_system_call, @function\n"
	"vestige_link_system_call:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"movq %rdi, %rax\n\t"
	"movq %rsi, %rdi\n\t"
	"movq %rdx, %rsi\n\t"
	"movq %rcx, %rdx\n\t"
	"movq %r8, %r10\n\t"
	"movq %r9, %r8\n\t"
	"movq 8(%rsp), %r9\n\t"
	"syscall\n\t"
	"cmpq $-4095, %rax\n\t"
	"jae 1f\n\t"
	"ret\n"
	"1:\n\t"
	"movq %rax, %rdi\n\t"
	"jmp vestige_link_failure\n\t"
	".cfi_endproc\n\t"
	".size vestige_link_system_call, . - vestige_link_system_call\n\t"
	".popsection");
/* clang-format on */
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157, "as above");

#endif
