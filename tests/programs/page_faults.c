/* Touches pages for the first time, each between two system calls that have its number, on one CPU. The
 * arguments are how many pages there are, and how many bytes of memory they are of: pages come again and
 * again, after the kernel was told to forget them. */

#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return 1;
	int pages = atoi(argv[1]);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)atol(argv[2]);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	/* A fault is one page. */
	madvise((void *)memory, size, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++) {
		size_t at = (size_t)i * page % size;
		if (at == 0)
			madvise((void *)memory, size, MADV_DONTNEED);
		getpriority(PRIO_PROCESS, (id_t)i);
		memory[at] = 1;
		getpriority(PRIO_PGRP, (id_t)i);
	}
	return 0;
}
