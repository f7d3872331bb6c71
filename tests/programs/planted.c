/* A leak, a contended mutex and blocks that are freed twice; it prints what it did. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEAKS = 1600, LEAK_SIZE = 100, KEPT = 7, ROUNDS = 200, THREADS = 3, SLOW = 30000000 };

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared;
static void *volatile sink;

__attribute__((noinline)) static void leak(void)
{
	sink = malloc(LEAK_SIZE);
}

static void wait_for(long nanoseconds)
{
	struct timespec start, now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec <
	       nanoseconds);
}

__attribute__((noinline)) static void hold(void)
{
	pthread_mutex_lock(&contended);
	shared++;
	wait_for(20000);
	pthread_mutex_unlock(&contended);
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		hold();
	return unused;
}

/* Others begin while this has the mutex, and it goes on when one of them waits. */
__attribute__((noinline)) static void slow(pthread_t *threads)
{
	const volatile int *state = &contended.__data.__lock;

	pthread_mutex_lock(&contended);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	while (*state < 2)
		sched_yield();
	wait_for(SLOW);
	pthread_mutex_unlock(&contended);
}

__attribute__((noinline)) static void free_again(char *block)
{
	free(block);
}

static void double_free(void)
{
	char *blocks[KEPT], *first, *second;

	for (int i = 0; i < KEPT; i++)
		blocks[i] = malloc(24);
	first = malloc(24);
	second = malloc(24);
	/* The C library looks at less when it has these. */
	for (int i = 0; i < KEPT; i++)
		free(blocks[i]);
	free(first);
	free(second);
	free_again(first);
}

int main(void)
{
	pthread_t threads[THREADS];
	char *grown = malloc(10);

	grown = realloc(grown, 5000);
	for (int i = 0; i < LEAKS; i++)
		leak();
	for (int i = 0; i < 1000; i++)
		free(calloc(3, 50));
	slow(threads);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&quiet);
	pthread_mutex_unlock(&quiet);
	free(grown);
	printf("leaked %d blocks of %d bytes, locked %d times\n", LEAKS, LEAK_SIZE, shared + 2);
	fflush(stdout);
	double_free();
	/* What is left of the C library's lists is not fit for more. */
	_Exit(0);
}
