/* The counter for the recorder, which measures its rate. */
#include "clock.h"

#include "stream.h"

__attribute__((visibility("default"))) uint64_t vestige_counter(void);

uint64_t vestige_counter(void)
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
