/* The clock of a recording: the cheapest constant counter, else CLOCK_MONOTONIC. */
#ifndef VESTIGE_BASE_CLOCK_H
#define VESTIGE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "settings.h"

/* CLOCK_MONOTONIC in nanoseconds, which needs no system call where there is a vDSO. */
static inline uint64_t clock_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/*
 * The counter that runs at a constant rate, where the machine has one.
 *
 * It is read without a fence: the order of events of one thread is that of its
 * program, and a fence would cost more than the error that it prevents.
 */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return clock_monotonic();
#endif
}

/* The present value of the recording's clock. */
static inline uint64_t clock_read(void)
{
	return __builtin_expect(settings.counter_is_clock, 1) ? clock_counter()
							      : clock_monotonic();
}

#endif
