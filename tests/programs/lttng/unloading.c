/*
 * Loads and unloads a package of probes, while threads pass its tracepoint all the time.
 *
 * unloading PACKAGE ROUNDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "handmade.h"

#define THREADS 3

static struct ust_point point = {
	.struct_size = sizeof(point),
	.provider = "package",
	.name = "tick",
	.signature = SIGNATURE,
};
static struct ust_point *points[] = {&point};
static volatile int is_over;
/* How often the first thread found the package. */
static volatile long found;

static void *run(void *is_first)
{
	int number = 0;

	while (!is_over) {
		if (is_first && point.state)
			found++;
		pass(&point, NULL, ++number, "on the way");
	}
	return NULL;
}

int main(int count, char **arguments)
{
	int (*add)(struct ust_point *const *, int);
	int (*take)(struct ust_point *const *);
	pthread_t threads[THREADS];

	if (count < 3)
		return 1;
	find_library(&add, &take);
	add(points, COUNT(points));
	for (int index = 0; index < THREADS; index++)
		pthread_create(&threads[index], NULL, run, index ? NULL : &point);
	for (int round = 0; round < atoi(arguments[2]); round++) {
		void *package = dlopen(arguments[1], RTLD_NOW);

		const long before = found;

		if (!package)
			return 4;
		while (found < before + 20)
			sched_yield();
		dlclose(package);
	}
	is_over = 1;
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
	printf("%ld %d\n", found, point.state);
	take(points);
	return 0;
}
