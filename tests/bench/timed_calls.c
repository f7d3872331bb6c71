/*
 * Calls of an instrumented function, timed by the program itself; what is measured is
 * printed as words NAME=VALUE. The first argument says what:
 *
 *   calls THREADS N     N calls in each thread; nanoseconds of a call and a core, and of processor
 *                       time
 *   latency THREADS N   N calls in each thread, each timed; nanoseconds of the slowest ones
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

#define MOST_THREADS 1024
/* A bucket of the histogram is a part of a power of two, or one tick at the low end. */
#define LOG_PARTS 5u
#define PARTS (1u << LOG_PARTS)
#define BUCKETS (64u * PARTS)

struct span {
	uint64_t begin;
	uint64_t end;
};

static __thread volatile long counter;
static pthread_barrier_t barrier;
static long calls;
static uint64_t histogram[BUCKETS];
static pthread_mutex_t histogram_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t longest;

APART void leaf(void)
{
	counter++;
}

PLAIN static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

PLAIN static uint64_t processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

PLAIN static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return now();
#endif
}

PLAIN static void *work(void *argument)
{
	struct span *span = argument;

	/* The tracer meets each thread before the time is taken. */
	leaf();
	pthread_barrier_wait(&barrier);
	span->begin = now();
	for (long index = 0; index < calls; index++)
		leaf();
	span->end = now();
	return NULL;
}

PLAIN static void time_calls(unsigned int threads)
{
	static pthread_t all[MOST_THREADS];
	static struct span spans[MOST_THREADS];
	const uint64_t used = processor_time();
	uint64_t begin = UINT64_MAX;
	uint64_t end = 0;
	unsigned int busy;
	cpu_set_t cores;

	sched_getaffinity(0, sizeof(cores), &cores);
	busy = (unsigned int) CPU_COUNT(&cores);
	if (busy > threads)
		busy = threads;
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned int index = 0; index < threads; index++)
		pthread_create(&all[index], NULL, work, &spans[index]);
	for (unsigned int index = 0; index < threads; index++) {
		pthread_join(all[index], NULL);
		if (spans[index].begin < begin)
			begin = spans[index].begin;
		if (spans[index].end > end)
			end = spans[index].end;
	}
	printf("calls=%ld call=%.3f processor=%.3f\n", (calls + 1) * threads,
	       (double) (end - begin) * busy / ((double) calls * threads),
	       (double) (processor_time() - used) / ((double) calls * threads));
}

PLAIN static unsigned int bucket_of(uint64_t value)
{
	unsigned int power;

	if (value < PARTS)
		return (unsigned int) value;
	power = 63u - (unsigned int) __builtin_clzll(value);
	return (power - LOG_PARTS + 1) * PARTS +
		(unsigned int) (value >> (power - LOG_PARTS)) % PARTS;
}

/* The lowest value of a bucket. */
PLAIN static uint64_t start_of(unsigned int bucket)
{
	if (bucket < PARTS)
		return bucket;
	return (uint64_t) (PARTS + bucket % PARTS) << (bucket / PARTS - 1);
}

/* The value that a part of all calls reach, in ticks. */
PLAIN static uint64_t slowest(double part, long count)
{
	double rest = part * (double) count;

	for (unsigned int bucket = BUCKETS; bucket-- > 0;) {
		rest -= (double) histogram[bucket];
		if (rest < 0)
			return start_of(bucket);
	}
	return 0;
}

PLAIN static void *time_each_call(void *unused)
{
	uint64_t own[BUCKETS] = {0};
	uint64_t own_longest = 0;

	(void) unused;
	leaf();
	pthread_barrier_wait(&barrier);
	for (long index = 0; index < calls; index++) {
		const uint64_t before = ticks();
		uint64_t taken;

		leaf();
		taken = ticks() - before;
		own[bucket_of(taken)]++;
		if (taken > own_longest)
			own_longest = taken;
	}
	pthread_mutex_lock(&histogram_lock);
	for (unsigned int bucket = 0; bucket < BUCKETS; bucket++)
		histogram[bucket] += own[bucket];
	if (own_longest > longest)
		longest = own_longest;
	pthread_mutex_unlock(&histogram_lock);
	return NULL;
}

PLAIN static void time_slowest(unsigned int threads)
{
	static pthread_t all[MOST_THREADS];
	const uint64_t begin = now();
	const uint64_t first = ticks();
	const long count = calls * threads;
	double tick;

	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned int index = 0; index < threads; index++)
		pthread_create(&all[index], NULL, time_each_call, NULL);
	for (unsigned int index = 0; index < threads; index++)
		pthread_join(all[index], NULL);
	tick = (double) (now() - begin) / (double) (ticks() - first);
	printf("calls=%ld p50=%.1f p99=%.1f p9999=%.1f max=%.1f\n", count + threads,
	       (double) slowest(0.5, count) * tick, (double) slowest(0.01, count) * tick,
	       (double) slowest(0.0001, count) * tick, (double) longest * tick);
}

PLAIN int main(int count, char **words)
{
	const long threads = count == 4 ? atol(words[2]) : 0;

	if (threads < 1 || threads > MOST_THREADS)
		return 2;
	calls = atol(words[3]);
	if (!strcmp(words[1], "calls"))
		time_calls((unsigned int) threads);
	else if (!strcmp(words[1], "latency"))
		time_slowest((unsigned int) threads);
	else
		return 2;
	return 0;
}
