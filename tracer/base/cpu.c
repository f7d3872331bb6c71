/* Which CPU the thread runs on, for a C library before 2.35 or a kernel before 4.18: then nobody
 * keeps the number in the thread's memory, and it is asked for. */
#define _GNU_SOURCE
#include "cpu.h"

#include <sched.h>

uint16_t cpu_ask(void)
{
	const int cpu = sched_getcpu();

	return cpu < 0 ? UINT16_MAX : (uint16_t) cpu;
}
