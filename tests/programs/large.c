/*
 * large THREADS LENGTH...: in each thread, records with so many bytes, and a small one after
 * each. A byte is the remainder of its place and the number of the record, by 251.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "large_tp.h"

static char **lengths;

static void emit(int number, uint32_t length)
{
	uint8_t *bytes = malloc(length + 1);

	for (uint32_t place = 0; place < length; place++)
		bytes[place] = (uint8_t) ((place + (uint32_t) number) % 251);
	lttng_ust_tracepoint(large, bytes, number, bytes, length);
	free(bytes);
}

static void *run(void *argument)
{
	int number = 0;

	for (char **length = lengths; *length; length++) {
		emit(number++, (uint32_t) strtoul(*length, NULL, 10));
		emit(number++, 3);
	}
	return argument;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t others[16];

	lengths = argv + 2;
	for (int index = 1; index < threads; index++)
		pthread_create(&others[index], NULL, run, NULL);
	run(NULL);
	for (int index = 1; index < threads; index++)
		pthread_join(others[index], NULL);
	return 0;
}
