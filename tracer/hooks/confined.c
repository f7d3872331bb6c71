/*
 * prctl() and syscall() of the C library, for what a thread asks of the kernel that concerns
 * the tracer. To execute a program by number is left to execute.c.
 *
 * After strict mode of seccomp(2), and after the prohibition to read the counter, the tracer
 * must do nothing more in the thread. After a filter for system calls, which may end the
 * program at those that it does not make itself, the tracer goes on and makes none, in no
 * thread: a filter may hold for all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "../base/compiler.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../stream/cpu_ring.h"
#include "../stream/stream.h"
#include "control.h"
#include "execute.h"

typedef int prctl_function(int option, ...);
typedef long syscall_function(long number, ...);

EXPORTED prctl_function prctl;
EXPORTED syscall_function syscall;

static prctl_function *original_prctl;
/* Of syscall(). */
syscall_function *confined_original HIDDEN;
void confined_expect(long number, long first, long second, long third) HIDDEN;
/* For what stands in for these functions in programs that link lttng-ust, see link/confining.c. */
EXPORTED __typeof__(confined_expect) vestige_expect __attribute__((alias("confined_expect")));

/* Early: later, a child process may be the first to ask, with the dynamic linker's locks as
 * another thread of its parent had them. */
static __attribute__((constructor(101))) void find(void)
{
	if (!original_prctl)
		*(void **) &original_prctl = dlsym(RTLD_NEXT, "prctl");
	if (!confined_original)
		*(void **) &confined_original = dlsym(RTLD_NEXT, "syscall");
}

static void begin_filter(void)
{
	if (system_is_confined && !system_child_is_confined)
		return;
	control_leave();
	if (settings.is_recording)
		streams_confine();
	/* Where nothing is recorded, the program's end is to make no system call either. */
	system_child_is_confined = false;
	system_is_confined = true;
}

/* Of a child of vfork(), while the process whose memory it has waits: that goes on as before. */
static void begin_filter_of_child(void)
{
	if (!system_is_confined) {
		system_child_is_confined = true;
		system_is_confined = true;
	}
}

static void begin_strict(void)
{
	control_leave();
	if (settings.is_recording)
		stream_leave();
}

static void begin(bool is_filter)
{
	if (cpu_rings_are_left())
		/* Strict mode is left by no program but by its end. */
		begin_filter_of_child();
	else if (is_filter)
		begin_filter();
	else
		begin_strict();
}

/* Before prctl(2). A filter that the kernel then refuses has cost system calls only. */
static void expect_prctl(long option, long first, long second)
{
	const bool is_strict = option == PR_SET_SECCOMP && first == SECCOMP_MODE_STRICT;
	const bool is_filter = option == PR_SET_SECCOMP && first == SECCOMP_MODE_FILTER && second;
	const bool has_no_clock = option == PR_SET_TSC && first == PR_TSC_SIGSEGV;

	if (is_strict || is_filter)
		begin(is_filter);
	else if (settings.is_recording && has_no_clock && settings.counter_is_clock)
		stream_leave();
}

/* Before seccomp(2); third is the program of the filter, without which libraries ask what the
 * kernel can do, as they do with flags that strict mode has not. */
static void expect_seccomp(long first, long second, long third)
{
	const bool is_strict = first == SECCOMP_SET_MODE_STRICT && !second;
	const bool is_filter = first == SECCOMP_SET_MODE_FILTER && third;

	if (is_strict || is_filter)
		begin(is_filter);
}

/* Before a system call that is made by its number. */
void confined_expect(long number, long first, long second, long third)
{
	const int saved = errno;

	find();
	if (number == SYS_prctl)
		expect_prctl(first, second, third);
	else if (number == SYS_seccomp)
		expect_seccomp(first, second, third);
	errno = saved;
}

int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list rest;
	int result;

	va_start(rest, option);
	for (int index = 0; index < 4; index++)
		arguments[index] = va_arg(rest, unsigned long);
	va_end(rest);
	find();
	if (!original_prctl) {
		errno = ENOSYS;
		return -1;
	}
	expect_prctl(option, (long) arguments[0], (long) arguments[1]);
	result = original_prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (option == PR_SET_NAME && result == 0 && settings.is_recording)
		stream_rename((const char *) arguments[0]);
	return result;
}

#if defined(__x86_64__)
/* Without a frame: the call may be one that comes back on another stack, or twice. */
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"cmpl $317, %edi\n\t" /* SYS_seccomp */
	"je 1f\n\t"
	"cmpl $157, %edi\n\t" /* SYS_prctl */
	"je 1f\n\t"
	"cmpl $59, %edi\n\t" /* SYS_execve */
	"je execute_by_number\n\t"
	"cmpl $322, %edi\n\t" /* SYS_execveat */
	"je execute_by_number\n"
	"0:\n\t"
	"movq confined_original(%rip), %r11\n\t"
	"testq %r11, %r11\n\t"
	"je 1f\n\t"
	"jmp *%r11\n"
	"1:\n\t"
	"pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %rcx\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %r8\n\t.cfi_adjust_cfa_offset 8\n\t"
	"pushq %r9\n\t.cfi_adjust_cfa_offset 8\n\t"
	"subq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
	"call confined_expect\n\t"
	"addq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %r9\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %r8\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rcx\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
	"popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
	"movq confined_original(%rip), %r11\n\t"
	"jmp *%r11\n\t"
	".cfi_endproc\n\t"
	".size syscall, .-syscall\n");
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157, "as above");
_Static_assert(SYS_execve == 59 && SYS_execveat == 322, "as above");
#else
long syscall(long number, ...)
{
	long arguments[6];
	va_list rest;

	va_start(rest, number);
	for (int index = 0; index < 6; index++)
		arguments[index] = va_arg(rest, long);
	va_end(rest);
	if (number == SYS_execve || number == SYS_execveat)
		return execute_by_number(number, arguments[0], arguments[1], arguments[2],
					 arguments[3], arguments[4]);
	confined_expect(number, arguments[0], arguments[1], arguments[2]);
	if (!confined_original) {
		errno = ENOSYS;
		return -1;
	}
	return confined_original(number, arguments[0], arguments[1], arguments[2], arguments[3],
				 arguments[4], arguments[5]);
}
#endif
