/*
 * The tracer's units that threads share, for sanitizers.
 *
 *   sharing lock      one counter, which threads raise by turns
 *   sharing filter    functions of this program, which threads judge at once
 *
 * Each mode ends with status 0, or says what is wrong.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../expect.h"
#include "base/lock.h"
#include "base/process.h"
#include "objects/loads.h"
#include "objects/looks.h"
#include "rules/filter.h"
#include "rules/patterns.h"

#define THREADS 4
#define ROUNDS 20000u
#define FUNCTIONS 8

/* In place of the tracer's: all objects are known. */
bool objects_are_told(void)
{
	return true;
}

void objects_look(uintptr_t address)
{
	(void) address;
}

static void in_threads(void *(*function)(void *) )
{
	pthread_t threads[THREADS];

	for (int index = 0; index < THREADS; index++)
		EXPECT(pthread_create(&threads[index], NULL, function, NULL) == 0);
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
}

static struct lock lock;
static unsigned long counter;

static void *raise_counter(void *unused)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		lock_take(&lock);
		counter++;
		lock_release(&lock);
	}
	return unused;
}

#define FUNCTION(number)                                            \
	static __attribute__((noinline)) void chosen_##number(void) \
	{                                                           \
		__asm__ volatile("" ::"i"(number));                 \
	}                                                           \
	static __attribute__((noinline)) void other_##number(void)  \
	{                                                           \
		__asm__ volatile("" ::"i"(-number));                \
	}

FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)

static void (*const functions[FUNCTIONS])(void) = {
	chosen_1, other_1, chosen_2, other_2, chosen_3, other_3, chosen_4, other_4,
};

static void *judge(void *unused)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const unsigned int number = round % FUNCTIONS;
		const void *function = *(const void *const *) (const void *) &functions[number];

		EXPECT(filter_passes(function) == (number % 2 == 0));
	}
	return unused;
}

int main(int count, char **words)
{
	const char *mode = count > 1 ? words[1] : "";
	const char pattern[] = ":chosen_*";

	EXPECT(process_begin());
	if (!strcmp(mode, "lock")) {
		in_threads(raise_counter);
		EXPECT(counter == (unsigned long) THREADS * ROUNDS);
	} else if (!strcmp(mode, "filter")) {
		EXPECT(patterns_parse(pattern, strlen(pattern), false));
		in_threads(judge);
		/* Afterwards another object may come to the place of a function. */
		filter_forget(1, UINTPTR_MAX);
		in_threads(judge);
	} else {
		return 2;
	}
	return 0;
}
