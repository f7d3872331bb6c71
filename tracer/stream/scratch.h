/*
 * A stack of our own for the slow path.
 *
 * A thread, a coroutine or a signal handler of the program may have a stack of a few
 * kilobytes (PTHREAD_STACK_MIN, MINSIGSTKSZ), too few for paths and the dynamic linker.
 */
#ifndef VESTIGE_STREAM_SCRATCH_H
#define VESTIGE_STREAM_SCRATCH_H

#include <stddef.h>

#define SCRATCH_SIZE (64u << 10)

/* ThreadSanitizer stands in for functions of the C library that we call. It must not look at
 * them: a stack that one thread leaves and another takes over is a race to it, and telling of
 * one takes more than this stack has. */
void __tsan_ignore_thread_begin(void) __attribute__((weak));
void __tsan_ignore_thread_end(void) __attribute__((weak));

/* Call a function on another stack, whose end is `top`; unwinders find the way back by the
 * frame pointer. */
static __attribute__((noinline, unused)) void scratch_switch(char *top, void (*function)(void *),
							     void *argument)
{
	/* Asked for so that this function has one. */
	void *volatile frame = __builtin_frame_address(0);

	(void) frame;
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[top], %%rsp\n\t"
			 "call *%[function]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+D"(argument), [function] "+S"(function), [top] "+d"(top)
			 :
			 : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#elif defined(__aarch64__)
	register void *first __asm__("x0") = argument;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[function]\n\t"
			 "mov sp, x19"
			 : "+r"(first)
			 : [top] "r"(top), [function] "r"(function)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0",
			   "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
			   "v30", "v31", "memory", "cc");
#else
	(void) top;
	function(argument);
#endif
}

static inline void scratch_call(char *top, void (*function)(void *), void *argument)
{
	const int is_told = __tsan_ignore_thread_begin && __tsan_ignore_thread_end;

	if (is_told)
		__tsan_ignore_thread_begin();
	scratch_switch(top, function, argument);
	if (is_told)
		__tsan_ignore_thread_end();
}

#endif
