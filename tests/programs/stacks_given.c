/*
 * Threads one after the other, each on a stack of its own, which they use far down. At the end, it
 * prints how many pages the tracer still has for these stacks, by the formula of
 * tracer/patch/shadow.h; there are none when nothing is recorded.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline, noclone))
#define THREADS 16
#define STACK_SIZE (1ul << 20)
#define PAGE 4096ul
#define MASK 0x7FFFFFFFFFFFul
#define DISTANCE 0x100000000000ul

APART long deep(long n)
{
	volatile char room[1000];

	room[n % 1000] = (char) n;
	return n ? deep(n - 1) + room[n % 1000] : 0;
}

APART void *work(void *leaves)
{
	deep(500);
	if (leaves)
		pthread_exit(NULL);
	return NULL;
}

static unsigned long pages_of(uintptr_t stack)
{
	static unsigned char resident[2 * STACK_SIZE / PAGE];
	void *shadow = (void *) ((2 * stack - DISTANCE) & MASK);
	unsigned long count = 0;

	if (mincore(shadow, 2 * STACK_SIZE, resident) != 0)
		return 0;
	for (size_t page = 0; page < sizeof(resident); page++)
		count += resident[page] & 1;
	return count;
}

int main(void)
{
	static char *stacks[THREADS];
	unsigned long pages = 0;

	for (int number = 0; number < THREADS; number++) {
		pthread_attr_t attributes;
		pthread_t thread;

		stacks[number] = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stacks[number], STACK_SIZE);
		if (pthread_create(&thread, &attributes, work, number % 2 ? stacks : NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	for (int number = 0; number < THREADS; number++)
		pages += pages_of((uintptr_t) stacks[number]);
	printf("%lu\n", pages);
	return 0;
}
