/* Which CPU the thread runs on. */
#ifndef VESTIGE_BASE_CPU_H
#define VESTIGE_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* Where the C library keeps what the kernel tells each thread by rseq(2), since glibc 2.35;
 * elsewhere these have no address. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Ask without rseq, which may take a system call. */
uint16_t cpu_ask(void) HIDDEN __attribute__((noinline, cold));

static inline uint16_t cpu_read(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	/* The second member of struct rseq; negative where the kernel knows no rseq. */
	if (&__rseq_offset && &__rseq_size && __rseq_size) {
		const char *area = (const char *) __builtin_thread_pointer() + __rseq_offset;
		const int32_t cpu = *(const volatile int32_t *) (area + 4);

		if (__builtin_expect(cpu >= 0, 1))
			return (uint16_t) cpu;
	}
#endif
	return cpu_ask();
}

#endif
