/* Which CPU the thread runs on, where the kernel does not keep telling it. */
#define _GNU_SOURCE
#include "cpu.h"

#include <sched.h>

uint16_t cpu_ask(void)
{
	const int cpu = sched_getcpu();

	return cpu < 0 ? UINT16_MAX : (uint16_t) cpu;
}
