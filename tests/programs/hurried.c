/* hurried THREADS: each records an event each microsecond or so, until the input ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "soaked_tp.h"

#define MOST_THREADS 16

static _Atomic int has_ended;
static _Atomic unsigned long threads;

/* Each event is of the function at its number modulo four. */
#define EMITTER(name)                                                                       \
	static __attribute__((noinline)) void name(unsigned long who, unsigned long number) \
	{                                                                                   \
		lttng_ust_tracepoint(soaked, tick, who, number, "");                        \
		__asm__ volatile("");                                                       \
	}
EMITTER(emit_alpha)
EMITTER(emit_bravo)
EMITTER(emit_charlie)
EMITTER(emit_delta)

static void *hurry(void *unused)
{
	static void (*const all[])(unsigned long, unsigned long) = {emit_alpha, emit_bravo,
								    emit_charlie, emit_delta};
	const unsigned long who = atomic_fetch_add(&threads, 1);

	for (unsigned long number = 0; !atomic_load(&has_ended); number++) {
		all[number % 4](who, number);
		for (int pause = 0; pause < 200; pause++)
			__asm__ volatile("");
	}
	return unused;
}

int main(int count, char **words)
{
	const int wanted = count > 1 ? atoi(words[1]) : 1;
	pthread_t all[MOST_THREADS];
	char byte;

	if (wanted < 1 || wanted > MOST_THREADS)
		return 2;
	for (int index = 0; index < wanted; index++)
		if (pthread_create(&all[index], NULL, hurry, NULL))
			return 3;
	while (read(0, &byte, 1) > 0)
		continue;
	atomic_store(&has_ended, 1);
	for (int index = 0; index < wanted; index++)
		pthread_join(all[index], NULL);
	return 0;
}
