/*
 * Two threads pass a tracepoint all the time, while the provider of its probes, the first
 * argument, is loaded and unloaded as often as the second argument says.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include "hello-tp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int is_over;

static void *pass(void *unused)
{
	for (int number = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); number++)
		lttng_ust_tracepoint(hello_world, my_first_tracepoint, number, "passed");
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[2];
	int turns = count > 2 ? atoi(arguments[2]) : 0;
	for (int index = 0; index < 2; index++)
		if (pthread_create(&threads[index], NULL, pass, NULL) != 0)
			return 1;
	for (int turn = 0; turn < turns; turn++) {
		void *provider = dlopen(arguments[1], RTLD_NOW);
		if (provider == NULL) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		usleep(20);
		dlclose(provider);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int index = 0; index < 2; index++)
		pthread_join(threads[index], NULL);
	puts("done");
	return 0;
}
