/*
 * Records in signal handlers on a small stack of their own, with a guard below: ROOM bytes more than
 * the kernel and an empty handler take. With POINTS, it emits events; else it calls functions.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define LARGE (16 * PAGE)
#define UNTRACED __attribute__((no_instrument_function))

#ifdef POINTS
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "greeting_tp.h"

UNTRACED static void record(void)
{
	lttng_ust_tracepoint(greeting, said, 1, "hello");
}
#else
static __attribute__((noinline)) void record(void)
{
	__asm__ volatile("");
}
#endif

static size_t room;
static volatile sig_atomic_t records;

UNTRACED static void handler(int signal)
{
	(void) signal;
	for (int count = records; count; count--)
		record();
}

/* Raise a signal whose handler records so often; returns how much of the stack was used. */
UNTRACED static size_t handle(char *stack, size_t size, int count)
{
	const stack_t wanted = {.ss_sp = stack, .ss_size = size};
	size_t unused = 0;

	records = count;
	memset(stack, 0x5a, size);
	sigaltstack(&wanted, NULL);
	raise(SIGUSR1);
	while (unused < size && stack[unused] == 0x5a)
		unused++;
	return size - unused;
}

UNTRACED static void *thread(void *unused)
{
	char *place = mmap(NULL, PAGE + LARGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack = place + PAGE;
	size_t size;

	mprotect(place, PAGE, PROT_NONE);
	size = handle(stack, LARGE, 0) + room;
	handle(stack, size, 1);
	handle(stack, size, 20000);
	return unused;
}

UNTRACED int main(int count, char **words)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	pthread_t started;

	room = (size_t) atoi(words[count - 1]);
	sigaction(SIGUSR1, &action, NULL);
	/* What was bound by then needs no stack of the dynamic linker. */
	record();
	for (int index = 0; index < 3; index++) {
		pthread_create(&started, NULL, thread, NULL);
		pthread_join(started, NULL);
	}
	return 0;
}
