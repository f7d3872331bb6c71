/* Loads and unloads a package with contexts while threads ask for them. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provided_tp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int is_done;

static void *say(void *unused)
{
	for (int number = 0; !__atomic_load_n(&is_done, __ATOMIC_RELAXED); number++)
		lttng_ust_tracepoint(provided, step, number);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[2];
	int is_wrong = count != 3;

	for (int index = 0; index < 2; index++)
		pthread_create(&threads[index], NULL, say, NULL);
	for (long rounds = is_wrong ? 0 : atol(arguments[2]); rounds; rounds--) {
		void *package = dlopen(arguments[1], RTLD_NOW);

		usleep(50);
		is_wrong |= !package || dlclose(package);
	}
	__atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
	for (int index = 0; index < 2; index++)
		pthread_join(threads[index], NULL);
	return is_wrong;
}
