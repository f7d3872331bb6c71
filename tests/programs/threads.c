/* threads [WORKERS [STEPS]]: workers start together and emit STEPS events each. */
#include <pthread.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "threads_tp.h"

#define MAX_WORKERS 64

static pthread_barrier_t starting_line;
static unsigned long steps;

static void one_step(unsigned int worker, unsigned long number)
{
	static const char *const phases[] = { "read", "think", "write" };

	lttng_ust_tracepoint(threads, step, worker, number, phases[number % 3]);
}

static void *work(void *argument)
{
	unsigned int worker = (unsigned int) (unsigned long) argument;

	pthread_barrier_wait(&starting_line);
	lttng_ust_tracepoint(threads, begin, worker);
	for (unsigned long i = 0; i < steps; i++)
		one_step(worker, i);
	lttng_ust_tracepoint(threads, finish, worker, steps);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long workers = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
	pthread_t threads[MAX_WORKERS];

	steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	if (workers < 1 || workers > MAX_WORKERS)
		return 2;
	pthread_barrier_init(&starting_line, NULL, (unsigned int) workers);
	for (unsigned long i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, work, (void *) i) != 0)
			return 1;
	for (unsigned long i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
