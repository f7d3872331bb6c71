/*
 * soaked COUNTS SEED BURSTS THREADS FORKS: emits numbered events, and counts them where others see it.
 *
 * COUNTS is a file: how many writers there were, then for each of them how many events it has
 * begun and how many it has done. Each thread is a writer, of child processes, too. It emits
 * BURSTS bursts (0: until it is killed) of a few events, and now and then of very many.
 * FORKS children do the same, one begun after the other.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "soaked_tp.h"

#define WRITERS 16384

struct writer {
	_Atomic unsigned long begun;
	_Atomic unsigned long done;
	unsigned long process;
	/* The process of which it is, or which was forked. */
	unsigned long program;
};

struct counts {
	_Atomic unsigned long writers;
	unsigned long unused[3];
	struct writer each[WRITERS];
};

static struct counts *counts;
static unsigned long bursts, seed, program;

/* Each event is of the function at its number modulo four. */
#define EMITTER(name)                                                                       \
	static __attribute__((noinline)) void name(unsigned long who, unsigned long number, \
						   const char *text)                        \
	{                                                                                   \
		lttng_ust_tracepoint(soaked, tick, who, number, text);                      \
		__asm__ volatile("");                                                       \
	}
EMITTER(emit_alpha)
EMITTER(emit_bravo)
EMITTER(emit_charlie)
EMITTER(emit_delta)

static void emit(unsigned long who, unsigned long number, const char *text)
{
	static void (*const all[])(unsigned long, unsigned long, const char *) = {
		emit_alpha, emit_bravo, emit_charlie, emit_delta};

	all[number % 4](who, number, text);
}

static void *write_events(void *unused)
{
	static const char filling[] =
		"as long as a text of a program is that has something to say";
	const unsigned long who = atomic_fetch_add(&counts->writers, 1);
	unsigned int chance = (unsigned int) (seed * 1000003 + who);
	unsigned long number = 0;

	if (who >= WRITERS)
		abort();
	counts->each[who].program = program;
	counts->each[who].process = (unsigned long) getpid();
	for (unsigned long burst = 0; !bursts || burst < bursts; burst++) {
		unsigned long events = rand_r(&chance) % 400 ? 4 : 2000;

		for (; events; events--, number++) {
			const char *text = filling + (number * 7) % (sizeof(filling) - 1);

			atomic_store(&counts->each[who].begun, number + 1);
			emit(who, number, text);
			atomic_store(&counts->each[who].done, number + 1);
		}
		usleep(20000 + rand_r(&chance) % 60000);
	}
	return unused;
}

static void write_in_threads(unsigned long threads)
{
	pthread_t others[16];

	if (threads > 16)
		abort();
	for (unsigned long one = 1; one < threads; one++)
		if (pthread_create(&others[one], NULL, write_events, NULL) != 0)
			abort();
	write_events(NULL);
	for (unsigned long one = 1; one < threads; one++)
		pthread_join(others[one], NULL);
}

int main(int count, char **words)
{
	const int file = count == 6 ? open(words[1], O_RDWR) : -1;
	unsigned long forks;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		return 2;
	close(file);
	program = (unsigned long) getpid();
	seed = strtoul(words[2], NULL, 10);
	bursts = strtoul(words[3], NULL, 10);
	forks = strtoul(words[5], NULL, 10);
	for (unsigned long one = 0; one < forks; one++) {
		const pid_t child = fork();

		if (child < 0)
			return 3;
		if (child == 0) {
			write_in_threads(strtoul(words[4], NULL, 10));
			_exit(0);
		}
		usleep(50000);
	}
	write_in_threads(strtoul(words[4], NULL, 10));
	while (wait(NULL) > 0)
		;
	return 0;
}
