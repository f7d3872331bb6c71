/* assorted ticks|texts EVENTS: two threads emit as many events of one sort. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "assorted_tp.h"

#define PATH "/srv/www/assets/2026/november/pictures/thumbnails/large/index.html"
#define SAMPLES 24

static unsigned long events_of_thread;

static void *ticks(void *unused)
{
	(void) unused;
	for (unsigned long i = 0; i < events_of_thread; i++)
		lttng_ust_tracepoint(assorted, tick, (uint32_t) i);
	return NULL;
}

static void *texts(void *unused)
{
	static const char *const methods[] = { "GET", "PUT", "DELETE", "OPTIONS" };
	static const char path[] = PATH PATH;
	int32_t samples[SAMPLES];

	(void) unused;
	for (unsigned long i = 0; i < events_of_thread; i++) {
		if (i % 2 == 0) {
			lttng_ust_tracepoint(assorted, request, methods[i / 2 % 4],
				path + i % strlen(PATH), 1 + i % strlen(PATH));
			continue;
		}
		for (unsigned long k = 0; k < SAMPLES; k++)
			samples[k] = (int32_t) (i * (k + 1) * 2654435761u);
		lttng_ust_tracepoint(assorted, samples, samples, i % SAMPLES);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*sort)(void *) = argc > 1 && strcmp(argv[1], "texts") == 0 ? texts : ticks;
	pthread_t threads[2];

	events_of_thread = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1000) / 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, sort, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
