/* Times a pair of library calls: `memory` allocates and frees, `mutex` locks and unlocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

int main(int count, char **words)
{
	const int is_memory = count > 1 && !strcmp(words[1], "memory");
	const long pairs = count > 2 ? atol(words[2]) : 1;
	double start;

	/* What is made for the first event is no part of it. */
	free(malloc(24));
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	start = now();
	for (long pair = 0; pair < pairs; pair++) {
		if (is_memory) {
			free(malloc(24));
		} else {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
	}
	printf("call=%.3f pairs=%ld\n", (now() - start) / (double) pairs, pairs);
	return 0;
}
