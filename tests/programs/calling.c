/* Calls functions of libraries, each so often as is known, in all the ways that calls are
 * different: arguments in all registers and on the stack, results of all kinds, callbacks, and
 * functions that return twice, elsewhere or never. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS 100

static jmp_buf place;
static ucontext_t outside;
static ucontext_t inside;
static char stack[65536];
static unsigned long checksum;

static int compare(const void *one, const void *other)
{
	checksum++;
	return *(const int *) one - *(const int *) other;
}

static void numbers(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		char text[200];
		const lldiv_t parts = lldiv(1000003LL * round, 7);

		checksum += (unsigned long) parts.quot * 3 + (unsigned long) parts.rem;
		checksum += (unsigned long) (hypot(round, round + 1) * 1000);
		checksum += (unsigned long) (fmal(round, 2.5L, 1) * 8);
		snprintf(text, sizeof(text), "%d %f %Lf %s %c %d %d %f %f %f %f %f %f %f %f",
			 round, 0.5, 1.5L, "text", 'x', 1, 2, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0,
			 (double) round);
		checksum += strlen(text);
		checksum += (unsigned long) strtold("12.5", NULL);
	}
}

static void callbacks(void)
{
	int values[8] = {5, 3, 8, 1, 9, 2, 7, 4};

	for (int round = 0; round < ROUNDS; round++) {
		int copy[8];

		memcpy(copy, values, sizeof(copy) / 2 * (size_t) (1 + (round > -1)));
		qsort(copy, 8, sizeof(int), compare);
		checksum += (unsigned long) copy[round % 8];
	}
}

static int jump_out(const void *one, const void *other)
{
	(void) one;
	(void) other;
	longjmp(place, 1);
}

static void jumps(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		int values[2] = {2, 1};

		if (setjmp(place) == 0)
			qsort(values, 2, sizeof(int), jump_out);
		else
			checksum++;
	}
}

static void coroutine(void)
{
	for (;;) {
		checksum++;
		swapcontext(&inside, &outside);
	}
}

static void contexts(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	for (int round = 0; round < ROUNDS; round++)
		swapcontext(&outside, &inside);
}

static void *thread(void *unused)
{
	(void) unused;
	for (int round = 0; round < ROUNDS; round++)
		__atomic_fetch_add(&checksum, labs(-round), __ATOMIC_RELAXED);
	return NULL;
}

static void threads(void)
{
	pthread_t all[4];

	for (int number = 0; number < 4; number++)
		pthread_create(&all[number], NULL, thread, NULL);
	for (int number = 0; number < 4; number++)
		pthread_join(all[number], NULL);
}

static void processes(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		checksum += strspn("aab", "a");
		_exit((int) (checksum % 100));
	}
	waitpid(child, &status, 0);
	checksum += (unsigned long) WEXITSTATUS(status);
	child = vfork();
	if (!child)
		_exit(7);
	waitpid(child, &status, 0);
	checksum += (unsigned long) WEXITSTATUS(status);
}

int main(void)
{
	numbers();
	callbacks();
	jumps();
	contexts();
	threads();
	processes();
	checksum += dlsym(RTLD_DEFAULT, "puts") != NULL;
	printf("%lu\n", checksum);
	exit(3);
}
