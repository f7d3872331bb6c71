/* Loads and unloads a package with contexts while threads ask for them. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provided_tp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 2, MOST_IN_A_ROUND = 5000 };

/* Threads say so much in each round and no more: how many events there are does not hang on
 * how long a machine with other work lets a round last. Negative: the last one is over. */
static int round_now;
static int round_said[THREADS];

static int get(int *place)
{
	return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

static void *say(void *said)
{
	int last = -1;
	int left = 0;

	for (int now = get(&round_now); now >= 0; now = get(&round_now)) {
		if (now != last)
			left = MOST_IN_A_ROUND;
		last = now;
		if (left > 0)
			lttng_ust_tracepoint(provided, step, left--);
		else
			sched_yield();
		__atomic_store_n((int *) said, now, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void wait_for_all(int asked)
{
	for (int index = 0; index < THREADS; index++) {
		while (get(&round_said[index]) != asked)
			sched_yield();
	}
}

static void begin(int next)
{
	__atomic_store_n(&round_now, next, __ATOMIC_RELEASE);
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	const int rounds = count == 3 ? atoi(arguments[2]) : 0;
	int is_wrong = count != 3;
	void *package;

	for (int index = 0; index < THREADS; index++) {
		round_said[index] = -1;
		pthread_create(&threads[index], NULL, say, &round_said[index]);
	}
	wait_for_all(0); /* without the package */
	for (int now = 1; now <= rounds; now++) {
		begin(now);
		package = dlopen(arguments[1], RTLD_NOW);
		usleep(50);
		is_wrong |= !package || dlclose(package);
	}
	package = is_wrong ? NULL : dlopen(arguments[1], RTLD_NOW);
	is_wrong |= !package;
	begin(rounds + 1);
	wait_for_all(rounds + 1); /* with it */
	begin(-1);
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
	return is_wrong;
}
